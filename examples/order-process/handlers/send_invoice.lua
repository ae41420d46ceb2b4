-- Sends the invoice. Payload: { cents = … }; it would serve a plain job as well.
return function(job)
  require("lib.ledger").append(job, "invoiced", job.payload.cents)
end
