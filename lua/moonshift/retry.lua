-- Retry configuration as definitions give it: a text, a function, or the name of a file in
-- retries/.
local meant = require "moonshift.meant"
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local retry = {}

local RETRIES_MAX = 2147483647

-- True for a text that is meant as a configuration, however wrong: "R5/…", "PT…", a list.
local function looks_like_one(text)
  return text:find("^%s*R%d*%s*/") or text:find("^%s*P[%dT]") or text:find(",", 1, true)
end

local function from_text(text, files)
  local parsed, message = rules.retry(text)
  if parsed then
    return { text = text, runs = parsed.runs, shown = text }
  elseif files[text] then
    local file = files[text]
    return { text = file.text, fn = file.fn, runs = file.runs, shown = text }
  elseif looks_like_one(text) then
    return nil, message
  end
  return nil, ('retry "%s": no such file in retries/ and not a retry configuration%s'):format(text,
    meant(text, files, ' (expected one such as "R5/PT5M")'))
end

-- resolve(value, files) -> { text, runs, shown } or { fn, shown }; or nil, message. `files` are the
-- values of retries/ by name, as retry.file made them.
function retry.resolve(value, files)
  if type(value) == "function" then
    return { fn = value, shown = "function" }
  elseif type(value) == "string" then
    return from_text(value, files)
  end
  return nil, ('retry: got %s (expected a text such as "R5/PT5M", a function or the name of a '
    .. "file in retries/)"):format(show(value))
end

-- file(value): what a file in retries/ returned, checked; or nil, message.
function retry.file(value)
  if type(value) == "function" then
    return { fn = value }
  elseif type(value) == "string" then
    local parsed, message = rules.retry(value)
    return parsed and { text = value, runs = parsed.runs }, message
  end
  return nil, ('returned %s (expected a function or a text such as "R5/PT5M")'):format(show(value))
end

-- decide(strategy, job, failure) -> delay in ms or nil (give up), retries left or nil. Raises what
-- the strategy raises, and on answers that mean nothing.
function retry.decide(strategy, job, failure)
  local delay, left = strategy(job, failure)
  if left ~= nil then
    local whole = type(left) == "number" and math.tointeger(left)
    if not whole or whole < 0 or whole > RETRIES_MAX then
      error(("returned %s for the retries left (expected a whole number from 0)"):format(
        show(left)), 0)
    end
    left = whole
  end
  if delay == nil then
    return nil, left
  end
  local ms, message = rules.duration(delay)
  if not ms then
    error("returned no delay: " .. message, 0)
  end
  return ms, left
end

return retry
