-- What an engine does to its history (rules §18).
local query = require "moonshift.query"
local rules = require("moonshift.core").rules
local show = require "moonshift.show"

local history = {}

local Methods = {}
local ids_of -- what -> a list of ids; or nil, message, code

-- Does a verb to ended jobs: an id, a list of ids, or a query of the log.
local function operate(self, what, order)
  if query.is(what) then
    if what.kind ~= "log" or what.size then
      error(("%s: expected ids, or a query of the log without a page"):format(order.verb), 3)
    end
    order.query = what.filters
  else
    local ids, message, code = ids_of(what)
    if not ids then
      return nil, message, code
    end
    order.ids = rules.array(ids)
  end
  return self.core:operate(order)
end

-- { ttl, removable = { jobs, incidents, batches, operations }, window, zone, jobs = { { id,
-- state, due, priority }, … } }: what may go by now, and the jobs that will remove it.
function Methods:history()
  return self.core:history()
end

-- Removes what may go, now and whatever the window; returns the ids of the jobs that do it.
-- Called again before they have ended it starts nothing new.
function Methods:clean_history()
  return self.core:clean_history()
end

-- When ended jobs go: an instant, "never", or "computed" from their end and the setting
-- history_ttl. Returns how many.
function Methods:set_removal_time(what, time)
  if type(time) ~= "string" then
    error(('time is %s (expected an instant, "never" or "computed")'):format(show(time)), 2)
  end
  return operate(self, what, { verb = "set_removal_time", removal_time = time })
end

-- Removes ended jobs at once, with their failures and lines. Returns how many.
function Methods:delete_history(what)
  return operate(self, what, { verb = "delete_history" })
end

-- extend(Engine, ids): adds the verbs; `ids` is ids_of.
function history.extend(Engine, ids)
  ids_of = ids
  for name, method in pairs(Methods) do
    Engine[name] = method
  end
end

return history
