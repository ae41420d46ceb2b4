-- Calls the folder's hooks with what happened where no Lua was at hand: what an operator did, jobs
-- that another process created, workers that died (rules §21).
return function(job)
  for _, event in ipairs(job.payload.events) do
    job:_tell(event)
  end
end
