-- The patient strategy with short waits, so that the example ends soon: half a second, one, two,
-- four.
return function(job, failure)
  if failure.permanent or job.attempt > 4 then
    return nil
  end
  return 0.5 * 2 ^ (job.attempt - 1)
end
