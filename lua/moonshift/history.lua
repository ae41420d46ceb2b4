-- The engine's verbs on its history (rules §18).
local ids = require "moonshift.ids"
local query = require "moonshift.query"
local show = require "moonshift.show"

-- Does a verb to ended jobs: an id, a list of ids, or a query of the log.
local function operate(self, what, command)
  if query.is(what) and (what.kind ~= "log" or what.size) then
    error(("%s: expected ids, or a query of the log without a page"):format(command.verb), 2)
  end
  local aimed, message, code = ids.aim(command, what, 2, "log")
  if not aimed then
    return nil, message, code
  end
  return self.core:command(aimed)
end

---@class moonshift.engine
local Engine = {}

--- Says what may be removed from the history by now, and which jobs will remove it.
---@return table? history with `ttl`, `removable`, `window`, `jobs`; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:history()
  return self.core:ask("history")
end

--- Removes what may go, now and whatever the window. Called again before that has ended, it
--- starts nothing new.
---@return integer[]? ids of the jobs that do it; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:clean_history()
  local count, jobs, code = self.core:command { verb = "clean_history" }
  return count and jobs, jobs, code
end

--- Sets when ended jobs go from the history.
---@param what moonshift.ids ids of ended jobs, or a query of the log
---@param time string an instant, "never", or "computed" from end and `history_ttl`
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:set_removal_time(what, time)
  if type(time) ~= "string" then
    error(('time is %s (expected an instant, "never" or "computed")'):format(show(time)), 2)
  end
  return operate(self, what, { verb = "set_removal_time", removal_time = time })
end

--- Sets when an ended incident goes from the history.
---@param id integer of the incident
---@param time string an instant, "never", or "computed" from its end and the time to live
---@return integer? touched 1; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:set_incident_removal_time(id, time)
  if math.type(id) ~= "integer" then
    error(("incident is %s (expected an id)"):format(show(id)), 2)
  end
  if type(time) ~= "string" then
    error(('time is %s (expected an instant, "never" or "computed")'):format(show(time)), 2)
  end
  return self.core:command { verb = "set_incident_removal_time", incident = id,
    removal_time = time }
end

--- Removes ended jobs from the history at once, with their failures and lines.
---@param what moonshift.ids ids of ended jobs, or a query of the log
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:delete_history(what)
  return operate(self, what, { verb = "delete_history" })
end

return Engine
