-- The sales report. The tills send their figures late: the first two attempts find none. Payload:
-- { day = <date> }.
return function(job)
  if job.attempt < 3 then
    error("no figures for " .. job.payload.day .. " yet", 0)
  end
  return { report = "sales", day = job.payload.day, attempts = job.attempt }
end
