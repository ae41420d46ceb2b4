-- A model with a diagram is drawn as its diagram says.
require "spec.support.scripts"
local drawing = require "moonshift.process.drawing"
local source = require "spec.support.source"
local svg = require "moonshift.process.drawing.svg"

local HEAD = [[<definitions targetNamespace="urn:x"
 xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
 xmlns:di="http://www.omg.org/spec/BPMN/20100524/DI"
 xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:dd="http://www.omg.org/spec/DD/20100524/DI"
 xmlns:bioc="http://bpmn.io/schema/bpmn/biocolor/1.0">
]]

-- A shape of the diagram: "id x y width height" and more attributes.
local function shape(text, more, inside)
  local id, x, y, width, height = text:match "(%S+) (%S+) (%S+) (%S+) (%S+)"
  return ('<di:BPMNShape bpmnElement="%s" %s><dc:Bounds x="%s" y="%s" width="%s" height="%s"/>%s'
    .. "</di:BPMNShape>"):format(id, more or "", x, y, width, height, inside or "")
end

local function edge(id, ...)
  local points = {}
  for i, point in ipairs { ... } do
    points[i] = ('<dd:waypoint x="%g" y="%g"/>'):format(point[1], point[2])
  end
  return ('<di:BPMNEdge bpmnElement="%s">%s</di:BPMNEdge>'):format(id, table.concat(points))
end

local function file(model, shapes, beside)
  return HEAD .. (beside or "") .. '<process id="p">' .. model .. "</process>"
    .. '<di:BPMNDiagram><di:BPMNPlane bpmnElement="p">' .. shapes
    .. "</di:BPMNPlane></di:BPMNDiagram></definitions>"
end

local GRAPH = { key = "p", order = {}, nodes = {} }

local function drawn(...)
  local found = drawing.of(GRAPH, file(...))
  local by_id = {}
  for _, list in ipairs { found.shapes, found.lines } do
    for _, one in ipairs(list) do
      by_id[one.id] = one
    end
  end
  return by_id, found
end

local function page(...)
  return svg(select(2, drawn(...)), { at = {}, most = 0, title = "p" })
end

local TASK = '<task id="a" name="A"/>'

describe("a diagram", function()
  it("gives shapes their places, and lines their points", function()
    local by_id = drawn(TASK .. '<task id="b"/><sequenceFlow id="f" sourceRef="a" targetRef="b"/>',
      shape "a 10 20 100 80" .. shape "b 200 20 100 80" .. edge("f", { 110, 60 }, { 200, 60 }))
    assert.same({ 10, 20, 100, 80 }, { by_id.a.x, by_id.a.y, by_id.a.width, by_id.a.height })
    assert.same({ { 110, 60 }, { 200, 60 } }, by_id.f.points)
  end)

  it("knows every kind of event, and which of them interrupts nothing", function()
    for kind, name in pairs { message = "message", timer = "timer", error = "error",
      escalation = "escalation", signal = "signal", conditional = "conditional",
      compensate = "compensation", cancel = "cancel", link = "link", terminate = "terminate" } do
      local event = ('<startEvent id="a" isInterrupting="false"><%sEventDefinition/></startEvent>')
      local by_id = drawn(event:format(kind), shape "a 0 0 36 36")
      assert.equal(name, by_id.a.event)
      assert.is_true(by_id.a.beside)
    end
    local by_id = drawn('<startEvent id="a" parallelMultiple="true"><timerEventDefinition/>'
      .. "<signalEventDefinition/></startEvent>", shape "a 0 0 36 36")
    assert.equal("parallel_multiple", by_id.a.event)
  end)

  it("knows marks of activities", function()
    local turns = '<multiInstanceLoopCharacteristics isSequential="%s"/>'
    local model = '<task id="a">' .. turns:format "true" .. '</task><task id="b">'
      .. turns:format "false" .. '</task><task id="c" isForCompensation="true">'
      .. '<standardLoopCharacteristics/></task><adHocSubProcess id="d"/>'
    local by_id = drawn(model, shape "a 0 0 9 9" .. shape "b 0 0 9 9" .. shape "c 0 0 9 9"
      .. shape("d 0 0 9 9", 'isExpanded="false"'))
    assert.equal("sequential", by_id.a.turns)
    assert.equal("parallel", by_id.b.turns)
    assert.equal("loop", by_id.c.turns)
    assert.is_true(by_id.c.undoes)
    assert.is_true(by_id.d.ad_hoc and by_id.d.collapsed)
  end)

  it("has no cross in an exclusive gateway whose marker is not visible", function()
    local model = '<exclusiveGateway id="a"/><exclusiveGateway id="b"/>'
    local by_id = drawn(model, shape "a 0 0 50 50"
      .. shape("b 0 0 50 50", 'isMarkerVisible="true"'))
    assert.is_true(by_id.a.plain)
    assert.is_false(by_id.b.plain)
  end)

  it("does not show what lies in a sub-process that is closed", function()
    local model = '<subProcess id="s"><task id="a"/></subProcess>'
    assert.is_nil(drawn(model, shape("s 0 0 100 80", 'isExpanded="false"') .. shape "a 0 0 9 9").a)
    assert.truthy(drawn(model, shape "s 0 0 200 180" .. shape "a 0 0 9 9").a)
    assert.is_true(drawn(model, shape "s 0 0 100 80").s.collapsed)
  end)

  it("marks default flows and conditions, but no condition behind a gateway", function()
    local flow = '<sequenceFlow id="%s" sourceRef="%s" targetRef="b"><conditionExpression>x'
      .. "</conditionExpression></sequenceFlow>"
    local by_id = drawn('<task id="a" default="g"/><task id="b"/><inclusiveGateway id="i"/>'
      .. flow:format("f", "a") .. flow:format("h", "i")
      .. '<sequenceFlow id="g" sourceRef="a" targetRef="b"/>',
      shape "a 0 0 9 9" .. edge("f", { 0, 0 }, { 9, 9 }) .. edge("g", { 0, 0 }, { 9, 9 })
        .. edge("h", { 0, 0 }, { 9, 9 }))
    assert.is_true(by_id.f.conditional and by_id.g.default)
    assert.is_false(by_id.h.conditional or by_id.f.default)
  end)

  it("has pools, lanes, notes, data and groups", function()
    local beside = '<collaboration id="c"><participant id="pool" name="Shop" processRef="p"/>'
      .. '<participant id="bank" name="Bank"/></collaboration><category id="k">'
      .. '<categoryValue id="v" value="together"/></category>'
    local by_id = drawn('<laneSet><lane id="lane" name="Desk"/></laneSet><task id="a"/>'
      .. '<textAnnotation id="n"><text>Look</text></textAnnotation><dataObject id="o" '
      .. 'isCollection="true"/><dataObjectReference id="d" dataObjectRef="o" name="Bill"/>'
      .. '<dataStoreReference id="st"/><group id="g" categoryValueRef="v"/>',
      shape "pool 0 0 600 200" .. shape "lane 30 0 570 200" .. shape "a 50 20 100 80"
        .. shape "n 0 300 99 30" .. shape "d 300 0 36 50" .. shape "st 400 0 50 50"
        .. shape "g 0 0 99 99" .. shape "bank 0 400 600 60", beside)
    local forms = {}
    for id, one in pairs(by_id) do
      forms[id] = one.form
    end
    assert.same({ pool = "pool", bank = "pool", lane = "lane", a = "task", n = "note", d = "data",
      st = "store", g = "group" }, forms)
    assert.is_true(by_id.d.collection and by_id.bank.is_empty)
    assert.same({ "Look", "together" }, { by_id.n.name, by_id.g.name })
  end)

  it("is not used where it shows nothing of the process", function()
    local text = file(TASK, "")
    local found = drawing.of({ key = "p", order = { "a" },
      nodes = { a = { id = "a", kind = "task", out = {} } } }, text)
    assert.is_true(found.laid_out)
  end)
end)

describe("a picture", function()
  it("has names as text, whatever they are", function()
    local text = page('<task id="a" name="&lt;script&gt;&quot;&amp;]]&gt; &#x1F600;"/>',
      shape "a 0 0 100 80")
    assert.is_nil(text:find("<script>", 1, true))
    assert.truthy(text:find("&lt;script&gt;", 1, true))
  end)

  it("takes colours, and nothing else, from a model", function()
    local red = page(TASK, shape("a 0 0 100 80", 'bioc:fill="#ff0000"'))
    assert.truthy(red:find("fill:#ff0000", 1, true))
    local plain = page(TASK, shape("a 0 0 100 80", 'bioc:fill="#FFF" bioc:stroke="#000000"'))
    assert.is_nil(plain:find("style=", 1, true))
    local bad = page(TASK, shape("a 0 0 100 80", 'bioc:fill="url(http://x)" bioc:stroke="#00g"'))
    assert.is_nil(bad:find("http://x", 1, true))
    assert.is_nil(bad:find("#00g", 1, true))
  end)

  it("has a size that a model does not choose", function()
    local text = page('<task id="a" name="' .. ("x"):rep(100000) .. '"/>',
      shape "a -1e300 0 1e999 5e8")
    local width, height = text:match 'width="(%d+)" height="(%d+)"'
    assert.is_true(tonumber(width) <= 16000 and tonumber(height) <= 16000)
    assert.is_true(#text < 20000)
  end)

  it("is well-formed, of every kind of symbol", function()
    local xml = require "moonshift.xml"
    local path = "examples/order-process/processes/order.bpmn"
    local found = drawing.of({ key = "order", order = {}, nodes = {} }, source.read(path))
    assert.is_nil(found.laid_out)
    local standing = { title = "<order>", most = 3, notes = { "a & b" },
      at = { reserve = { count = 2, waiting = "2 (job)", incidents = 1, passed = 3 } } }
    local root = assert(xml.read(svg(found, standing)))
    assert.equal("svg", root.name)
  end)
end)
