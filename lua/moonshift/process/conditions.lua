-- Conditional events: what waits for one has no row. It is looked at when it begins to wait, and
-- once for each variable that is written in a scope that it sees, in the order of writing. That is
-- done before the walk goes on: looking stands on top of the stack until then.
local hearing = require "moonshift.process.hearing"
local instance = require "moonshift.process.instance"
local walk = require "moonshift.process.walk"

local conditions = {}

local NONE = {} -- stands for an instance and a token where looking is on the stack
local GIVEN = {} -- a condition brings no variables

-- ---- what has changed ----

-- push(w, op, inst, token, what): as Walk:push, but below looking.
function conditions.push(w, op, inst, token, what)
  walk.Walk.push(w, op, inst, token, what)
  if w.looks then
    local stack, top = w.stack, w.top
    for i = top - 3, top do
      stack[i], stack[i - 4] = stack[i - 4], stack[i]
    end
  end
end

local function note(w, change)
  if not w.looks then
    w.looks = {}
    walk.Walk.push(w, conditions.look, NONE, NONE)
  end
  table.insert(w.looks, change)
end

-- What is done to a variable, and whether that is nothing.
local function kind_of(holder, name, value)
  local there = holder.vars[name] ~= nil or holder.large and holder.large[name] ~= nil or false
  if value == nil then
    return "delete", not there
  end
  return there and "update" or "create", false
end

-- wrote(inst, holder, name, value): a variable is about to be written there.
function conditions.wrote(inst, holder, name, value)
  local kind, nothing = kind_of(holder, name, value)
  note(inst.walk, { inst = inst, holder = holder, name = name, value = value, kind = kind,
    heard = inst.plan.hears_any and not nothing })
end

-- begun_with(w, inst, variables): what an instance begins with counts as written once its events
-- are waited for. Listeners have heard of it before.
function conditions.begun_with(w, inst, variables)
  local names = {}
  for name in pairs(variables or NONE) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    note(w, { inst = inst, holder = inst.frame.outer, name = name, kind = "create" })
  end
end

-- ---- looking ----

local function waits(token)
  return token.state == "condition" or token.state == "on condition"
end

-- Where it reads its variables: itself, or what it may interrupt.
local function place_of(token)
  return token.state == "condition" and token or token.scope
end

-- await(w, inst, token, _, state): the token waits for the condition of its step. Those that begin
-- to wait at one place are looked at together. Those of a scope that an operator's command opens
-- (w.opens) are looked at with what is written later.
function conditions.await(w, inst, token, _, state)
  w:await(inst, token, state)
  if w.opens then
    return
  end
  local last = w.looks and w.looks[#w.looks]
  if last and last.begun and place_of(last.begun[1]) == place_of(token) then
    table.insert(last.begun, token)
  else
    note(w, { inst = inst, begun = { token } })
  end
end

-- How deep the place lies, if it is the holder or lies in it.
local function depth_in(place, holder)
  local depth, found = 0, false
  while place do
    found = found or place == holder
    place, depth = place.scope, depth + 1
  end
  return found and depth
end

local function concerns(event, change)
  return (not event.variable or event.variable == change.name)
    and (not event.changes or event.changes[change.kind])
end

-- How deep a token's place lies, if it sees the change; else nil or false.
local function depth_of(change, token)
  local event = waits(token) and not token.gone and change.inst.plan.steps[token.at].event
  if change.begun then
    return event and 0
  end
  return event and concerns(event, change) and depth_in(place_of(token), change.holder)
end

-- What may have become true, in its order: the outer ones first, what comes beside an activity
-- before what interrupts it.
local function seeing(change)
  local list, steps = {}, change.inst.plan.steps
  for i, token in ipairs(change.begun or change.inst.frame.list) do
    local depth = depth_of(change, token)
    if depth then
      list[#list + 1] = { token = token, at = i,
        rank = depth * 2 + (steps[token.at].event.interrupting and 1 or 0) }
    end
  end
  table.sort(list, function(a, b)
    return a.rank < b.rank or a.rank == b.rank and a.at < b.at
  end)
  return list
end

-- A condition that reads a variable that is not there is false.
local function holds(w, inst, place, step)
  local ok, found = (w.context.call or pcall)(w.true_for, w, inst, place, step.event.when)
  if ok then
    return found
  elseif w.scope.missing then
    return false
  end
  error(found, 0)
end

-- What the walk would have done with the token is not done: its activity is interrupted.
local function drop(w, token)
  for i = 3, w.top, 4 do
    if w.stack[i] == token then
      w.stack[i] = { gone = true }
    end
  end
end

local function fire(w, inst, token)
  local step = inst.plan.steps[token.at]
  w:touch(inst)
  if token.state == "condition" then
    return step.kind.proceed(w, inst, token, step, GIVEN)
  elseif step.event.interrupting then
    drop(w, token.scope)
  end
  w.events.proceed(w, inst, token, GIVEN)
end

local function look_at(w, inst, token)
  if waits(token) and not token.gone and not inst.ended
    and holds(w, inst, place_of(token), inst.plan.steps[token.at]) then
    fire(w, inst, token)
  end
end

-- look(w): tells listeners of what has changed since it was looked last, and looks at conditions.
function conditions.look(w)
  local changes = w.looks
  w.looks = nil
  for _, change in ipairs(changes) do
    if change.heard then
      hearing.hear(w, change)
    end
    for _, one in ipairs(change.inst.plan.conditional and seeing(change) or NONE) do
      look_at(w, change.inst, one.token)
    end
  end
end

-- starts(w, row, given) -> whether the condition of a start event holds; row has its version and
-- activity. It is looked at in an instance that is thrown away, with the variables that are given.
function conditions.starts(w, row, given)
  local inst = instance.new(w, { id = 0, version = row.version, key = given.key,
    tenant = given.tenant })
  local outer = inst.frame.outer
  for _, values in ipairs { given.variables or NONE, given.transient or NONE } do
    for name, value in pairs(values) do
      outer.vars[name] = value
    end
  end
  return holds(w, inst, outer, inst.plan.steps[row.activity])
end

return conditions
