-- compile.plan(graph) -> a plan: the graph made ready for the walk, made once for each graph.
--
-- plan: { key, graph, priority, steps = { [id] = step }, flows = { [id] = flow }, start = step,
--   events = { step … }, starts, ends = call-outs of the process itself }
--
-- A step is a node with its flows as links, its texts compiled, its kind as a table of functions.
--
-- A compiled value is { constant = value } or { ask = function(scope) -> value }; the scope is that
-- of moonshift.process.variables. A call-out is what moonshift.process.calls runs.
local expression = require "moonshift.expression"
local graph_of = require "moonshift.process.graph"
local rules = require "moonshift.rules"
local show = require "moonshift.show"
local weekdays = require "moonshift.process.weekdays"

local compile = {}

local KINDS = {
  start = "start", ["end"] = "end", service = "service", send = "service", rule = "service",
  script = "service", user = "user", manual = "task", task = "task", receive = "receive",
  exclusive = "exclusive", parallel = "parallel", inclusive = "inclusive",
  event_gateway = "event_gateway", subprocess = "subprocess", event_subprocess = "event_subprocess",
  transaction = "subprocess", call = "call", catch = "catch",
  throw = "throw", boundary = "boundary",
}

-- Kinds whose activity has variables of its own even without mappings or boundary events.
local SCOPES = {
  subprocess = true, event_subprocess = true, transaction = true, call = true, receive = true,
  catch = true, event_gateway = true,
}

local plans = setmetatable({}, { __mode = "k" })

-- ---- values ----

local Values = {} -- by the field that says what a table is

-- Compiles a text with ${…}; it may assign only where `free` says so.
local function text_value(c, text, where, free)
  if not expression.is(text) then
    return { constant = text }
  end
  local ask, message = expression.compile(text, { file = c.path, line = where.line },
    { pure = not free })
  if not ask then
    error(("%s:%s: %s: %s"):format(tostring(c.path), tostring(where.line), tostring(where.id),
      message), 0)
  end
  return { ask = ask, text = text }
end

-- What an entry is; null for nothing, which a table cannot hold.
local function item_of(scope, item)
  local value = scope:ask(item)
  return value == nil and rules.null or value
end

function Values.list(c, list, where)
  local items = {}
  for i, item in ipairs(list) do
    items[i] = compile.value(c, item, where)
  end
  return { ask = function(scope)
    local made = {}
    for i, item in ipairs(items) do
      made[i] = item_of(scope, item)
    end
    return made
  end }
end

-- The name of an entry, which an expression may give.
local function key_of(scope, key, where)
  local name = scope:ask(key)
  if type(name) ~= "string" and type(name) ~= "number" then
    error(("%s: the key %s of an entry is %s (expected a text)"):format(where.id, key.text,
      show(name)), 0)
  end
  return tostring(name)
end

function Values.map(c, map, where)
  local items = {}
  for name, item in pairs(map) do
    items[#items + 1] = { key = text_value(c, name, where), value = compile.value(c, item, where) }
  end
  return { ask = function(scope)
    local made = {}
    for _, item in ipairs(items) do
      made[item.key.constant or key_of(scope, item.key, where)] = item_of(scope, item.value)
    end
    return made
  end }
end

-- value(c, what a graph gives as <value> or <condition>, where) -> a compiled value, or nil
function compile.value(c, value, where)
  if type(value) == "string" then
    return text_value(c, value, where)
  elseif type(value) == "function" then
    return { ask = function(scope)
      return value(scope:view())
    end }
  elseif type(value) ~= "table" then
    return value ~= nil and { constant = value } or nil
  elseif value.script or value.resource then
    return { script = compile.callout(c, value, where) }
  end
  local kind = value.list and "list" or value.map and "map"
  return kind and Values[kind](c, value[kind], where) or { constant = value }
end

-- ---- call-outs ----

-- A text or a list of the names under which a handler is looked for, first match.
local function names_of(behaviour)
  local name = behaviour.names or behaviour.run or behaviour.class or behaviour.delegate
    or behaviour.topic or behaviour.decision or behaviour.resource
  return type(name) == "table" and name or { name }
end

-- fields(c, fields, where) -> compiled values by name, or nil for none
function compile.fields(c, fields, where)
  local values
  for name, value in pairs(fields or {}) do
    values = values or {}
    values[name] = compile.value(c, value, where)
  end
  return values
end

-- callout(c, behaviour, where) -> { call = function } | { ask = … } | { script = …, text } |
-- { names = { … } }, with `label` for messages.
function compile.callout(c, behaviour, where)
  local line = behaviour.line or where.line
  local out = { line = line, fields = compile.fields(c, behaviour.fields, where) }
  if behaviour.call then
    out.call, out.label = behaviour.call, "function"
  elseif behaviour.expression then
    local value = text_value(c, behaviour.expression, { id = where.id, line = line }, true)
    out.ask, out.constant, out.label = value.ask, value.constant, behaviour.expression
    out.is_value = true
  elseif behaviour.script and behaviour.language == "juel" then
    local value = text_value(c, behaviour.script, { id = where.id, line = line }, true)
    out.ask, out.constant, out.label, out.is_value = value.ask, value.constant, "script", true
  elseif behaviour.script and (behaviour.language or "lua"):lower() == "lua" then
    out.script, out.label, out.file = behaviour.script, "script", c.path
  else
    out.names, out.decides, out.map = names_of(behaviour), behaviour.decision, behaviour.map
    out.label = out.names[1] or "nothing"
  end
  return out
end

-- What listeners of an event call. Failures name each by its place, as "approve/complete 1".
local function callouts(c, behaviours, where, event)
  local list = {}
  for i, behaviour in ipairs(behaviours or {}) do
    list[i] = compile.callout(c, behaviour, where)
    list[i].place = ("%s/%s %d"):format(where.id or where.key, event, i)
  end
  return list[1] and list
end

-- ---- steps ----

-- A timer's text. What an expression of a model says may count weekdays as Quartz does.
local function timer_of(c, timer, node)
  local text = compile.value(c, timer.text, node)
  local ask = timer.quartz and text.ask
  return { kind = timer.kind, text = not ask and text or { text = text.text, ask = function(scope)
    return weekdays.quartz(ask(scope))
  end } }
end

local function named_values(c, list, where)
  local values = {}
  for i, one in ipairs(list or {}) do
    values[i] = { name = one.name, value = compile.value(c, one.value, where) }
  end
  return values[1] and values
end

local function multi_of(c, node)
  local multi = node.multi
  return {
    parallel = multi.parallel, before = multi.before, after = multi.after,
    exclusive = multi.exclusive ~= false, retry = multi.retry, element = multi.element,
    index = multi.index,
    count = compile.value(c, multi.count, node),
    collection = compile.value(c, multi.collection, node),
    ["until"] = compile.value(c, multi["until"], node),
    priority = compile.value(c, multi.priority, node),
    at = node.id .. "#multiInstanceBody",
  }
end

local function maps_of(c, list, node)
  local made = {}
  for i, map in ipairs(list or {}) do
    made[i] = { from = map.from, to = map.to, all = map.all, is_local = map["local"],
      value = compile.value(c, map.value, node) }
  end
  return made
end

local function call_of(c, node)
  local call = node.call
  return { process = compile.value(c, call.process, node), binding = call.binding or "latest",
    version = compile.value(c, call.version, node), key = compile.value(c, call.key, node),
    into = maps_of(c, call.into, node), back = maps_of(c, call.back, node),
    mapping = call.mapping and compile.callout(c, call.mapping, node) }
end

local function set_of(list)
  local set = {}
  for _, name in ipairs(list) do
    set[name] = true
  end
  return set
end

local function event_of(c, node)
  local event = node.event
  return event and {
    kind = event.kind, interrupting = event.interrupting ~= false, code = event.code,
    activity = event.activity, async = event.async,
    into = event.into and maps_of(c, event.into, node),
    link = event.name, name = compile.value(c, event.name, node),
    key = compile.value(c, event.key, node), when = compile.value(c, event.when, node),
    variable = event.variable, changes = event.changes and set_of(event.changes),
    message = compile.value(c, event.message, node),
    code_variable = event.code_variable, message_variable = event.message_variable,
    timer = event.timer and timer_of(c, event.timer, node),
  } or { kind = "none", interrupting = true }
end

-- What listeners of variables call, by the kind of change; nil without any.
local function hears_of(c, listeners, where)
  local made
  for _, event in ipairs { "variable_create", "variable_update", "variable_delete" } do
    if listeners[event] then
      made = made or {}
      made[event] = callouts(c, listeners[event], where, event)
    end
  end
  return made
end

local function listeners_of(c, step, node)
  local listeners = node.listeners or {}
  step.starts = callouts(c, listeners.start, node, "start")
  step.ends = callouts(c, listeners["end"], node, "end")
  for _, event in ipairs { "create", "assignment", "update", "complete", "delete" } do
    step["on_" .. event] = callouts(c, listeners[event], node, event)
  end
  step.hears_changes = step.on_update or step.on_assignment
  step.hears = hears_of(c, listeners, node)
end

-- Timers of listeners are watched for as boundary events are, by steps that are no nodes.
local function timeouts_of(c, step, node)
  for i, one in ipairs(node.timeouts or {}) do
    step.timeouts = step.timeouts or {}
    step.timeouts[i] = {
      id = graph_of.timeout_place(node, one), node = { kind = "timeout", line = node.line },
      listener = one.id, host = step, priority = step.priority, exclusive = step.exclusive,
      call_out = compile.callout(c, one.behaviour, node),
      event = { kind = "timer", interrupting = false, timer = timer_of(c, one.timer, node) },
    }
    step.timeouts[i].call_out.place = ("%s/timeout %s"):format(node.id, one.id)
  end
  step.is_scope = step.is_scope or step.timeouts ~= nil
end

-- The places of the commas in a text that stand in no expression, and one behind its end.
local function commas_of(text)
  local places, at = {}, 1
  while at <= #text do
    local last = text:match("^[$#]%b{}()", at)
    if not last and text:sub(at, at) == "," then
      places[#places + 1] = at
    end
    at = last or at + 1
  end
  places[#places + 1] = #text + 1
  return places
end

-- The parts of a list of names, each a text or an expression of its own; nil for none.
local function parts_of(c, value, node)
  if type(value) ~= "string" then
    return value ~= nil and { compile.value(c, value, node) } or nil
  end
  local parts, first = {}, 1
  for _, comma in ipairs(commas_of(value)) do
    local part = value:sub(first, comma - 1):match("^%s*(.*)$")
    if part ~= "" then
      parts[#parts + 1] = text_value(c, part, node)
    end
    first = comma + 1
  end
  return parts
end

local function task_of(c, step, node)
  local candidates = node.candidates or {}
  step.task_name = compile.value(c, node.name, node)
  step.task_assignee = compile.value(c, node.assignee, node)
  step.users = parts_of(c, candidates.users, node)
  step.groups = parts_of(c, candidates.groups, node)
  step.task_due = compile.value(c, node.due, node)
  step.task_priority = compile.value(c, node.task_priority, node)
  step.form = node.form
end

-- The file in nodes/ that has its kind.
local function kind_of(node)
  return graph_of.is_external(node) and "external" or KINDS[node.kind]
    or error("no such kind: " .. node.kind, 0)
end

local function step_of(c, node)
  local step = {
    id = node.id, name = node.name, node = node,
    kind = require("moonshift.process.nodes." .. kind_of(node)),
    before = node.before, after = node.after, exclusive = node.exclusive ~= false,
    topic = compile.value(c, node.behaviour and node.behaviour.topic, node),
    retry = node.retry, priority = compile.value(c, graph_of.priority(c.graph, node), node),
    result = node.result, result_in = node.result_in,
    inputs = named_values(c, node.input, node), outputs = named_values(c, node.output, node),
    fields = compile.fields(c, node.fields, node), event = event_of(c, node),
    incoming = #(node.into or {}),
    call_out = node.behaviour and compile.callout(c, node.behaviour, node),
    multi = node.multi and multi_of(c, node), call = node.call and call_of(c, node),
  }
  step.is_scope = SCOPES[node.kind] or step.inputs ~= nil or step.outputs ~= nil
    or step.call_out ~= nil and step.call_out.map == "response"
  listeners_of(c, step, node)
  if node.kind == "user" then
    task_of(c, step, node)
    timeouts_of(c, step, node)
  end
  return step
end

local function flow_of(c, plan, flow)
  return { id = flow.id, to = plan.steps[flow.to], when = compile.value(c, flow.when, flow),
    default = flow.default, takes = callouts(c, flow.listeners, flow, "take") }
end

local function steps_named(plan, ids)
  local list = {}
  for i, id in ipairs(ids or {}) do
    list[i] = plan.steps[id]
  end
  return list
end

-- What takes a step back: the handler of its compensation event, and the event sub-process of a
-- sub-process. An activity with another boundary event has variables of its own.
local function link_compensation(plan, step)
  for _, boundary in ipairs(step.boundaries) do
    if boundary.event.kind == "compensation" then
      step.undo = plan.steps[boundary.node.handler]
    else
      step.is_scope = true
    end
  end
  for _, around in ipairs(step.events or {}) do
    local start = plan.steps[around.node.start]
    step.undo_start = start.event.kind == "compensation" and start or step.undo_start
  end
  plan.undoes = plan.undoes or step.undo ~= nil or step.undo_start ~= nil
end

local function link(c, plan, step)
  local node = step.node
  step.scope = plan.steps[node.scope]
  step.host = plan.steps[node.attached]
  step.boundaries = steps_named(plan, node.boundaries)
  step.out = {}
  for i, flow in ipairs(node.out or {}) do
    step.out[i] = flow_of(c, plan, flow)
    step.out[i].from = step
    plan.flows[flow.id] = step.out[i]
  end
  if node.start then
    step.start, step.events = plan.steps[node.start], steps_named(plan, node.events)
  end
  link_compensation(plan, step)
  for _, timeout in ipairs(step.timeouts or {}) do
    plan.steps[timeout.id] = timeout
  end
  step.watched = step.boundaries[1] ~= nil or step.timeouts ~= nil
    or (step.events ~= nil and step.events[1] ~= nil)
end

local function make(graph)
  local c = { path = graph.path, graph = graph }
  local plan = { key = graph.key, graph = graph, steps = {}, flows = {}, order = {},
    priority = compile.value(c, graph.priority, graph) }
  for i, id in ipairs(graph.order) do
    plan.steps[id] = step_of(c, graph.nodes[id])
    plan.order[i] = plan.steps[id]
  end
  for _, step in ipairs(plan.order) do
    link(c, plan, step)
  end
  for _, step in ipairs(plan.order) do
    local kind = step.incoming > 1 and step.node.kind
    plan.conditional = plan.conditional or step.event.kind == "conditional"
      and (step.node.kind ~= "start" or step.node.scope ~= nil) -- else it starts the process
    plan.hears_any = plan.hears_any or step.hears ~= nil
    plan.joins = plan.joins or kind == "inclusive"
    plan.meets = plan.meets or kind == "inclusive" or kind == "parallel"
  end
  plan.events, plan.initiator = steps_named(plan, graph.events), graph.initiator
  plan.start = plan.steps[graph.start]
  plan.search = graph.search and graph.search[1] and set_of(graph.search)
  local listeners = graph.listeners or {}
  plan.hears = hears_of(c, listeners, graph)
  plan.hears_any = plan.hears_any or plan.hears ~= nil
  plan.conditions = plan.conditional or plan.hears_any
  plan.notes = plan.search or plan.conditions
  plan.starts = callouts(c, listeners.start, graph, "start")
  plan.ends = callouts(c, listeners["end"], graph, "end")
  return plan
end

-- plan(graph) -> the plan of this graph, made at the first call
function compile.plan(graph)
  local plan = plans[graph]
  if not plan then
    plan = make(graph)
    plans[graph] = plan
  end
  return plan
end

return compile
