-- Cancels jobs, waiting or running. Ids: jobs; those that are gone are passed over.
return function(job, ids, config)
  job:operate { verb = "cancel", ids = ids, ignore_missing = config.ignore_missing ~= false }
end
