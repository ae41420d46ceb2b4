-- Gives repeating jobs that wait another cycle. Ids: jobs. Config: { cycle = "R/PT2H", zone =
-- "Europe/Berlin", misfire = "once" }; only the cycle is needed. A job that is gone is a failure
-- unless ignore_missing is true.
return function(job, ids, config)
  job:operate {
    verb = "set_cycle",
    ids = ids,
    cycle = config.cycle,
    zone = config.zone,
    misfire = config.misfire,
    ignore_missing = config.ignore_missing,
  }
end
