-- The order as it is: the approval is gone. A clerk checks it, and hears of it after a day.
local step, task = require "moonshift.process".words()

return {
  task "check" { assignee = "${boss}", within = { "P1D", step "remind" { run = "pack" } } },
  step "pack" { run = "pack", async = true },
  task "hand_over" {},
}
