-- Units that are written from a form are those that the walk makes.
require "spec.support.scripts"
local commands = require "moonshift.process.commands"
local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"
local process = require "spec.support.process"
local process_traces = require "spec.support.process_traces"
local rules = require "moonshift.rules"
local straight = require "moonshift.process.straight"
local testing = require "moonshift.testing"
local trace_models = require "spec.support.trace_models"

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
}

-- A service task; every second one does nothing that a walk must see.
local function service(r)
  return function()
    local node = { kind = "service", before = r:upto(3) > 1, after = r:upto(4) == 1,
      exclusive = r:upto(3) > 1, behaviour = {
        call = HANDLERS[math.max(1, r:upto(2 * #HANDLERS) - #HANDLERS)] } }
    EXTRAS[math.max(1, r:upto(2 * #EXTRAS) - #EXTRAS)](node)
    return node
  end
end

local function drawn(seed)
  local r = graphs.random(seed)
  local one = service(r)
  local graph = graphs.draw(r, { one, "task", one, one, r:upto(2) == 1 and "user" or "exclusive",
    r:upto(3) == 1 and "parallel" or one })
  graph.nodes.s.before = r:upto(3) == 1
  return graph
end

-- Runs the next job of both, by the walk alone in the second one. True: the runs ended alike.
local function run_both(ours, theirs)
  local cause, other = ours:take(ours:ready()), theirs:take(theirs:ready())
  other.kept = {}
  local fine, unit = pcall(ours.walk, ours, cause)
  local walked, wanted = pcall(theirs.walk, theirs, other)
  assert.equal(walked, fine)
  if not fine then
    assert.equal(tostring(wanted), tostring(unit))
    return
  end
  assert.same(said(wanted), said(unit))
  assert(ours:write(unit, cause) and theirs:write(wanted, other))
  assert.same(theirs.jobs, ours.jobs)
end

local function drive_both(seed)
  local ours, theirs = driver.new { drawn(seed) }, driver.new { drawn(seed) }
  local variables = seed % 3 > 0 and { count = seed, text = "with ]],\"tokens\":[[", list = { 1 } }
  local started = pcall(ours.start, ours, "p", variables or {}, { key = "k" })
  assert.equal(started, (pcall(theirs.start, theirs, "p", variables or {}, { key = "k" })))
  while ours:ready() do
    run_both(ours, theirs)
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
      for seed = 1, 300 do
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
