-- Suspends jobs. Ids: jobs; those that are gone are passed over.
return function(job, ids)
  job:operate { verb = "suspend", ids = ids, ignore_missing = true }
end
