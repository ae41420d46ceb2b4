-- moonshift.testing - engines for specs: in memory, on a virtual clock, with handlers that run in
-- the spec's own state. Nothing sleeps, nothing is left behind.
--
--   local engine = testing.engine { scripts = "." }
--   engine:enqueue("send_invoice", { invoice = 7 })
--   engine:advance("PT5M")
--   engine:drain()
--
-- `missing`, a function(name, job), runs for what the processes of the folder call and the folder
-- lacks. `http`, a function(request), answers what handlers ask with http.request.
require "moonshift" -- refuses an older Lua
local core = require "moonshift.core"
local engine = require "moonshift.engine"
local options = require "moonshift.options"

local START = "2026-01-01T00:00:00Z" -- where the clock stands unless told

--- Options of `testing.engine`: any setting, and these.
---@class moonshift.testing_options: moonshift.options
---@field modules? table<string, table> fakes for what handlers require
---@field handlers? table<string, function|table> handlers beside or instead of the folder's
---@field missing? fun(name: string, job: moonshift.activity): any runs for what processes lack
---@field http? fun(request: moonshift.request): moonshift.response? answers requests

--- Engines for specs: `require "moonshift.testing"`.
---@class moonshift.testing
local testing = {}

-- A table of functions or modules by name; raises if it is something else.
local function check_table(given, name)
  local value = given[name]
  if value ~= nil and type(value) ~= "table" then
    error(("%s is a %s (expected a table)"):format(name, type(value)), 3)
  end
  for key in pairs(value or {}) do
    if type(key) ~= "string" then
      error(("%s has a %s for a key (expected names)"):format(name, type(key)), 3)
    end
  end
end

local function check_function(given, name)
  if given[name] ~= nil and type(given[name]) ~= "function" then
    error(("%s is a %s (expected a function)"):format(name, type(given[name])), 3)
  end
end

--- Opens an engine for specs: in memory, on a virtual clock. Handlers run in the spec's own
--- state. Raises what is wrong.
---@param given? moonshift.testing_options
---@return moonshift.engine engine
function testing.engine(given)
  local all = { store = "sqlite::memory:", borrow = true }
  for key, value in pairs(options.table(given, "engine")) do
    all[key] = value
  end
  check_table(all, "modules")
  check_table(all, "handlers")
  check_function(all, "missing")
  check_function(all, "http")
  all.clock = all.clock or core.virtual_clock(START)
  local opened, message = engine.open(all, 2)
  if not opened then
    error(message, 2)
  end
  return opened
end

return testing
