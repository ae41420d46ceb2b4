-- Start timers and start events, as they are deployed.
local models = require "spec.support.models"
local scripts = require "spec.support.scripts"

local function load(text)
  return scripts.load({ ["processes/p.bpmn"] = text }, { reading = "folder" })
end

local function version(text)
  local loaded = load(text)
  assert.same({}, loaded.problems)
  return loaded.process_versions[1]
end

local function timer(element, text, attributes)
  return models.process(([[<startEvent id="s" %s><extensionElements>
    <c:failedJobRetryTimeCycle>R5/PT1M</c:failedJobRetryTimeCycle></extensionElements>
    <timerEventDefinition><%s>%s</%s></timerEventDefinition></startEvent>]]):format(
    attributes or "", element, text, element))
end

describe("what is deployed of a process", function()
  it("says what it is, and what starts it", function()
    local text = models.definitions [[<message id="m" name="ordered"/>
      <process id="order" c:versionTag="v2" c:historyTimeToLive="90"><startEvent id="s"/>
      <startEvent id="t"><messageEventDefinition messageRef="m"/></startEvent></process>]]
    local row = version(text)
    assert.equal(load(text).processes.order.hash, row.hash)
    row.hash = nil
    assert.same({ key = "order", path = "processes/p.bpmn", kind = "bpmn", tag = "v2",
      history_time_to_live = "P90D", timers = {}, activities = { s = { "" }, t = { "" } },
      events = { { kind = "message", name = "ordered", key = "", activity = "t" } } }, row)
  end)

  it("has its activities, with what may be around each", function()
    assert.same({ s = { "" }, first = { "" }, m = { "", "first" }, a = { "" }, b = { "", "a" },
      e = { "" }, es = { "e", "" }, t = { "e" } }, version(models.definitions [[
      <message id="n" name="n"/>
      <process id="p"><startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="first"/>
      <eventBasedGateway id="first"/><sequenceFlow id="f2" sourceRef="first" targetRef="m"/>
      <intermediateCatchEvent id="m"><messageEventDefinition messageRef="n"/>
      </intermediateCatchEvent><sequenceFlow id="f3" sourceRef="m" targetRef="a"/>
      <userTask id="a"/><boundaryEvent id="b" attachedToRef="a"><timerEventDefinition>
      <timeDuration>P1D</timeDuration></timerEventDefinition></boundaryEvent>
      <subProcess id="e" triggeredByEvent="true"><startEvent id="es"><timerEventDefinition>
      <timeDuration>P1D</timeDuration></timerEventDefinition></startEvent>
      <sequenceFlow id="f4" sourceRef="es" targetRef="t"/><userTask id="t"/></subProcess>
      </process>]]).activities)
  end)

  it("has the jobs of start timers", function()
    local function spec(...)
      local timers = version(timer(...)).timers
      assert.equal("s", timers[1].activity)
      return timers[1].spec
    end
    assert.same({ cycle = "R/PT1H", retries = 5 }, spec("timeCycle", "R/PT1H"))
    assert.same({ after = "PT5M", retries = 5, priority = 7 },
      spec("timeDuration", "PT5M", 'c:jobPriority="7"'))
    assert.same({ at = "2036-11-14T11:12:22", retries = 5 }, spec("timeDate",
      "2036-11-14T11:12:22"))
    assert.same({ at = "2036-11-14", retries = 5 }, spec("timeDate", "2036-11-14"))
    assert.same({ after = "PT8S", retries = 5, priority = 0 },
      spec("timeDate", "PT${3 + 5}S", 'c:jobPriority="${gone}"'))
  end)

  it("asks a start timer's expression when the folder is loaded", function()
    local timers = version(timer("timeDate", "${now()}")).timers
    assert.equal("${now()}", timers[1].text)
    assert.equal("2026-01-01T00:00:00.000Z", timers[1].spec.at)
  end)

  it("refuses a start timer whose expression gives nothing", function()
    assert.same({ '"s": the start timer ${gone} cannot be asked: its time is no text' },
      models.messages(load(timer("timeDate", "${gone}")).problems))
  end)
end)
