-- The ledger stands for the world outside the store: a line for each thing that was done there,
-- written at once, never taken back. A job runs at least once, so a line may be there twice after a
-- crash; readers go by process and order.
local ledger = {}

-- Appends process,order,what,cents in one write.
function ledger.append(job, what, cents)
  local file = assert(io.open(job.variables.ledger, "a"))
  file:write(("%s,%s,%s,%d\n"):format(job.process, job.key, what, cents))
  file:close()
end

return ledger
