-- Packs the piece that was reserved.
return function(job)
  if job.variables.stock.pieces ~= 1 then
    error { message = "nothing was reserved", permanent = true }
  end
  require("lib.ledger").append(job, "packed", 0)
end
