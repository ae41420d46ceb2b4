-- Counts the due date of timers anew. Ids: jobs. Config: { from_creation = true }. A job that is
-- gone is a failure unless ignore_missing is true.
return function(job, ids, config)
  job:operate {
    verb = "recalculate_due",
    ids = ids,
    from_creation = config.from_creation,
    ignore_missing = config.ignore_missing,
  }
end
