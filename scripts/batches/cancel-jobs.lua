-- Cancels jobs, waiting or running. Ids: jobs; those that are gone are passed over.
return function(job, ids)
  job:operate { verb = "cancel", ids = ids, ignore_missing = true }
end
