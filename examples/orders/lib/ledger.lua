-- The ledger stands for the world outside the store: one line per run, written at once, never taken
-- back. A job runs at least once, so a line may be there twice after a crash. Readers of
-- the ledger go by the order's number, and the token says which run wrote the line.
local ledger = {}

-- Appends order,customer,vip,cents,attempt,token,result in one write.
function ledger.append(job, result)
  local order = job.payload
  local file = assert(io.open(order.ledger, "a"))
  file:write(("%d,%s,%s,%d,%d,%d,%s\n"):format(order.order, order.customer,
    order.vip and "yes" or "no", order.cents, job.attempt, job.token, result))
  file:close()
end

return ledger
