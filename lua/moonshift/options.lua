-- Checks the option tables of callers: which keys are known, which of them are settings.
local core = require "moonshift.core"
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

-- " (did you mean …?)" if one of the names in `known` is near; else "".
local function hint(key, known)
  local names = {}
  for name in pairs(known) do
    names[#names + 1] = name
  end
  local meant = suggest(tostring(key), names)
  return meant and (' (did you mean "%s"?)'):format(meant) or ""
end

-- The same for a table that has only the keys in `known`.
function options.only(value, what, known, level)
  level = level or 3
  value = options.table(value, what, level)
  for key in pairs(value) do
    if not known[key] then
      error(('%s: unknown key "%s"%s'):format(what, tostring(key), hint(key, known)), level)
    end
  end
  return value
end

-- Gives the command, or with { dry_run = true } asks how many jobs it would touch.
function options.operate(store, command, given)
  local dry = given.dry_run
  if dry ~= nil and type(dry) ~= "boolean" then
    error(("dry_run is %s (expected true or false)"):format(show(dry)), 4)
  end
  return store:command(command, dry)
end

-- An error of core, which knows settings only: the unknown one may be near to a key in `own`.
function options.explain(message, own)
  local key = message:match('^unknown setting "([^"]+)"$')
  return key and message .. hint(key, own) or message
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
