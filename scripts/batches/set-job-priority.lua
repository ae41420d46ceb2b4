-- Sets the priority of jobs. Ids: jobs. Config: { priority = n }. A job that is gone is a failure
-- unless ignore_missing is true.
return function(job, ids, config)
  job:operate {
    verb = "set_priority",
    ids = ids,
    priority = config.priority,
    ignore_missing = config.ignore_missing,
  }
end
