-- Scopes in a walk: how an instance begins and ends, how a sub-process ends, what is cancelled.
local calls = require "moonshift.process.calls"
local frame = require "moonshift.process.frame"
local instance = require "moonshift.process.instance"
local kept = require "moonshift.process.kept"
local rules = require "moonshift.rules"
local turns = require "moonshift.process.turns"
local variables = require "moonshift.process.variables"
local walk = require "moonshift.process.walk"

local scopes = {}

local CALLS_MAX = 500 -- instances that begin each other in one walk

-- ---- cancelling ----

local cancel

-- Jobs of turns that are only a range.
local function leave_ranges(w, inst, body)
  for _, range in ipairs(body.state == "body" and body.more[4] or {}) do
    for id = range[1], range[1] + range[2] - 1 do
      w.unit.left[#w.unit.left + 1] = { instance = inst.id, token = id, what = "job" }
    end
    body.kids = body.kids - range[2]
  end
  if frame.is_outside(body) then
    turns.close(w, inst, body)
  elseif body.more and body.state == "body" then
    body.more[4] = nil
  end
end

-- Cancels all that lies in a token or scope, the last first.
function scopes.cancel_inside(w, inst, scope)
  local inside = frame.inside(inst.frame, scope)
  for i = #inside, 1, -1 do
    if not inside[i].gone then
      cancel(w, inst, inside[i])
    end
  end
  leave_ranges(w, inst, scope)
end

-- Cancels all that stands in a scope, but `except`.
local function cancel_standing(w, inst, scope, except)
  local inside = frame.inside(inst.frame, scope)
  for i = #inside, 1, -1 do
    if not inside[i].gone and not frame.watches(inside[i]) and inside[i] ~= except then
      cancel(w, inst, inside[i])
    end
  end
  leave_ranges(w, inst, scope)
end

-- The same for one of its event sub-processes, or a cancel end event. What is waited for in the
-- scope and beside it is waited for no longer.
function scopes.interrupt(w, inst, scope, except)
  cancel_standing(w, inst, scope, except)
  w.events.unwatch(w, inst, scope)
end

-- Interrupts a scope for an operator: the instance itself still waits for its events then.
function scopes.interrupt_kept(w, inst, scope)
  cancel_standing(w, inst, scope)
  if scope.scope then
    w.events.unwatch(w, inst, scope)
  end
end

-- Ends what a token does, without taking the token away: its activity is cancelled.
function scopes.cancel_activity(w, inst, token)
  local step = inst.plan.steps[token.at]
  scopes.cancel_inside(w, inst, token)
  w:waited(inst, token)
  if token.state == "body" then
    inst:tell("c", token, token.at)
  elseif step and scopes.has_begun(token) then
    if step.kind.cancel then
      step.kind.cancel(w, inst, token, step)
    end
    scopes.finish_cancelled(w, inst, token, step)
  end
  variables.clear(token)
  token.state, token.more, token.begun = "run", nil, nil
end

-- Whether the activity of a token has begun: not while its first job waits, not after its end.
function scopes.has_begun(token)
  if token.begun ~= nil then
    return token.begun
  end
  local state = token.state
  return not (state == "before" or state == "after" or state == "seed" or state == "run"
    or state == "undone" or frame.watches(token))
end

-- End listeners and outputs are for cancelled activities, too; a BPMN error of theirs is lost.
function scopes.finish_cancelled(w, inst, token, step)
  for i, callout in ipairs(not w.skip_listeners and step.ends or {}) do
    calls.run(w, inst, token, step, callout, "end" .. i, "end")
  end
  walk.map_outputs(w, inst, token, step)
  inst:tell("c", token, step.id)
end

cancel = function(w, inst, token)
  if token.state == "undo" then
    scopes.cancel_inside(w, inst, token)
  elseif frame.watches(token) then
    w:waited(inst, token)
  else
    scopes.cancel_activity(w, inst, token)
  end
  frame.remove(inst.frame, token)
end
scopes.cancel = cancel

-- ---- beginning ----

local function way_of(w, row)
  if row.from then
    return kept.way(row.from.inst, row.from.token) .. ">"
  end
  w.begun = (w.begun or 0) + 1
  return "new" .. w.begun .. ":"
end

-- The processes from one to itself that begin each other.
local function circle_of(inst)
  local names, key = { inst.plan.key }, inst.plan.key
  repeat
    inst = inst.begun_by
    table.insert(names, 1, inst.plan.key)
  until inst.plan.key == key or not inst.begun_by
  return table.concat(names, " -> ")
end

-- Counts the instances that began each other in this walk: a circle has no end, and memory has.
local function count_calls(inst, from)
  inst.begun_by, inst.depth = from and from.inst, from and (from.inst.depth or 0) + 1 or 0
  if inst.depth <= CALLS_MAX then
    return
  end
  local plan = from.inst.plan
  local step, path = plan.steps[from.token.at:match("^[^#]*")], plan.graph.path
  error(("%sprocess %s: more than %d instances that begin each other without a wait state: %s")
    :format(path and step and step.node.line and ("%s:%d: "):format(path, step.node.line) or "",
    plan.key, CALLS_MAX, circle_of(inst)), 0)
end

-- begin(w, row) -> an instance that stands at its start event. row = { id, version, key, tenant,
-- unique, variables, transient, types, at, who, parent, root, caller, from = { inst, token },
-- elsewhere }.
-- One that begins elsewhere has no token yet.
function scopes.begin(w, row)
  row.way = way_of(w, row)
  local inst = instance.new(w, row)
  w:keep_instance(inst)
  count_calls(inst, row.from)
  local outer = inst.frame.outer
  variables.check_row(inst, outer, { ["the business key"] = row.key, ["the tenant"] = row.tenant })
  if inst.plan.initiator then
    variables.put(inst, outer, inst.plan.initiator, row.who or rules.null)
  end
  variables.set_all_transient(inst, row.transient)
  variables.set_given(inst, outer, row, variables.set_local)
  inst.given = row.variables
  if row.elsewhere then
    return inst
  end
  local step = row.at and inst.plan.steps[row.at] or inst.plan.start
  if not step then
    error(("process %s has no start event that can be started"):format(inst.plan.key), 0)
  end
  w:push(scopes.open, inst, outer, step)
  return inst
end

-- Calls the start listeners of the process, in the job before its start event if that is
-- asynchronous. False: one threw a BPMN error, which has been dealt with.
function scopes.started(w, inst, start)
  local outer, starts = inst.frame.outer, inst.plan.starts
  outer.edge = start.id
  return not starts or walk.listen(w, inst, outer, nil, starts, "start")
end

-- Begins the instance itself for what starts elsewhere; one that is restarted calls no listeners of
-- the process. False: a listener threw a BPMN error.
function scopes.open_instance(w, inst, at, restarts)
  local outer, starts = inst.frame.outer, not restarts and inst.plan.starts
  outer.edge = at
  if starts and not walk.listen(w, inst, outer, nil, starts, "start") then
    return false
  end
  w.opens = true
  w.events.watch_events(w, inst, outer, inst.plan.events)
  w.opens = false
  return true
end

-- Makes what may interrupt a scope, and the token at its start event.
function scopes.open(w, inst, scope, start)
  local plan = inst.plan
  local events = scope.id == 1 and plan.events or plan.steps[scope.at].events
  if scope.id == 1 and not start.before and not scopes.started(w, inst, start) then
    return
  end
  scope.edge = start.id
  w.events.watch_events(w, inst, scope, events)
  if plan.conditions and scope.id == 1 and not start.before then
    w.conditions.begun_with(w, inst, inst.given)
  end
  local token = frame.add(inst.frame, scope, start.id, "run")
  kept.branch(inst, scope, token)
  if plan.conditions then -- which may interrupt it first
    return w:push(walk.arrive, inst, token, start)
  end
  walk.arrive(w, inst, token, start)
end

-- ---- ending ----

-- Ends an instance: how is "completed", "cancelled" or "terminated". What waits for it goes: if it
-- stood in one place alone, only jobs can, such as a command on its way.
function scopes.finish(w, inst, how, reason)
  inst.ended, inst.reason = how, reason
  if inst.rev > 0 then
    local what = inst.alone and "job" or "all"
    w.unit.left[#w.unit.left + 1] = { instance = inst.id, token = 0, what = what }
  end
end

-- complete(w, inst, reason): the instance has come to its end; its caller goes on.
function scopes.complete(w, inst, reason)
  w.events.unwatch(w, inst, inst.frame.outer)
  scopes.finish(w, inst, "completed", reason)
  if inst.parent then
    w.called.returned(w, inst)
  end
end

-- Calls the end listeners of a process that does not come to its end; a BPMN error of theirs is
-- lost.
function scopes.end_listeners(w, inst)
  local ends = not w.skip_listeners and inst.plan.ends
  for i, callout in ipairs(ends or {}) do
    calls.run(w, inst, inst.frame.outer, nil, callout, "end" .. i, "end")
  end
end

-- What an operator has begun in an instance is not all that he begins: then it stays.
local function complete_instance(w, inst)
  local ends = inst.plan.ends
  if inst.stays then
    inst.came_to_end = true
  elseif not ends or walk.listen(w, inst, inst.frame.outer, nil, ends, "end") then
    scopes.complete(w, inst)
  end
end

-- The last token of a scope has gone.
function walk.scope_ended(w, inst, scope)
  if scope.kids > 0 then
    return
  elseif scope.state == "undoing" or scope.state == "undone" then
    return w.compensation.ended(w, inst, scope)
  elseif not scope.scope then
    return complete_instance(w, inst)
  end
  local step = inst.plan.steps[scope.at]
  if step.node.kind == "event_subprocess" then
    if walk.finish(w, inst, scope, step) then
      walk.ended(w, inst, scope)
    end
    return
  end
  w.events.unwatch_events(w, inst, scope)
  scope.state = "run"
  walk.leave(w, inst, scope, step)
end

return scopes
