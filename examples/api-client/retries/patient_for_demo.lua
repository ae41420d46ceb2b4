-- The patient strategy in seconds instead of minutes, so that the example ends soon: half a second,
-- one, two, four; after the fifth run it gives up.
return function(job, failure)
  if failure.permanent or job.attempt > 4 then
    return nil
  end
  return 0.5 * 2 ^ (job.attempt - 1)
end
