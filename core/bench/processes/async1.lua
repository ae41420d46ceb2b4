local step = require "moonshift.process".words()

return { step "work" { run = "noop", async = true } }
