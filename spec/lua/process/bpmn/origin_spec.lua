-- The engine that a model was drawn for.
local models = require "spec.support.models"
local report = require "moonshift.process.report"
local reader = require "moonshift.process.bpmn.reader"

local MODEL = '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
  .. 'targetNamespace="t" %s>'
  .. '<process id="p" isExecutable="%s">%s</process></definitions>'
local ZEEBE = 'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
local CAMUNDA = 'xmlns:camunda="http://camunda.org/schema/1.0/bpmn"'
local MODELER = 'xmlns:modeler="http://camunda.org/schema/modeler/1.0" '
  .. 'modeler:executionPlatform="%s"'
local WRONG = [[<startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="x"/>
  <serviceTask id="x"/><exclusiveGateway id="y"/>
  <sequenceFlow id="g" sourceRef="x" targetRef="y">
    <conditionExpression>= a</conditionExpression></sequenceFlow>]]

local function told(text, cron)
  local all = report.new "p.bpmn"
  local graphs = reader.read(text, "p.bpmn", all, cron)
  return models.messages(all.problems), models.messages(all.warnings), graphs
end

describe("a model for Camunda 8", function()
  local REFUSED = { "was made for Camunda 8, whose task definitions and conditions in FEEL are not "
    .. 'run (expected a model for Camunda 7; see "Models of Camunda 8" in docs/bpmn.md)' }

  it("is refused in one line, by its namespace or its platform", function()
    assert.same(REFUSED, (told(MODEL:format(ZEEBE, "true", WRONG))))
    assert.same(REFUSED, (told(MODEL:format(MODELER:format "Camunda Cloud", "true", WRONG))))
    local both = CAMUNDA .. " " .. MODELER:format "Camunda Cloud"
    assert.same(REFUSED, (told(MODEL:format(both, "true", WRONG))))
  end)

  it("is none if it says another platform, or has what is run here", function()
    for _, attributes in ipairs { "", CAMUNDA, ZEEBE .. " " .. CAMUNDA,
      ZEEBE .. " " .. MODELER:format "Camunda Platform" } do
      local problems = told(MODEL:format(attributes, "true", WRONG))
      assert.truthy(#problems > 0)
      assert.are_not.same(REFUSED, problems)
    end
  end)

  it("is passed over if nothing of it is to be run", function()
    assert.same({}, (told(MODEL:format(ZEEBE, "false", ""))))
  end)
end)

describe("the weekdays of a model's cron texts", function()
  local TIMER = '<startEvent id="s"><timerEventDefinition><timeCycle>%s</timeCycle>'
    .. '</timerEventDefinition></startEvent><sequenceFlow id="f" sourceRef="s" targetRef="e"/>'
    .. '<endEvent id="e"/>'
  local WARNED = { '"s": the cron text "0 0 9 ? * 2-6" counts weekdays: it is '
    .. '"0 0 9 ? * TUE-SAT" here and "0 0 9 ? * MON-FRI" in Quartz (expected names, or the '
    .. "setting cron)" }

  local function timer(namespace, cron, text)
    local problems, warnings, graphs = told(MODEL:format(namespace, "true",
      TIMER:format(text or "0 0 9 ? * 2-6")), cron)
    local node = graphs[1].nodes.s
    return node.event.timer, warnings, problems
  end

  it("are those of Quartz in the namespaces of Flowable and Activiti", function()
    for _, ns in ipairs { "http://flowable.org/bpmn", "http://activiti.org/bpmn" } do
      local found, warnings = timer(('xmlns:x="%s"'):format(ns))
      assert.same({ kind = "cycle", text = "0 0 9 ? * MON-FRI" }, found)
      assert.same({}, warnings)
    end
  end)

  it("are warned of anywhere else", function()
    local found, warnings = timer(CAMUNDA)
    assert.same({ kind = "cycle", text = "0 0 9 ? * 2-6" }, found)
    assert.same(WARNED, warnings)
    assert.same({}, select(2, timer(CAMUNDA, nil, "0 0 9 ? * MON-FRI")))
    assert.same({}, select(2, timer(CAMUNDA, nil, "0 9 * * 1-5")))
  end)

  it("are those that the setting says", function()
    local found, warnings = timer(CAMUNDA, "quartz")
    assert.same({ kind = "cycle", text = "0 0 9 ? * MON-FRI" }, found)
    assert.same({}, warnings)
    found, warnings = timer('xmlns:x="http://flowable.org/bpmn"', "unix")
    assert.same({ kind = "cycle", text = "0 0 9 ? * 2-6" }, found)
    assert.same({}, warnings)
  end)

  it("are refused where Quartz has no such day", function()
    local _, _, problems = timer(CAMUNDA, "quartz", "0 0 9 ? * 0")
    assert.same({ '"s": cron "0 0 9 ? * 0": weekday 0 is not in 1-7 (expected such a number or '
      .. "SUN-SAT)" }, problems)
  end)

  it("are known of an expression when it is asked", function()
    assert.same({ kind = "cycle", text = "${when}", quartz = true }, (timer(CAMUNDA, "quartz",
      "${when}")))
  end)
end)

describe("the drawing of a model of Flowable or Activiti", function()
  local WRONG_DRAWING = '<startEvent id="s"/></process><d:BPMNDiagram '
    .. 'xmlns:d="http://www.omg.org/spec/BPMN/20100524/DI" '
    .. 'xmlns:i="http://www.omg.org/spec/DD/20100524/DI"><d:BPMNPlane id="pl" bpmnElement="p">'
    .. '<d:BPMNShape id="a" bpmnElement="gone"/><d:BPMNShape id="b" bpmnElement="s"/>'
    .. '<d:BPMNEdge id="c" bpmnElement="f"><i:waypoint x="1" y="down"/></d:BPMNEdge>'
    .. '</d:BPMNPlane></d:BPMNDiagram><process id="q" isExecutable="false">'
  local SAID = { '"a": bpmnElement="gone", which is no element of the file',
    '"b": a shape of the diagram has no <Bounds>',
    '"c": <waypoint> of the diagram has y="down" (expected a number)',
    '"c": bpmnElement="f", which is no element of the file' }

  it("may be wrong, as there, and is drawn without what is wrong", function()
    for _, product in ipairs { "flowable", "activiti" } do
      local namespace = ('xmlns:%s="http://%s.org/bpmn"'):format(product, product)
      local problems, warnings, graphs = told(MODEL:format(namespace, "true", WRONG_DRAWING))
      assert.same({}, problems)
      assert.same(SAID, { table.unpack(warnings, 1, 4) })
      assert.equal("p", graphs[1].key)
    end
    assert.same(SAID, (told(MODEL:format(CAMUNDA, "true", WRONG_DRAWING))))
  end)
end)

describe("a text of a model of Flowable or Activiti", function()
  local EMPTY = [[
<startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="x"/>
<task id="x"><multiInstanceLoopCharacteristics p:collection="list"><loopCardinality/>
</multiInstanceLoopCharacteristics></task><sequenceFlow id="g" sourceRef="x" targetRef="e">
<conditionExpression xsi:type="tFormalExpression"> </conditionExpression></sequenceFlow>
<endEvent id="e"/>]]
  local XSI = ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'

  it("is none where it is empty, as there", function()
    for _, product in ipairs { "flowable", "activiti" } do
      local namespace = ('xmlns:p="http://%s.org/bpmn"%s'):format(product, XSI)
      local problems, warnings, graphs = told(MODEL:format(namespace, "true", EMPTY))
      assert.same({}, problems)
      assert.equal('"g": <conditionExpression> is empty, so the flow has no condition', warnings[1])
      assert.is_nil(graphs[1].nodes.x.out[1].when)
      assert.equal("${list}", graphs[1].nodes.x.multi.collection)
    end
    assert.same({ '"x": <loopCardinality> is empty',
      '"g": <conditionExpression> is empty (expected an expression)' },
      (told(MODEL:format(CAMUNDA:gsub("xmlns:%w+", "xmlns:p") .. XSI, "true", EMPTY))))
  end)
end)
