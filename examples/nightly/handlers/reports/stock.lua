-- The stock report: the warehouse is always ready. Payload: { day = <date> }.
return function(job)
  return { report = "stock", day = job.payload.day, attempts = job.attempt }
end
