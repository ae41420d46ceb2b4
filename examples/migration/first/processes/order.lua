-- The order as it was: somebody approves it, and nothing happens if nobody does.
local step, task = require "moonshift.process".words()

return {
  task "approve" { assignee = "${boss}" },
  step "pack" { run = "pack", async = true },
  task "hand_over" {},
}
