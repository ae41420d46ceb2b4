-- Every text of a model may hold an expression: where it cannot be read, the place is named.
local models = require "spec.support.models"

local BAD = "${a +}"

-- What is between the start and the end, and the place that is named.
local PLACES = {
  { '<task id="x" c:jobPriority="%s"/>', "its job priority" },
  { '<serviceTask id="x" c:type="external" c:topic="t" c:taskPriority="%s"/>',
    "its task priority" },
  { '<serviceTask id="x" c:type="external" c:topic="%s"/>', "its behaviour" },
  { '<serviceTask id="x" c:expression="%s"/>', "its behaviour" },
  { '<serviceTask id="x" c:delegateExpression="%s"/>', "its behaviour" },
  { '<businessRuleTask id="x" c:decisionRef="%s"/>', "its behaviour" },
  { '<scriptTask id="x" scriptFormat="juel"><script>%s</script></scriptTask>', "its behaviour" },
  { '<serviceTask id="x" c:class="A"><extensionElements><c:field name="f" expression="%s"/>'
    .. "</extensionElements></serviceTask>", 'the field "f"' },
  { '<task id="x"><extensionElements><c:failedJobRetryTimeCycle>%s</c:failedJobRetryTimeCycle>'
    .. "</extensionElements></task>", "its retry" },
  { '<task id="x"><extensionElements><c:executionListener event="end" expression="%s"/>'
    .. "</extensionElements></task>", 'the listener of "end"' },
  { '<task id="x"><extensionElements><c:inputOutput><c:inputParameter name="i">%s'
    .. "</c:inputParameter></c:inputOutput></extensionElements></task>", 'the input "i"' },
  { '<task id="x"><extensionElements><c:inputOutput><c:outputParameter name="o">%s'
    .. "</c:outputParameter></c:inputOutput></extensionElements></task>", 'the output "o"' },
  { '<task id="x"><extensionElements><c:inputOutput><c:inputParameter name="i"><c:list>'
    .. "<c:value>%s</c:value></c:list></c:inputParameter></c:inputOutput></extensionElements>"
    .. "</task>", 'the input "i"' },
  { '<userTask id="x" name="%s"/>', "the task's name" },
  { '<userTask id="x" c:assignee="%s"/>', "the assignee" },
  { '<userTask id="x" c:dueDate="%s"/>', "the due date" },
  { '<userTask id="x" c:followUpDate="%s"/>', "the follow-up date" },
  { '<userTask id="x" c:priority="%s"/>', "the task's priority" },
  { '<userTask id="x" c:candidateGroups="%s"/>', 'the candidate "groups"' },
  { '<task id="x"><multiInstanceLoopCharacteristics><loopCardinality>%s</loopCardinality>'
    .. "</multiInstanceLoopCharacteristics></task>", "the number of turns" },
  { '<task id="x"><multiInstanceLoopCharacteristics c:collection="%s"/></task>', "the collection" },
  { '<task id="x"><multiInstanceLoopCharacteristics c:collection="l"><completionCondition>%s'
    .. "</completionCondition></multiInstanceLoopCharacteristics></task>",
    "the completion condition" },
  { '<intermediateCatchEvent id="x"><timerEventDefinition><timeDuration>%s</timeDuration>'
    .. "</timerEventDefinition></intermediateCatchEvent>", "the time" },
  { '<callActivity id="x" calledElement="%s"/>', "calledElement" },
  { '<callActivity id="x" calledElement="c" c:calledElementBinding="version"'
    .. ' c:calledElementVersion="%s"/>', "the version" },
  { '<callActivity id="x" calledElement="c"><extensionElements><c:in businessKey="%s"/>'
    .. "</extensionElements></callActivity>", "the business key" },
  { '<callActivity id="x" calledElement="c"><extensionElements>'
    .. '<c:in sourceExpression="%s" target="t"/></extensionElements></callActivity>',
    "the mapping" },
  { '<callActivity id="x" calledElement="c"><extensionElements>'
    .. '<c:out sourceExpression="%s" target="t"/></extensionElements></callActivity>',
    "the mapping" },
}

-- The process itself, whose text is all of the file's.
local START = '<startEvent id="s"/></process>'
local OF_PROCESS = {
  { '<process id="p" c:jobPriority="%s">' .. START, "its job priority" },
  { '<process id="p" c:taskPriority="%s">' .. START, "its task priority" },
  { '<process id="p"><extensionElements><c:executionListener event="end" expression="%s"/>'
    .. "</extensionElements>" .. START, 'the listener of "end"' },
}

-- A flow behind the start event.
local OF_FLOW = {
  { "<conditionExpression>%s</conditionExpression>", "the condition" },
  { '<extensionElements><c:executionListener event="take" expression="%s"/></extensionElements>',
    'the listener of "take"' },
}

local function filled(text)
  return (text:gsub("%%s", { ["%s"] = BAD }))
end

describe("an expression that cannot be read", function()
  local function finds(id, what, text)
    assert.same({ ('"%s": %s %s: unexpected "}" (position 6)'):format(id, what, BAD) },
      models.problems(text))
  end

  for _, place in ipairs(PLACES) do
    it("is told as " .. place[2] .. " of a node", function()
      finds("x", place[2], models.line(filled(place[1])))
    end)
  end

  for _, place in ipairs(OF_PROCESS) do
    it("is told as " .. place[2] .. " of a process", function()
      finds("p", place[2], models.definitions(filled(place[1])))
    end)
  end

  for _, place in ipairs(OF_FLOW) do
    it("is told as " .. place[2] .. " of a flow", function()
      finds("g", place[2], models.line('<task id="x"/><sequenceFlow id="g" sourceRef="x"'
        .. ' targetRef="e">' .. filled(place[1]) .. "</sequenceFlow>"))
    end)
  end

  it("is told as the name of a message", function()
    finds("x", "the name", models.line('<receiveTask id="x" messageRef="m"/>',
      filled '<message id="m" name="%s"/>'))
  end)
end)
