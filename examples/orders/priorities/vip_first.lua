-- VIP customers before everybody else.
return function(job)
  return job.payload.vip and 100 or 10
end
