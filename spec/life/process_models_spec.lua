-- What models of Camunda say in passing: messages of errors, keys of entries, empty parameters,
-- starts, who has given a command.
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local function model(body, before)
  return ([[<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="test">
%s
%s
</definitions>]]):format(before or "", body)
end

local function flows(...)
  local list, nodes = {}, { ... }
  for i = 2, #nodes do
    list[#list + 1] = ('<sequenceFlow id="f%s%d" sourceRef="%s" targetRef="%s"/>'):format(
      nodes[1], i, nodes[i - 1], nodes[i])
  end
  return table.concat(list)
end

local files = {
  ["processes/fails.bpmn"] = model([[<process id="fails" isExecutable="true">
    <startEvent id="start"/>
    <subProcess id="sub"><startEvent id="in"/>
      <endEvent id="out"><errorEventDefinition errorRef="e"/></endEvent>]]
    .. flows("in", "out") .. [[
    </subProcess>
    <boundaryEvent id="caught" attachedToRef="sub"><errorEventDefinition errorRef="e"
      camunda:errorCodeVariable="code" camunda:errorMessageVariable="message"/></boundaryEvent>
    <userTask id="look"/><endEvent id="end"/>]] .. flows("start", "sub", "end")
    .. flows("caught", "look") .. "</process>",
    [[<error id="e" errorCode="E1" camunda:errorMessage="no ${what} is left"/>]]),
  ["processes/inputs.bpmn"] = model([[<process id="inputs" isExecutable="true">
    <startEvent id="start"/>
    <serviceTask id="work" camunda:class="Work"><extensionElements><camunda:inputOutput>
      <camunda:inputParameter name="map"><camunda:map>
        <camunda:entry key="${name}">1</camunda:entry><camunda:entry key="n${name}"/>
      </camunda:map></camunda:inputParameter>
      <camunda:inputParameter name="list"><camunda:list>
        <camunda:value>a</camunda:value><camunda:value></camunda:value>
        <camunda:value>c</camunda:value>
      </camunda:list></camunda:inputParameter>
      <camunda:inputParameter name="none"></camunda:inputParameter>
      <camunda:outputParameter name="kept">${none == null}</camunda:outputParameter>
    </camunda:inputOutput></extensionElements></serviceTask>
    <userTask id="look"/>]] .. flows("start", "work", "look") .. "</process>"),
  ["processes/paid.bpmn"] = model([[<process id="paid" isExecutable="true">
    <startEvent id="start"><messageEventDefinition messageRef="m"/></startEvent>
    <userTask id="look"/>]] .. flows("start", "look") .. "</process>",
    [[<message id="m" name="payment"/>]]),
  ["processes/asks.bpmn"] = model([[<process id="asks" isExecutable="true">
    <extensionElements><camunda:executionListener event="start" class="Listen"/></extensionElements>
    <startEvent id="start" camunda:asyncBefore="true"/>
    <userTask id="look"/>]] .. flows("start", "look") .. "</process>"),
  ["processes/who.bpmn"] = model([[<process id="who" isExecutable="true">
    <startEvent id="start"/>
    <userTask id="look" camunda:assignee="${authenticatedUserId}"/>
    <userTask id="again" camunda:assignee="${authenticatedUserId}"/>
    <serviceTask id="work" camunda:asyncBefore="true" camunda:expression="${authenticatedUserId}"
      camunda:resultVariable="user"/>
    <userTask id="end"/>]] .. flows("start", "look", "again", "work", "end") .. "</process>"),
  ["processes/turns.bpmn"] = model([[<process id="turns" isExecutable="true">
    <startEvent id="start"/>
    <userTask id="look" camunda:asyncBefore="true"><multiInstanceLoopCharacteristics>
      <loopCardinality>2</loopCardinality></multiInstanceLoopCharacteristics></userTask>
    <intermediateCatchEvent id="later"><timerEventDefinition><timeDuration>PT1H</timeDuration>
      </timerEventDefinition></intermediateCatchEvent>]]
    .. flows("start", "look", "later") .. "</process>"),
  ["processes/risk.bpmn20.xml"] = model([[<process id="risk"
    xmlns:flowable="http://flowable.org/bpmn"><startEvent id="start"/>
    <serviceTask id="ask" flowable:type="dmn"><extensionElements>
      <flowable:field name="decisionTableReferenceKey"><flowable:string>riskClass</flowable:string>
      </flowable:field></extensionElements></serviceTask>
    <userTask id="look"/>]] .. flows("start", "ask", "look") .. "</process>"),
  ["decisions/riskClass.lua"] = [[return function(v)
    return { class = v.amount > 1000 and v.key .. " is high" or "low", id = v.id,
      sure = v.sure == false, same = v.amount == v.variables.amount }
  end]],
  ["handlers/Work.lua"] = [[return function(job)
    job.variables.seen = { map = job.variables.map, list = job.variables.list,
      empty = job.variables.none == require("moonshift").null }
  end]],
  ["handlers/Listen.lua"] = [[return function(job)
    job.variables.heard = (job.variables.heard or 0) + 1
    job.variables.at = job.activity
  end]],
}

describe("a model", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder, who = "ada" }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  it("gives the message of an error to the variable of its boundary event", function()
    local id = assert(engine:start("fails", { variables = { what = "bread" } }))
    assert.same({ "E1", "no bread is left" }, { engine:instance(id).variables.code,
      engine:instance(id).variables.message })
  end)

  it("has expressions as keys of entries, and null for what is empty", function()
    local id = assert(engine:start("inputs", { variables = { name = "x" } }))
    local found = engine:instance(id).variables
    assert.is_true(found.kept)
    assert.same({ "1", true, "a", "c", 3 }, { found.seen.map.x, found.seen.empty,
      found.seen.list[1], found.seen.list[3], #found.seen.list })
    assert.truthy(found.seen.map.nx ~= nil)
    assert.same({ "work: the key ${name} of an entry is nothing (expected a text)" },
      { (select(2, engine:start("inputs", { variables = { name = require("moonshift").null } }))) })
  end)

  it("is started by its key, if its only start event waits for a message", function()
    local id = assert(engine:start "paid")
    assert.equal("look", engine:tasks({ instance = id }):one().activity)
    assert(engine:correlate "payment")
    assert.equal(2, engine:tasks():count())
  end)

  it("calls its start listeners in the job before its start event", function()
    local id = assert(engine:start "asks")
    assert.is_nil(engine:instance(id).variables.heard)
    engine:drain()
    local found = engine:instance(id).variables
    assert.same({ 1, "start" }, { found.heard, found.at })
    assert.equal(1, engine:tasks():count())
  end)

  it("knows who has given the command; in a job nobody has", function()
    local id = assert(engine:start("who", { variables = { authenticatedUserId = "eve" } }))
    local task = engine:tasks():one()
    assert.equal("ada", task.assignee)
    assert(engine:complete(task.id))
    task = engine:tasks():one()
    assert.equal("ada", task.assignee)
    assert(engine:complete(task.id))
    engine:drain()
    assert.equal(require("moonshift").null, engine:instance(id).variables.user)
  end)

  it("asks a decision of Flowable, whose names become variables", function()
    local given = { amount = 1500, sure = false, id = "of me" }
    local id = assert(engine:start("risk", { key = "o-7", variables = given }))
    assert.same({ amount = 1500, sure = true, id = "of me", class = "o-7 is high", same = true },
      engine:instance(id).variables)
  end)

  it("has definitions that are found by its key and by activity", function()
    local function names(filters)
      local found = {}
      for i, row in ipairs(engine:definitions(filters):list()) do
        found[i] = row.name
      end
      table.sort(found)
      return table.concat(found, " ")
    end
    assert.equal("process/turns/later:timer process/turns/look#multiInstanceBody "
      .. "process/turns:command",
      names { process = "turns" })
    assert.equal("process/turns/later:timer", names { activity = "later" })
    assert.equal("process/turns/look#multiInstanceBody",
      names { process = { "turns", "who" }, activity = "look#multiInstanceBody" })
    assert.equal("", names { activity = "look" })
    assert.equal("look#multiInstanceBody",
      engine:definitions({ activity = "look#multiInstanceBody" }):one().properties.activity)
    assert.equal("process/who/work", names { process = "who", activity = { "work", "nothing" } })
  end)
end)
