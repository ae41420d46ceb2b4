-- Unique keys and backlog limits as definitions give them (rules §20).
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local unique = {}

local KEY_MAX = 255 -- bytes
local POLICIES = { keep = true, replace = true, refuse = true }
local COUNT = "(expected a whole number from 1)"

-- resolve(value, file) -> { fn, file }; or nil, message. `file`: where the function was declared.
function unique.resolve(value, file)
  if type(value) ~= "function" then
    return nil, ("unique: got %s (expected a function that returns a job's key)"):format(
      show(value))
  end
  return { fn = value, file = "the function of " .. file }
end

-- ask(entry, job) -> the job's key, or nil for none. Raises the function's error, and an error
-- for any other result.
function unique.ask(entry, job)
  local key = entry.fn(job)
  if key == nil then
    return nil
  elseif type(key) ~= "string" then
    error(("%s returned %s (expected a text or nil)"):format(entry.file, show(key)), 0)
  elseif key == "" or #key > KEY_MAX or not utf8.len(key) or key:find("%c") then
    error(("%s returned %s (expected 1 to %d bytes of text)"):format(entry.file, show(key),
      KEY_MAX), 0)
  end
  return key
end

-- check_policy(value) -> value; or nil, message
function unique.check_policy(value)
  if not POLICIES[value] then
    return nil, ('on_conflict: got %s (expected "keep", "replace" or "refuse")'):format(
      show(value))
  end
  return value
end

-- check_span(value) -> seconds; or nil, message
function unique.check_span(value)
  if type(value) ~= "number" and type(value) ~= "string" then
    return nil, ('unique_for: got %s (expected seconds or a duration such as "PT1H")'):format(
      show(value))
  end
  local ms, message = rules.duration(value)
  if not ms then
    return nil, "unique_for: " .. message
  elseif ms <= 0 then
    return nil, ("unique_for: got %s (expected more than 0 seconds)"):format(show(value))
  end
  return ms / 1000
end

local function count(value)
  local whole = type(value) == "number" and math.tointeger(value)
  return whole and whole >= 1 and whole
end

-- backlog(value): a number, or { total = …, lane = … } -> { total, lane }; or nil, message
function unique.backlog(value)
  if type(value) ~= "table" then
    local total = count(value)
    if not total then
      return nil, ("backlog: got %s %s"):format(show(value), COUNT)
    end
    return { total = total }
  end
  local limits = {}
  for key, limit in pairs(value) do
    if key ~= "total" and key ~= "lane" then
      return nil, ('backlog: unknown key "%s" (known: total, lane)'):format(tostring(key))
    end
    limits[key] = count(limit)
    if not limits[key] then
      return nil, ("backlog: %s is %s %s"):format(key, show(limit), COUNT)
    end
  end
  if not limits.total and not limits.lane then
    return nil, "backlog: got an empty table (expected total or lane)"
  end
  return limits
end

-- settle(row, check, file) -> the function that gives a job its key, as of resolve, or nil. `check`
-- is the one of definition.settle; `row` gets the fields that are shown of a definition.
function unique.settle(row, check, file)
  local key, backlog = check("unique", unique.resolve, file), check("backlog", unique.backlog)
  row.unique = key and true or nil
  row.on_conflict = check("on_conflict", unique.check_policy)
  row.unique_for = check("unique_for", unique.check_span)
  row.backlog, row.lane_backlog = backlog and backlog.total, backlog and backlog.lane
  return key
end

return unique
