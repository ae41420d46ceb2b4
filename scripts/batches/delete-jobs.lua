-- Deletes jobs. Ids: jobs; those that are gone are passed over, a locked one is a failure.
return function(job, ids, config)
  job:operate { verb = "delete", ids = ids, ignore_missing = config.ignore_missing ~= false }
end
