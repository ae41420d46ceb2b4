-- Creates the next job of its chain until none is left; the payload begins with how many are.
return function(job)
  local left, rest = job.payload:match("^(%d+)(.*)$")
  if tonumber(left) > 0 then
    job:enqueue("chain", ("%08d%s"):format(left - 1, rest), { priority = job.priority })
  end
end
