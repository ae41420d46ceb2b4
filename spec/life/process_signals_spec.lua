-- Signals as they are given and thrown: to a few in one unit, to many by jobs of several workers.
-- Conditions beside commands and jobs.
local engines = require "spec.support.engines"
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = 'local process = require "moonshift.process"\nreturn '

local files = {
  ["processes/waits.lua"] = WORDS .. [[{ process.wait "w" { signal = "S" },
    process.task "a" {} }]],
  ["processes/both.lua"] = WORDS .. [[{ process.parallel {
    { process.wait "v" { signal = "S" }, process.task "a" {} },
    { process.wait "w" { signal = "S" }, process.task "b" {} } } }]],
  ["processes/begins.lua"] = WORDS .. [[{ process.start "s" { signal = "S" },
    process.task "b" {} }]],
  ["processes/beside.lua"] = WORDS .. [[{ process.task "a" {
    on_signal = { "${name}", interrupting = false, process.task "c" {} } } }]],
  ["processes/throws.lua"] = WORDS .. [[{ process.throw "t" { signal = "S",
    with = { "x", y = "${x + 1}" } }, process.task "d" {} }]],
  ["processes/fails.lua"] = WORDS .. [[{ process.wait "w" { signal = "S" },
    process.step "no" { run = function() error("no") end } }]],
  ["processes/calls.lua"] = WORDS .. [[{ process.step "t" { async = true, run = function(job)
    job:signal("S", { x = 7 }) end } }]],
  ["processes/ranked.lua"] = WORDS .. [[{ priority = 5, process.parallel {
    { process.wait "w" { signal = "S", priority = "${rank}" } },
    { process.task "a" { on_signal = { "S", process.task "b" {} } } } } }]],
  ["processes/early.lua"] = WORDS .. [[{ priority = 6, process.start "s" { signal = "S" } }]],
  ["processes/tells.bpmn"] = [[<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="t"><signal id="x" name="S"/>
    <process id="tells" isExecutable="true" camunda:jobPriority="4"><startEvent id="s"/>
      <sequenceFlow id="f1" sourceRef="s" targetRef="p"/><parallelGateway id="p"/>
      <sequenceFlow id="f2" sourceRef="p" targetRef="w"/><intermediateCatchEvent id="w">
        <signalEventDefinition signalRef="x"/></intermediateCatchEvent>
      <sequenceFlow id="f3" sourceRef="w" targetRef="e"/><endEvent id="e"/>
      <sequenceFlow id="f4" sourceRef="p" targetRef="t"/><endEvent id="t">
        <signalEventDefinition signalRef="x" camunda:async="true"/></endEvent>
    </process></definitions>]],
  ["processes/called.lua"] = WORDS .. [[{ process.step "f" { async = true, run = "nothing" },
    process.wait "w" { signal = "S-${n}" }, process.task "a" {} }]],
  ["processes/pairs.lua"] = WORDS .. [[{ process.parallel {
    { process.call "called" { with = { "n" } } },
    { process.step "t" { async = true, run = function(job)
      job:signal("S-" .. job.variables.n) end } } } }]],
}

local function only(...)
  local some = {}
  for _, name in ipairs { ... } do
    local path = "processes/" .. name .. ".lua"
    path = files[path] and path or "processes/" .. name .. ".bpmn"
    some[path] = files[path]
  end
  return some
end

describe("a signal", function()
  local engine, folder

  local function open(...)
    folder = process.folder(only(...))
    engine = testing.engine { scripts = folder }
  end

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function standing()
    local found = {}
    for _, row in ipairs(engine:tasks():list()) do
      local x = engine:instance(row.instance).variables
      found[#found + 1] = ("%s %s %s"):format(row.activity, tostring(x.x), tostring(x.y))
    end
    table.sort(found)
    return found
  end

  it("reaches all that wait for it, and starts what it starts", function()
    open("waits", "begins", "beside")
    assert(engine:start("waits"))
    assert(engine:start("waits"))
    local beside = assert(engine:start("beside", { variables = { name = "S" } }))
    assert.truthy(engine:why_instance(beside):find('waits for its user task .*, or for signal "S"'))
    assert.equal(4, assert(engine:signal("S", { x = 1 })))
    assert.same({ "a 1 nil", "a 1 nil", "a 1 nil", "b 1 nil", "c 1 nil" }, standing())
    local entry = engine:operations({ verb = "signal" }):list()[1]
    assert.same({ 'signal "S"', "received by 4" }, { entry.entity, entry.new })
    assert.equal(2, assert(engine:signal("S", { x = 2 })))
    assert.same({ "a 1 nil", "a 1 nil", "a 2 nil", "b 1 nil", "b 2 nil", "c 2 nil", "c 2 nil" },
      standing())
    assert.equal(0, assert(engine:signal("T")))
  end)

  it("may be for one instance", function()
    open("waits")
    local id = assert(engine:start("waits"))
    assert(engine:start("waits"))
    assert.equal(1, assert(engine:signal("S", nil, { instance = id })))
    assert.same({ "a nil nil" }, standing())
    local fine, message, code = engine:signal("S", nil, { instance = id })
    assert.is_nil(fine)
    assert.equal(('signal "S": instance %d does not wait for it'):format(id), message)
    assert.equal("not_found", code)
  end)

  it("may be for one of the receivers of an instance", function()
    open("both")
    local id = assert(engine:start("both"))
    local tokens = {}
    for _, row in ipairs(engine:subscriptions({ instance = id }):list()) do
      tokens[row.activity] = row.token
    end
    local to_one = { instance = id, token = tokens.v }
    assert.equal(1, assert(engine:signal("S", { x = 1 }, to_one)))
    assert.same({ "a 1 nil" }, standing())
    local entry = engine:operations({ verb = "signal" }):list()[1]
    assert.same({ 'signal "S"', "received by 1" }, { entry.entity, entry.new })
    local fine, message, code = engine:signal("S", nil, to_one)
    assert.is_nil(fine)
    assert.equal(('signal "S": instance %d does not wait for it at its token %d'):format(id,
      to_one.token), message)
    assert.equal("not_found", code)
    assert.is_nil((engine:signal("T", nil, { instance = id, token = tokens.w })))
    assert.equal(1, assert(engine:signal("S")))
    assert.same({ "a 1 nil", "b 1 nil" }, standing())
    fine, message = pcall(engine.signal, engine, "S", nil, { token = 3 })
    assert.is_false(fine)
    assert.truthy(message:find("signal: a token without its instance", 1, true))
  end)

  it("reaches instances of its tenant, and of none", function()
    open("waits", "begins")
    assert(engine:start("waits", { tenant = "one" }))
    assert(engine:start("waits", { tenant = "two" }))
    assert(engine:start("waits"))
    assert.equal(3, assert(engine:signal("S", nil, { tenant = "one" })))
    local begun = engine:instances({ process = "begins" }):list()[1]
    assert.equal("one", begun.tenant)
    assert.equal("two", engine:instances({ id = engine:subscriptions({ activity = "w" }):list()[1]
      .instance }):list()[1].tenant)
  end)

  it("passes by what is suspended", function()
    open("waits", "begins")
    local id = assert(engine:start("waits"))
    assert(engine:suspend_instance(id))
    assert(engine:suspend_process("begins"))
    assert.equal(0, assert(engine:signal("S")))
    assert(engine:activate_instance(id))
    assert.equal(1, assert(engine:signal("S")))
  end)

  it("undoes all where one of them fails", function()
    open("waits", "fails", "begins")
    assert(engine:start("waits"))
    assert(engine:start("fails"))
    local fine, message = engine:signal("S", { x = 1 })
    assert.is_nil(fine)
    assert.truthy(message:find("no", 1, true), message)
    assert.same({}, standing())
    assert.equal(3, engine:subscriptions({ name = "S" }):count())
  end)

  it("is thrown with variables, and goes to other instances in the unit of its thrower", function()
    open("waits", "begins", "throws")
    assert(engine:start("waits"))
    assert(engine:start("throws", { variables = { x = 1 } }))
    assert.same({ "a 1 2", "b 1 2", "d 1 nil" }, standing())
  end)

  it("is given by a handler, with its unit", function()
    open("waits", "begins", "calls")
    assert(engine:start("waits"))
    assert(engine:start("calls"))
    assert.same({}, standing())
    engine:drain()
    assert.same({ "a 7 nil", "b 7 nil" }, standing())
  end)

  it("reaches what an earlier command of a list has begun", function()
    open("waits", "throws")
    assert(engine:start { { "waits" }, { "throws", { variables = { x = 1 } } }, { "waits" } })
    engine:drain()
    assert.same({ "a 1 2", "d 1 nil" }, standing())
    assert.equal(1, engine:subscriptions({ name = "S" }):count())
  end)

  it("has the priority of each receiver where jobs give it", function()
    open("ranked", "early", "tells")
    assert(engine:start("ranked", { variables = { rank = 8 } }))
    assert(engine:start("ranked", { variables = { rank = 0 } }))
    assert(engine:start("tells"))
    local function waiting()
      local list = {}
      for _, job in ipairs(engine:jobs():list()) do
        local key = job.handler:match("^process/(.-):command$")
        list[#list + 1] = ("%s %d"):format(key, job.priority)
      end
      table.sort(list)
      return list
    end
    assert.same({ "early 6", "ranked 0", "ranked 5", "ranked 5", "ranked 8", "tells 4" }, waiting())
    engine:drain()
    assert(engine:start("ranked", { variables = { rank = 8 } }))
    engine:definition("process/ranked:command"):override_priority(70)
    assert(engine:start("tells"))
    assert.same({ "early 6", "ranked 70", "ranked 70", "tells 4" }, waiting())
  end)

  it("has no priority of a receiver where the engine has none", function()
    folder = process.folder(only("ranked", "early", "tells"))
    engine = testing.engine { scripts = folder, produce_priorities = false }
    assert(engine:start("ranked", { variables = { rank = 8 } }))
    assert(engine:start("tells"))
    local priorities = {}
    for i, job in ipairs(engine:jobs():list()) do
      priorities[i] = job.priority
    end
    assert.same({ 0, 0, 0, 0 }, priorities)
  end)

  it("reaches many by jobs, each once", function()
    open("waits", "begins")
    local list = {}
    for i = 1, 1000 do
      list[i] = { "waits" }
    end
    assert(engine:start(list))
    assert(engine:start({ { "waits" }, { "waits" } }))
    local reached, how = engine:signal("S", { x = 1 })
    assert.same({ 0, "jobs" }, { reached, how })
    assert.equal("given by jobs", engine:operations({ verb = "signal" }):list()[1].new)
    engine:drain()
    assert.equal(1003, engine:tasks():count())
    assert.equal(1, engine:subscriptions({ name = "S" }):count())
    assert.equal(0, engine:jobs():count())
    assert.equal(1, engine:instances({ process = "begins" }):count())
  end)
end)

describe("a condition", function()
  it("is shown, and comes with what commands and jobs write", function()
    local folder = process.folder { ["processes/shelf.lua"] = WORDS .. [[{
      process.task "sell" { on_when = { "${stock < 5}", interrupting = false, variable = "stock",
        process.step "order" { async = true, run = function(job)
          job.variables.ordered = (job.variables.ordered or 0) + 1
        end } } },
      process.wait "empty" { when = "${ordered > 1 and stock == 0}" } }]] }
    local engine = testing.engine { scripts = folder }
    local id = assert(engine:start("shelf", { variables = { stock = 9 } }))
    assert.truthy(engine:why_instance(id):find(
      'or for the condition of "sell.when" ${stock < 5} (stock is 9)', 1, true))
    assert(engine:set_variables(id, { stock = 4 }))
    engine:drain()
    assert(engine:complete(engine:tasks():list()[1].id, { stock = 0 }))
    assert.truthy(engine:why_instance(id):find('"empty" waits for its condition ${ordered > 1 and '
      .. "stock == 0} (ordered is 1, stock is 0)", 1, true))
    engine:drain()
    local ended = engine:instance(id)
    assert.same({ "completed", 2 }, { ended.how, ended.variables.ordered })
    engines.clean()
    process.remove(folder)
  end)
end)

describe("signals of several workers", function()
  it("reach each instance once", function()
    local place = executors.place {}
    for path, text in pairs(only("waits", "begins", "calls")) do
      place.write(path, text)
    end
    place.write("waiting", ("{}\n"):rep(150))
    place.write("calling", ("{}\n"):rep(4))
    for key, file in pairs { waits = "/waiting", calls = "/calling" } do
      place.moonshift("process", "start", key, "--from", place.path .. file, "-C", place.path)
    end
    place.moonshift("run", place.path, "--drain", "--workers", "4")
    local function count(activity)
      return select(2, place.moonshift("task", "list", "--activity", activity, "--limit", "1000",
        "--json", "-C", place.path):gsub('"id"', ""))
    end
    assert.equal(150, count "a")
    assert.equal(4, count "b")
    assert.equal("1 instance has the signal\n", place.moonshift("signal", "S", "-C", place.path))
    place.moonshift("check", "--store", "-C", place.path)
    place.remove()
  end)

  it("reach what has migrated since they were given, in a scope and under another name", function()
    local place = executors.place { ["processes/waits.lua"] = WORDS .. [[{ process.wait "w" {
      signal = "S" }, process.receive "r" { message = "M" }, process.task "a" {} }]] }
    local engine = assert(moonshift.open { store = place.url, scripts = place.path })
    local list = {}
    for i = 1, 101 do
      list[i] = { "waits" }
    end
    local ids = assert(engine:start(list))
    assert.same({ 0, "jobs" }, { engine:signal("S", { x = 1 }) })
    place.write("processes/waits.lua", WORDS .. [[{ process.sub "s" { process.wait "v" {
      signal = "S" }, process.receive "r" { message = "M" } }, process.task "a" {} }]])
    assert(engine:reload())
    local plan = { to = 2, activities = { { from = "w", to = "v" }, { from = "r", to = "r" },
      { from = "a", to = "a" } } }
    for _, id in ipairs(ids) do
      assert(engine:migrate_instance(id, plan))
    end
    place.moonshift("run", place.path, "--drain", "--workers", "4")
    assert.equal(101, engine:subscriptions({ name = "M" }):count())
    assert.equal(1, engine:instance(ids[1]).variables.x)
    engine:close()
    place.moonshift("check", "--store", "-C", place.path)
    place.remove()
  end)

  it("reach what an earlier run of their lane has begun to wait for", function()
    local place = executors.place { ["moonshift.lua"] = 'return { lane_scope = "root" }' }
    for path, text in pairs(only("called", "pairs")) do
      place.write(path, text)
    end
    place.write("handlers/nothing.lua", "return function() end")
    local lines = {}
    for n = 1, 40 do
      lines[n] = ('{"variables":{"n":%d}}\n'):format(n)
    end
    place.write("pairs", table.concat(lines))
    place.moonshift("process", "start", "pairs", "--from", place.path .. "/pairs", "-C", place.path)
    place.moonshift("run", place.path, "--drain", "--workers", "2")
    local tasks = place.moonshift("task", "list", "--limit", "1000", "--json", "-C", place.path)
    assert.equal(40, select(2, tasks:gsub('"id"', "")))
    place.moonshift("check", "--store", "-C", place.path)
    place.remove()
  end)
end)
