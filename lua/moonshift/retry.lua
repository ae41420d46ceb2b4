-- Retry configuration as definitions give it (rules §9): a text, a function, the name of a file in
-- retries/, or an expression "${…}" that gives one of these when a job fails.
local meant = require "moonshift.meant"
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local retry = {}

local RETRIES_MAX = 2147483647
local NESTED_MAX = 8 -- expressions that give expressions

-- True for a text that is meant as a configuration, however wrong: "R5/…", "PT…", a list.
local function looks_like_one(text)
  return text:find("^%s*R%d*%s*/") or text:find("^%s*P[%dT]") or text:find(",", 1, true)
end

-- What stands between the braces of "${…}" or "#{…}"; nil for any other text.
local function inside(text)
  return text:match("^%s*[$#]{(.*)}%s*$")
end

-- ---- expressions ----

-- The names an expression can use: job, failure, payload, properties, what every script has, and
-- the fields of the payload by themselves.
local function scope(world)
  local properties = type(world.properties) == "table" and world.properties
  local own = { properties = properties or {} }
  local names = setmetatable({}, {
    __index = function(_, name)
      if own[name] ~= nil then
        return own[name]
      elseif name == "failure" then
        return nil -- while a job is created
      end
      local fine, value = pcall(function()
        return (world.env or _G)[name]
      end)
      if fine and value ~= nil then
        return value
      end
      return own.job and type(own.payload) == "table" and own.payload[name] or nil
    end,
    __newindex = function(_, name)
      error(('cannot set "%s" in an expression'):format(tostring(name)), 2)
    end,
  })
  return names, own
end

-- compile(text, code, world) -> a function (job, failure) that gives the expression's value; or
-- nil, message.
local function compile(text, code, world)
  local names, own = scope(world)
  if code:find("^%s*$") then
    return nil, ('retry "%s": expected an expression between the braces'):format(text)
  end
  local chunk, message = load("return " .. code, "=expression", "t", names)
  if not chunk then
    return nil, ('retry "%s": %s'):format(text, (message:gsub("^expression:1: ", "")))
  end
  return function(job, failure)
    own.job, own.failure, own.payload = job, failure, job.payload
    local value = chunk()
    return value
  end
end

local resolve -- below

-- What `entry`, an expression, gives for this job: { text, runs } or { fn }. Raises what it raises,
-- and on values that are no configuration.
local function evaluate(entry, job, failure)
  local value
  for _ = 1, NESTED_MAX do
    value = entry.ask(job, failure)
    local given = value
    if math.type(value) == "integer" then
      value = ("PT%dS"):format(value)
    elseif type(value) == "number" then
      value = ("PT%.3fS"):format(value)
    end
    local found, message = resolve(value, entry.files, entry.world)
    if not found then
      message = type(given) == "string" and message or "retry: got " .. show(given)
      error(("%s, from the expression %s"):format(message, entry.shown), 0)
    elseif not found.ask then
      return found
    end
    entry = found
  end
  error(("the expression %s gives expressions without end"):format(show(value)), 0)
end

-- A strategy like any other: a configuration counts down the retries by itself.
local function expression(text, files, world)
  local ask, message = compile(text, inside(text), world)
  if not ask then
    return nil, message
  end
  local entry = { ask = ask, shown = text, files = files, world = world }
  function entry.fn(job, failure)
    local found = evaluate(entry, job, failure)
    if found.fn then
      return found.fn(job, failure)
    elseif failure.permanent then
      return nil
    end
    local at = rules.time(failure.at)
    local due = rules.retry_due(found.text, job.retries, at)
    return (due - at) / 1000, math.max(job.retries - 1, 0)
  end
  function entry.runs_of(job)
    return evaluate(entry, job).runs
  end
  return entry
end

-- ---- what is written in scripts and settings ----

local function from_text(text, files, world)
  local parsed, message = rules.retry(text)
  if parsed then
    return { text = text, runs = parsed.runs, shown = text }
  elseif inside(text) then
    return expression(text, files, world)
  elseif text:find("^%s*[$#]{") then
    return nil, ('retry "%s": expected } at the end of an expression'):format(text)
  elseif files[text] then
    local file = files[text]
    if file.expression then
      return expression(file.expression, files, world)
    end
    return { text = file.text, fn = file.fn, runs = file.runs, shown = text }
  elseif looks_like_one(text) then
    return nil, message
  end
  return nil, ('retry "%s": no such file in retries/ and not a retry configuration%s'):format(text,
    meant(text, files, ' (expected one such as "R5/PT5M")'))
end

-- resolve(value, files, world) -> { text, runs, shown }, { fn, shown } or, of an expression,
-- { fn, runs_of, shown }; or nil, message. `files` are the values of retries/ by name, as
-- retry.file made them; world: { env = the globals of scripts, properties = the definition's }.
function retry.resolve(value, files, world)
  if type(value) == "function" then
    return { fn = value, shown = "function" }
  elseif type(value) == "string" then
    return from_text(value, files, world or {})
  end
  return nil, ('retry: got %s (expected a text such as "R5/PT5M", a function or the name of a '
    .. "file in retries/)"):format(show(value))
end

resolve = retry.resolve

-- file(value): what a file in retries/ returned, checked; or nil, message.
function retry.file(value)
  if type(value) == "function" then
    return { fn = value }
  elseif type(value) == "string" and inside(value) then
    local fine, message = compile(value, inside(value), {})
    return fine and { expression = value }, message
  elseif type(value) == "string" then
    local parsed, message = rules.retry(value)
    return parsed and { text = value, runs = parsed.runs }, message
  end
  return nil, ('returned %s (expected a function or a text such as "R5/PT5M")'):format(show(value))
end

-- ---- when a job fails ----

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
