-- Puts the piece back.
return function(job)
  require("lib.ledger").append(job, "released", 0)
end
