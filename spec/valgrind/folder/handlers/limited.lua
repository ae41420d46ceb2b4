return { limit = { cluster = 1 }, rate = "50/PT1S", unique = function(job)
  return tostring(job.payload.n)
end, run = function() end }
