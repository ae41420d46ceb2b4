-- A trip: a flight, a hotel and the payment, all of them or none. What has been booked is taken
-- back, the newest first, when the payment is declined.
local process = require "moonshift.process"
local sub, step, task, choose, parallel, finish =
  process.sub, process.step, process.task, process.choose, process.parallel, process.finish

return {
  sub "booking" { transaction = true,
    parallel "both" {
      { step "flight" { run = "book", undo = "unbook", async = true } },
      { step "hotel" { run = "book", undo = "unbook", async = true } },
    },
    step "pay" { run = "pay", async = true, retry = "R3/PT1M",
      on_error = { "declined", finish "declined" { cancel = true } } },
    on_cancel = { step "excuse" { run = "tell", input = { text = "not booked" } }, stop = "lost" },
  },
  choose "large" {
    { when = "${price >= 5000}", name = "5000 or more", task "call" { name = "Call the guest" } },
    { otherwise = true },
  },
  step "confirm" { run = "tell", input = { text = "booked" } },
}
