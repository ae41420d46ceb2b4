-- Calls the folder's hooks with events from places without Lua: verbs of operators, jobs that
-- another process created, workers that died (rules §21).
return function(job)
  for _, event in ipairs(job.payload.events) do
    job:_tell(event)
  end
end
