-- Reads the files in schedules/ (rules §14). Their values are checked where jobs are created, in
-- core/job/job_spec.c.
local definition = require "moonshift.definition"
local meant = require "moonshift.meant"
local priority = require "moonshift.priority"
local show = require "moonshift.show"

local schedule = {}

local KEYS = {
  "handler", "cycle", "zone", "misfire", "payload", "priority", "lane", "exclusive", "instance",
  "root", "activity", "retries", "tenant", "category", "description", "overlap", "jitter",
  "catch_up", "at",
}
-- What belongs to dates, which a schedule with at = "start" has none of.
local DATED = { "cycle", "zone", "misfire", "overlap", "jitter", "catch_up" }
local START = "@reboot" -- the cycle of such a schedule

local function check_keys(value, report)
  local known, fine = {}, true
  for _, key in ipairs(KEYS) do
    known[key] = true
  end
  for _, key in ipairs(definition.sorted_keys(value)) do
    if not known[key] then
      report(definition.unknown_key(key, KEYS), key)
      fine = false
    end
  end
  return fine
end

local function check_handler(value, handlers, report)
  if type(value) ~= "string" then
    report(value == nil and "handler is missing (expected the name of a handler)"
      or ("handler: got %s (expected the name of a handler)"):format(show(value)), "handler")
    return false
  elseif not handlers[value] then
    report(('unknown handler "%s"%s'):format(value,
      meant(value, handlers, " (expected a handler of this folder)")), "handler")
    return false
  end
  return true
end

-- Whether it runs as an executor starts; nil: its `at` was refused.
local function starts(value, report)
  if value.at == nil then
    return false
  elseif value.at ~= "start" then
    report(('at: got %s (expected "start", or a cycle)'):format(show(value.at)), "at")
    return nil
  end
  for _, key in ipairs(DATED) do
    if value[key] ~= nil then
      report(('%s: expected none beside at = "start"'):format(key), key)
      return nil
    end
  end
  return true
end

-- The job as the handler's own functions see it.
local function spec_of(spec)
  local job = { type = "timer" }
  for key, value in pairs(spec) do
    job[key] = value
  end
  job.payload = job.payload == nil and {} or job.payload
  return job
end

-- The priority that the handler's own function gives such a job; nil if it has none.
local function ask_priority(spec, entry, report)
  if not entry or spec.priority ~= nil then
    return nil
  end
  local fine, value = pcall(priority.ask, entry, spec_of(spec))
  if not fine then
    report(("priority: %s"):format(tostring(value)), "handler")
    return nil
  end
  return value
end

-- The number of runs that the handler's retry expression gives; nil: the standard one.
local function ask_retries(spec, runs_of)
  if not runs_of or spec.retries ~= nil then
    return nil
  end
  local fine, value = pcall(runs_of, spec_of(spec))
  return fine and value or nil
end

-- read(name, path, value, context, report) -> { name, file, spec, priority, retries }, the last two
-- from the handler's functions; or nil. `context`: check_spec (C's), handlers (a set of names),
-- and by handler priorities, expressions (see folder.load).
-- report(message, key) is called for each problem.
function schedule.read(name, path, value, context, report)
  if type(value) ~= "table" then
    report(("returned %s (expected a table with handler and cycle)"):format(show(value)))
    return nil
  end
  local fine = check_keys(value, report)
  fine = check_handler(value.handler, context.handlers, report) and fine
  local started = starts(value, report)
  if value.cycle == nil and started == false then
    report('cycle is missing (expected one such as "0 8 * * *" or "R/PT5M")', "cycle")
    return nil
  end
  local spec = {}
  for _, key in ipairs(KEYS) do
    spec[key] = value[key]
  end
  spec.description, spec.at = nil, nil
  spec.cycle = started and START or spec.cycle
  local good, message = nil, nil
  if fine and started ~= nil then
    good, message = context.check_spec(spec)
  end
  if message then
    local word = message:match("^([%a_]+)")
    report(message, word == "cron" and "cycle" or word)
  end
  return good and {
    name = name,
    file = path,
    spec = spec,
    priority = ask_priority(spec, context.priorities[spec.handler], report),
    retries = ask_retries(spec, context.expressions[spec.handler]),
  }
end

return schedule
