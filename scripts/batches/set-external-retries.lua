-- Gives jobs of topics runs again, as set-job-retries does. Ids: jobs that workers outside may ask
-- for. Another job is a failure. Config: { retries = n, due = time }.
return function(job, ids, config)
  for _, other in ipairs(job.engine:jobs({ id = ids }):list()) do
    if not other.topic then
      error(("job %d has no topic (expected jobs of topics)"):format(other.id), 0)
    end
  end
  job:operate {
    verb = config.retries and "set_retries" or "retry",
    ids = ids,
    retries = config.retries,
    due = config.due,
    ignore_missing = config.ignore_missing,
  }
end
