return function(job, failure)
  return not failure.permanent and job.attempt < 3 and 0 or nil
end
