-- Waits 1, 5, 25 and 125 minutes, then gives up: five runs over two and a half hours. For things
-- that people have to repair. A permanent failure is given up at once. Returns seconds.
return function(job, failure)
  if failure.permanent or job.attempt > 4 then
    return nil
  end
  return math.max(60 * 5 ^ (job.attempt - 1), failure.retry_after or 0)
end
