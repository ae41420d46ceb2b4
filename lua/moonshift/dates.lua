-- Computes when a cycle runs (rules §14), so that people can look at it before they use it.
local core = require "moonshift.core"
local options = require "moonshift.options"

local rules = core.rules

local COUNT_MAX = 10000
local KEYS = { zone = "name", after = "instant", count = "integer", origin = "instant" }

-- ms of each date, or nil, message.
local function compute(cycle, given)
  local count = given.count or 5
  if count < 1 or count > COUNT_MAX then
    return nil, ("count %s: expected a whole number from 1 to %d"):format(count, COUNT_MAX)
  end
  local after, after_problem = rules.time(given.after or core.system_clock():now())
  if not after then
    return nil, after_problem
  end
  local origin, origin_problem = after, nil
  if given.origin then
    origin, origin_problem = rules.time(given.origin)
  end
  if not origin then
    return nil, origin_problem
  end
  return rules.dates(cycle, given.zone, after, count, origin)
end

--- Computes when a cycle runs, and creates nothing.
---@param cycle string such as "0 8 * * MON" or "R3/PT1H"
---@param given? moonshift.dates_options
---@return string[]? dates in UTC, fewer if the cycle ends; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
return function(cycle, given)
  given = options.only(given, "dates", KEYS)
  options.value(cycle, "cycle", "text")
  local dates, message = compute(cycle, given)
  if not dates then
    return nil, message, "invalid"
  end
  for i, ms in ipairs(dates) do
    dates[i] = rules.format_time(ms)
  end
  return dates
end
