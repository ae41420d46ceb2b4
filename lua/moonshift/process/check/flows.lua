-- Rules of flows and gateways: what may lead where, and by what conditions.
local flows = {}

-- ---- exclusive gateways ----

local function refuse_bare(node, bare, report)
  local ids = {}
  for i, flow in ipairs(bare) do
    ids[i] = ('"%s"'):format(flow.id)
  end
  report:refuse(node, (#ids == 1 and "the flow %s has no condition and is not the default"
    or "the flows %s have no condition and are not the default"):format(table.concat(ids, ", ")))
end

local function check_default(node, report)
  for _, flow in ipairs(node.out) do
    if flow.default and flow.when ~= nil then
      report:refuse(node, ('its default flow "%s" has a condition'):format(flow.id))
    end
  end
end

-- One flow without a condition is true where its turn comes, as in Camunda, Flowable and Activiti:
-- the last one is the default, one before others hides them.
local function assume_condition(node, flow, report)
  if flow == node.out[#node.out] then
    flow.default = true
    report:warn(node, ('the flow "%s" has no condition: it is taken for the default'):format(
      flow.id))
    return
  end
  flow.when = "${true}"
  report:warn(node, ('the flow "%s" has no condition: those behind it are never taken'):format(
    flow.id))
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
    check_default(node, report)
    if #bare > 1 or (#bare == 1 and has_default) then
      refuse_bare(node, bare, report)
    elseif #bare == 1 then
      assume_condition(node, bare[1], report)
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
      for _, other in ipairs(target.into) do
        if other.from ~= node.id then
          report:refuse(target, ('the event-based gateway "%s" leads to it, and so does the flow '
            .. '"%s"'):format(node.id, other.id))
        end
      end
    end
  end
end

-- ---- all nodes ----

local function refuse_flows(node, list, what, report)
  for _, flow in ipairs(list) do
    report:refuse(node, ('%s "%s"'):format(what, flow.id))
  end
end

-- Nodes that no flow may enter or leave.
local function check_ends(node, report)
  if node.kind == "event_subprocess" then
    refuse_flows(node, node.into, "an event sub-process has the incoming flow", report)
    refuse_flows(node, node.out, "an event sub-process has the outgoing flow", report)
  elseif node.compensates then
    refuse_flows(node, node.into, "an activity for compensation has the incoming flow", report)
    refuse_flows(node, node.out, "an activity for compensation has the outgoing flow", report)
  elseif node.kind == "boundary" then
    refuse_flows(node, node.into, "a boundary event has the incoming flow", report)
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
