-- A strategy: a quarter of a second, as often as there are retries.
return function(job)
  if job.retries <= 1 then return nil end
  return 0.25
end
