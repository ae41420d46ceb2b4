-- run(context, cause) -> unit: what begins a unit. A cause is a job of an instance, or a command
-- (start, complete, trigger, message, signal, conditions, cancel, set, modify, migrate); a command
-- that does not fit raises.
local batch_form = require "moonshift.process.batches.form"
local batches = require "moonshift.process.batches"
local called = require "moonshift.process.called"
local cancelling = require "moonshift.process.cancelling"
local compensation = require "moonshift.process.compensation"
local conditions = require "moonshift.process.conditions"
local errors = require "moonshift.process.errors"
local escalations = require "moonshift.process.escalations"
local events = require "moonshift.process.events"
local frame = require "moonshift.process.frame"
local inclusive = require "moonshift.process.nodes.inclusive"
local migrate = require "moonshift.process.migrate"
local modify = require "moonshift.process.modify"
local multi = require "moonshift.process.multi"
local recent = require "moonshift.process.recent"
local rules = require "moonshift.rules"
local scopes = require "moonshift.process.scopes"
local signals = require "moonshift.process.signals"
local straight = require "moonshift.process.straight"
local targets = require "moonshift.process.targets"
local unit = require "moonshift.process.unit"
local variables = require "moonshift.process.variables"
local walk = require "moonshift.process.walk"

local commands = {}

local NONE = {}

local Walk = walk.Walk
Walk.called, Walk.compensation, Walk.errors, Walk.escalations = called, compensation, errors,
  escalations
Walk.events, Walk.inclusive, Walk.multi, Walk.scopes = events, inclusive, multi, scopes
Walk.conditions, Walk.signals = conditions, signals

-- ---- what a call asks for besides its result ----

local Effects = {}

function Effects.start(w, _, token, made)
  local binding = made.number and "version" or "latest"
  local version = w.context.version(made.process, binding, made.number)
  if not version then
    error(("job:start: there is no process %s"):format(tostring(made.process)), 0)
  end
  scopes.begin(w, { id = made.id, version = version, key = made.key, variables = made.variables,
    from = { inst = w.instances[made.instance], token = token } })
end

function Effects.message(w, _, _, made)
  local kept, message
  if made.keep ~= nil then
    kept, message = w.context.add_span(w.now, made.keep)
    if not kept then
      error("job:correlate: keep: " .. message, 0)
    end
  end
  table.insert(w.unit.messages, { name = made.name, key = made.key, variables = made.variables,
    ["until"] = kept })
end

function Effects.signal(w, inst, token, made)
  signals.give(w, { name = made.name, variables = made.variables, tenant = inst.tenant,
    from = { inst = inst, token = token } })
end

function Effects.enqueue(w, _, _, made)
  made.id = w.context.enqueue(made.handler, made.payload, made.options, made.id)
end

-- Does what a call asked for; a second walk does it again without the call.
function Walk:do_again(inst, token, made)
  made.instance = inst.id
  Effects[made.what](self, inst, token, made)
end

-- ---- jobs ----

local Jobs = {}

local function step_of(inst, token)
  return inst.plan.steps[token.at:match("^[^#]*")]
    or error(("instance %d: the process has no activity %s"):format(inst.id, token.at), 0)
end

function Jobs.before(w, inst, token)
  local step = step_of(inst, token)
  if step.node.kind == "start" and not token.scope.scope and not scopes.started(w, inst, step) then
    return
  elseif token.at == step.id then
    return walk.begin(w, inst, token, step)
  end
  return multi.begin(w, inst, token, step)
end

function Jobs.after(w, inst, token)
  local flow = token.more and inst.plan.flows[token.more]
  token.state, token.more = "run", nil
  if token.scope.state == "body" and not token.at:find("#", 1, true) then
    return multi.turn_ended(w, inst, token, step_of(inst, token))
  elseif flow then
    return walk.follow(w, inst, token, flow)
  end
  return walk.ended(w, inst, token)
end

function Jobs.seed(w, inst, token)
  multi.seed(w, inst, token)
end

function Jobs.external(w, inst, token)
  local step = step_of(inst, token)
  step.kind.run(w, inst, token, step)
end

-- All turns have ended that stand outside of the frame.
function Jobs.body(w, inst, token)
  multi.leave(w, inst, token, step_of(inst, token))
end

function Jobs.timer(w, inst, token)
  local step = step_of(inst, token)
  step.kind.proceed(w, inst, token, step)
end

Jobs["on timer"] = events.proceed

-- ---- causes ----

local Causes = {}

-- Raises why a command cannot be done, however often it is tried.
local function refuse(w, text)
  error(w.context.host and { message = text, permanent = true } or text, 0)
end

Walk.refuse = refuse

-- The instance and the token of a cause; raises if they are not there.
local function meant(w)
  local cause = w.cause
  local inst = w:instance(cause.instance, cause.token)
  if not inst then
    refuse(w, ("there is no instance %s"):format(tostring(cause.instance)))
  end
  return inst, cause.token and frame.find(inst.frame, cause.token)
end

-- True for a token that waits in one of these states at the activity that the cause names: it may
-- have gone on meanwhile, and wait for another task or message.
local function waits(w, token, ...)
  local at = token and (w.cause.activity or token.at)
  for _, state in ipairs { ... } do
    if token and token.state == state and token.at == at then
      return true
    end
  end
  return false
end

-- The instance and its token, which must wait so.
local function waiting(w, what, ...)
  local inst, token = meant(w)
  if waits(w, token, ...) then
    variables.set_all_transient(inst, w.cause.transient)
    return inst, token
  end
  refuse(w, ("instance %d: %s %s waits no longer"):format(inst.id, what,
    tostring(w.cause.task or w.cause.token)))
end

-- What a job is for, by how the name of its definition ends: the states in which a token waits for
-- it. The jobs that make more turns, and that leave a body whose turns stand outside, are named as
-- the body; no other job waits for their tokens.
local FOR = {
  [""] = { before = true, seed = true, body = true, external = true },
  [":after"] = { after = true },
  [":timer"] = { timer = true, ["on timer"] = true },
}

-- "process/order/pack:after" -> "pack", ":after". A key may have slashes, an activity has neither
-- those nor colons.
local meanings = recent.new(1000, function(handler)
  local at, kind = handler:match("^process/.*/([^/:]*)(:?[^/:]*)$")
  return { at = at or handler, states = FOR[kind] or NONE }
end)

-- Nothing is written but that the job found nothing to do.
local function skip(w, inst, at)
  w.unit.skipped, w.order = true, {}
  if inst then
    inst:tell_number("n", w.cause.token, at)
    unit.trail(w, inst)
  end
end

-- A job does what it is for, or nothing: its token may have gone or gone on meanwhile.
function Causes.job(w)
  local cause = w.cause
  local inst = w:instance(cause.instance, cause.token)
  local meant_for = meanings:get(cause.handler)
  local token, index
  if inst then
    token, index = frame.find(inst.frame, cause.token)
  end
  if not token or token.at ~= meant_for.at or not meant_for.states[token.state]
    or token.state == "body" and not frame.is_outside(token) then
    return skip(w, inst, meant_for.at)
  end
  w.job_token, inst.alone = token, #inst.frame.list == 2 -- beside the scope of the instance
  if index then
    variables.put(inst, token, "loopCounter", index)
  end
  w.here = token
  Jobs[token.state](w, inst, token)
end

-- A message whose row was changed by hand is not given without what it said.
local function read_message(w)
  local message = w.cause.message
  if w.cause.unreadable then
    refuse(w, ("message %q with key %q: its variables are no JSON object (row %s of kept_message)")
      :format(message.name, message.key or "", tostring(message.id)))
  end
end

-- A message that is kept as a row is taken with this unit.
local function take_row(w)
  local message = w.cause.message
  if message and message.id then
    table.insert(w.unit.messages, { id = message.id, taken = 1 })
  end
end

function Causes.start(w)
  local cause = w.cause
  read_message(w)
  take_row(w)
  local inst = scopes.begin(w, { id = cause.id or w.context.next_instance(),
    version = cause.version, key = cause.key, tenant = cause.tenant, variables = cause.variables,
    transient = cause.transient, types = cause.types, at = cause.at, who = cause.who,
    unique = cause.unique and 1 or nil,
    elsewhere = cause.operations ~= nil or cause.restarts ~= nil })
  w.unit.result = inst.id
  variables.set_all_own(inst, inst.frame.outer, cause.local_variables)
  if cause.operations or cause.restarts then
    modify.begin(w, inst)
  end
end

-- A page of the turns of a body goes that has been closed. What they have called is cancelled; the
-- rest of what they have needs no walk.
function Causes.clear(w)
  for _, row in ipairs(w.context.turns(w.cause.body)) do
    for _, token in ipairs(frame.decode(row.frame, w.context.decode).list) do
      if token.state == "call" then
        called.cancel(w, token)
      end
    end
  end
  table.insert(w.unit.bodies, { id = w.cause.body, clear = 1 })
end

function Causes.complete(w)
  local inst, token = waiting(w, "the task", "task")
  local step = step_of(inst, token)
  w.completing = token
  step.kind.proceed(w, inst, token, step)
end

-- A task gets another assignee, or none. A claim leaves that of another person.
function Causes.assign(w)
  local inst, token = waiting(w, "the task", "task")
  local step, cause = step_of(inst, token), w.cause
  step.kind.changed(w, inst, token, step, function(row)
    w.unit.result = row.assignee and { assignee = row.assignee }
    if cause.claim and row.assignee and row.assignee ~= cause.assignee then
      refuse(w, ('task %d is claimed by "%s"'):format(cause.task, row.assignee))
    end
    row.assignee = cause.assignee
  end)
end

-- A task ends with a BPMN error instead of being completed.
function Causes.throw(w)
  local inst, token = waiting(w, "the task", "task")
  w.completing = token
  variables.set_given(inst, token, w.cause)
  errors.throw(w, inst, token, errors.thrown(w.cause.code, w.cause.message))
end

-- A task escalates: it stays open, unless the event that catches the escalation interrupts it.
function Causes.escalate(w)
  local inst, token = waiting(w, "the task", "task")
  variables.set_given(inst, token, w.cause)
  if not escalations.throw(w, inst, token, w.cause.code) then
    refuse(w, ("the escalation %s at %s is caught by nothing"):format(tostring(w.cause.code),
      token.at))
  end
end

-- A worker outside has done what an activity is, or ends it with a BPMN error.
function Causes.external(w)
  local inst, token = waiting(w, "the activity", "external")
  local cause = w.cause
  w.job_token = token
  if not cause.code then
    local step = step_of(inst, token)
    return step.kind.proceed(w, inst, token, step)
  end
  variables.set_given(inst, token, cause)
  errors.throw(w, inst, token, errors.thrown(cause.code, cause.message))
end

function Causes.trigger(w)
  local inst, token = waiting(w, "the activity", "trigger")
  local step = step_of(inst, token)
  step.kind.proceed(w, inst, token, step)
end

-- The receiver of a message that a job brings may have gone on: the message is sent anew, with what
-- is left of its time.
local function send_anew(w, inst)
  local cause = w.cause
  local message = cause.message
  skip(w, inst, cause.activity)
  w.unit.messages[1] = { id = message.id, name = message.name, key = message.key,
    instance = message.instance, business_key = message.business_key,
    ["until"] = message["until"], variables = cause.variables }
end

function Causes.message(w)
  read_message(w)
  if w.cause.message then
    local inst = w:instance(w.cause.instance, w.cause.token)
    local token = inst and frame.find(inst.frame, w.cause.token)
    if not waits(w, token, "message", "on message") then
      return send_anew(w, inst)
    end
  end
  take_row(w)
  local inst, token = waiting(w, "the subscription", "message", "on message")
  if token.state == "on message" then
    return events.proceed(w, inst, token)
  end
  local step = step_of(inst, token)
  step.kind.proceed(w, inst, token, step)
end

-- A command gives the signal to all; the result is how many get it, and of a message which.
local function give_all(w)
  local cause = w.cause
  local count, ids = signals.give(w, { name = cause.name, variables = cause.variables,
    tenant = cause.tenant, only = cause.only, message = cause.message, key = cause.key,
    business_key = cause.business_key })
  w.unit.result = cause.message and ids or count
end

-- A job gives the signal to one that may have gone on, or lets the store go on with those that are
-- left. A command may give it to one alone, which must wait.
function Causes.signal(w)
  local cause = w.cause
  if cause.left then
    w.unit.signals[1] = { name = cause.name, variables = cause.variables, tenant = cause.tenant,
      message = cause.message and 1 or nil, key = cause.key, business_key = cause.business_key,
      after = cause.left[1], after_token = cause.left[2], ["until"] = cause.left[3] }
    return
  elseif not cause.token then
    return give_all(w)
  end
  local inst = w:instance(cause.instance, cause.token)
  local token = inst and frame.find(inst.frame, cause.token)
  if not token or not signals.awaits(inst, token, cause) or token.at ~= cause.activity then
    return cause.alone and waiting(w, "the subscription") or skip(w, inst, cause.activity)
  end
  w.unit.result = cause.alone and 1
  signals.receive(w, inst, token, cause)
end

-- Starts the processes whose conditions hold with these variables. All conditions are looked at
-- before the first is started. The result is what was started.
function Causes.conditions(w)
  local cause, found, ids = w.cause, {}, rules.array {}
  for _, row in ipairs(w.context.receivers { conditions = true, process = cause.process }) do
    found[#found + 1] = conditions.starts(w, row, cause) and row or nil
  end
  for i, row in ipairs(found) do
    ids[i] = scopes.begin(w, { id = w.context.next_instance(), version = row.version,
      at = row.activity, key = cause.key, tenant = cause.tenant, variables = cause.variables,
      transient = cause.transient, types = cause.types, who = cause.who }).id
  end
  w.unit.result = ids
end

-- Ends an instance. One that was called takes the calling activity with it.
function Causes.cancel(w)
  local inst = meant(w)
  if w.cause.dry_run then
    w.unit.result, w.order = cancelling.trial(w, inst), {}
    return
  end
  modify.skip(w)
  scopes.cancel_inside(w, inst, inst.frame.outer)
  scopes.end_listeners(w, inst)
  scopes.finish(w, inst, "cancelled", w.cause.reason)
  modify.end_caller(w, inst, w.cause.reason)
end

-- Starts and cancels activities as an operator says.
function Causes.modify(w)
  modify.run(w, (meant(w)))
end

-- Moves an instance to another version by a plan.
function Causes.migrate(w)
  migrate.run(w, (meant(w)))
end

-- The plan of equal activities of two versions.
function Causes.plan(w)
  migrate.plan(w)
end

-- Sets variables: of the place that is named, else of the instance, and takes others away. The
-- result is what they were.
function Causes.set(w)
  local cause, inst = w.cause, meant(w)
  local at, wrong = inst.frame.outer, nil
  if cause.place then
    at, wrong = targets.place(inst.plan, inst.frame, cause.place)
  end
  if not at then
    refuse(w, ("instance %d: %s"):format(inst.id, wrong))
  end
  local before, gone = {}, cause.unset or NONE
  for name in pairs(cause.variables or NONE) do
    before[name] = variables.get(at, name)
  end
  for _, name in ipairs(gone) do
    before[name] = variables.get(at, name)
  end
  variables.set_given(inst, at, cause, cause.place and variables.set_at)
  for _, name in ipairs(gone) do
    variables.unset(inst, at, name)
  end
  w.unit.result = next(before) and before
end

-- Gives a command to each instance of a batch's job.
function Causes.batch(w)
  batches.run(w, Causes)
end

-- Asks a timer that waits what its date comes from now. No result: it waits no longer.
function Causes.due(w)
  local inst, token = meant(w)
  if token and token.at == w.cause.at and (token.state == "timer" or token.state == "on timer") then
    local _, _, term = events.due(w, inst, token, inst.plan.steps[token.at])
    w.unit.result = term
  end
end

-- What may spare a cause its walk.
local STRAIGHT = { job = straight, batch = batch_form }

-- run(context, cause) -> unit; { snoozed = true } if a handler has put its job off
function commands.run(context, cause)
  local made, w
  if STRAIGHT[cause.kind] then
    made, w = STRAIGHT[cause.kind].run(context, cause, Causes[cause.kind])
  end
  if made then
    return made
  elseif not w then
    w = walk.new(context, cause)
    context.walk = w
    Causes[cause.kind](w)
    walk.go(w)
  end
  if w.snoozed then
    return { snoozed = true }
  end
  return unit.finish(w)
end

return commands
