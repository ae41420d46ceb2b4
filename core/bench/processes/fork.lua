local process = require "moonshift.process"
local step, parallel = process.step, process.parallel

return {
  parallel {
    { step "pack" { run = "noop", async = true } },
    { step "invoice" { run = "noop", async = true } },
  },
}
