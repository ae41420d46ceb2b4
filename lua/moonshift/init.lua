-- moonshift - the module: engines, executors, clocks. Everything a program calls starts here.
--
-- Expected failure returns nil, message, code; misuse raises. Instants are text
-- ("2026-01-01T00:00:00.000Z"), spans ISO 8601 text or seconds.

-- Any Lua can read this file and testing.lua, so that an older one gets this message.
if _VERSION ~= "Lua 5.4" then
  local jit = rawget(_G, "jit")
  local other = jit and ("%s (%s)"):format(jit.version, _VERSION) or _VERSION
  error("moonshift needs Lua 5.4, this is " .. other, 0)
end

local core = require "moonshift.core"
local dates = require "moonshift.dates"
local engine = require "moonshift.engine"
local executor = require "moonshift.executor"
local json = require "moonshift.json"

--- The module. Expected failure returns nil, a message and a code; misuse raises.
---@class moonshift
---@field version string the version of the program
---@field null userdata stands for `null` inside a payload
---@field array fun(list: table): table marks a list, so that an empty one is `[]`
---@field json moonshift.json
---@field clock moonshift.clocks
---@field testing moonshift.testing
local moonshift = {
  version = core.version,
  null = core.rules.null,   -- null inside a payload
  array = core.rules.array, -- array {} is [], a plain {} is {}
  json = json,
  clock = { virtual = core.virtual_clock, system = core.system_clock },
  open = engine.open,
  executor = executor.new,
  dates = dates,
}

--- Reads an instant.
---@param text string
---@return integer? ms milliseconds since 1970; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function moonshift.time(text)
  if type(text) ~= "string" then
    error(("time is a %s (expected text)"):format(type(text)), 2)
  end
  local ms, message = core.rules.time(text)
  if not ms then
    return nil, message, "invalid"
  end
  return ms
end

-- Specs are no part of a program that runs: testing is loaded when it is asked for.
setmetatable(moonshift, {
  __index = function(_, name)
    if name == "testing" then
      return require "moonshift.testing"
    end
  end,
})

return moonshift -- what setmetatable returns has no class for an editor
