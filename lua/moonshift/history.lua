-- The engine's verbs on its history (rules §18).
local ids = require "moonshift.ids"
local query = require "moonshift.query"
local show = require "moonshift.show"

local history = {}

-- Does a verb to ended jobs: an id, a list of ids, or a query of the log.
local function operate(self, what, order)
  if query.is(what) and (what.kind ~= "log" or what.size) then
    error(("%s: expected ids, or a query of the log without a page"):format(order.verb), 2)
  end
  local aimed, message, code = ids.aim(order, what, 2)
  if not aimed then
    return nil, message, code
  end
  return self.core:operate(aimed)
end

function history.verbs(Engine)
  -- { ttl, removable = { jobs, incidents, batches, operations }, window, zone, jobs = { { id,
  -- state, due, priority }, … } }: what may go by now, and the jobs that will remove it.
  function Engine:history()
    return self.core:history()
  end

  -- Removes what may go, now and whatever the window; returns the ids of the jobs that do it.
  -- Called again before they have ended it starts nothing new.
  function Engine:clean_history()
    return self.core:clean_history()
  end

  -- When ended jobs go: an instant, "never", or "computed" from their end and the setting
  -- history_ttl. Returns how many.
  function Engine:set_removal_time(what, time)
    if type(time) ~= "string" then
      error(('time is %s (expected an instant, "never" or "computed")'):format(show(time)), 2)
    end
    return operate(self, what, { verb = "set_removal_time", removal_time = time })
  end

  -- Removes ended jobs at once, with their failures and lines. Returns how many.
  function Engine:delete_history(what)
    return operate(self, what, { verb = "delete_history" })
  end
end

return history
