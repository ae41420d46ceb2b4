-- Lets suspended jobs run again. Ids: jobs; those that are gone are passed over.
return function(job, ids)
  job:operate { verb = "activate", ids = ids, ignore_missing = true }
end
