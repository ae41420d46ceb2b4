-- Gives jobs up: no retries, an incident each. Ids: jobs. A job that is gone is a failure unless
-- ignore_missing is true.
return function(job, ids, config)
  job:operate { verb = "dead_letter", ids = ids, ignore_missing = config.ignore_missing }
end
