-- Timers of instances whose due dates are counted anew.
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = 'local process = require "moonshift.process"\nreturn '

local files = {
  ["processes/catch.lua"] = WORDS .. '{ process.wait "later" { after = "PT1H" } }',
  ["processes/date.lua"] = WORDS .. '{ process.wait "later" { at = "2026-02-01T00:00:00Z" } }',
  ["processes/asked.lua"] = WORDS .. '{ process.wait "later" { after = "${span}" } }',
  ["processes/boundary.lua"] = WORDS
    .. '{ process.task "look" { within = { "${span}", process.step "note" { run = "note" } } } }',
  ["processes/cycle.lua"] = WORDS
    .. '{ process.task "look" { every = { "R3/PT1H", process.step "note" { run = "note" } } } }',
  ["handlers/note.lua"] = "return function() end",
}

describe("the due date of a timer of an instance", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function job()
    return engine:jobs():one()
  end

  it("is counted from now, or from its creation", function()
    assert(engine:start "catch")
    assert.equal("2026-01-01T01:00:00.000Z", job().due)
    engine:advance "PT30M"
    assert(engine:recalculate_due(job().id))
    assert.equal("2026-01-01T01:30:00.000Z", job().due)
    assert(engine:recalculate_due(job().id, { from_creation = true }))
    assert.equal("2026-01-01T01:00:00.000Z", job().due)
    engine:advance "PT31M"
    engine:drain()
    assert.equal(0, engine:instances():count())
  end)

  it("stays the date that is said", function()
    assert(engine:start "date")
    engine:advance "PT30M"
    assert(engine:recalculate_due(job().id))
    assert.equal("2026-02-01T00:00:00.000Z", job().due)
  end)

  it("is that of a cycle", function()
    assert(engine:start "cycle")
    engine:advance "PT30M"
    assert(engine:recalculate_due(job().id))
    assert.truthy(job().due >= "2026-01-01T01:00:00.000Z")
  end)

  for _, key in ipairs { "asked", "boundary" } do
    it("asks its expression again: " .. key, function()
      local id = assert(engine:start(key, { variables = { span = "PT1H" } }))
      assert.equal("2026-01-01T01:00:00.000Z", job().due)
      engine:set_variables(id, { span = "PT15M" })
      engine:advance "PT5M"
      assert(engine:recalculate_due(job().id))
      assert.equal("2026-01-01T00:20:00.000Z", job().due)
      assert(engine:recalculate_due(job().id, { from_creation = true }))
      assert.equal("2026-01-01T00:15:00.000Z", job().due)
    end)
  end
end)

describe("the weekdays of a model", function()
  local MODEL = [[<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    targetNamespace="t" xmlns:x="%s"><process id="p"><startEvent id="s"/>
    <sequenceFlow id="f" sourceRef="s" targetRef="w"/><intermediateCatchEvent id="w">
    <timerEventDefinition><timeCycle>%s</timeCycle></timerEventDefinition></intermediateCatchEvent>
    <sequenceFlow id="g" sourceRef="w" targetRef="e"/><endEvent id="e"/></process></definitions>]]
  local folder

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  -- When the model waits for its timer; the year begins on a Thursday.
  local function due(namespace, text, cron)
    folder = process.folder { ["processes/p.bpmn"] = MODEL:format(namespace, text) }
    local engine = testing.engine { scripts = folder, cron = cron }
    assert(engine:start("p", { variables = { when = "0 0 9 ? * 6" } }))
    return engine:jobs():one().due
  end

  it("are those of Quartz where the file is of Flowable, also by an expression", function()
    assert.equal("2026-01-02T09:00:00.000Z", due("http://flowable.org/bpmn", "0 0 9 ? * 6"))
    process.remove(folder)
    assert.equal("2026-01-02T09:00:00.000Z", due("http://activiti.org/bpmn", "${when}"))
  end)

  it("are as the setting says", function()
    assert.equal("2026-01-03T09:00:00.000Z", due("urn:x", "0 0 9 ? * 6"))
    process.remove(folder)
    assert.equal("2026-01-02T09:00:00.000Z", due("urn:x", "${when}", "quartz"))
    process.remove(folder)
    assert.equal("2026-01-03T09:00:00.000Z", due("http://flowable.org/bpmn", "${when}", "unix"))
  end)
end)
