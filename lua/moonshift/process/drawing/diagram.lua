-- The drawing of a model that has a diagram: the shapes and lines of that diagram, where it has
-- them (see drawing.lua for the form of a drawing).
local elements = require "moonshift.process.bpmn.elements"
local xml = require "moonshift.xml"

local diagram = {}

local FAR = 1000000 -- no coordinate is farther from 0
local POINTS_MAX = 500 -- of one line

local COLOURS = "http://www.omg.org/spec/BPMN/non-normative/color/1.0"
local BPMN_IO = "http://bpmn.io/schema/bpmn/biocolor/1.0"

-- ---- what an element looks like ----

local EVENTS = { startEvent = "start", endEvent = "end", boundaryEvent = "boundary",
  intermediateCatchEvent = "catch", intermediateThrowEvent = "throw", implicitThrowEvent = "throw" }
local TASKS = { task = "task", serviceTask = "service", sendTask = "send", receiveTask = "receive",
  userTask = "user", manualTask = "manual", scriptTask = "script", businessRuleTask = "rule",
  callActivity = "call" }
local GATEWAYS = { exclusiveGateway = "exclusive", parallelGateway = "parallel",
  inclusiveGateway = "inclusive", eventBasedGateway = "event", complexGateway = "complex" }
local SCOPES = { subProcess = "subprocess", transaction = "transaction",
  adHocSubProcess = "subprocess" }
local DATA = { dataObjectReference = "data", dataObject = "data", dataInput = "data",
  dataOutput = "data", dataStoreReference = "store" }
local LINES = { sequenceFlow = "flow", messageFlow = "message", association = "association",
  dataInputAssociation = "data", dataOutputAssociation = "data" }
local DEFINITIONS = { messageEventDefinition = "message", timerEventDefinition = "timer",
  errorEventDefinition = "error", escalationEventDefinition = "escalation",
  signalEventDefinition = "signal", conditionalEventDefinition = "conditional",
  compensateEventDefinition = "compensation", cancelEventDefinition = "cancel",
  linkEventDefinition = "link", terminateEventDefinition = "terminate" }

local looks = {}

local function event(element, shape)
  local found
  for _, child in ipairs(element.children) do
    local kind = elements.is_model(child)
      and (DEFINITIONS[child.name] or child.name == "eventDefinitionRef" and "multiple")
    found = kind and (found and "multiple" or kind) or found
  end
  if found == "multiple" and elements.flag(element, "parallelMultiple", false) then
    found = "parallel_multiple"
  end
  shape.form, shape.kind, shape.event = "event", EVENTS[element.name], found
  shape.beside = not elements.flag(element, "cancelActivity", true)
    or not elements.flag(element, "isInterrupting", true)
end

local function activity(element, shape)
  local turns = elements.child(element, "multiInstanceLoopCharacteristics")
  if turns then
    shape.turns = elements.flag(turns, "isSequential", false) and "sequential" or "parallel"
  elseif elements.child(element, "standardLoopCharacteristics") then
    shape.turns = "loop"
  end
  shape.undoes = elements.flag(element, "isForCompensation", false)
  shape.form, shape.kind = "task", TASKS[element.name]
end

local function scope(element, shape, drawn)
  activity(element, shape)
  shape.form, shape.kind = "scope", SCOPES[element.name]
  shape.ad_hoc = element.name == "adHocSubProcess"
  shape.triggered = elements.flag(element, "triggeredByEvent", false)
  shape.collapsed = drawn.closed == true
end

local function gateway(element, shape, drawn)
  shape.form, shape.kind = "gateway", GATEWAYS[element.name]
  shape.plain = shape.kind == "exclusive" and not elements.flag(drawn, "isMarkerVisible", false)
  shape.instantiates = elements.flag(element, "instantiate", false)
    and (element.attributes.eventGatewayType == "Parallel" and "all" or "one") or nil
end

local function data(element, shape, _, file)
  local object = file.ids[element.attributes.dataObjectRef or ""] or element
  shape.form, shape.kind = DATA[element.name], element.name
  shape.collection = elements.flag(object, "isCollection", false)
    or elements.flag(element, "isCollection", false)
  local state = elements.child(element, "dataState")
  if state and state.attributes.name then
    shape.name = ("%s [%s]"):format(shape.name or "", state.attributes.name)
  end
end

for names, look in pairs { [EVENTS] = event, [TASKS] = activity, [GATEWAYS] = gateway,
  [SCOPES] = scope, [DATA] = data } do
  for name in pairs(names) do
    looks[name] = look
  end
end

function looks.participant(element, shape, drawn)
  shape.form, shape.upright = "pool", not elements.flag(drawn, "isHorizontal", true)
  shape.several = elements.child(element, "participantMultiplicity") ~= nil
end

function looks.lane(_, shape, drawn)
  shape.form, shape.upright = "lane", not elements.flag(drawn, "isHorizontal", true)
end

function looks.textAnnotation(element, shape)
  shape.form, shape.name = "note", elements.child_text(element, "text")
end

-- A group has the name of its category.
function looks.group(element, shape, _, file)
  local value = file.ids[elements.unqualified(element.attributes.categoryValueRef) or ""]
  shape.form, shape.name = "group", value and value.attributes.value
end

-- ---- the file ----

-- Finds all elements with an id, and what lies around each.
local function collect(file, element, around)
  file.around[element] = around
  if element.attributes.id and (elements.is_model(element)) then
    file.ids[element.attributes.id] = file.ids[element.attributes.id] or element
  end
  for _, child in ipairs(element.children) do
    collect(file, child, element)
  end
end

local function number(element, name)
  local value = tonumber(element.attributes[name])
  if not value or value ~= value then
    return 0
  end
  return math.max(-FAR, math.min(FAR, value))
end

local function bounds(element)
  for _, child in ipairs(element.children) do
    if child.name == "Bounds" then
      return { x = number(child, "x"), y = number(child, "y"),
        width = math.max(0, number(child, "width")), height = math.max(0, number(child, "height")) }
    end
  end
end

local function label_of(drawn)
  for _, child in ipairs(drawn.children) do
    if child.name == "BPMNLabel" then
      return bounds(child)
    end
  end
end

-- Black on white is no choice of anybody: it follows what the reader likes.
local PLAIN = { ["#000"] = true, ["#000000"] = true, ["#fff"] = true, ["#ffffff"] = true }

-- A colour that a modeler gave, by its name in the standard or in bpmn.io; nil if it is none.
local function colour(drawn, standard, own)
  local value = drawn.attributes[COLOURS .. " " .. standard]
    or drawn.attributes[BPMN_IO .. " " .. own]
  local is_colour = value and value:find "^#%x+$" and (#value == 4 or #value == 7)
  return is_colour and not PLAIN[value:lower()] and value or nil
end

-- ---- shapes and lines ----

local function shape_of(file, drawn, element)
  local shape = bounds(drawn) or { x = 0, y = 0, width = 0, height = 0 }
  shape.id, shape.name, shape.label = element.attributes.id, element.attributes.name,
    label_of(drawn)
  shape.fill = colour(drawn, "background-color", "fill")
  shape.stroke = colour(drawn, "border-color", "stroke")
  looks[element.name](element, shape, drawn, file)
  return shape
end

local function points_of(drawn)
  local points = {}
  for _, child in ipairs(drawn.children) do
    if child.name == "waypoint" and #points < POINTS_MAX then
      points[#points + 1] = { number(child, "x"), number(child, "y") }
    end
  end
  return points
end

local function line_of(file, drawn, element)
  local given = element.attributes
  local source = file.ids[given.sourceRef or ""]
  return {
    id = given.id, kind = LINES[element.name], points = points_of(drawn), name = given.name,
    label = label_of(drawn), from = given.sourceRef, to = given.targetRef,
    stroke = colour(drawn, "border-color", "stroke"),
    default = source ~= nil and source.attributes.default == given.id,
    conditional = elements.child(element, "conditionExpression") ~= nil and source ~= nil
      and GATEWAYS[source.name] == nil,
    arrow = element.name ~= "association" or given.associationDirection == "One"
      or given.associationDirection == "Both" or nil,
    both = given.associationDirection == "Both",
  }
end

-- True for what lies in a sub-process that is drawn closed.
local function is_hidden(file, element, closed)
  local around = file.around[element]
  while around do
    if closed[around] then
      return true
    end
    around = file.around[around]
  end
  return false
end

-- ---- the plane ----

local function element_of(file, drawn)
  return file.ids[elements.unqualified(drawn.attributes.bpmnElement) or ""]
end

local function is_in(file, element, process)
  while element do
    if element == process then
      return true
    end
    element = file.around[element]
  end
  return false
end

-- The plane that has a node of the process, or nil.
local function plane_of(file, root, process)
  for _, child in ipairs(root.children) do
    for _, plane in ipairs(child.name == "BPMNDiagram" and child.ns == elements.DIAGRAM
      and child.children or {}) do
      for _, drawn in ipairs(plane.name == "BPMNPlane" and plane.children or {}) do
        local element = element_of(file, drawn)
        if element and element ~= process and drawn.name == "BPMNShape" and looks[element.name]
          and is_in(file, element, process) then
          return plane
        end
      end
    end
  end
end

-- The sub-processes that are drawn closed. One that does not say so is open if it holds a shape.
local function closed_of(file, plane)
  local closed, holds = {}, {}
  for _, drawn in ipairs(plane.children) do
    local element = element_of(file, drawn)
    holds[element and file.around[element] or plane] = true
  end
  for _, drawn in ipairs(plane.children) do
    local element = element_of(file, drawn)
    if element and SCOPES[element.name] and drawn.name == "BPMNShape" then
      drawn.closed = not elements.flag(drawn, "isExpanded", holds[element] == true)
      closed[element] = drawn.closed or nil
    end
  end
  return closed
end

-- of(text, key) -> the drawing of the process in a model; nil: it has no diagram
function diagram.of(text, key)
  local root = xml.read(text)
  local file = { ids = {}, around = {} }
  if not root then
    return nil
  end
  collect(file, root, nil)
  local process = file.ids[key]
  local plane = process and plane_of(file, root, process)
  if not plane then
    return nil
  end
  local drawing, closed = { shapes = {}, lines = {} }, closed_of(file, plane)
  for _, drawn in ipairs(plane.children) do
    local element = element_of(file, drawn)
    if element and not is_hidden(file, element, closed) then
      if drawn.name == "BPMNShape" and looks[element.name] then
        table.insert(drawing.shapes, shape_of(file, drawn, element))
      elseif drawn.name == "BPMNEdge" and LINES[element.name] then
        table.insert(drawing.lines, line_of(file, drawn, element))
      end
    end
  end
  return drawing
end

return diagram
