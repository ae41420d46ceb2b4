-- Checks the option tables of callers: which keys are known, which of them are settings.
local core = require "moonshift.core"
local kinds = require "moonshift.kinds"
local show = require "moonshift.show"

local null, suggest = core.rules.null, core.rules.suggest

local options = {}

-- Raises if `value` is not a table (nil is {}), naming `what`; returns the table.
function options.table(value, what, level)
  if value == nil then
    return {}
  end
  if type(value) ~= "table" then
    error(("%s is a %s (expected a table)"):format(what, type(value)), (level or 2) + 1)
  end
  return value
end

-- value(value, name, kind, level) -> the value as its kind has it; see moonshift.kinds. Raises if
-- it is of another kind.
function options.value(value, name, kind, level)
  local fine, read = kinds.read(kind, value)
  if not fine then
    error(("%s is %s (expected %s)"):format(name, show(value), read), (level or 2) + 1)
  end
  return read
end

-- The same for what may be absent.
function options.maybe(value, name, kind, level)
  if value == nil then
    return nil
  end
  return (options.value(value, name, kind, (level or 2) + 1))
end

-- only(value, what, known, level) -> a copy of the table, which has only the keys in `known`, each
-- with a value of the kind that stands there. Raises if it has others.
function options.only(value, what, known, level)
  local read, message = kinds.only(value, what, known, suggest)
  return read or error(message, level or 3)
end

-- Gives the command, or with { dry_run = true } asks how many jobs it would touch.
function options.operate(store, command, given)
  return store:command(command, given.dry_run)
end

-- An error of core, which knows settings only: the unknown one may be near to a key in `own`.
function options.explain(message, own)
  local key = message:match('^unknown setting "([^"]+)"$')
  return key and message .. kinds.hint(key, own, suggest) or message
end

-- { 50, nil } and { nil, 100 }: an open side has no place in a Lua list.
local function range(value)
  if type(value) ~= "table" then
    return value
  end
  for key in pairs(value) do
    if key ~= 1 and key ~= 2 then
      return value
    end
  end
  local min, max = value[1], value[2]
  return { min == nil and null or min, max == nil and null or max }
end

-- All but the keys in `own`: the settings, as core takes them.
function options.settings(value, own)
  local settings = {}
  for key, given in pairs(value) do
    if not own[key] then
      settings[key] = given
    end
  end
  settings.priority_range = range(settings.priority_range)
  return settings
end

-- "dir" or { "dir", "dir" } as a list of texts; nil stays nil.
function options.paths(value, level)
  if value == nil then
    return nil
  end
  local list = type(value) == "table" and value or { value }
  for _, path in ipairs(list) do
    if type(path) ~= "string" then
      local message = "scripts has a %s (expected a folder's path, or several)"
      error(message:format(type(path)), level + 1)
    end
  end
  if #list == 0 then
    error("scripts is empty (expected a folder's path, or several)", level + 1)
  end
  return list
end

-- A clock of moonshift.clock; nil is the system's.
function options.clock(value, level)
  if value == nil then
    return core.system_clock()
  end
  local meta = type(value) == "userdata" and getmetatable(value)
  if not meta or meta.__name ~= "moonshift.core.clock" then
    error(("clock is a %s (expected one of moonshift.clock)"):format(type(value)), level + 1)
  end
  return value
end

return options
