-- Rules of flows and gateways: what may lead where, and by what conditions.
local flows = {}

-- ---- exclusive gateways ----

local function check_flow_of_many(node, flow, has_default, report)
  if flow.default and flow.when ~= nil then
    report:refuse(node, ('its default flow "%s" has a condition'):format(flow.id))
  elseif not flow.default and flow.when == nil and has_default then
    report:refuse(node, ('the flow "%s" has no condition and is not the default'):format(flow.id))
  end
end

-- One flow without a condition is taken for the default, as Camunda does.
local function assume_default(node, flow, report)
  flow.default = true
  report:warn(node, ('the flow "%s" has no condition: it is taken for the default'):format(flow.id))
end

local function check_exclusive(node, report)
  local bare, has_default = {}, false
  for _, flow in ipairs(node.out) do
    has_default = has_default or flow.default == true
    bare[#bare + 1] = flow.when == nil and not flow.default and flow or nil
  end
  if #node.out == 0 then
    report:refuse(node, "an exclusive gateway has no outgoing flow")
  elseif #node.out == 1 and node.out[1].when ~= nil then
    report:refuse(node, ('its only outgoing flow "%s" has a condition'):format(node.out[1].id))
  elseif #node.out > 1 then
    for _, flow in ipairs(node.out) do
      check_flow_of_many(node, flow, has_default or #bare > 1, report)
    end
    if not has_default and #bare == 1 then
      assume_default(node, bare[1], report)
    end
  end
end

-- ---- event-based gateways ----

local function check_event_gateway(node, graph, report)
  if #node.out == 0 then
    report:refuse(node, "an event-based gateway has no outgoing flow")
  end
  for _, flow in ipairs(node.out) do
    local target = graph.nodes[flow.to]
    if target.kind ~= "catch" then
      report:refuse(target, ('the event-based gateway "%s" leads to it (expected a catch event)')
        :format(node.id))
    elseif target.event.kind == "link" then
      report:refuse(target, ('the event-based gateway "%s" leads to a link event'):format(node.id))
    elseif #target.into > 1 then
      report:refuse(target, ('the event-based gateway "%s" and other flows lead to it'):format(
        node.id))
    end
  end
end

-- ---- all nodes ----

-- Nodes that no flow may enter or leave.
local function check_ends(node, report)
  local kind = node.kind
  if kind == "event_subprocess" and (node.into[1] or node.out[1]) then
    report:refuse(node, ("an event sub-process has %s flow"):format(
      node.into[1] and "an incoming" or "an outgoing"))
  elseif node.compensates and (node.into[1] or node.out[1]) then
    report:refuse(node, ("an activity for compensation has %s flow"):format(
      node.into[1] and "an incoming" or "an outgoing"))
  elseif kind == "boundary" and node.into[1] then
    report:refuse(node, "a boundary event has an incoming flow")
  elseif kind == "boundary" and node.event.kind == "compensation" and node.out[1] then
    report:refuse(node, "a compensation event has an outgoing flow (expected an association)")
  end
end

-- The flows out of a multi-instance activity are those of its body.
local function check_names(node, report)
  local job = node.multi or node
  for _, flow in ipairs(node.out) do
    if job.after and flow.unnamed then
      report:refuse(node, "is asynchronous after, but a flow out of it has no id")
    end
  end
end

function flows.check(node, graph, report)
  if node.kind == "exclusive" then
    check_exclusive(node, report)
  elseif node.kind == "event_gateway" then
    check_event_gateway(node, graph, report)
  end
  check_ends(node, report)
  check_names(node, report)
end

return flows
