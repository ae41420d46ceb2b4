-- What an operation of an operator means (rules §23): in a graph, and in a frame as it is by then.
-- Nothing is changed here. What is wrong is a text that says what could be written instead.
local frame = require "moonshift.process.frame"
local operations = require "moonshift.process.operations"
local rules = require "moonshift.rules"

local targets = {}

-- ---- in a graph ----

-- In their order: of two that are as near the first one is meant.
local function names_of(list)
  local names = {}
  for name in pairs(list) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

local function unknown(plan, what, name, list)
  local meant = rules.suggest(name, names_of(list))
  return ("the process %s has no %s %s%s"):format(plan.key, what, name,
    meant and (' (did you mean "%s"?)'):format(meant) or "")
end

-- The scopes around an activity, the innermost first: { at, step, body }. With `turn` the body of
-- the repeated activity itself is the innermost.
local function levels_of(step, turn)
  local list, around = {}, step.scope
  if turn then
    list[1] = { at = step.multi.at, step = step, body = true }
  end
  while around do
    list[#list + 1] = { at = around.id, step = around }
    if around.multi then
      list[#list + 1] = { at = around.multi.at, step = around, body = true }
    end
    around = around.scope
  end
  return list
end

-- step_of(plan, name) -> the step, whether its body is meant, the number of an instance; or nil
local function step_of(plan, name)
  local at, body, number = operations.name(name)
  local step = plan.steps[at]
  if step and body and not step.multi then
    return nil
  end
  return step, body, number
end

local Kinds = {}

function Kinds.start_before(plan, one)
  local step, body, number = step_of(plan, one.at)
  if not step or number then
    return unknown(plan, "activity", one.at, plan.steps)
  elseif step.event.kind == "compensation" and step.host then
    return ("%s only remembers (expected an activity, such as %s)"):format(step.id,
      step.node.handler)
  end
  one.step, one.turn = step, step.multi ~= nil and not body
  one.levels = levels_of(step, one.turn)
end

local function flows_text(step)
  local ids = {}
  for i, flow in ipairs(step.out) do
    ids[i] = flow.id
  end
  return table.concat(ids, ", ")
end

function Kinds.start_after(plan, one)
  local step, body, number = step_of(plan, one.at)
  if not step or number then
    return unknown(plan, "activity", one.at, plan.steps)
  elseif step.multi and not body then
    return ("%s is a turn (expected %s)"):format(one.at, step.multi.at)
  elseif #step.out ~= 1 then
    return #step.out == 0 and ("no flow leads on from %s"):format(step.id)
      or ("%d flows lead on from %s (expected start_flow with one of %s)"):format(#step.out,
        step.id, flows_text(step))
  end
  one.flow, one.levels = step.out[1], levels_of(step)
end

function Kinds.start_flow(plan, one)
  one.flow = plan.flows[one.at]
  if not one.flow then
    return unknown(plan, "flow", one.at, plan.flows)
  end
  one.levels = levels_of(one.flow.from)
end

-- An activity that is not known is nowhere, and nothing is cancelled.
function Kinds.cancel(plan, one)
  local step, body, number = step_of(plan, one.at)
  one.number, one.step = number, step
  one.name = step and (body and step.multi.at or step.id)
  one.levels = step and levels_of(step, step.multi and not body) or {}
end

-- The scope in which an operation starts, as it is named.
local function resolve_within(plan, one)
  local step, body, number = step_of(plan, one.within)
  local name = step and (body and step.multi.at or step.id)
  for i, level in ipairs(one.levels) do
    if level.at == name then
      one.from, one.number = i, number
      return nil
    end
  end
  return ("%s is not around it"):format(one.within)
end

-- resolve(plan, one) -> nil, and the operation has `step` or `flow`, `levels` and `turn`; or what
-- is wrong with it in the graph
function targets.resolve(plan, one)
  return Kinds[one.kind](plan, one) or one.within and resolve_within(plan, one) or nil
end

-- ---- in a frame ----

local function is_scope(token)
  return token.state == "scope" or token.state == "body"
end

-- The scopes of this level that are there.
local function open(f, level)
  local found = {}
  for _, token in ipairs(f.list) do
    if not token.gone and token.at == level.at and is_scope(token) then
      found[#found + 1] = token
    end
  end
  return found
end

-- Turns outside of the frame are not seen in it; nil: there are none at these levels.
local function outside(f, one)
  for _, level in ipairs(one.levels) do
    for _, token in ipairs(level.body and open(f, level) or {}) do
      if frame.is_outside(token) then
        return ("the turns of %s stand outside of the frame of the instance (expected %s)"):format(
          level.step.id, level.at)
      end
    end
  end
end

local function within(f, one)
  local level = one.levels[one.from]
  local found = open(f, level)
  local token = one.number and found[one.number] or not one.number and #found == 1 and found[1]
  return token, token and one.from or ("%d of %s %s there (expected one that is)"):format(#found,
    level.at, #found == 1 and "is" or "are")
end

local function innermost(f, one)
  for i, level in ipairs(one.levels) do
    local found = open(f, level)
    if #found > 1 then
      return nil, ('%d of %s are there%s (expected "in", such as "%s#1")'):format(#found, level.at,
        i > 1 and " for " .. one.levels[1].at or "", level.at)
    elseif found[1] then
      return found[1], i
    end
  end
  return f.outer, #one.levels + 1
end

-- Why no turn can be added to a body that is there; nil: one can.
local function full(one, token, from)
  if token.state ~= "body" then
    return nil
  elseif not one.levels[from].step.multi.parallel then
    return ("the turns of %s go one behind the other (expected %s)"):format(
      one.levels[from].step.id, token.at)
  elseif token.more[3] < token.more[1] then
    return ("the turns of %s are still being made"):format(one.levels[from].step.id)
  end
end

-- scope(f, one) -> the scope in which the operation starts, and the levels that are to be made in
-- it, the outermost first; or nil, what is wrong
function targets.scope(f, one)
  local wrong = outside(f, one)
  if wrong then
    return nil, wrong
  end
  local token, from = (one.from and within or innermost)(f, one)
  wrong = not token and from or full(one, token, from)
  if wrong then
    return nil, wrong
  end
  local made = {}
  for i = from - 1, 1, -1 do
    made[#made + 1] = one.levels[i]
  end
  return token, made
end

-- The event-based gateway behind which a catch event stands, or nil.
function targets.gateway_of(plan, step)
  local flow = step.node.kind == "catch" and step.node.into and step.node.into[1]
  local from = flow and plan.steps[flow.from]
  return from and from.node.kind == "event_gateway" and from or nil
end

-- What stands at an activity and has begun, in a scope.
local function standing(f, scope, at)
  local found = {}
  for _, token in ipairs(frame.inside(f, scope)) do
    local waits = token.state == "before" or token.state == "after" or token.state == "run"
    if token.at == at and not waits and not frame.watches(token) then
      found[#found + 1] = token
    end
  end
  return found
end

-- host(plan, f, one, scope, made) -> the place that the start of this event ends: the host of an
-- interrupting boundary event, an event-based gateway. nil: none; with a text, what is wrong.
function targets.host(plan, f, one, scope, made)
  local step = one.step
  local host = step and not made[1] and (step.host and step.event.interrupting and step.host
    or targets.gateway_of(plan, step))
  if not host then
    return nil
  end
  local found = standing(f, scope, host.multi and host.multi.at or host.id)
  if #found > 1 then
    return nil, ("%s stands beside %d of %s (expected a cancel of one, and start_after)"):format(
      step.id, #found, host.id)
  end
  return found[1]
end

-- event(one, made) -> the start event of the event sub-process that the operation begins as its
-- event would; nil: it begins none
function targets.event(one, made)
  local top = made[1] and made[1].step or one.step
  if not top or top.node.kind ~= "event_subprocess" then
    return nil
  elseif one.step == top and not made[1] or not made[2] and one.step == top.start then
    return top.start
  end
end

-- Whether a turn of a repeated activity, or another one, stands at it.
local function is_at(token, name)
  return token.at == name and not token.gone and not frame.watches(token)
    and token.state ~= "undone" and token.state ~= "seed"
end

-- The numbers of what stands at an activity, turns that are only a range included.
local function numbers_at(f, name)
  local numbers = {}
  for _, token in ipairs(f.list) do
    if is_at(token, name) then
      numbers[#numbers + 1] = token.id
    end
    local of_body = token.state == "body" and not token.gone and token.at:match("^(.*)#") == name
    for _, range in ipairs(of_body and token.more[4] or {}) do
      for id = range[1], range[1] + range[2] - 1 do
        numbers[#numbers + 1] = id
      end
    end
  end
  table.sort(numbers)
  return numbers
end

-- place(plan, f, name) -> the place or scope that is named, such as "sub#2"; without a number, the
-- only one at its activity. nil: none; with what is wrong
function targets.place(plan, f, name)
  local one = { at = name }
  Kinds.cancel(plan, one)
  local wrong = not one.step and unknown(plan, "activity", name, plan.steps) or outside(f, one)
  if wrong then
    return nil, wrong
  end
  local numbers = numbers_at(f, one.name)
  local token = f.by[numbers[one.number or #numbers == 1 and 1]]
  return token, not token and ("%d of %s %s there (expected one that is, such as %s#1)"):format(
    #numbers, one.name, #numbers == 1 and "is" or "are", one.name) or nil
end

-- All of a repeated activity are its bodies.
local function all_at(f, one)
  local found = {}
  local name = one.step.multi and one.name == one.step.id and one.step.multi.at or one.name
  for _, token in ipairs(f.list) do
    if is_at(token, name) and (name == one.name or token.state == "body") then
      found[#found + 1] = token
    end
  end
  return found
end

-- cancelled(f, one) -> the places that a cancel means, in their order, and for a turn of a range
-- the number of its turn; or nil, what is wrong
function targets.cancelled(f, one)
  if not one.name then
    return {}
  end
  local own = one.step.multi and one.name == one.step.id and not one.number
  local wrong = outside(f, own and { levels = { table.unpack(one.levels, 2) } } or one)
  if wrong then
    return nil, wrong
  elseif not one.number then
    return all_at(f, one)
  end
  local numbers = numbers_at(f, one.name)
  if not numbers[one.number] then
    return nil, ("%d of %s %s there"):format(#numbers, one.name, #numbers == 1 and "is" or "are")
  end
  return { (frame.find(f, numbers[one.number])) }, select(2, frame.find(f, numbers[one.number]))
end

return targets
