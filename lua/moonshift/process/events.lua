-- Events: what is watched for beside the places where an instance stands (boundary events, event
-- sub-processes, the ways out of an event-based gateway), and when timers are due.
local frame = require "moonshift.process.frame"
local kept = require "moonshift.process.kept"
local show = require "moonshift.show"
local variables = require "moonshift.process.variables"
local walk = require "moonshift.process.walk"

local events = {}

-- ---- timers ----

-- An expression may give a span where a date is expected, or a cycle where a span is.
local Due = {}

function Due.date(w, value)
  if value:find("^P") then
    return Due.duration(w, value)
  end
  return w.context.time(value)
end

function Due.duration(w, value)
  if value:find("^R") then
    return Due.cycle(w, value)
  end
  return w.context.add_span(w.now, value)
end

function Due.cycle(w, value)
  local dates, message = w.context.dates(value, w.context.zone or "UTC", w.now, 1)
  if not dates then
    return nil, message
  end
  return dates[1], ("the cycle %s never comes again"):format(value)
end

-- due(w, inst, token, step) -> ms, the text of its cycle, and what an operator counts it from anew
function events.due(w, inst, token, step)
  local timer = step.event.timer
  local value = w:ask(inst, token, timer.text)
  if type(value) ~= "string" then
    error(("%s: the timer is %s (expected a text such as PT5M)"):format(step.id, show(value)), 0)
  end
  local due, message = Due[timer.kind](w, value)
  if not due then
    error(("%s: %s"):format(step.id, tostring(message)), 0)
  end
  return due, timer.kind == "cycle" and value or nil, value
end

-- The token waits for the timer of this event; `repeats` says whether a cycle comes again.
function events.await_timer(w, inst, token, step, state, repeats)
  local due, cycle, term = events.due(w, inst, token, step)
  local again = repeats and cycle or nil
  token.more = again and 1 or nil
  w:await_job(inst, token, state, { name = step.id .. ":timer", priority = step.priority,
    retry = step.retry, exclusive = step.exclusive, due = due, ["repeat"] = again,
    term = not again and term or nil })
end

-- What a message or signal is called, which an expression may say.
local function name_of(w, inst, token, step)
  local name = w:ask(inst, token, step.event.name)
  if type(name) ~= "string" or name == "" then
    error(("%s: the %s is called %s (expected a text)"):format(step.id, step.event.kind,
      show(name)), 0)
  end
  return name
end

function events.await_message(w, inst, token, step, state)
  local name = name_of(w, inst, token, step)
  local key = w:text(inst, token, step.event.key, "the key of the message")
  w:await(inst, token, state, w.unit.subscriptions, { kind = "message", name = name,
    key = key or "", version = inst.version, activity = step.id })
end

-- The token keeps the name unless the process says it.
function events.await_signal(w, inst, token, step, state)
  local name = name_of(w, inst, token, step)
  token.more = not step.event.name.constant and name or nil
  w:await(inst, token, state, w.unit.subscriptions, { kind = "signal", name = name, key = "",
    version = inst.version, activity = step.id, priority = w:priority(inst, token, step.priority) })
end

local AWAIT = { message = events.await_message, signal = events.await_signal,
  timer = function(w, inst, token, step, state)
    events.await_timer(w, inst, token, step, state,
      state == "on timer" and not step.event.interrupting)
  end }

function AWAIT.conditional(w, ...)
  w.conditions.await(w, ...)
end

-- state(step, beside) -> the state of a token that waits for the event; `beside`: it is a watch.
function events.state(step, beside)
  local kind = step.event.kind == "conditional" and "condition" or step.event.kind
  return beside and "on " .. kind or kind
end

-- waits(step) -> whether its event is one that a token waits for. Errors and escalations are looked
-- for when one is thrown.
function events.waits(step)
  return AWAIT[step.event.kind] ~= nil
end

-- await(w, inst, token, step, state): the token waits for the event of the step.
function events.await(w, inst, token, step, state)
  AWAIT[step.event.kind](w, inst, token, step, state)
end

-- ---- watching ----

local function watch_one(w, inst, host, step)
  if not events.waits(step) then
    return
  end
  local state = events.state(step, true)
  local token = frame.add(inst.frame, host, step.id, state)
  kept.branch(inst, host, token)
  events.await(w, inst, token, step, state)
end

-- watch(w, inst, host, steps): begins to watch for these events beside a token or scope.
function events.watch(w, inst, host, steps)
  for _, step in ipairs(steps) do
    watch_one(w, inst, host, step)
  end
end

-- The same for event sub-processes, which are watched for by their start events.
function events.watch_events(w, inst, scope, steps)
  for _, step in ipairs(steps) do
    watch_one(w, inst, scope, step.start)
  end
end

-- Ends the watches beside a token; `kinds` names those of boundary or start events only.
local function unwatch(w, inst, host, kind)
  for _, token in ipairs(inst.frame.list) do
    if token.scope == host and not token.gone and frame.watches(token) and token.state ~= "undo"
      and (not kind or inst.plan.steps[token.at].node.kind == kind) then
      w:waited(inst, token)
      frame.remove(inst.frame, token)
    end
  end
end

function events.unwatch(w, inst, host)
  unwatch(w, inst, host)
end

-- Ends the watches for event sub-processes of a scope.
function events.unwatch_events(w, inst, scope)
  unwatch(w, inst, scope, "start")
end

-- ---- what has come ----

-- The watch goes unless it is for more than one event.
local function spend(w, inst, token, step)
  local again = not step.event.interrupting
    and (step.event.kind ~= "timer" or token.more ~= nil and not w.cause.last)
  if not again then
    w:waited(inst, token)
    frame.remove(inst.frame, token)
  end
end

-- A token for what comes beside the host, or the host's own if its activity is cancelled for it.
local function boundary_token(w, inst, host, step)
  if step.event.interrupting then
    w.scopes.cancel_activity(w, inst, host)
    return host
  end
  local token = frame.add(inst.frame, host.scope, step.id, "run")
  kept.branch(inst, host, token)
  return token
end

-- happened(w, inst, host, step): a boundary event or the event of an event sub-process.
function events.happened(w, inst, host, step)
  if step.node.kind == "boundary" then
    local token = boundary_token(w, inst, host, step)
    w:push(walk.arrive, inst, token, step)
    return token
  end
  if step.event.interrupting then
    w.scopes.interrupt(w, inst, host)
  end
  local token = frame.add(inst.frame, host, step.scope.id, "run")
  kept.branch(inst, host, token)
  w:push(events.begin_sub, inst, token, step)
  return token
end

-- Begins an event sub-process at its start event. The token stands at the sub-process.
function events.begin_sub(w, inst, token, start)
  walk.begin(w, inst, token, start.scope)
end

-- One of the ways out of an event-based gateway: the event has come already, and cancels the
-- gateway as a boundary event cancels its host.
local function gateway_left(w, inst, gateway, step)
  local around = inst.plan.steps[gateway.at]
  w.scopes.cancel_activity(w, inst, gateway)
  gateway.came = true
  for _, flow in ipairs(around.out) do
    if flow.to == step then
      inst:tell_flow(gateway, flow)
    end
  end
  w:push(walk.arrive, inst, gateway, step)
  return gateway
end

-- proceed(w, inst, token, given): what a watch was for has come, with the variables of `given`,
-- else of the cause.
function events.proceed(w, inst, token, given)
  local step, host = inst.plan.steps[token.at], token.scope
  variables.set_given(inst, host, given or w.cause)
  if step.node.kind == "timeout" then
    spend(w, inst, token, step)
    return step.host.kind.timed_out(w, inst, host, step.host, step)
  end
  local triggered
  if step.node.kind ~= "boundary" and step.node.kind ~= "start" then
    triggered = gateway_left(w, inst, host, step)
  else
    spend(w, inst, token, step)
    triggered = events.happened(w, inst, host, step)
  end
  variables.set_all_own(inst, triggered, not given and w.cause.local_variables)
end

return events
