-- The job definitions of a process, as listeners and lists see them.
local models = require "spec.support.models"
local scripts = require "spec.support.scripts"

local function load(text, files)
  local all = { ["processes/p.bpmn"] = text, ["handlers/a.lua"] = "return function() end" }
  for path, content in pairs(files or {}) do
    all[path] = content
  end
  local loaded = scripts.load(all, { reading = "folder" })
  assert.same({}, loaded.problems)
  return loaded.definitions
end

-- Those of processes as "name kind configuration priority retry".
local function told(text, files)
  local list = {}
  for _, row in ipairs(load(text, files)) do
    if row.name:find("^process/") then
      local properties = row.properties
      list[#list + 1] = table.concat({ row.name, properties.kind, properties.configuration or "-",
        row.priority or "-", row.retry or "-" }, " ")
    end
  end
  return list
end

describe("the definitions of a process", function()
  it("are one for each activity and kind of job", function()
    assert.same({
      "process/p/x async-before async-before 5 R3/PT1M",
      "process/p/x:after async-after async-after 5 R3/PT1M",
      "process/p/b:timer timer-transition DURATION: PT5M 10 -",
      "process/p/m#multiInstanceBody async-before async-before 10 -",
      "process/p/m:after async-after async-after 10 -",
      "process/p:command command - - -",
    }, told(models.definitions [[<process id="p" c:jobPriority="10"><startEvent id="s"/>
      <serviceTask id="x" c:class="A" c:asyncBefore="true" c:asyncAfter="true" c:jobPriority="5">
        <extensionElements><c:failedJobRetryTimeCycle>R3/PT1M</c:failedJobRetryTimeCycle>
      </extensionElements></serviceTask>
      <boundaryEvent id="b" attachedToRef="x"><timerEventDefinition>
      <timeDuration>PT5M</timeDuration></timerEventDefinition></boundaryEvent>
      <task id="m" c:asyncBefore="true"><multiInstanceLoopCharacteristics c:asyncAfter="true">
      <loopCardinality>2</loopCardinality></multiInstanceLoopCharacteristics></task>
      <sequenceFlow id="f" sourceRef="s" targetRef="x"/><sequenceFlow id="g" sourceRef="x"
      targetRef="m"/></process>]]))
  end)

  it("of a body have no priority of the activity, whose turns have it", function()
    assert.same({
      "process/p/x#multiInstanceBody async-before async-before - -",
      "process/p/x async-before async-before 7 -",
      "process/p:command command - - -",
    }, told(models.line [[<task id="x" c:asyncBefore="true" c:jobPriority="7">
      <multiInstanceLoopCharacteristics c:asyncBefore="true"><loopCardinality>2</loopCardinality>
      </multiInstanceLoopCharacteristics></task>]]))
  end)

  it("know the kinds of timers", function()
    assert.same({
      "process/p/s:timer timer-start-event CYCLE: R/PT1H - -",
      "process/p/x:timer timer-intermediate-transition DATE: ${due} - -",
      "process/p/t:timer timer-start-event-subprocess CYCLE: R3/PT1M - -",
      "process/p:command command - - -",
    }, told(models.process [[<startEvent id="s"><timerEventDefinition><timeCycle>R/PT1H</timeCycle>
      </timerEventDefinition></startEvent><intermediateCatchEvent id="x"><timerEventDefinition>
      <timeDate>${due}</timeDate></timerEventDefinition></intermediateCatchEvent>
      <sequenceFlow id="f" sourceRef="s" targetRef="x"/><subProcess id="y" triggeredByEvent="true">
      <startEvent id="t" isInterrupting="false"><timerEventDefinition><timeCycle>R3/PT1M</timeCycle>
      </timerEventDefinition></startEvent></subProcess>]]))
  end)

  it("show a retry by an expression, and no priority by one", function()
    assert.same({ "process/p/x async-before async-before - ${b}",
      "process/p:command command - - -" },
      told(models.line [[<task id="x" c:asyncBefore="true" c:jobPriority="${a}"><extensionElements>
      <c:failedJobRetryTimeCycle>${b}</c:failedJobRetryTimeCycle></extensionElements></task>]]))
  end)

  it("are seen and changed by listeners, but for a retry of their own", function()
    local listener = [[return function(definition)
      if definition.properties.kind == "async-before" then
        definition.retry, definition.priority = "R9/PT9S", 9
      end
    end]]
    assert.same({ "process/p/x async-before async-before 9 R9/PT9S",
      "process/p:command command - - -" }, told(models.line '<task id="x" c:asyncBefore="true"/>',
      { ["listeners/all.lua"] = listener }))
    assert.same({ "process/p/x async-before async-before 9 R3/PT1M",
      "process/p:command command - - -" },
      told(models.line [[<task id="x" c:asyncBefore="true"><extensionElements>
      <c:failedJobRetryTimeCycle>R3/PT1M</c:failedJobRetryTimeCycle></extensionElements></task>]],
      { ["listeners/all.lua"] = listener }))
  end)
end)
