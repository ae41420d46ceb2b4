-- What joins the nodes of a graph: sequence flows, boundary events, associations.
local elements = require "moonshift.process.bpmn.elements"
local events = require "moonshift.process.bpmn.events"
local extensions = require "moonshift.process.bpmn.extensions"

local flows = {}

-- The node of this id, if it lies in the scope.
local function node_in(graph, id, scope)
  local node = graph.nodes[elements.unqualified(id) or ""]
  return node and node.scope == scope and node or nil
end

-- True for an element whose kind is refused: that is told once.
local function is_refused(id, context)
  local element = context.ids[elements.unqualified(id)]
  return element ~= nil and element.refused
end

local function check_end(graph, element, scope, attribute, context)
  local id = element.attributes[attribute]
  local node = id and node_in(graph, id, scope)
  if id and not node and not is_refused(id, context) then
    local elsewhere = graph.nodes[elements.unqualified(id)]
    context.report:refuse(element, ('%s="%s", which is %s'):format(attribute, id,
      elsewhere and "in another scope (a flow stays in its scope)" or "no node of the process"))
  end
  return node
end

-- A name of its own for a flow without an id.
local function unnamed(graph, from, to)
  local id = ("%s->%s"):format(from.id, to.id)
  while graph.flow_ids[id] do
    id = id .. "+"
  end
  return id
end

-- The element of a flow's condition. Flowable and Activiti pass over an empty one.
local function condition_of(element, context)
  local condition = elements.child(element, "conditionExpression")
  if condition and context.passes_over and not elements.extension_text(condition, "resource")
    and not condition.text:find("%S") then
    context.report:warn(element, "<conditionExpression> is empty, so the flow has no condition")
    return nil
  end
  return condition
end

local function read_flow(graph, element, scope, context)
  local from = check_end(graph, element, scope, "sourceRef", context)
  local to = check_end(graph, element, scope, "targetRef", context)
  if not from or not to then
    return
  end
  local condition = condition_of(element, context)
  local flow = {
    id = element.attributes.id or unnamed(graph, from, to),
    unnamed = not element.attributes.id or nil,
    name = element.attributes.name,
    from = from.id,
    to = to.id,
    when = condition and events.condition(condition, element, context),
    listeners = extensions.flow_listeners(element, context.report),
    line = element.line,
    column = element.column,
  }
  graph.flow_ids[flow.id] = true
  from.out[#from.out + 1] = flow
  to.into[#to.into + 1] = flow
end

-- Marks the default flow of a node, which its element names.
local function read_default(node, element, context)
  local id = element.attributes.default
  if not id or id == "" then
    return
  end
  for _, flow in ipairs(node.out) do
    if flow.id == id then
      flow.default = true
      return
    end
  end
  context.report:refuse(element, ('default="%s", which is no flow out of it'):format(id))
end

local HOSTS = { service = true, send = true, script = true, rule = true, user = true,
  manual = true, task = true, receive = true, subprocess = true, call = true, transaction = true }

local function attach(graph, node, context)
  local host = node.attached and graph.nodes[node.attached]
  if not node.attached or is_refused(node.attached, context) then
    return -- told already
  elseif not host or host.scope ~= node.scope then
    context.report:refuse(node, ('attachedToRef="%s", which is no activity of its scope'):format(
      node.attached))
  elseif not HOSTS[host.kind] then
    context.report:refuse(node, ('attachedToRef="%s" (expected an activity)'):format(node.attached))
  else
    host.boundaries = host.boundaries or {}
    table.insert(host.boundaries, node.id)
  end
end

-- A compensation boundary event is joined to its handler by an association.
local function associate(graph, element, context)
  local source, target = element.attributes.sourceRef, element.attributes.targetRef
  for _, attribute in ipairs { "sourceRef", "targetRef" } do
    local id = element.attributes[attribute]
    if id and not context.ids[elements.unqualified(id)] then
      context.report:refuse(element, ('%s="%s", which is no element of the file'):format(attribute,
        id))
    end
  end
  local from = graph.nodes[elements.unqualified(source) or ""]
  local to = graph.nodes[elements.unqualified(target) or ""]
  if not (from and to and from.kind == "boundary" and from.event.kind == "compensation") then
    return
  elseif not to.compensates or to.kind == "event_subprocess" then
    context.report:refuse(from, ('its handler "%s" is not for compensation (expected '
      .. 'isForCompensation="true")'):format(to.id))
  end
  from.handler = to.id
end

-- join(graph, parts, context): `parts` has the elements that were found: flows, associations (each
-- { element, scope }) and nodes ({ node, element }).
function flows.join(graph, parts, context)
  graph.flow_ids = {}
  for _, part in ipairs(parts.flows) do
    read_flow(graph, part.element, part.scope, context)
  end
  graph.flow_ids = nil
  for _, part in ipairs(parts.nodes) do
    read_default(part.node, part.element, context)
    if part.node.kind == "boundary" then
      attach(graph, part.node, context)
    end
  end
  for _, part in ipairs(parts.associations) do
    associate(graph, part.element, context)
  end
end

return flows
