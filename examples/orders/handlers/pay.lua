-- Pays one order and writes the result to the ledger. Payload: { order = <number>, customer =
-- <text>, vip = <boolean>, cents = <integer>, ledger = <path> }.
--
-- The bank of this example declines by rule, so that every run of the example ends in the same
-- sums: each tenth order once, some of them twice or three times.
local ledger = require "lib.ledger"

local function declines(order)
  if order % 250 == 63 then
    return 3
  elseif order % 50 == 13 then
    return 2
  end
  return order % 10 == 3 and 1 or 0
end

return {
  priority = "vip_first",
  retry    = "short",
  timeout  = "PT10S",

  run = function(job)
    if job.attempt <= declines(job.payload.order) then
      ledger.append(job, "declined")
      error(("order %d: the bank declined"):format(job.payload.order), 0)
    end
    ledger.append(job, "paid")
  end,
}
