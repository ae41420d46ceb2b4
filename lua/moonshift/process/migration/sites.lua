-- Where an instance may stand, by name: an activity of a graph, or the body of a repeated one. The
-- name of the process itself is "".
--
-- A site: { name, step, body = it is the body }.
local operations = require "moonshift.process.operations"
local rules = require "moonshift.rules"
local targets = require "moonshift.process.targets"

local sites = {}

-- Kinds of nodes that may be taken for each other, and what people call them.
local KINDS = { service = "service task", send = "service task", rule = "service task",
  script = "script task", user = "user task", manual = "task", task = "task",
  receive = "receive task", exclusive = "exclusive gateway", parallel = "parallel gateway",
  inclusive = "inclusive gateway", event_gateway = "event-based gateway",
  subprocess = "sub-process", event_subprocess = "sub-process", transaction = "sub-process",
  call = "call activity", catch = "catch event", throw = "throw event", boundary = "boundary event",
  start = "start event", ["end"] = "end event" }
local TRIGGERS = { timer = true, message = true, signal = true, conditional = true }

-- find(plan, name) -> the site; nil: there is none
function sites.find(plan, name)
  local at, body, number = operations.name(name)
  local step = not number and plan.steps[at]
  if not step or body and not step.multi then
    return nil
  end
  return { name = body and step.multi.at or step.id, step = step, body = body }
end

local function add_names(plan, names)
  for id, step in pairs(plan.steps) do
    names[#names + 1] = id
    names[#names + 1] = step.multi and step.multi.at or nil
  end
  table.sort(names)
  return names
end

-- unknown(plan, name) -> that there is no such site, and which is meant
function sites.unknown(plan, name)
  local meant = rules.suggest(name, add_names(plan, {}))
  return ("the process %s has no activity %s%s"):format(plan.key, name,
    meant and (' (did you mean "%s"?)'):format(meant) or "")
end

-- host(step) -> the name of what has the boundary events of an activity
function sites.host(step)
  return step.multi and step.multi.at or step.id
end

-- around(site) -> the name of the scope around it
function sites.around(site)
  local step = site.step
  if step.multi and not site.body then
    return step.multi.at
  end
  return step.scope and step.scope.id or ""
end

-- scopes(plan, site) -> the names of the scopes around it, the innermost first
function sites.scopes(plan, site)
  local list, name = {}, sites.around(site)
  while name ~= "" do
    list[#list + 1] = name
    name = sites.around(sites.find(plan, name))
  end
  return list
end

function sites.is_event_start(step)
  return step.node.kind == "start" and step.scope ~= nil
    and step.scope.node.kind == "event_subprocess"
end

-- kind(site) -> what it is, in words
function sites.kind(site)
  local step = site.step
  if site.body then
    return step.multi.parallel and "parallel body" or "sequential body"
  elseif sites.is_event_start(step) then
    return "start event of an event sub-process"
  elseif step.topic then
    return "external task"
  end
  return KINDS[step.node.kind] or step.node.kind
end

-- event(site) -> the kind of the event that it waits for; nil: it is no event
function sites.event(site)
  local kind = site.step.node.kind
  local is_event = kind == "boundary" or kind == "catch" or sites.is_event_start(site.step)
  return not site.body and is_event and site.step.event.kind or nil
end

-- trigger(site) -> whether its event may be triggered anew: a timer, message, signal or condition
function sites.trigger(site)
  local kind = site.step.node.kind
  return not site.body and (kind == "receive" or sites.event(site) ~= nil)
    and TRIGGERS[site.step.event.kind] or false
end

-- owner(plan, site) -> the name of what holds the wait for its event, if that is not itself
function sites.owner(plan, site)
  local step = site.step
  if step.host and not site.body then
    return sites.host(step.host)
  end
  local gateway = targets.gateway_of(plan, step)
  return gateway and gateway.id or nil
end

return sites
