local soak = require "lib.soak"
return {
  retry = "planned",
  retries = 4,
  run = soak.handler(function(job, payload)
    soak.work(job, payload)
    if job.attempt <= payload.fails then error("not as planned", 0) end
  end),
}
