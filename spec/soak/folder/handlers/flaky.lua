local soak = require "lib.soak"
return {
  retry = "R4/PT0.3S",
  run = soak.handler(function(job, payload)
    soak.work(job, payload)
    if job.attempt <= payload.fails then error("not yet", 0) end
  end),
}
