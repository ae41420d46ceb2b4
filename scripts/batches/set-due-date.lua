-- Sets the due date of jobs. Ids: jobs. Config: { due = time, cascade = true } - without a date
-- they are due at once; cascade moves the later occurrences, too. A job that is gone is a failure
-- unless ignore_missing is true.
return function(job, ids, config)
  job:operate {
    verb = "set_due",
    ids = ids,
    due = config.due,
    cascade = config.cascade,
    ignore_missing = config.ignore_missing,
  }
end
