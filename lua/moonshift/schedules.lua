-- The engine's verbs on schedules (rules §14, §20).
local show = require "moonshift.show"

local function schedule_verb(self, verb, name)
  if type(name) ~= "string" then
    error(("name is %s (expected the name of a schedule)"):format(show(name)), 3)
  end
  return self.core:command { verb = verb, schedule = name }
end

---@class moonshift.engine
local Engine = {}

--- Lists what the scripts schedule.
---@return table[]? schedules each with `name`, `cycle`, `next`, `paused`; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:schedules()
  return self.core:ask("schedules")
end

--- Suspends the waiting job of a schedule until it is resumed. Reloads and restarts leave it
--- so.
---@param name string
---@return boolean? done true; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:pause_schedule(name)
  local done, message, code = schedule_verb(self, "pause_schedule", name)
  return done and true, message, code
end

--- Lets a paused schedule run again. Its `misfire` policy decides about the dates it has
--- missed.
---@param name string
---@return boolean? done true; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:resume_schedule(name)
  local done, message, code = schedule_verb(self, "resume_schedule", name)
  return done and true, message, code
end

--- Creates one more job of a schedule, due now. Its dates stay as they are.
---@param name string
---@return integer? id of the job; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:run_schedule(name)
  local done, job, code = schedule_verb(self, "run_schedule", name)
  if not done then
    return nil, job, code
  end
  return job
end

return Engine
