local step = require "moonshift.process".words()

return { step "work" { run = "noop", async = true, each = { times = 10, parallel = true } } }
