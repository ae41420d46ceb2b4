-- Charges an account. The ledger stands for the bank, which knows every call.
-- Payload: { account = <number>, cents = <number>, ledger = <file> }.
return {
  retry = "R3/PT1S",

  run = function(job)
    local charge = job.payload
    local ledger = assert(io.open(charge.ledger, "a"))
    ledger:write(("%d,%d,%d\n"):format(job.id, charge.account, charge.cents))
    ledger:close()
    return { charged = charge.cents }
  end,
}
