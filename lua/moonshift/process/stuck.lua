-- Tokens that nothing can move any more: joins to which no other token can come. What is found is
-- certain; where something might still end a scope, nothing is said.
local stuck = {}

-- What an instance's walk knows of the graph: nodes/inclusive.lua, which itself needs the walk.
local function ways(inst)
  return inst.walk.inclusive
end

local WATCHES = { ["on timer"] = true, ["on message"] = true, ["on signal"] = true,
  ["on condition"] = true }
-- What ends other tokens than those that lead to it.
local INTERRUPTS = { error = true, escalation = true, terminate = true, cancel = true }

-- Whether a token of this process may end others; kept with the plan.
local function may_interrupt(plan)
  if plan.may_interrupt == nil then
    plan.may_interrupt = false
    for _, step in ipairs(plan.order) do
      local event = step.node.event
      if event and INTERRUPTS[event.kind] then
        plan.may_interrupt = true
      end
    end
  end
  return plan.may_interrupt
end

-- Whether the watch ends a scope that the join stands in.
local function watches_over(watch, join)
  local around = join.scope
  while around do
    if watch.scope == around then
      return true
    end
    around = around.scope
  end
  return watch.scope == join
end

-- Whether the join stands in a body whose turns may end it.
local function shares_body(inst, token, join)
  local around = join.scope
  while around do
    if around.state == "body" and ways(inst).within(token, around) then
      return true
    end
    around = around.scope
  end
  return false
end

local function can_come(inst, token, join)
  local place = ways(inst).within(token, join.scope) and ways(inst).place_of(inst, token)
  return place and ways(inst).can_reach(inst.plan, place, inst.plan.steps[join.at])
end

local function can_move(inst, token, join)
  return can_come(inst, token, join) or shares_body(inst, token, join)
    or WATCHES[token.state] and watches_over(token, join)
end

-- The joins of an instance, and the tokens that wait for something else. A body may hold turns
-- that have no token yet.
local function sorted(inst)
  local joins, others = {}, {}
  for _, token in ipairs(inst.frame.list) do
    if token.gone or token.kids > 0 or token.state == "undo" then -- luacheck: ignore 542
    elseif token.state == "join" then
      joins[#joins + 1] = token
    elseif token ~= inst.frame.outer then
      others[#others + 1] = token
    end
  end
  return joins, others
end

-- Moves the joins that one of the others can come to over to these. False: there was none.
local function free_some(inst, joins, others)
  for i, join in ipairs(joins) do
    for _, token in ipairs(others) do
      if can_move(inst, token, join) then
        table.remove(joins, i)
        others[#others + 1] = join
        return true
      end
    end
  end
  return false
end

local function is_body_with_ranges(token)
  return token.state == "body" and not token.gone
    and (token.more[5] ~= nil or token.more[4] and token.more[4][1] ~= nil)
end

-- Whether something outside of a turn that stands outside of its frame may end it.
local function may_be_ended(turn)
  local inst, body = turn:around()
  if inst.plan.steps[body.at:match("^[^#]*")].multi["until"] or may_interrupt(inst.plan) then
    return true
  end
  for _, token in ipairs(inst.frame.list) do
    if WATCHES[token.state] and (token.scope == body or watches_over(token, body)) then
      return true
    end
  end
  return false
end

-- at(inst) -> the activity of a token that nothing can move; nil: there is none. `inst` may be a
-- turn that stands outside of its frame.
function stuck.at(inst)
  local plan = inst.plan
  if not plan.meets then
    return nil
  end
  local joins, others = sorted(inst)
  if not joins[1] or others[1] and may_interrupt(plan) or inst.turn and may_be_ended(inst) then
    return nil
  end
  for _, token in ipairs(inst.frame.list) do
    if is_body_with_ranges(token) then
      return nil
    end
  end
  while joins[1] and free_some(inst, joins, others) do -- luacheck: ignore 542
  end
  return joins[1] and joins[1].at
end

return stuck
