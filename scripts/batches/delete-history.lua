-- Removes ended jobs from the history. Ids: ended jobs; others are passed over.
return function(job, ids)
  job:operate { verb = "delete_history", ids = ids, ignore_missing = true }
end
