-- Every night: the receipts of a file, a turn for each line, then one look at the sum.
local process = require "moonshift.process"
local start, step, each, choose, task =
  process.start, process.step, process.each, process.choose, process.task

return {
  history_time_to_live = "P30D",
  start "night" { every = "0 2 * * *" },
  step "read" { run = "read_file", async = true, result = "receipts" },
  each "receipt" { of = "receipts", as = "receipt", parallel = true,
    step "book" { run = "book_receipt", async = true, retry = "R5/PT1M" } },
  choose "complete" {
    { when = "${receipts.size() > 0}", step "report" { run = "report", async = true } },
    { otherwise = true, task "ask" { name = "Ask where the file is", assignee = "till" } },
  },
}
