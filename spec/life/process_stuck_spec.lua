-- Instances in which a token waits for what can never come: they are seen, and seen again to go on.
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local HEAD = [[<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="t">
  <process id="%s" isExecutable="true">%s</process></definitions>]]

local FLOW = '<sequenceFlow id="f%d" sourceRef="%s" targetRef="%s">%s</sequenceFlow>'
local CONDITION = "<conditionExpression>${true}</conditionExpression>"

-- A model of these elements, and of flows "from > to"; those of a choice are all true.
local function model(id, elements, flows)
  local parts, number = { elements }, 0
  for from, to in flows:gmatch("(%w+) > (%w+)") do
    number = number + 1
    parts[#parts + 1] = FLOW:format(number,
      from, to, from == "choice" and CONDITION or "")
  end
  return HEAD:format(id, table.concat(parts))
end

-- Seventy turns outside of the frame, each a task in front of a choice whose ways meet; `more` are
-- elements beside them.
local function turns(id, more)
  return HEAD:format(id, [[<startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="sub"/>
    <subProcess id="sub"><multiInstanceLoopCharacteristics><loopCardinality>70</loopCardinality>
      </multiInstanceLoopCharacteristics><startEvent id="s2"/><userTask id="look"/>
      <exclusiveGateway id="choice"/><parallelGateway id="join"/><endEvent id="e2"/>
      <sequenceFlow id="b" sourceRef="s2" targetRef="look"/>
      <sequenceFlow id="c" sourceRef="look" targetRef="choice"/>]]
      .. FLOW:format(1, "choice", "join", CONDITION) .. FLOW:format(2, "choice", "join", CONDITION)
      .. '<sequenceFlow id="d" sourceRef="join" targetRef="e2"/></subProcess>'
      .. '<endEvent id="e"/><sequenceFlow id="g" sourceRef="sub" targetRef="e"/>' .. (more or ""))
end

local files = {
  ["processes/turns.bpmn"] = turns "turns",
  ["processes/ended.bpmn"] = turns("ended", [[<boundaryEvent id="stop" attachedToRef="sub">
    <timerEventDefinition><timeDuration>P1D</timeDuration></timerEventDefinition></boundaryEvent>
    <endEvent id="e3"/><sequenceFlow id="h" sourceRef="stop" targetRef="e3"/>]]),
  -- An exclusive choice in front of a parallel join, which waits for both ways.
  ["processes/starved.bpmn"] = model("starved", [[<startEvent id="s"/>
    <serviceTask id="first" camunda:asyncBefore="true" camunda:class="Fine"/>
    <exclusiveGateway id="choice"/><parallelGateway id="join"/><endEvent id="e"/>]],
    "s > first, first > choice, choice > join, choice > join, join > e"),
  -- The same beside a task that leads elsewhere, and beside one that leads to the join.
  ["processes/beside.bpmn"] = model("beside", [[<startEvent id="s"/><parallelGateway id="fork"/>
    <exclusiveGateway id="choice"/><parallelGateway id="join"/><userTask id="other"/>
    <endEvent id="e"/><endEvent id="done"/>]],
    "s > fork, fork > choice, fork > other, other > done, choice > join, choice > join, join > e"),
  ["processes/comes.bpmn"] = model("comes", [[<startEvent id="s"/><parallelGateway id="fork"/>
    <parallelGateway id="join"/><userTask id="other"/><endEvent id="e"/>]],
    "s > fork, fork > join, fork > other, other > join, join > e"),
  ["processes/ends.bpmn"] = model("ends", [[<startEvent id="s"/><parallelGateway id="fork"/>
    <exclusiveGateway id="choice"/><parallelGateway id="join"/><userTask id="other"/>
    <endEvent id="e"/><endEvent id="done"><terminateEventDefinition/></endEvent>]],
    "s > fork, fork > choice, fork > other, other > done, choice > join, choice > join, join > e"),
  ["processes/caller.lua"] = 'local step, task, choose, parallel, each, receive, call = require '
    .. '"moonshift.process".words()\nreturn { call "below" { process = "starved" } }',
  ["processes/filed.lua"] = 'return { require "moonshift.process".receive "filed" {} }',
  ["handlers/fine.lua"] = "return function() end",
}

describe("an instance that is stuck", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engine:close()
    engines.clean()
    process.remove(folder)
  end)

  local function start(key)
    local id = assert(engine:start(key))
    engine:drain()
    return id
  end

  local function stuck()
    return engine:instances({ stuck = true }):ids()
  end

  it("has an incident, and is counted and listed", function()
    local id = start "starved"
    local incident = engine:incidents({ open = true }):one()
    assert.same({ "instanceStuck", "join", tostring(id) },
      { incident.type, incident.activity, incident.instance })
    assert.equal('"join" waits for a token that can never come', incident.message)
    assert.same({ id }, stuck())
    assert.equal(0, engine:instances({ stuck = false }):count())
    assert.equal(1, engine:stats().stuck_instances)
    assert.same({ id }, engine:instances({ with_incidents = true }):ids())
  end)

  it("has one incident, which ends with it", function()
    local id = start "starved"
    assert(engine:set_variables(id, { n = 1 }))
    assert.equal(1, engine:incidents():count())
    assert(engine:cancel_instance(id))
    assert.equal(0, engine:incidents({ open = true }):count())
    assert.same({}, stuck())
    assert.equal(0, engine:stats().stuck_instances)
  end)

  it("is seen where another token of it goes on elsewhere", function()
    local id = start "beside"
    assert.same({ id }, stuck())
    assert(engine:complete(engine:tasks():one().id))
    assert.same({ id }, stuck())
    assert.equal(1, engine:incidents():count())
  end)

  it("is none where a token may still come, or may end the others", function()
    start "comes"
    start "ends"
    assert.same({}, stuck())
    assert.equal(0, engine:incidents():count())
  end)

  it("has an incident as a turn of it outside of the frame waits in vain", function()
    local id = start "turns"
    local tasks = engine:tasks({ instance = id }):ids()
    assert.equal(0, engine:incidents():count())
    for i = 1, 70 do
      assert(engine:complete(tasks[i]))
      local incident = engine:incidents({ open = true }):one()
      assert.same({ "instanceStuck", "join", tostring(id) },
        { incident.type, incident.activity, incident.instance })
    end
    assert.same({ { id }, 1 }, { stuck(), engine:incidents():count() })
    assert(engine:cancel_instance(id))
    assert.equal(0, engine:incidents({ open = true }):count())
  end)

  it("is none where a timer may end all turns", function()
    local id = start "ended"
    assert(engine:complete(engine:tasks({ instance = id }):ids()[1]))
    assert.equal(0, engine:incidents():count())
  end)

  it("gives its callers an incident, too", function()
    local top = start "caller"
    assert.equal(2, engine:incidents({ open = true }):count())
    assert.equal(2, #stuck())
    assert.equal(1, engine:stats().stuck_instances)
    assert(engine:cancel_instance(top))
    assert.equal(0, engine:incidents({ open = true }):count())
  end)

  it("is listed where a store of before has no incident for it", function()
    local first, path = engines.durable(files)
    assert(first:start "starved")
    first:drain()
    process.change(path .. "/jobs.db", "DELETE FROM incident")
    assert.equal(1, first:instances({ stuck = true }):count())
    first:close()
  end)
end)

describe("a check of the store", function()
  after_each(engines.clean)

  local function checked(path)
    local _, output, errors = process.moonshift("check", "--store", "sqlite:" .. path)
    return output .. errors
  end

  it("finds a job that was done without a call in the trail", function()
    local engine, path = engines.durable(files)
    assert(engine:start "starved")
    engine:drain()
    engine:close()
    local store = path .. "/jobs.db"
    assert.is_nil(checked(store):find("no call of it", 1, true))
    process.change(store, "DELETE FROM trail WHERE job IS NOT NULL")
    assert.matches("is successful in the log, yet the trail of its instance has no call of it",
      checked(store), 1, true)
  end)

  it("takes a join that nothing reaches any more for no damage", function()
    local engine, path = engines.durable { ["processes/both.lua"] = [[
      local process = require "moonshift.process"
      return { process.parallel { { process.pass "a" {} }, { process.task "b" {} } } }]] }
    local id = assert(engine:start "both")
    assert(engine:modify_instance(id, { { cancel = "b" } }))
    assert.equal(1, engine:instances({ stuck = true }):count())
    engine:close()
    assert.matches("nothing is wrong", checked(path .. "/jobs.db"), 1, true)
  end)

  it("finds an instance whose row to wait for is gone", function()
    local engine, path = engines.durable(files)
    assert(engine:start "filed")
    process.change(path .. "/jobs.db",
      "UPDATE instance SET frame=replace(frame, 'trigger', 'task')")
    engine:close()
    assert.matches("waits for nothing", checked(path .. "/jobs.db"), 1, true)
  end)

  it("takes a condition for something to wait for", function()
    local engine, path = engines.durable { ["processes/some.lua"] =
      'return { require "moonshift.process".wait "some" { when = "${x > 1}" } }' }
    assert(engine:start("some", { variables = { x = 1 } }))
    assert.equal(0, engine:instances({ stuck = true }):count())
    engine:close()
    assert.is_nil(checked(path .. "/jobs.db"):find("waits for nothing", 1, true))
  end)

  it("takes a receive task that is to be triggered for something to wait for", function()
    local engine, path = engines.durable(files)
    assert(engine:start "filed")
    engine:close()
    assert.matches("nothing is wrong", checked(path .. "/jobs.db"), 1, true)
  end)
end)
