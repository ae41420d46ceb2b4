-- Removes old history with the success of this job (rules §18); the next one is made there, too.
return function(job)
  job:operate { verb = "clean_history", plan = job.payload }
end
