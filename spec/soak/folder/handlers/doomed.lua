local soak = require "lib.soak"
return {
  retry = "R2/PT0.2S",
  run = soak.handler(function(job, payload)
    soak.work(job, payload)
    error("never", 0)
  end),
}
