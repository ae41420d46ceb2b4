-- The creator decides: payload.priority, an integer, or 0 if there is none.
return function(job)
  local payload = job.payload
  return type(payload) == "table" and payload.priority or 0
end
