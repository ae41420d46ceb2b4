-- Units that are written from a form are those that the walk makes.
require "spec.support.scripts"
local commands = require "moonshift.process.commands"
local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"
local kept = require "moonshift.process.kept"
local process = require "spec.support.process"
local process_traces = require "spec.support.process_traces"
local rules = require "moonshift.rules"
local straight = require "moonshift.process.straight"
local testing = require "moonshift.testing"
local trace_models = require "spec.support.trace_models"
local walk = require "moonshift.process.walk"

-- What is the same in two units: all but lists and truths that are empty.
local function said(unit)
  local made = {}
  for name, value in pairs(unit) do
    if value and (type(value) ~= "table" or next(value) ~= nil) then
      made[name] = value
    end
  end
  return made
end

-- Counts the units that are written from a form.
local function counting()
  local run, counts = straight.run, { units = 0 }
  straight.run = function(...)
    local unit, w = run(...)
    counts.units = counts.units + (unit and 1 or 0)
    return unit, w
  end
  return counts, function()
    straight.run = run
  end
end

-- ---- on a driver ----

local HANDLERS = {
  function() end,
  function()
    return "a result that nothing wants"
  end,
  function(job)
    job.variables.count = (job.variables.count or 0) + 1
  end,
  function(job)
    return job.key
  end,
  function(job)
    job:set_local("mine", job.activity)
  end,
  function(job)
    if not job.variables.failed then
      error("fails by itself", 0)
    end
  end,
  function(job)
    job:throw("nobody")
  end,
  function(job)
    job:enqueue("other", { from = job.activity })
  end,
  function(job)
    job.variables.text = ("long "):rep(600)
  end,
}

local EXTRAS = {
  function() end,
  function(node)
    node.result = "found"
  end,
  function(node)
    node.input = { { name = "given", value = "${count}" } }
  end,
  function(node)
    node.input = { { name = "given", value = 7 } }
  end,
  function(node)
    node.output = { { name = "taken", value = "${1 + 1}" } }
  end,
  function(node)
    node.priority = "${count + 3}"
  end,
  function(node)
    node.priority, node.retry = 5, "R3/PT1M"
  end,
  function(node)
    node.listeners = { start = { { call = function(job)
      job.variables.heard = job.event
    end } } }
  end,
  function(node)
    node.behaviour = { expression = "${execution.setVariable('said', 1)}" }
  end,
  function(node)
    node.behaviour = { expression = "constant" }
  end,
  function(node)
    node.before, node.after = true, true
  end,
  function(node)
    node.behaviour = { names = { "nobody" } }
  end,
  function(node)
    node.behaviour = { names = { "nobody" }, topic = "outside" }
  end,
  function(node)
    node.behaviour = { names = { "nobody", "h1" }, topic = "in the folder" }
  end,
  function(node)
    node.behaviour = { names = { "nobody" }, topic = "number ${count}" }
  end,
}

-- A service task; every second one does nothing that a walk must see.
local function service(r)
  return function()
    local handler = math.max(1, r:upto(2 * #HANDLERS) - #HANDLERS)
    local node = { kind = "service", before = r:upto(3) > 1, after = r:upto(4) == 1,
      exclusive = r:upto(3) > 1, behaviour = r:upto(2) == 1 and { names = { "h" .. handler } }
        or { call = HANDLERS[handler] } }
    EXTRAS[math.max(1, r:upto(2 * #EXTRAS) - #EXTRAS)](node)
    return node
  end
end

-- A process, and one of a single step that it may call.
local function drawn(seed)
  local r = graphs.random(seed)
  local one = service(r)
  local graph = graphs.draw(r, { one, "task", one, one, r:upto(2) == 1 and "user" or "exclusive",
    r:upto(3) == 1 and "parallel" or one,
    r:upto(6) == 1 and { kind = "call", call = { process = "q" } } or one })
  graph.nodes.s.before = r:upto(3) == 1
  return { graph, graphs.make("q", { a = one() }, { "s -> a -> e" }) }
end

-- What an engine asks behind a walk: the calls that are not made again, and where it has failed.
local function told(d, failed)
  local w = d.context.walk
  return w and { kept = kept.all(w), at = failed and walk.at(w) }
end

-- Walks the causes of both, which comes out the same. nil: both have failed.
local function walk_both(ours, cause, theirs, other)
  local fine, unit = pcall(ours.walk, ours, cause)
  local run = straight.run
  straight.run = function() end
  local walked, wanted = pcall(theirs.walk, theirs, other)
  straight.run = run
  assert.equal(walked, fine)
  assert.same(told(theirs, not fine), told(ours, not fine))
  assert.same(theirs.called, ours.called)
  if not fine then
    assert.equal(tostring(wanted), tostring(unit))
    return nil
  end
  assert.same(said(wanted), said(unit))
  return unit, wanted
end

-- The same for a job whose token has gone.
local function walk_gone(ours, theirs, cause)
  local gone = { kind = "job", instance = cause.instance, token = 9999, handler = cause.handler,
    last = cause.last }
  assert(walk_both(ours, gone, theirs, gone))
end

-- Runs the next job of both, by the walk alone in the second one. Every second unit is behind, and
-- its job walks again with the calls that are kept.
local function run_both(ours, theirs)
  local cause, other = ours:take(ours:ready()), theirs:take(theirs:ready())
  walk_gone(ours, theirs, cause)
  local unit, wanted = walk_both(ours, cause, theirs, other)
  ours.runs = (ours.runs or 0) + 1
  if unit and ours.runs % 2 == 0 then
    cause.kept, other.kept = rules.decode(rules.encode(unit.kept)), wanted.kept
    unit, wanted = walk_both(ours, cause, theirs, other)
  end
  if not unit then
    return
  end
  assert(ours:write(unit, cause) and theirs:write(wanted, other))
  assert.same(theirs.jobs, ours.jobs)
end

-- A worker outside hands the next job of both back. Its unit is always walked.
local function hand_back_both(ours, theirs)
  local fine = pcall(ours.hand_back, ours, ours:ready(true))
  assert.equal(fine, (pcall(theirs.hand_back, theirs, theirs:ready(true))))
  assert.same(theirs.jobs, ours.jobs)
end

local function a_driver(seed)
  local d = driver.new(drawn(seed))
  d.called = {}
  for i, handler in ipairs(HANDLERS) do
    d.handlers["h" .. i] = function(job)
      table.insert(d.called, i)
      return handler(job)
    end
  end
  return d
end

-- Two instances, so that a form is filled again with what another one has.
local function drive_both(seed)
  local ours, theirs = a_driver(seed), a_driver(seed)
  local variables = { count = seed, text = "with ]],\"tokens\":[[", list = { 1 } }
  for i = 0, 1 do
    local given = (seed + i) % 3 > 0 and variables or {}
    local more = { key = i == 0 and "k" or nil, tenant = seed % 2 == i and "north" or nil }
    assert.equal(pcall(ours.start, ours, "p", given, more),
      (pcall(theirs.start, theirs, "p", given, more)))
  end
  while ours.jobs[1] do
    local step = ours:ready() and run_both or hand_back_both
    step(ours, theirs)
  end
  assert.same(theirs.past, ours.past)
  assert.same(theirs.trail, ours.trail)
end

-- ---- models ----

-- What each unit of a job says, and the trace of the process.
local function recorded(keys, folder, log)
  local run, units = commands.run, {}
  commands.run = function(context, cause)
    local unit = run(context, cause)
    units[#units + 1] = cause.kind == "job" and rules.decode(rules.encode(said(unit))) or nil
    return unit
  end
  math.randomseed(7)
  local engine <close> = testing.engine { scripts = folder }
  local fine, trace = pcall(process_traces.record, engine, log, keys)
  commands.run = run
  return assert(fine and trace, trace), units
end

local function record_both(keys, folder, log)
  local trace, units = recorded(keys, folder, log)
  local run = straight.run
  straight.run = function() end
  local fine, wanted, walked = pcall(recorded, keys, folder, log)
  straight.run = run
  assert(fine, wanted)
  assert.same(wanted, trace)
  assert.same(walked, units)
end

describe("units from forms", function()
  it("are those of the walk, in random processes", function()
    local counts, restore = counting()
    local fine, message = pcall(function()
      for seed = 1, 250 do
        drive_both(seed * 7919)
      end
    end)
    restore()
    assert(fine, message)
    assert.is_true(counts.units > 200)
  end)

  it("are none where the frame is too large, which the walk refuses", function()
    local step = { kind = "service", before = true, behaviour = { call = function() end } }
    local d = driver.new { graphs.make("p", { a = step, b = step }, { "s -> a -> b -> e" }) }
    local counts, restore = counting()
    for _ = 1, 3 do
      d:start("p", { text = ("x"):rep(500) })
    end
    d:run(d:ready())
    d:run(d:ready())
    d.settings.frame_max = 400
    local fine, message = pcall(d.run, d, d:ready())
    restore()
    assert.equal(2, counts.units)
    assert.is_false(fine)
    assert.truthy(message:find "^the frame of instance %d+ has %d+ bytes %(expected at most 400%)")
  end)

  it("are none where a condition is looked at, which may be true", function()
    local awaits = { kind = "catch", before = true, event = { kind = "conditional",
      when = "${setx}" } }
    for _, given in ipairs { { setx = true }, {} } do
      local d = driver.new { graphs.make("p", { a = awaits }, { "s -> a -> e" }) }
      local id = d:start("p", given)
      d:run(d:ready())
      assert.equal(given.setx, d.past[id] and true)
    end
  end)

  it("are those of the walk, in models with all that a process waits for", function()
    local counts, restore = counting()
    math.randomseed(29)
    local log = os.tmpname()
    local files = trace_models.files(log)
    local loud = process.folder(files)
    files["handlers/note.lua"] = "return function() end\n"
    local silent = process.folder(files)
    local fine, message = pcall(function()
      for _, keys in ipairs(trace_models.all()) do
        record_both(keys, loud, log)
        record_both(keys, silent, log)
      end
      for _, key in ipairs { "async1", "five", "fork", "timer", "ten" } do
        record_both({ key }, "core/bench", log)
      end
    end)
    restore()
    process.remove(loud)
    process.remove(silent)
    os.remove(log)
    assert(fine, message)
    assert.is_true(counts.units > 7)
  end)
end)
