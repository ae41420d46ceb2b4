-- 100 for jobs whose payload says vip = true, 0 for all others. Few levels are faster than many.
return function(job)
  local payload = job.payload
  return type(payload) == "table" and payload.vip == true and 100 or 0
end
