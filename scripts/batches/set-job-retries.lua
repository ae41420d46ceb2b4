-- Gives jobs runs again and resolves their incidents. Ids: jobs. Config: { retries = n,
-- due = time } - without retries the configured number; due: not before then. A job that is gone
-- is a failure unless ignore_missing is true.
return function(job, ids, config)
  job:operate {
    verb = config.retries and "set_retries" or "retry",
    ids = ids,
    retries = config.retries,
    due = config.due,
    ignore_missing = config.ignore_missing,
  }
end
