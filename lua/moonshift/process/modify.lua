-- Modification: an operator starts and cancels activities of an instance (rules §23). The
-- operations are tried on a copy of its frame first, so that all that is wrong is told before
-- anything is done.
local frame = require "moonshift.process.frame"
local kept = require "moonshift.process.kept"
local operations = require "moonshift.process.operations"
local rules = require "moonshift.rules"
local targets = require "moonshift.process.targets"
local variables = require "moonshift.process.variables"
local walk = require "moonshift.process.walk"

local modify = {}

local NONE = {}

-- ---- places that go ----

-- Removes a place, and the scopes around it that hold nothing else then. remove(token) takes one
-- away; rest(body) is called for a body that goes on without one of its turns.
local function remove_upwards(token, remove, rest)
  repeat
    local scope = token.scope
    remove(token)
    if scope.state == "body" and scope.kids > 0 then
      rest(scope)
    end
    token = scope
  until token.kids > 0 or not token.scope
end

-- ---- a trial ----

-- What a trial may change of a body: its counts, and the turns that are only ranges.
local function copy_body(body)
  local more = { table.unpack(body.more, 1, 5) }
  more[4] = more[4] and { table.unpack(more[4]) }
  return more
end

-- A copy of the frame that has its places and scopes alone.
local function copy_frame(f)
  local copy = { next = f.next, list = {}, by = {} }
  for i, token in ipairs(f.list) do
    copy.list[i] = { id = token.id, at = token.at, state = token.state, kids = token.kids,
      gone = token.gone, scope = token.scope and copy.by[token.scope.id],
      more = token.state == "body" and copy_body(token) or nil }
    copy.by[token.id] = not token.gone and copy.list[i] or nil
  end
  copy.outer = copy.by[1]
  return copy
end

local function drop(f, token)
  for _, inner in ipairs(token.kids > 0 and frame.inside(f, token) or NONE) do
    if not inner.gone then
      drop(f, inner)
    end
  end
  frame.remove(f, token)
end

local Trials = {}

function Trials.cancel(_, f, one, told)
  local found, wrong = targets.cancelled(f, one)
  if not found then
    return wrong
  end
  for _, token in ipairs(found) do
    if not token.gone then
      table.insert(told.cancels, token.at)
      remove_upwards(token, function(gone)
        drop(f, gone)
      end, function() end)
    end
  end
end

-- Ends what the event interrupts.
local function try_event(plan, f, one, scope, made)
  local event = targets.event(one, made)
  if event and event.event.interrupting then
    for _, token in ipairs(frame.inside(f, scope)) do
      if not token.gone and not frame.watches(token) then
        drop(f, token)
      end
    end
  end
  local host, wrong = targets.host(plan, f, one, scope, made)
  if host then
    drop(f, host)
  end
  return wrong
end

function Trials.start(plan, f, one, told)
  local scope, made = targets.scope(f, one)
  local wrong = not scope and made or try_event(plan, f, one, scope, made)
  if wrong then
    return wrong
  end
  for _, level in ipairs(made) do
    scope = frame.add(f, scope, level.at, level.body and "body" or "scope")
    scope.more = level.body and { 1, 0, 1 } or nil
    table.insert(told.begins, level.at)
  end
  local step = one.step or one.flow.to
  frame.add(f, scope, step.id, step.start and not step.before and "scope" or "run")
  table.insert(told.begins, one.step and one.at or step.id)
end

-- try(plan, f, list) -> what each operation would do, { { cancels, begins }, … }; and what is
-- wrong, as texts
local function try(plan, f, list)
  local told, wrong = rules.array {}, {}
  for i, one in ipairs(list) do
    local message = targets.resolve(plan, one)
    told[i] = { cancels = rules.array {}, begins = rules.array {} }
    message = message or (Trials[one.kind] or Trials.start)(plan, f, one, told[i])
    if message then
      wrong[#wrong + 1] = ("%s: %s"):format(one.what, message)
    end
  end
  return told, wrong
end

-- ---- starting ----

-- Opens a scope that is no body. False: a listener threw a BPMN error, which has been dealt with.
local function open_scope(w, inst, token, step)
  if token.scope.state == "body" then
    w.multi.first_turn(inst, token, step)
  end
  if not walk.prepare(w, inst, token, step) then
    return false
  end
  token.state = "scope"
  w.events.watch_events(w, inst, token, step.events)
  return true
end

-- open_level(w, inst, scope, level) -> a scope that was not there. nil: a listener threw a BPMN
-- error, which has been dealt with.
function modify.open_level(w, inst, scope, level)
  local token, fine = frame.add(inst.frame, scope, level.at, "run"), true
  kept.branch(inst, scope, token)
  w.opens = true
  if level.body then
    w.multi.open(w, inst, token, level.step)
  else
    fine = open_scope(w, inst, token, level.step)
  end
  w.opens = false
  return fine and token or nil
end

local function open_levels(w, inst, scope, made)
  for i = 1, #made do
    scope = scope and modify.open_level(w, inst, scope, made[i])
  end
  return scope
end

-- Sets the variables of an operation: its own ones in the scope that it makes, else at its token.
local function give_variables(inst, one, token, holder)
  for name, value in pairs(one.variables or NONE) do
    if one.is_local then
      variables.check_name(name)
      variables.put(inst, holder, name, variables.copy(value, name, inst, holder))
    else
      variables.set(inst, token, name, value)
    end
  end
end

-- A token in the scope for what is started, or that of the place which the event ends.
local function token_for(w, inst, one, scope, host)
  if host then
    w.scopes.cancel_activity(w, inst, host)
    return host
  end
  local token = frame.add(inst.frame, scope, one.at, "run")
  kept.branch(inst, scope, token)
  return token
end

-- Turns are counted where their body is.
local function join_body(w, inst, one, token, is_new)
  local body = token.scope
  if body.state ~= "body" then
    return
  elseif is_new then
    w.multi.first_turn(inst, token, one.step)
  else
    w.multi.add_turn(inst, body, token)
  end
end

local function begin_event(w, inst, one, scope, event)
  if event.event.interrupting then
    w.scopes.interrupt_kept(w, inst, scope)
  end
  local token = frame.add(inst.frame, scope, event.scope.id, "run")
  kept.branch(inst, scope, token)
  give_variables(inst, one, token, token)
  w:push(w.events.begin_sub, inst, token, event)
end

local function begin_flow(w, inst, one, scope, holder)
  local token = token_for(w, inst, { at = one.flow.from.id }, scope)
  give_variables(inst, one, token, holder or token)
  w:push(walk.follow, inst, token, one.flow)
end

local function begin_step(w, inst, one, scope, holder, host)
  local token = token_for(w, inst, one, scope, host)
  join_body(w, inst, one, token, holder ~= nil)
  give_variables(inst, one, token, holder or token)
  token.came = targets.gateway_of(inst.plan, one.step) and true
  w:push(one.turn and walk.arrive_inner or walk.arrive, inst, token, one.step)
end

-- start(w, inst, one): begins what the operation says.
function modify.start(w, inst, one)
  local scope, made = targets.scope(inst.frame, one)
  if not scope then
    return w:refuse(("instance %d: %s: %s"):format(inst.id, one.what, made))
  end
  local event = targets.event(one, made)
  if event then
    return begin_event(w, inst, one, scope, event)
  end
  local host, wrong = targets.host(inst.plan, inst.frame, one, scope, made)
  if wrong then
    return w:refuse(("instance %d: %s: %s"):format(inst.id, one.what, wrong))
  end
  scope = open_levels(w, inst, scope, made)
  if not scope then
    return nil
  end
  local holder = made[1] and scope
  return (one.flow and begin_flow or begin_step)(w, inst, one, scope, holder, host)
end

-- ---- cancelling ----

-- Cancels a place, with the scopes around it that hold nothing else.
local function cancel_upwards(w, inst, token)
  remove_upwards(token, function(gone)
    w.scopes.cancel(w, inst, gone)
  end, function(body)
    w.multi.take_turn(inst, body)
  end)
end

local function cancel(w, inst, one)
  local found, wrong = targets.cancelled(inst.frame, one)
  if not found then
    return w:refuse(("instance %d: %s: %s"):format(inst.id, one.what, wrong))
  end
  for _, token in ipairs(found) do
    if not token.gone then
      inst.came_to_end = nil
      cancel_upwards(w, inst, token)
    end
  end
end

-- ---- the end ----

local terminate

-- Why a caller ends with the instance that it has called.
local function reason_of(w, reason)
  return w.cause.kind == "cancel"
    and "its last activity was cancelled" .. (reason and ": " .. reason or "") or reason
end

-- end_caller(w, inst, reason): the activity that has called goes with the instance. It takes no
-- flow, and a turn is no completed one. A caller in which nothing else stands ends, too.
function modify.end_caller(w, inst, reason)
  local caller, token = w.called.caller(w, inst)
  if not caller then
    return
  elseif caller.turn then
    return w.called.cancelled(w, caller, token)
  end
  if token.scope ~= caller.frame.outer then
    w.called.check(w, caller) -- a scope may end with it, and the number of its turns changes
  end
  token.state, token.more, token.begun = "run", nil, true
  cancel_upwards(w, caller, token)
  if caller.frame.outer.kids == 0 then
    terminate(w, caller, reason_of(w, reason))
  end
end

-- Nothing stands any more in an instance, which has not come to an end event.
terminate = function(w, inst, reason)
  w.events.unwatch(w, inst, inst.frame.outer)
  w.scopes.end_listeners(w, inst)
  w.scopes.finish(w, inst, "terminated", reason)
  modify.end_caller(w, inst, w.cause.reason)
end

local function settle(w, inst, reason)
  inst.stays = nil
  if inst.ended or inst.frame.outer.kids > 0 then
    return
  elseif inst.came_to_end then
    return w:push(walk.scope_ended, inst, inst.frame.outer)
  end
  terminate(w, inst, reason)
end

-- ---- the command ----

-- The operations of the cause, resolved, and what each would do; raises all that is wrong with
-- them, behind `what`. starts_only: the instance is new.
local function check(w, inst, what, starts_only)
  local read, wrong = operations.read(w.cause.operations, starts_only)
  local told
  if read then
    told, wrong = try(inst.plan, copy_frame(inst.frame), read)
  end
  if wrong[1] then
    return w:refuse(what .. table.concat(wrong, "; "))
  end
  return read, told
end

-- A trial writes nothing, and says what would be done.
local function tell_trial(w, told)
  w.order, w.unit.result = {}, told
end

-- Does operations one behind the other, each up to where all waits. The instance stays as long as
-- there are some left.
local function perform(w, inst, list, reason)
  inst.stays = true
  for _, one in ipairs(list) do
    if not inst.ended then
      (one.kind == "cancel" and cancel or modify.start)(w, inst, one)
      walk.go(w)
    end
  end
  settle(w, inst, reason)
end

-- skip(w): leaves out what the cause says.
function modify.skip(w)
  local cause = w.cause
  w.skip_listeners, w.skip_mappings = cause.skip_listeners, cause.skip_mappings
end

-- run(w, inst): the command "modify".
function modify.run(w, inst)
  local list, told = check(w, inst, ("instance %d cannot be modified: "):format(inst.id))
  if w.cause.dry_run then
    return tell_trial(w, told)
  end
  modify.skip(w)
  perform(w, inst, list, w.cause.reason)
end

-- begin(w, inst): the instance is new, and begins with the operations of the cause.
function modify.begin(w, inst)
  local list, told = check(w, inst, ("the process %s cannot start so: "):format(inst.plan.key),
    true)
  if w.cause.dry_run then
    return tell_trial(w, told)
  end
  modify.skip(w)
  if w.cause.restarts then
    inst:warn(inst.frame.outer, ("restarts instance %d"):format(w.cause.restarts))
  end
  if w.scopes.open_instance(w, inst, list[1].at, w.cause.restarts) then
    perform(w, inst, list)
  end
end

return modify
