local soak = require "lib.soak"
return { unique = function(job) return job.payload.key end, run = soak.handler(soak.work) }
