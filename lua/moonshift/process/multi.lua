-- Multi-instance activities: the body is a scope around the turns and counts them. Turns of a
-- parallel body are tokens in it, or stand outside of the frame if they are many (turns.lua); a
-- sequential one has a single token that begins again.
local frame = require "moonshift.process.frame"
local kept = require "moonshift.process.kept"
local rules = require "moonshift.rules"
local show = require "moonshift.show"
local turns = require "moonshift.process.turns"
local variables = require "moonshift.process.variables"
local walk = require "moonshift.process.walk"

local multi = {}

local AT_ONCE = 1000 -- turns that one unit makes

-- ---- how many ----

-- The list that the turns go through: the value itself, or the variable that a plain text names.
local function list_of(w, inst, token, step)
  local collection = step.multi.collection
  local list
  if type(collection.constant) == "string" then
    list = variables.get(token, collection.constant)
  else
    list = w:ask(inst, token, collection)
  end
  if type(list) ~= "table" or (next(list) ~= nil and #list == 0) then
    error(("%s: the collection %s is %s (expected a list)"):format(step.id,
      tostring(collection.constant or collection.text or ""), show(list)), 0)
  end
  return list
end

local function count_of(w, inst, token, step)
  local value = step.multi.count
  if not value then
    return #list_of(w, inst, token, step)
  end
  local found = w:ask(inst, token, value)
  local count = type(found) ~= "boolean" and math.tointeger(tonumber(found))
  if not count or count < 0 then
    error(("%s: the number of turns is %s (expected a whole number from 0)"):format(step.id,
      show(found)), 0)
  end
  return count
end

-- ---- the body ----

-- arrive(w, inst, token, step): the token becomes the body, unless a job stands before it.
function multi.arrive(w, inst, token, step)
  local m = step.multi
  token.at = m.at
  if m.before then
    return w:await_job(inst, token, "before", { name = m.at, priority = m.priority,
      retry = m.retry, exclusive = m.exclusive })
  end
  return multi.begin(w, inst, token, step)
end

local function set(inst, holder, name, value)
  variables.put(inst, holder, name, value)
end

-- Sets what a turn knows of itself: its number, and its element. `turn` is the instance, or the
-- turn outside of its frame, that has the holder.
local function set_turn(w, inst, body, turn, holder, step, index)
  set(turn, holder, "loopCounter", index)
  if step.multi.index then
    set(turn, holder, step.multi.index, index)
  end
  if step.multi.element then
    local list = list_of(w, inst, body, step)
    local item = list[index + 1]
    if not step.multi.collection.constant then -- a variable holds data already
      item = variables.copy(item, step.multi.element, turn, holder)
    end
    set(turn, holder, step.multi.element, item == nil and rules.null or item)
  end
end

-- Begins the body with its first turns.
function multi.begin(w, inst, body, step)
  inst:tell("s", body, step.multi.at)
  local count = count_of(w, inst, body, step)
  body.state, body.more, body.at = "body", { count, 0, 0 }, step.multi.at
  w.events.watch(w, inst, body, step.boundaries)
  if count == 0 then
    return multi.leave(w, inst, body, step)
  end
  set(inst, body, "nrOfInstances", count)
  turns.begin(w, inst, body, step)
  if not body.counts then
    set(inst, body, "nrOfCompletedInstances", 0)
    set(inst, body, "nrOfActiveInstances", step.multi.parallel and count or 1)
  end
  if step.multi.parallel then
    return multi.make(w, inst, body, step, 0)
  end
  body.more[3] = count
  local token = frame.add(inst.frame, body, step.id, "run")
  kept.branch(inst, body, token)
  return multi.turn(w, inst, token, step, 0)
end

-- ---- for an operator ----

-- open(w, inst, body, step): begins a body for one turn, which is not counted from its list.
function multi.open(w, inst, body, step)
  inst:tell("s", body, step.multi.at)
  body.state, body.more, body.at = "body", { 1, 0, 1 }, step.multi.at
  w.events.watch(w, inst, body, step.boundaries)
  set(inst, body, "nrOfInstances", 1)
  set(inst, body, "nrOfCompletedInstances", 0)
  set(inst, body, "nrOfActiveInstances", 1)
end

-- first_turn(inst, token, step): the token is the only turn of such a body.
function multi.first_turn(inst, token, step)
  set(inst, step.multi.parallel and token or token.scope, "loopCounter", 0)
end

local function count_active(inst, body)
  set(inst, body, "nrOfActiveInstances", body.more[1] - body.more[2])
end

-- add_turn(inst, body, token): the token is one more turn of a parallel body, behind all others.
function multi.add_turn(inst, body, token)
  local count = variables.get(body, "nrOfInstances")
  body.more[1], body.more[3] = body.more[1] + 1, body.more[3] + 1
  set(inst, body, "nrOfInstances", count + 1)
  count_active(inst, body)
  set(inst, token, "loopCounter", count)
end

-- take_turn(inst, body): one of its turns was cancelled, and others go on.
function multi.take_turn(inst, body)
  body.more[1], body.more[3] = body.more[1] - 1, body.more[3] - 1
  count_active(inst, body)
end

-- ---- turns ----

-- Begins a turn of a sequential body.
function multi.turn(w, inst, token, step, index)
  local body = token.scope
  set_turn(w, inst, body, inst, body, step, index)
  w:push(walk.arrive_inner, inst, token, step)
end

-- Jobs of turns that begin in one, without a token for each.
local function make_range(w, inst, body, step, index, count)
  local first = frame.add_range(inst.frame, body, count, index)
  local priority = w:priority(inst, body, step.priority)
  local handler = ("process/%s/%s"):format(inst.plan.key, step.id)
  local retries = step.retry and w.context.runs and w.context.runs(step.retry) or nil
  for i = 0, count - 1 do
    w.unit.jobs[#w.unit.jobs + 1] = { instance = inst.id, token = first + i, handler = handler,
      priority = priority, retries = retries, exclusive = step.exclusive, record = body,
      inst = inst }
  end
end

local function make_tokens(w, inst, body, step, index, count)
  local tokens = {}
  for i = 1, count do
    local token = frame.add(inst.frame, body, step.id, "run")
    kept.branch(inst, body, token)
    set_turn(w, inst, body, inst, token, step, index + i - 1)
    tokens[i] = token
  end
  for i = count, 1, -1 do
    w:push(walk.arrive_inner, inst, tokens[i], step)
  end
end

-- The same for turns outside of the frame.
local function make_outside(w, inst, body, step, index, count)
  local tokens = {}
  for i = 1, count do
    local turn, token = turns.new(w, inst, body, step, index + i - 1)
    set_turn(w, inst, body, turn, token, step, index + i - 1)
    tokens[i] = { turn, token }
  end
  for i = count, 1, -1 do
    w:push(walk.arrive_inner, tokens[i][1], tokens[i][2], step)
  end
end

-- Makes the next turns of a parallel body, the first with this index. A job of its own makes what
-- is more than a unit should. Its token has the index that comes next: a turn that is cancelled
-- meanwhile changes how many are made, but no index.
function multi.make(w, inst, body, step, index)
  local count = math.min(body.more[1] - body.more[3], AT_ONCE)
  body.more[3] = body.more[3] + count
  if body.more[3] < body.more[1] then
    local seed = frame.add(inst.frame, body, step.multi.at, "run")
    kept.branch(inst, body, seed)
    w:await_job(inst, seed, "seed", { name = step.multi.at, priority = step.multi.priority,
      exclusive = step.multi.exclusive })
    seed.more = index + count
  end
  if frame.is_outside(body) then
    return make_outside(w, inst, body, step, index, count)
  elseif step.before and not step.multi.element and not step.multi.index then
    return make_range(w, inst, body, step, index, count)
  end
  return make_tokens(w, inst, body, step, index, count)
end

-- The job that makes more turns has come.
function multi.seed(w, inst, token)
  local body = token.scope
  frame.remove(inst.frame, token)
  multi.make(w, inst, body, inst.plan.steps[token.at:match("^[^#]*")],
    token.more or body.more[3]) -- earlier frames do not say it
end

-- ---- the end of turns ----

-- The inner activity has ended; a job may stand behind it.
function multi.inner_ended(w, inst, token, step)
  if step.after then
    return w:await_job(inst, token, "after", { name = step.id .. ":after",
      priority = step.priority, retry = step.retry, exclusive = step.exclusive })
  end
  return multi.turn_ended(w, inst, token, step)
end

-- Clears what a sequential turn's activity had as its own, and begins the next one.
local function next_turn(w, inst, token, step)
  local body = token.scope
  local index = body.vars.loopCounter + 1
  variables.clear(token)
  token.more, token.state = nil, "run"
  if index >= body.more[1] or (step.multi["until"]
    and w:true_for(inst, body, step.multi["until"])) then
    return multi.leave(w, inst, body, step)
  end
  return multi.turn(w, inst, token, step, index)
end

-- Counts an ended turn of a parallel body where the frame has its count. True: it was the last one,
-- or none is to follow. `turn` is the instance, or the turn outside of its frame, of the token.
local function count_ended(w, inst, body, turn, token, step)
  local more = body.more
  more[2] = more[2] + 1
  set(inst, body, "nrOfCompletedInstances", more[2])
  set(inst, body, "nrOfActiveInstances", more[1] - more[2])
  return more[2] >= more[1]
    or (step.multi["until"] and w:true_for(turn, token, step.multi["until"]))
end

-- A turn outside of the frame has ended.
local function turn_outside_ended(w, turn, token, step)
  if not step.multi["until"] then
    local inst, body = turns.ended(w, turn, token)
    return inst and multi.leave(w, inst, body, step)
  end
  local inst, body = turn:around()
  w:touch(inst)
  local done = count_ended(w, inst, body, turn, token, step)
  turns.finish(turn, token)
  if done then
    multi.leave(w, inst, body, step)
  end
end

function multi.turn_ended(w, inst, token, step)
  local body = token.scope
  if inst.turn and body == inst.frame.outer then
    return turn_outside_ended(w, inst, token, step)
  elseif not step.multi.parallel then
    body.more[2] = body.more[2] + 1
    set(inst, body, "nrOfCompletedInstances", body.more[2])
    return next_turn(w, inst, token, step)
  end
  local done = count_ended(w, inst, body, inst, token, step)
  frame.remove(inst.frame, token)
  if done then
    multi.leave(w, inst, body, step)
  end
end

-- Ends the body: turns that are left are cancelled; the token goes on along the flows.
function multi.leave(w, inst, body, step)
  if inst.plan.undoes then
    w.compensation.remember_body(inst, body)
  end
  w.scopes.cancel_inside(w, inst, body)
  inst:tell("e", body, step.multi.at)
  local flows = walk.choose_all(w, inst, body, step)
  if frame.is_outside(body) then
    w:waited(inst, body)
  end
  body.state = "run"
  local m = step.multi
  walk.take(w, inst, body, flows, m.after and { name = m.at, priority = m.priority,
    retry = m.retry, exclusive = m.exclusive } or nil)
end

return multi
