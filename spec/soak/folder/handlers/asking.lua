local soak = require "lib.soak"
-- Its payload says how it is tried again.
return {
  retry = "${payload.retry}",
  run = soak.handler(function(job, payload)
    soak.work(job, payload)
    if job.attempt <= payload.fails then error("asks again", 0) end
  end),
}
