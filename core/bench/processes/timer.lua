local process = require "moonshift.process"
local step, wait = process.step, process.wait

return { wait "due" { after = "PT0S" }, step "work" { run = "noop" } }
