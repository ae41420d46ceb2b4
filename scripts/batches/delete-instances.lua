-- Removes ended instances of processes from the history. Ids: those; one that runs is a failure,
-- others are passed over.
return function(job, ids, config)
  job:operate { verb = "delete_history", ids = ids,
    ignore_missing = config.ignore_missing ~= false }
end
