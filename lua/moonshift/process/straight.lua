-- Straight units are written from a form (form.lua), without a walk: those of a job whose instance
-- stands in one place alone, outside of sub-processes.
--
-- A handler that asks its job for more than the store knows of it makes the walk come to its call,
-- which then goes on as any walk. So does one that fails.
local calls = require "moonshift.process.calls"
local form = require "moonshift.process.form"
local service = require "moonshift.process.nodes.service"
local walk = require "moonshift.process.walk"

local straight = {}

local NONE = {}

-- ---- units ----

local function unit_of(run)
  local made, row, values = run.form, run.row, run.values
  local id, left, jobs = row.id, {}, {}
  for i, what in ipairs(made.left) do
    left[i] = { instance = id, token = 0, what = what }
  end
  for i, job in ipairs(made.jobs) do
    jobs[i] = { instance = id, token = run.cause.token, handler = job.handler,
      topic = job.topic, priority = job.priority, retries = job.retries, exclusive = job.exclusive }
  end
  return { kept = run.kept, left = left, jobs = jobs,
    instances = { { id = id, version = row.version, rev = row.rev, key = row.key,
      tenant = row.tenant, frame = run.frame, ended = made.ended,
      variables = made.ended and run.context.decode(values.held == "" and "{}"
        or values.held:sub(2)) or nil } },
    trail = { made.trail and { instance = id, events = form.fill(made.trail, values) } or nil } }
end

-- Walks to the call that runs already, and says what it is a call of.
local function walk_to(call)
  local run = call.run
  local context = run.context
  local w = walk.new(context, run.cause, run.now)
  w.before, w.running = run.kept, call
  context.walk = w
  run.begin(w)
  walk.go(w)
end

-- Goes on as a walk behind a call.
local function walk_on(call, key, ok, result)
  local w, inst, token = call.walk, call.inst, call.token
  local given, thrown = calls.finish(w, call, key, nil, ok, result)
  service.called(w, inst, token, call.step, given, thrown)
  walk.go(w)
  return w
end

-- nil: the handlers have returned, and asked nothing of the walk. Else the walk that has gone on.
local function call_all(run)
  local way = run.row.id .. ":" .. run.values.token
  for _, one in ipairs(run.form.calls) do
    local key = way .. one.suffix
    run.here, one.inst.version = one.token, run.row.version
    local call, ok, result = calls.alone(run, one, key, walk_to)
    if not ok or not call.open then
      return walk_on(call, key, ok, result)
    end
    run.kept[key] = NONE
  end
end

-- The unit, or nil and the walk.
local function run_form(run)
  local context, values = run.context, run.values
  run.now = context.now()
  values.now = run.now .. ""
  run.frame = run.form.frame and form.fill(run.form.frame, values) or nil
  if run.frame and #run.frame > walk.settings_of(context).frame_max then
    return nil
  end
  context.walk = run
  local w = call_all(run)
  return not w and unit_of(run) or nil, w
end

-- run(context, cause, begin) -> the unit, or nil and the walk in which the job has gone on; nil
-- alone: the job has to be walked. begin(w) begins the walk of a cause.
function straight.run(context, cause, begin)
  local row = not cause.kept and context.frame(cause.instance, cause.token)
  if not row or row.turn or row.parent then
    return nil
  end
  local values, place = form.parts(row.frame)
  if not values or math.tointeger(values.token) ~= cause.token then
    return nil
  end
  local found = form.find(context, row.version, cause, place, begin)
  if found then
    return run_form { context = context, cause = cause, row = row, values = values, form = found,
      begin = begin, kept = {}, before = NONE, here = false, now = false, frame = false }
  end
end

return straight
