-- Turns of a parallel body that stand outside of the frame of their instance. Each has a row and a
-- frame of its own, so the work of a turn does not grow with their number. In a walk such a turn is
-- like an instance: it is opened, moved and written by itself.
--
-- The body has a row as well, which counts the turns that have ended. Who makes the count full
-- leaves that to a job of the body. A body with a completion condition counts in the frame.
local frame = require "moonshift.process.frame"
local large = require "moonshift.process.large"
local rules = require "moonshift.rules"

local turns = {}

local NONE = {}

local IN_FRAME = 64 -- turns of a body that stand in the frame
local COUNTS = { nrOfCompletedInstances = true, nrOfActiveInstances = true }

-- ---- which bodies ----

local function lies_in(step, around)
  while step and step ~= around do
    step = step.scope
  end
  return step ~= nil
end

-- Whether one of the activities in a step, or the step itself, is such a one; kept with the step.
local function has_inside(plan, step, what, is_one)
  if step[what] == nil then
    step[what] = false
    for _, one in ipairs(plan.order) do
      step[what] = step[what] or is_one(one) and lies_in(one, step)
    end
  end
  return step[what]
end

-- Whether an activity calls or sets something as it is cancelled.
local function ends_loudly(step)
  return (step.ends or step.outputs or step.on_delete) ~= nil
end

local function is_remembered(step)
  return (step.undo or step.undo_start) ~= nil
end

-- What keeps a body in the frame: few(inst, body, step) and so on are true of it.
local STAYS = {
  -- A row for each costs more than their part of the frame.
  few = function(_, body)
    return body.more[1] <= IN_FRAME
  end,
  -- One turn goes on after the other.
  sequential = function(_, _, step)
    return not step.multi.parallel
  end,
  -- A turn has one frame around it.
  nested = function(inst)
    return inst.turn ~= nil
  end,
  -- What a turn leaves to be taken back stays after its end, with its variables.
  remembered = function(inst, _, step)
    return inst.plan.undoes and has_inside(inst.plan, step, "remembers", is_remembered)
  end,
  -- A condition in a turn sees what is written around it.
  watched = function(inst)
    return inst.plan.conditions
  end,
  -- A turn that is cancelled takes back what others have done.
  transaction = function(_, _, step)
    return step.node.kind == "transaction"
  end,
}

local function stays(inst, body, step)
  for _, is_so in pairs(STAYS) do
    if is_so(inst, body, step) then
      return true
    end
  end
  return false
end

-- ---- the row of a body ----

-- What the unit says of a body: { id, instance, token, activity, turns, ended, seen, closed }.
-- `turns` is there if the unit makes the row; `seen` is the count that something has read.
local function entry_of(w, instance, id)
  local bodies = w.bodies or { by = {} }
  w.bodies = bodies
  local entry = bodies.by[id]
  if not entry then
    entry = { id = id, instance = instance, ended = 0 }
    bodies.by[id], bodies[#bodies + 1] = entry, entry
  end
  return entry
end

-- How many turns have ended, those of this walk included, and of commands before it in its list.
local function count_of(w, inst, id)
  local entry = entry_of(w, inst.id, id)
  if entry.seen == nil then
    local row = not entry.turns and w.context.body(id)
    entry.seen = row and row.ended + (w.cause.ended_before or 0) or 0
  end
  return entry.seen + entry.ended
end

-- The counters of a body are read from its row.
local function show_counts(inst, body)
  function body.counts(name)
    if not COUNTS[name] then
      return nil
    end
    local ended = count_of(inst.walk, inst, body.more[5])
    return name == "nrOfCompletedInstances" and ended or body.more[1] - ended
  end
end

local function step_of(inst, body)
  return inst.plan.steps[body.at:match("^[^#]*")]
end

-- ---- beginning ----

-- begin(w, inst, body, step): gives the body a row if its turns are to stand outside.
function turns.begin(w, inst, body, step)
  if not w.context.turns_outside or stays(inst, body, step) then
    return
  end
  local id = w.context.next_instance()
  body.more[4], body.more[5] = rules.array {}, id
  local entry = entry_of(w, inst.id, id)
  entry.token, entry.activity, entry.turns = body.id, body.at, body.more[1]
  entry.version = inst.version
  if not step.multi["until"] then
    show_counts(inst, body)
  end
end

-- new(w, inst, body, step, index) -> a turn and its token, which has not moved yet
function turns.new(w, inst, body, step, index)
  local turn = require("moonshift.process.instance").turn(w, inst, body, w.context.next_instance(),
    index)
  w:keep_instance(turn)
  return turn, frame.add(turn.frame, turn.frame.outer, step.id, "run")
end

-- open(inst, row): makes ready what stands outside, of an instance or a turn that was read.
function turns.open(inst, row)
  local list = inst.frame.list
  for i = 1, #list do
    local body = list[i]
    local step = frame.is_outside(body) and step_of(inst, body)
    if step and not step.multi["until"] then
      show_counts(inst, body)
    end
  end
  if not inst.turn then
    return
  end
  inst.frame.is_turn, inst.around_row = true, row
  inst.frame.outer.beyond = function()
    local _, body = inst:around()
    return body
  end
end

-- ---- ending ----

-- The turn has come to its end, and its row goes.
function turns.finish(turn, token)
  frame.remove(turn.frame, token)
  turn.ended = "completed"
end

-- ended(w, turn, token): counts it. If the unit has made the whole body and all its turns have
-- ended, the instance and its body are returned, to be left at once.
function turns.ended(w, turn, token)
  local entry = entry_of(w, turn.id, turn.body)
  turns.finish(turn, token)
  entry.ended = entry.ended + 1
  if entry.turns and entry.ended == entry.turns then
    return turn:around()
  end
end

-- Cancels what a turn has.
local function drop(w, turn)
  w.scopes.cancel_inside(w, turn, turn.frame.outer)
  turn.ended = "terminated"
end

-- The turn of a row of a body.
local function open_row(w, inst, body, row)
  row.turn, row.id, row.version = row.id, inst.id, inst.version
  row.parent, row.key, row.tenant, row.held = inst.parent, inst.key, inst.tenant, inst.held
  row.body, row.body_token = body.more[5], body.id
  return require("moonshift.process.instance").open(w, row)
end

-- A turn that this walk has not met goes into the unit at once: a body may have many.
local function drop_row(w, inst, body, row)
  local turn = open_row(w, inst, body, row)
  drop(w, turn)
  large.collect(turn, w.unit)
  table.insert(w.unit.turns, turn:turn_row())
end

-- Cancels all turns of a body by itself, the last first: something in them calls or sets something
-- then, which needs their instance.
local function drop_all(w, inst, body)
  local below
  repeat
    local rows = w.context.turns(body.more[5], below)
    for _, row in ipairs(rows) do
      below = row.id
      if row.frame and not w.instances[row.id] then
        drop_row(w, inst, body, row)
      end
    end
  until not rows[1]
end

-- close(w, inst, body): no turn goes on any more. Their rows go behind, a page at a time, unless
-- what is in them has to be walked.
function turns.close(w, inst, body)
  local entry = entry_of(w, inst.id, body.more[5])
  entry.closed = 1
  for i = #w.order, 1, -1 do
    local turn = w.order[i]
    if turn.body == entry.id and not turn.ended then
      drop(w, turn)
    end
  end
  if not entry.turns and has_inside(inst.plan, step_of(inst, body), "loud", ends_loudly) then
    drop_all(w, inst, body)
  end
end

-- ---- migration ----

-- all(w, inst, body) -> the turns of a body that stand outside of the frame, to be written; none
-- where the token is no such body
function turns.all(w, inst, body)
  local list, below = {}, nil
  if not frame.is_outside(body) then
    return list
  end
  repeat
    local rows = w.context.turns(body.more[5], below)
    for _, row in ipairs(rows) do
      below = row.id
      local turn = w.instances[row.id] or row.frame and open_row(w, inst, body, row)
      if turn then
        w:keep_instance(turn)
        list[#list + 1] = turn
      end
    end
  until not rows[1]
  return list
end

-- moved(w, inst, body): the row of a body says where it is in the frame by now.
function turns.moved(w, inst, body)
  local entry = entry_of(w, inst.id, body.more[5])
  entry.token, entry.activity, entry.version, entry.migrates = body.id, body.at, inst.version, 1
  for _, turn in ipairs(w.order) do
    if turn.body == entry.id then
      turn.body_token = body.id
    end
  end
end

-- unit(w): puts the bodies into the unit. One that began and ended in it has no row.
function turns.unit(w)
  for _, entry in ipairs(w.bodies or NONE) do
    entry.seen = entry.seen and entry.seen + 1
    if not (entry.turns and entry.closed) then
      table.insert(w.unit.bodies, entry)
    end
  end
end

return turns
