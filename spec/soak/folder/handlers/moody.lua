local soak = require "lib.soak"
-- It says nothing of retries: the standard rule decides.
return soak.handler(function(job, payload)
  soak.work(job, payload)
  if job.attempt <= payload.fails then error("in no mood", 0) end
end)
