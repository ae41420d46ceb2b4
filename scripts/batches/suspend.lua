-- Suspends jobs. Ids: jobs; those that are gone are passed over.
return function(job, ids, config)
  job:operate { verb = "suspend", ids = ids, reason = config.reason,
    ignore_missing = config.ignore_missing ~= false }
end
