local process = require "moonshift.process"
local step, receive = process.step, process.receive

return {
  step "book" { run = "noop" },
  receive "paid" { message = "paid", key = "${instance.key}" },
  step "send" { run = "noop" },
}
