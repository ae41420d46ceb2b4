-- Takes one piece out of the warehouse. There is no hat left.
return function(job)
  if job.payload.sku == "hat" then
    job:throw("sold_out", "no " .. job.payload.sku .. " is left")
  end
  require("lib.ledger").append(job, "reserved", 0)
  job.variables.stock = { pieces = 1 }
end
