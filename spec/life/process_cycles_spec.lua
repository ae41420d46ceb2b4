-- Timers of a process that come more than once, beside the activity that goes on.
local engines = require "spec.support.engines"
local program = require "spec.support.program"
local testing = require "moonshift.testing"

local files = {
  ["processes/wait.lua"] = [[
    local process = require "moonshift.process"
    local step, task = process.step, process.task
    return { task "answer" { every = { "R3/PT10M", step "remind" { run = "remind" } } } }]],
  ["processes/ending.bpmn"] = [[
    <definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="urn:x"
      xmlns:flowable="http://flowable.org/bpmn"><process id="ending">
      <startEvent id="s"/><userTask id="answer"/><serviceTask id="call" flowable:class="remind"/>
      <boundaryEvent id="late" attachedToRef="answer" cancelActivity="false">
        <timerEventDefinition>
          <timeCycle flowable:endDate="${last}">R/PT10M</timeCycle></timerEventDefinition>
      </boundaryEvent>
      <sequenceFlow id="a" sourceRef="s" targetRef="answer"/>
      <sequenceFlow id="b" sourceRef="late" targetRef="call"/></process></definitions>]],
}

describe("a timer beside an activity, with a cycle", function()
  local place, engine, seen

  local function open(remind, key, options)
    engine = testing.engine { scripts = place.path, store = "sqlite:" .. place.store,
      handlers = { remind = remind }, failed_job_wait = "PT1M" }
    return assert(engine:start(key or "wait", options))
  end

  -- Ten minutes later.
  local function come()
    engine:advance "PT10M"
    engine:drain()
  end

  before_each(function()
    place, seen = program.place(files), 0
  end)

  after_each(function()
    engines.clean()
    place.clean()
  end)

  -- The store's check finds a wait that nothing ends.
  local function check()
    engine:close()
    local status, output, errors = place.run("check", "--store", "sqlite:" .. place.store)
    assert.equal(0, status, output .. errors)
  end

  it("comes as often as it says, and is then waited for no longer", function()
    local id = open(function() seen = seen + 1 end)
    for i = 1, 3 do
      come()
      assert.equal(i, seen)
      assert.same({ "answer" }, engine:at(id))
    end
    assert.equal(0, engine:jobs():count())
    come()
    assert.equal(3, seen)
    check()
  end)

  it("ends at the date that an endDate names", function()
    local id = open(function() seen = seen + 1 end, "ending",
      { variables = { last = "2026-01-01T00:25:00Z" } })
    for i = 1, 4 do
      come()
      assert.equal(math.min(i, 2), seen)
      assert.same({ "answer" }, engine:at(id))
    end
    assert.equal(0, engine:jobs():count())
    check()
  end)

  it("goes on after an occurrence that failed at first", function()
    local failed = {}
    open(function(job)
      if not failed[job.id] then
        failed[job.id] = true
        error("not now", 0)
      end
      seen = seen + 1
    end)
    for _ = 1, 4 do
      come()
      engine:advance "PT1M"
      engine:drain()
    end
    assert.equal(3, seen)
    assert.equal(0, engine:jobs():count())
    check()
  end)

  it("comes late for the last time, though it skips what it has missed", function()
    local id = open(function() seen = seen + 1 end)
    assert(engine:set_cycle(engine:jobs():one().id, "R3/PT10M", { misfire = "skip" }))
    engine:advance "P1D"
    engine:drain()
    assert.equal(1, seen)
    assert.same({ "answer" }, engine:at(id))
    assert.equal(0, engine:jobs():count())
    check()
  end)
end)
