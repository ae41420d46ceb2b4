local soak = require "lib.soak"
-- Its children are created with its success, or not at all; those of a lane run next in it.
return soak.handler(function(job, payload)
  for i = 1, payload.children do
    local child = { m = ("%s.%d"):format(payload.m, i), ms = payload.ms }
    if payload.deep and payload.deep > 0 then
      child.children, child.deep = 1, payload.deep - 1
    end
    job:enqueue(child.deep and "parent" or "chore", child,
      { lane = job.lane, priority = job.priority })
  end
  soak.work(job, payload)
  if job.attempt <= (payload.fails or 0) then error("not yet", 0) end
end)
