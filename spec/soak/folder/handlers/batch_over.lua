local soak = require "lib.soak"
return soak.handler(function(job) soak.note("batch", job, tostring(job.payload.batch)) end)
