-- Turns a CSV of orders into one `pay` job per order, all in this job's own transaction: either
-- every order is in the store or none is. Payload, both optional: { file = <path of the CSV>,
-- ledger = <path of the file where payments are written> }.
local csv = require "lib.csv"

return {
  retry = "R1/PT1S", -- a CSV that cannot be read stays so

  run = function(job)
    local file = job.payload.file or "examples/orders/orders.csv"
    local ledger = job.payload.ledger or "ledger.csv"
    local count = 0
    for order in csv.orders(file) do
      order.ledger = ledger
      job:enqueue("pay", order, { lane = order.customer })
      count = count + 1
    end
    return { orders = count }
  end,
}
