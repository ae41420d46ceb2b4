-- The engine's verbs on schedules (rules §14, §20).
local show = require "moonshift.show"

local schedules = {}

local function schedule_verb(self, verb, name)
  if type(name) ~= "string" then
    error(("name is %s (expected the name of a schedule)"):format(show(name)), 3)
  end
  return self.core:operate { verb = verb, schedule = name }
end

function schedules.verbs(Engine)
  -- { { name, handler, cycle, zone, misfire, overlap, jitter, catch_up, paused, last, next,
  -- next_local, job, source }, … }
  function Engine:schedules()
    return self.core:schedules()
  end

  -- Its waiting job is suspended until it is resumed; reloads and restarts leave it so.
  function Engine:pause_schedule(name)
    local done, message, code = schedule_verb(self, "pause_schedule", name)
    return done and true, message, code
  end

  -- What was missed meanwhile is the business of its misfire policy.
  function Engine:resume_schedule(name)
    local done, message, code = schedule_verb(self, "resume_schedule", name)
    return done and true, message, code
  end

  -- One job more, at once; its dates stay as they are. Returns the job's id.
  function Engine:run_schedule(name)
    local done, job, code = schedule_verb(self, "run_schedule", name)
    if not done then
      return nil, job, code
    end
    return job
  end
end

return schedules
