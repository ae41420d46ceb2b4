local soak = require "lib.soak"
-- Somebody else was first, about every second time.
return soak.handler(function(job)
  if job.token % 2 == 1 then error({ conflict = true, word = "conflict", message = "taken" }, 0) end
end)
