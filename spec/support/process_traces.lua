-- Traces of processes: recorded one job at a time on a virtual clock, and driven again by executors
-- with several workers, with the same inputs. Between two inputs the calls of handlers and the
-- places are compared, at the end the history, the variables, and how the instances ended.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local rules = require("moonshift.core").rules
local testing = require "moonshift.testing"
local trace_models = require "spec.support.trace_models"

local process_traces = {}

local INPUTS = 12 -- of one trace
local JOBS = 400 -- of one record, which must come to an end

-- ---- reading: a view is an engine and the keys of the processes that are looked at ----

local function add(counts, name)
  counts[name] = (counts[name] or 0) + 1
end

-- Rows of these processes, the oldest first.
local function rows(view, kind, filters)
  local all = { process = view.keys }
  for name, value in pairs(filters or {}) do
    all[name] = value
  end
  return view.engine[kind](view.engine, all):list()
end

-- The jobs of these processes. `filters`: of engine:jobs.
local function jobs(view, filters)
  local found, known = {}, {}
  for _, key in ipairs(view.keys) do
    known[key] = true
  end
  for _, row in ipairs(view.engine:jobs(filters):list()) do
    if known[row.handler:match "^process/([^/]+)/"] then
      found[#found + 1] = row
    end
  end
  return found
end

-- Where the instances stand, and how often.
local function places(view)
  local counts = {}
  for _, row in ipairs(rows(view, "instances")) do
    for _, place in ipairs(view.engine:instance(row.id).at) do
      for _ = 1, place.count or 1 do
        add(counts, ("%s/%s (%s)"):format(row.process, place.activity, place.state))
      end
    end
  end
  return counts
end

-- What the handlers have written since the last look.
local function calls(view)
  local counts, text = {}, process.read(view.log)
  for key, activity in text:sub(view.read + 1):gmatch "(%S+) (%S+)\n" do
    for _, known in ipairs(view.keys) do
      if key == known then
        add(counts, key .. "/" .. activity)
      end
    end
  end
  return counts
end

local KINDS = { s = "began", e = "ended", c = "interrupted" }

local function ending(view)
  local history, ends = {}, {}
  for _, kind in ipairs { "instances", "past_instances" } do
    for _, row in ipairs(rows(view, kind)) do
      local one = view.engine:instance(row.id)
      local variables = table.concat(trace_models.keys(one.variables), " ")
      add(ends, ("%s %s {%s}"):format(row.process, one.how or one.state, variables))
      for _, unit in ipairs(view.engine:trail({ instance = row.id }):list()) do
        for _, event in ipairs(unit.events) do
          if KINDS[event[1]] then
            add(history, ("%s/%s %s"):format(row.process, event[3], KINDS[event[1]]))
          end
        end
      end
    end
  end
  local failed = view.engine:instances({ process = view.keys, with_incidents = true }):count()
  return { history = history, ends = ends, failed = { incidents = failed } }
end

-- ---- inputs: { kind, activity } ----

-- The places that wait to be triggered, { id = of the instance, activity }.
local function triggers(view)
  local found = {}
  for _, row in ipairs(rows(view, "instances")) do
    for _, place in ipairs(view.engine:instance(row.id).at) do
      if place.state == "trigger" then
        found[#found + 1] = { id = row.id, activity = place.activity }
      end
    end
  end
  return found
end

local give = {}

function give.complete(view, activity)
  return view.engine:complete(rows(view, "tasks", { activity = activity })[1].id)
end

function give.message(view, activity)
  local to = rows(view, "subscriptions", { activity = activity })[1]
  return view.engine:correlate(to.name, { instance = to.instance, token = to.token })
end

function give.trigger(view, activity)
  for _, place in ipairs(triggers(view)) do
    if place.activity == activity then
      return view.engine:trigger(place.id, activity)
    end
  end
  error("nothing waits to be triggered at " .. activity)
end

function give.advance(view)
  return view.advance(view)
end

-- What can be given: to people, messages, triggers; and the clock, if a job waits for it.
local function possible(view)
  local list = {}
  for _, row in ipairs(rows(view, "tasks")) do
    list[#list + 1] = { "complete", row.activity }
  end
  for _, row in ipairs(rows(view, "subscriptions")) do
    list[#list + 1] = { "message", row.activity }
  end
  for _, place in ipairs(triggers(view)) do
    list[#list + 1] = { "trigger", place.activity }
  end
  if jobs(view, { state = "scheduled" })[1] then
    list[#list + 1] = { "advance" }
  end
  return list
end

-- The clock comes to the next date.
local function advance_by_clock(view)
  local first
  for _, job in ipairs(jobs(view, { state = "scheduled" })) do
    first = (not first or job.due < first) and job.due or first
  end
  return view.engine.clock:set(first)
end

-- ---- recording: one job at a time ----

-- Runs what is due: of the smallest name, the oldest first. That a run fails is told by its call.
local function settle(view)
  for _ = 1, JOBS do
    local list = jobs(view, { executable = true })
    table.sort(list, function(a, b)
      return a.handler < b.handler or a.handler == b.handler and a.id < b.id
    end)
    if not list[1] then
      return
    end
    pcall(view.engine.execute, view.engine, list[1].id)
  end
  error(view.keys[1] .. " does not come to an end")
end

-- What is seen when nothing is due: a step of a trace.
local function step(view, input)
  local seen = { input = input, calls = calls(view), places = places(view) }
  view.read = #process.read(view.log)
  return seen
end

local function start(view, pick)
  return assert(view.engine:start(view.keys[1], { variables = { pick = pick } }))
end

-- The trace of a process: { keys, pick, [1] = the step behind its start, …, ending }. Inputs are
-- drawn among those that are possible, until none is or there were enough.
local function record(engine, log, keys)
  local view = { engine = engine, keys = keys, log = log, read = #process.read(log),
    advance = advance_by_clock }
  local trace = { keys = keys, pick = math.random(0, 3) }
  local id = start(view, trace.pick)
  settle(view)
  trace[1] = step(view, { "start" })
  for n = 2, INPUTS + 1 do
    local list = possible(view)
    if not list[1] then
      break
    end
    local input = list[math.random(#list)]
    assert(give[input[1]](view, input[2]))
    settle(view)
    trace[n] = step(view, input)
  end
  trace.ending = ending(view)
  if engine:instance(id).state == "active" then
    assert(engine:cancel_instance(id))
  end
  return trace
end

process_traces.record = record

-- ---- driving by executors ----

local TOGETHER = 600000 -- ms: dates of the models lie further apart, a run takes less

-- The dates of this process come nearer by the time to its next one.
local function advance_by_dates(view)
  local now, first = rules.time(view.engine.clock:now()), math.huge
  local list = jobs(view, { state = "scheduled" })
  for _, job in ipairs(list) do
    first = math.min(first, rules.time(job.due))
  end
  for _, job in ipairs(list) do
    local rest = rules.time(job.due) - first
    assert(view.engine:set_due(job.id, rules.format_time(now + (rest < TOGETHER and 0 or rest)),
      { cascade = job["repeat"] ~= nil or nil }))
  end
  return true
end

-- One or two executors run until nothing is left that is due.
local function drain(place, how)
  local one = process.command("run", "-C", place.path, "--store", place.url, "--drain",
    "--workers", how.workers)
  local status, _, errors = process.run(how.executors == 1 and one
    or ("%s & %s && wait $!"):format(one, one))
  assert(status == 0, errors)
end

-- True if two tables of counts are the same; else what differs is told.
local function compare(problems, trace, n, what, found, wanted)
  local names, list, inputs = {}, {}, {}
  for _, counts in ipairs { found, wanted } do
    for name in pairs(counts) do
      names[name] = true
    end
  end
  for _, name in ipairs(trace_models.keys(names)) do
    if found[name] ~= wanted[name] then
      list[#list + 1] = ("%s: %s, expected %s"):format(name, found[name] or 0, wanted[name] or 0)
    end
  end
  for i = 1, math.min(n, #trace) do
    inputs[i] = table.concat(trace[i].input, " ")
  end
  if list[1] then
    problems[#problems + 1] = ("%s (pick %d) after %s: %s\n  %s"):format(trace.keys[1], trace.pick,
      table.concat(inputs, ", "), what, table.concat(list, "\n  "))
  end
  return not list[1]
end

local function longest(traces)
  local most = 0
  for _, trace in ipairs(traces) do
    most = math.max(most, #trace)
  end
  return most
end

-- The n-th input of a trace.
local function give_input(view, trace, n)
  local input = trace[n].input
  if n == 1 then
    return start(view, trace.pick)
  end
  return assert(give[input[1]](view, input[2]))
end

-- Gives all traces their n-th input, lets executors run, and compares. One that differs is lost: it
-- gets no further input.
local function drive_step(place, how, traces, views, n, problems)
  for i, trace in ipairs(traces) do
    if trace[n] and not trace.lost then
      local fine, message = pcall(give_input, views[i], trace, n)
      trace.lost = not fine
      compare(problems, trace, n, "the input", { [fine and "taken" or message] = 1 }, { taken = 1 })
    end
  end
  drain(place, how)
  if how.between then
    how.between(place, views[1].log)
  end
  for i, trace in ipairs(traces) do
    if trace[n] and not trace.lost then
      local seen = step(views[i])
      local same = compare(problems, trace, n, "calls", seen.calls, trace[n].calls)
      trace.lost = not compare(problems, trace, n, "places", seen.places, trace[n].places)
        or not same
    end
  end
end

local function drive(place, how, traces, log)
  local engine = assert(moonshift.open { store = place.url, scripts = place.path })
  local views, problems = {}, {}
  for i, trace in ipairs(traces) do
    views[i] = { engine = engine, keys = trace.keys, log = log, read = #process.read(log),
      advance = advance_by_dates }
  end
  for n = 1, longest(traces) do
    drive_step(place, how, traces, views, n, problems)
  end
  for i, trace in ipairs(traces) do
    if not trace.lost then
      local found = ending(views[i])
      for _, what in ipairs { "history", "ends", "failed" } do
        compare(problems, trace, #trace, what, found[what], trace.ending[what])
      end
    end
  end
  engine:close()
  return problems
end

local REMOVED = { __close = function(place)
  place.remove()
end }

-- run{ executors, workers, only, between } -> what differs, as texts. The models get jobs that are
-- drawn anew; `only`: the key of one of them. between(place, log) comes each time that executors
-- have run.
function process_traces.run(how)
  local place <close> = setmetatable(executors.place {}, REMOVED)
  local log = place.path .. "/called"
  for path, text in pairs(trace_models.files(log)) do
    place.write(path, text)
  end
  local traces, recorder = {}, testing.engine { scripts = place.path }
  for _, keys in ipairs(trace_models.all()) do
    if not how.only or how.only == keys[1] then
      traces[#traces + 1] = record(recorder, log, keys)
    end
  end
  recorder:close()
  local problems = drive(place, how, traces, log)
  if not problems[1] then
    place.moonshift("check", "--store", place.url)
  end
  return problems
end

return process_traces
