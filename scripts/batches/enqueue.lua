-- Creates one job for each id, which is its payload. Config: { handler = name } and any option of a
-- creation, such as priority or lane.
return function(job, ids, config)
  local handler = config.handler
  config.handler = nil
  for _, payload in ipairs(ids) do
    job:enqueue(handler, payload, config)
  end
end
