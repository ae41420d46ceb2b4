-- What stands in the table of each node of a graph, as words.lua reads it.
local literal = require "moonshift.process.write.literal"

local options = {}

local function add(list, name, value)
  if value ~= nil then
    list[#list + 1] = { name, literal.value(value) }
  end
end
options.add = add

-- ---- behaviours and listeners ----

local KINDS = { "run", "class", "delegate", "expression", "topic", "script", "resource",
  "decision", "map" }

local function behaviour(list, made)
  for _, kind in ipairs(made and KINDS or {}) do
    add(list, kind, made[kind])
  end
  if made and made.call then
    literal.value(made.call)
  end
  if made and (made.script or made.resource) then
    add(list, "language", made.language)
  end
end

local function listener(made)
  local shown = { fields = made.fields }
  for _, kind in ipairs(KINDS) do
    shown[kind] = made[kind]
  end
  shown.call = made.call
  if made.script or made.resource then
    shown.language = made.language
  end
  return shown
end

local function listeners_of(made)
  local shown = {}
  for i, one in ipairs(made) do
    shown[i] = listener(one)
  end
  return shown
end

local EVENTS = { "start", "end", "create", "assignment", "update", "complete", "delete",
  "variable_create", "variable_update", "variable_delete" }

function options.listeners(list, listeners)
  for _, event in ipairs(EVENTS) do
    local made = listeners and listeners[event]
    add(list, "on_" .. event, made and listeners_of(made))
  end
end

-- ---- values by names ----

-- A table by names if the names are sorted and differ, else a list of pairs.
local function parameters(list, name, given)
  if not given then
    return
  end
  local by_name, pairs_of, last = {}, {}, nil
  for i, one in ipairs(given) do
    pairs_of[i] = { one.name, one.value }
    by_name = by_name and (not last or last < one.name) and by_name or nil
    last = one.name
    if by_name then
      by_name[one.name] = one.value
    end
  end
  add(list, name, by_name or pairs_of)
end

-- ---- events ----

local TIMERS = { duration = "after", date = "at", cycle = "every" }
local PLAIN = {
  none = {}, terminate = {}, link = { name = true }, message = { name = true, key = true },
  signal = { name = true, into = true },
  conditional = { when = true, variable = true, changes = true },
  timer = { timer = true },
  error = { code = true, message = true, code_variable = true, message_variable = true },
  escalation = { code = true, code_variable = true }, compensation = { activity = true },
  cancel = {},
}

-- True if the words for this kind of event say all of it.
local function has_words(event)
  if event.timer and event.timer.quartz then
    return false
  end
  for name in pairs(event) do
    if name ~= "kind" and name ~= "interrupting" and not PLAIN[event.kind][name] then
      return false
    end
  end
  return event.name ~= nil or event.kind ~= "link" and event.kind ~= "signal"
end

local function passed(given)
  local shown = {}
  for i, one in ipairs(given or {}) do
    local short = one.from == one.to and one.from and not one.all and not one["local"]
      and one.value == nil
    shown[i] = short and one.from or one
  end
  return given and shown
end

local writers = {}

function writers.none() end

function writers.terminate(list)
  add(list, "terminate", true)
end

function writers.link(list, event)
  add(list, "link", event.name)
end

function writers.message(list, event)
  add(list, "message", event.name == nil and event.key == nil or event.name)
  add(list, "key", event.key)
end

function writers.signal(list, event)
  add(list, "signal", event.name)
  add(list, "with", passed(event.into))
end

function writers.conditional(list, event)
  add(list, "when", event.when)
  add(list, "variable", event.variable)
  add(list, "changes", event.changes)
end

function writers.timer(list, event)
  add(list, TIMERS[event.timer.kind], event.timer.text)
end

function writers.error(list, event)
  add(list, "error", event.code == nil or event.code)
  add(list, "error_message", event.message)
  add(list, "code_variable", event.code_variable)
  add(list, "message_variable", event.message_variable)
end

function writers.escalation(list, event)
  add(list, "escalate", event.code == nil or event.code)
  add(list, "code_variable", event.code_variable)
end

function writers.compensation(list, event)
  add(list, "undo", event.activity == nil or event.activity)
end

function writers.cancel(list)
  add(list, "cancel", true)
end

local function event_of(list, event)
  if not event then
    return
  elseif not PLAIN[event.kind] or not has_words(event) then
    return add(list, "event", event)
  end
  writers[event.kind](list, event)
  if event.interrupting == false then
    add(list, "interrupting", false)
  end
end

-- ---- by kinds ----

local function calls(list, node)
  behaviour(list, node.behaviour)
  add(list, "fields", node.fields)
  add(list, "result", node.result)
  add(list, "result_in", node.result_in)
  add(list, "external_priority", node.external_priority)
end

-- Listeners that a timer calls: what they call, with an id and the timer.
local function timeouts_of(list, timeouts)
  local shown = {}
  for i, one in ipairs(timeouts or {}) do
    shown[i] = listener(one.behaviour)
    shown[i].id, shown[i][TIMERS[one.timer.kind]] = one.id, one.timer.text
  end
  add(list, "on_timeout", timeouts and shown)
end

local function event_and_calls(list, node)
  event_of(list, node.event)
  add(list, "form", node.form)
  calls(list, node)
end

local kinds = {
  service = calls, send = calls, rule = calls, script = calls,
  start = event_and_calls, throw = event_and_calls, catch = event_and_calls,
  receive = event_and_calls,
}
kinds["end"] = event_and_calls

function kinds.user(list, node)
  for _, name in ipairs { "assignee", "candidates", "due", "follow_up", "task_priority", "form",
    "description" } do
    add(list, name, node[name])
  end
  timeouts_of(list, node.timeouts)
end

function kinds.call(list, node)
  local call = node.call
  add(list, "process", call.process)
  if call.binding ~= "latest" then
    add(list, "binding", call.binding)
  end
  add(list, "version", call.version)
  add(list, "key", call.key)
  add(list, "with", passed(call.into))
  add(list, "back", passed(call.back))
  add(list, "mapping", call.mapping)
end

function kinds.boundary(list, node)
  add(list, "on", node.attached)
  event_of(list, node.event)
  add(list, "handler", node.handler)
end

local GATEWAYS = { exclusive = "exclusive", parallel = "parallel", inclusive = "inclusive",
  event_gateway = "event" }

-- ---- all ----

local function common(list, node)
  add(list, "name", node.name)
  add(list, "async", node.before)
  add(list, "async_after", node.after)
  add(list, "exclusive", node.exclusive)
  add(list, "priority", node.priority)
  add(list, "retry", node.retry)
  add(list, "compensates", node.compensates)
  add(list, "properties", node.properties)
  options.listeners(list, node.listeners)
end

local function turns(list, multi)
  if not multi then
    return
  end
  add(list, "each", {
    times = multi.count, of = multi.collection, as = multi.element, index = multi.index,
    stop = multi["until"],
    parallel = multi.parallel or nil, async = multi.before, async_after = multi.after,
    exclusive = multi.exclusive, retry = multi.retry, priority = multi.priority,
  })
end

-- of(node, block) -> the options of a node; `block`: of a gateway whose word says its kind.
function options.of(node, block)
  local list = {}
  if GATEWAYS[node.kind] and not block then
    add(list, "kind", GATEWAYS[node.kind])
  elseif node.kind == "transaction" then
    add(list, "transaction", true)
  end
  if kinds[node.kind] then
    kinds[node.kind](list, node)
  end
  common(list, node)
  turns(list, node.multi)
  parameters(list, "input", node.input)
  parameters(list, "output", node.output)
  return list
end

-- flow(flow, keys) -> what a flow has besides its ends, as a table; nil if nothing.
function options.flow(flow, keys)
  local made = {
    id = flow.id ~= ("%s->%s"):format(flow.from, flow.to) and flow.id or nil,
    name = flow.name, when = flow.when, default = flow.default,
    listeners = flow.listeners and listeners_of(flow.listeners),
  }
  for _, key in ipairs(keys or {}) do
    made[key] = nil
  end
  return next(made) and made
end

-- graph(graph) -> the options of the file.
function options.graph(graph)
  local list = {}
  for _, name in ipairs { "key", "name", "tag", "priority", "retry", "history_time_to_live",
    "external_priority", "initiator", "search" } do
    add(list, name, graph[name])
  end
  options.listeners(list, graph.listeners)
  return list
end

return options
