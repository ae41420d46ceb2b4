-- By the order, from 0 to 49.
return function(job)
  return job.payload.order % 50
end
