local process = require "moonshift.process"
local step, receive = process.step, process.receive

return {
  step "book" { run = "noop" },
  step "invoice" { run = "noop" },
  receive "paid" { message = "paid", key = "${instance.key}" },
  step "pick" { run = "noop" },
  step "pack" { run = "noop" },
  step "send" { run = "noop" },
}
