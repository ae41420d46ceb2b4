local soak = require "lib.soak"
-- Comes back once; then it has a due date.
return soak.handler(function(job)
  if not job.due then
    job:snooze(0.2)
    return "snooze"
  end
end)
