-- Lets suspended jobs run again. Ids: jobs; those that are gone are passed over.
return function(job, ids, config)
  job:operate { verb = "activate", ids = ids, reason = config.reason,
    ignore_missing = config.ignore_missing ~= false }
end
