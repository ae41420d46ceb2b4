-- Says when ended jobs go from the history. Ids: ended jobs; others are passed over. Config:
-- { removal_time = time, "never" or "computed" }.
return function(job, ids, config)
  job:operate {
    verb = "set_removal_time",
    ids = ids,
    removal_time = config.removal_time,
    ignore_missing = true,
  }
end
