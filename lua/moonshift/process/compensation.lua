-- Compensation: activities that have ended are remembered, and a throw takes them back by their
-- handlers, the newest first. What runs still or was interrupted is not remembered.
--
-- What is remembered is an entry of the frame in the state "undo", beside where the activity stood.
-- That of a sub-process or body keeps its variables, and holds what is remembered of its inside.
-- What throws is "undoing" and holds the handlers until the last of them has ended. A remembered
-- sub-process that holds its handlers is "undone".
local frame = require "moonshift.process.frame"
local kept = require "moonshift.process.kept"
local walk = require "moonshift.process.walk"

local compensation = {}

local INSIDE = 1 -- `more` of an entry for the inside of its activity

local function step_of(inst, entry)
  return inst.plan.steps[entry.at:match("^[^#]*")]
end

-- ---- remembering ----

local function remembered(inst, scope)
  local found = {}
  for _, entry in ipairs(frame.inside(inst.frame, scope)) do
    if entry.state == "undo" then
      found[#found + 1] = entry
    end
  end
  return found
end

local function take_variables(to, from)
  to.vars, to.large, to.types, to.texts, to.fetch = from.vars, from.large, from.types, from.texts,
    from.fetch
end

-- Puts an entry and all that lies in it into another scope. It gets another number: what lies in a
-- scope is younger than that.
local function move(inst, entry, scope, state)
  local moved = frame.add(inst.frame, scope, entry.at, state)
  moved.more = entry.more
  take_variables(moved, entry)
  for _, inner in ipairs(remembered(inst, entry)) do
    move(inst, inner, moved, "undo")
  end
  frame.remove(inst.frame, entry)
  return moved
end

-- Remembers what is remembered in a sub-process or body that ends, with its variables.
local function remember_inside(inst, holder, own)
  local inside = remembered(inst, holder)
  if not inside[1] and not own then
    return
  end
  local entry = frame.add(inst.frame, holder.scope, holder.at, "undo")
  entry.more = INSIDE
  take_variables(entry, holder)
  for _, inner in ipairs(inside) do
    move(inst, inner, entry, "undo")
  end
end

-- remember(inst, token, step): the activity ends.
function compensation.remember(inst, token, step)
  if step.undo then
    frame.add(inst.frame, token.scope, step.id, "undo")
  end
  if step.start then
    remember_inside(inst, token, step.undo_start)
  end
end

-- The same for the body of a repeated activity, whose turns have ended.
function compensation.remember_body(inst, body)
  remember_inside(inst, body)
end

-- ---- throwing ----

-- What a throw reaches: what is remembered in the scope of the thrower. An event sub-process
-- reaches the scope around it, too.
local function reached(inst, token)
  local found, scope = {}, token.scope
  repeat
    for _, entry in ipairs(remembered(inst, scope)) do
      found[#found + 1] = entry
    end
    local step = scope.scope and step_of(inst, scope)
    scope = step and step.node.kind == "event_subprocess" and scope.scope
  until not scope
  table.sort(found, function(a, b)
    return a.id < b.id
  end)
  return found
end

local function of_activity(list, activity)
  local found = {}
  for _, entry in ipairs(list) do
    if not activity or entry.at:match("^[^#]*") == activity then
      found[#found + 1] = entry
    end
  end
  return found
end

local undo_all

-- A sub-process with a compensation event of its own runs that instead of the handlers inside.
local function undo_inside(w, inst, entry, thrower)
  local scope = move(inst, entry, thrower, "undone")
  local start = entry.at == step_of(inst, entry).id and step_of(inst, entry).undo_start
  if not start then
    return undo_all(w, inst, remembered(inst, scope), scope)
  end
  local token = frame.add(inst.frame, scope, start.scope.id, "run")
  kept.branch(inst, thrower, token)
  w:push(w.events.begin_sub, inst, token, start)
end

local function undo(w, inst, entry, thrower)
  if entry.more == INSIDE then
    return undo_inside(w, inst, entry, thrower)
  end
  local handler = step_of(inst, entry).undo
  frame.remove(inst.frame, entry)
  local token = frame.add(inst.frame, thrower, handler.id, "run")
  kept.branch(inst, thrower, token)
  w:push(walk.arrive, inst, token, handler)
end

-- The oldest is put on the stack first, so that the newest runs first.
undo_all = function(w, inst, list, thrower)
  for _, entry in ipairs(list) do
    undo(w, inst, entry, thrower)
  end
end

-- throw(w, inst, token, step, left): takes back what the event reaches, and calls left(w, inst,
-- token, step) behind the last handler.
function compensation.throw(w, inst, token, step, left)
  local list = of_activity(reached(inst, token), step.event.activity)
  if not list[1] then
    return left(w, inst, token, step)
  end
  token.state = "undoing"
  undo_all(w, inst, list, token)
end

local function leave(w, inst, token, step)
  token.state = "run"
  w:push(walk.leave, inst, token, step)
end

-- enter(w, inst, token, step): an event that throws a compensation.
function compensation.enter(w, inst, token, step)
  compensation.throw(w, inst, token, step, leave)
end

-- ---- transactions ----

-- A transaction that was cancelled is left by its cancel event; all turns of it are.
local function cancelled(w, inst, token)
  local scope = token.scope
  local host = scope.scope.state == "body" and scope.scope or scope
  for _, step in ipairs(step_of(inst, scope).boundaries) do
    if step.event.kind == "cancel" then
      return w.events.happened(w, inst, host, step)
    end
  end
  error(("%s: the transaction %s has no cancel event"):format(token.at, scope.at), 0)
end

-- cancel(w, inst, token, step): a cancel end event ends what runs in its transaction beside it, and
-- takes back what has ended there.
function compensation.cancel(w, inst, token, step)
  w.scopes.interrupt(w, inst, token.scope, token)
  compensation.throw(w, inst, token, step, cancelled)
end

-- ---- the end ----

-- ended(w, inst, holder): the last handler in what throws, or in what is undone, has ended.
function compensation.ended(w, inst, holder)
  if holder.state == "undone" then
    w.scopes.cancel_inside(w, inst, holder)
    return walk.ended(w, inst, holder)
  end
  local step = step_of(inst, holder)
  local left = step.event.kind == "cancel" and cancelled or leave
  left(w, inst, holder, step)
end

return compensation
