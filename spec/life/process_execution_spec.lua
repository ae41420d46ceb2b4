-- What an expression of a model can ask of the execution and of the task in which it stands.
local engines = require "spec.support.engines"
local testing = require "moonshift.testing"

local MODEL = [[<definitions targetNamespace="x"
  xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:c="http://camunda.org/schema/1.0/bpmn"><process id="order" isExecutable="true">
  <startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="u"/>
  <userTask id="u" name="Ask ann" c:assignee="ann" c:priority="7">
    <extensionElements>%s</extensionElements></userTask>
  <sequenceFlow id="b" sourceRef="u" targetRef="e"/><endEvent id="e"/></process></definitions>]]

describe("an expression of a model", function()
  local engine

  after_each(engines.clean)

  -- Starts the model with a listener of its task that notes the answers to these methods.
  local function answers(element, object, event, ...)
    local lines = {}
    for i, method in ipairs { ... } do
      lines[i] = ("<c:%s event='%s' expression=\"${execution.setVariable('%s', %s.%s())}\"/>")
        :format(element, event, method, object, method)
    end
    engine = testing.engine { scripts = engines.folder {
      ["processes/order.bpmn"] = MODEL:format(table.concat(lines)) } }
    local id = assert(engine:start("order", { key = "k1", tenant = "red" }))
    return engine:instance(id).variables, id
  end

  it("knows where it stands", function()
    local seen, id = answers("executionListener", "execution", "start", "getProcessInstanceId",
      "getId", "getProcessBusinessKey", "getBusinessKey", "getTenantId", "getProcessDefinitionId",
      "getCurrentActivityId", "getCurrentActivityName", "getActivityInstanceId", "getEventName")
    local token = engine:instance(id).at[1].token
    assert.same({ getProcessInstanceId = tostring(id), getId = tostring(id),
      getProcessBusinessKey = "k1", getBusinessKey = "k1", getTenantId = "red",
      getProcessDefinitionId = "order:1", getCurrentActivityId = "u",
      getCurrentActivityName = "Ask ann", getActivityInstanceId = "u:" .. token,
      getEventName = "start" }, seen)
  end)

  it("knows the task whose listener it is", function()
    assert.same({ getAssignee = "ann", getName = "Ask ann", getPriority = 7,
      getTaskDefinitionKey = "u", getCurrentActivityId = "u" },
      (answers("taskListener", "task", "create", "getAssignee", "getName", "getPriority",
        "getTaskDefinitionKey", "getCurrentActivityId")))
  end)
end)
