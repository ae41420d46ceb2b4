-- Waits 10, 20, 40 … seconds, at most an hour, up to 12 runs; each wait is lengthened by up to a
-- quarter, so that jobs that failed together do not come back together. For things that repair
-- themselves. A permanent failure is given up at once. Returns seconds.
return function(job, failure)
  if failure.permanent or job.attempt > 11 then
    return nil
  end
  local wait = math.min(3600, 10 * 2 ^ (job.attempt - 1)) * (1 + math.random() / 4)
  return math.max(wait, failure.retry_after or 0)
end
