-- Retry configuration as definitions give it (rules §9): a text, a function, the name of a file in
-- retries/, or an expression "${…}" that gives a text or seconds when a job fails.
local expression = require "moonshift.expression"
local meant = require "moonshift.meant"
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local retry = {}

local RETRIES_MAX = 2147483647
local SPAN_MAX = 1000 -- bytes of a configuration that an expression gives
local STANDARD = {} -- what a strategy returns that leaves it to the standard rule

-- True for a text that is meant as a configuration, however wrong: "R5/…", "PT…", "5m", a list.
local function looks_like_one(text)
  return text:find("^%s*R%d*%s*/") or text:find("^%s*P[%dT]") or text:find("^%s*%d[%d.]*%a")
    or text:find(",", 1, true)
end

-- ---- expressions ----

-- Reads the value of the expression `node` as a configuration: { text, runs }. Raises on any other
-- value. A value is data: it names no file and is no expression.
local function configuration(node, value)
  local text = value
  if math.type(value) == "integer" then
    text = ("PT%dS"):format(value)
  elseif type(value) == "number" then
    text = ("PT%.3fS"):format(value)
  end
  local parsed, message = nil, "retry: got " .. show(value)
  if type(text) == "string" and #text <= SPAN_MAX then
    parsed, message = rules.retry(text)
  end
  if not parsed then
    error(("%s, from the expression %s"):format(message, node.text), 0)
  end
  return { text = text, runs = parsed.runs }
end

-- Evaluates the expression of `entry` for this job: { text, runs } or { fn }; nil if neither it nor
-- the configuration after it has an opinion.
local function evaluate(entry, job)
  local value = expression.ask(entry.node, job)
  if value ~= nil then
    return configuration(entry.node, value)
  end
  local other = entry.otherwise
  if other and other.node then
    return evaluate(other, job)
  end
  return other
end

-- What the configuration `text` says of this failure, as a strategy says it. `runs`: those that
-- were left before it.
local function by_text(text, runs, failure)
  if failure.permanent then
    return nil
  end
  local at = rules.time(failure.at)
  local due = rules.retry_due(text, runs, at)
  return math.max((due - at) / 1000, failure.retry_after or 0), math.max(runs - 1, 0)
end

-- Decides as a strategy does.
local function decide(entry, job, failure)
  local found = evaluate(entry, job)
  if not found then
    return STANDARD
  elseif found.fn then
    return found.fn(job, failure)
  end
  return by_text(found.text, job.retries, failure)
end

-- asking(text, ask) -> a strategy by the configuration that ask(job) gives at each failure; nil is
-- the standard rule. Its number of runs counts from the first. `text` is what errors name.
function retry.asking(text, ask)
  return function(job, failure)
    local value = ask(job)
    if value == nil then
      return STANDARD
    end
    local found = configuration({ text = text }, value)
    local runs = job.attempt == 1 and found.runs or job.retries
    return by_text(found.text, runs, failure)
  end
end

-- from_expression(text, otherwise) -> as retry.resolve; or nil, message. A text that does
-- not depend on a job is read at once.
local function from_expression(text, otherwise)
  local node, message = expression.of_job(text)
  if not node then
    return nil, ('retry "%s": %s'):format(text, message)
  elseif node.constant and node.value ~= nil then
    local fine, found = pcall(configuration, node, node.value)
    if not fine then
      return nil, found
    end
    found.shown = text
    return found
  end
  local entry = { node = node, otherwise = otherwise, shown = text }
  function entry.fn(job, failure)
    return decide(entry, job, failure)
  end
  function entry.runs_of(job)
    local found = evaluate(entry, job)
    return found and found.runs
  end
  return entry
end

-- ---- texts in scripts and settings ----

local function from_text(text, files, otherwise)
  local parsed, message = rules.retry(text)
  if parsed then
    return { text = text, runs = parsed.runs, shown = text }
  elseif expression.is(text) then
    return from_expression(text, otherwise)
  elseif files[text] then
    local file = files[text]
    if file.expression then
      return from_expression(file.expression, otherwise)
    end
    return { text = file.text, fn = file.fn, runs = file.runs, shown = text }
  elseif looks_like_one(text) then
    return nil, message
  end
  return nil, ('retry "%s": no such file in retries/ and not a retry configuration%s'):format(text,
    meant(text, files, ' (expected one such as "R5/PT5M")'))
end

-- resolve(value, files, otherwise) -> { text, runs, shown }, { fn, shown } or, of an expression,
-- { node, fn, runs_of, shown }; or nil, message. `files` are the values of retries/ by name, as
-- retry.file made them. `otherwise`, resolved, counts where an expression gives nothing.
function retry.resolve(value, files, otherwise)
  if type(value) == "function" then
    return { fn = value, shown = "function" }
  elseif type(value) == "string" then
    return from_text(value, files, otherwise)
  end
  return nil, ('retry: got %s (expected a text such as "R5/PT5M", a function or the name of a '
    .. "file in retries/)"):format(show(value))
end

-- file(value): checks the value of a file in retries/ and returns it; or nil, message.
function retry.file(value)
  if type(value) == "function" then
    return { fn = value }
  elseif expression.is(value) then
    local fine, message = from_expression(value)
    return fine and { expression = value }, message
  elseif type(value) == "string" then
    local parsed, message = rules.retry(value)
    return parsed and { text = value, runs = parsed.runs }, message
  end
  return nil, ('returned %s (expected a function or a text such as "R5/PT5M")'):format(show(value))
end

-- ---- when a job fails ----

-- decide(strategy, job, failure) -> delay in ms or nil (give up), retries left or nil; false where
-- an expression leaves it to the standard rule. Raises the strategy's error, and an error for
-- results without a meaning.
function retry.decide(strategy, job, failure)
  local delay, left = strategy(job, failure)
  if delay == STANDARD then
    return false
  end
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
