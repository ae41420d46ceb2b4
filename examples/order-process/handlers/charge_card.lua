-- Takes the money. A stolen card is declined for good: an error of the process, no failure. A busy
-- bank fails the job, and its second run goes through.
return function(job)
  local card = job.payload.card
  if card == "stolen" then
    job:throw("declined", "the bank declines the card")
  end
  if card == "busy" and job.attempt == 1 then
    error "the bank is busy"
  end
  require("lib.ledger").append(job, "charged", job.payload.cents)
end
