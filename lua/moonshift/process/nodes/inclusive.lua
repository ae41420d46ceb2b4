-- An inclusive gateway waits until no other token of its scope can come to it any more, by the
-- graph. Then it takes all flows that are true, else the default.
local frame = require "moonshift.process.frame"
local parallel = require "moonshift.process.nodes.parallel"
local walk = require "moonshift.process.walk"

local inclusive = {}

-- reaches(step, target) -> whether flows lead from one activity to another; kept with the plan.
local function reaches(step, target, seen)
  if step == target then
    return true
  elseif seen[step] then
    return false
  end
  seen[step] = true
  if not step.out[1] then
    return step.scope ~= nil and reaches(step.scope, target, seen)
  end
  for _, flow in ipairs(step.out) do
    if reaches(flow.to, target, seen) then
      return true
    end
  end
  return false
end

local function can_reach(plan, step, target)
  local known = plan.reach or {}
  plan.reach = known
  local of = known[target] or {}
  known[target] = of
  if of[step] == nil then
    of[step] = reaches(step, target, {})
  end
  return of[step]
end

local function within(token, scope)
  local around = token.scope
  while around and around ~= scope do
    around = around.scope
  end
  return around == scope
end

-- What stands where: leaves are looked at, for a scope stands where its tokens do. Turns that are
-- only a range of a body, or outside of the frame, have no tokens: the body stands for them. What
-- waits for handlers of a compensation goes on behind them.
local function stands(token)
  local ranges = token.state == "body" and token.more[4]
  return (token.kids == 0 or token.state == "undoing"
    or ranges and (ranges[1] ~= nil or token.more[5] ~= nil)) and not frame.watches(token)
end

-- The activity from which a token goes on: a flow that it will take leads to the next one.
local function place_of(inst, token)
  if token.state == "after" and token.more then
    return inst.plan.flows[token.more].to
  end
  return inst.plan.steps[token.at:match("^[^#]*")]
end

inclusive.can_reach, inclusive.within, inclusive.place_of = can_reach, within, place_of

-- ready(inst, scope, step, tokens) -> whether no other token of the scope can still come.
local function ready(inst, scope, step, tokens)
  if #tokens >= step.incoming then
    return true
  end
  for _, token in ipairs(inst.frame.list) do
    if not token.gone and stands(token) and within(token, scope)
      and not (token.at == step.id and token.state == "join" and token.scope == scope) then
      local place = place_of(inst, token)
      if place and can_reach(inst.plan, place, step) then
        return false
      end
    end
  end
  return true
end

function inclusive.enter(w, inst, token, step)
  if step.incoming <= 1 then
    return w:push(walk.leave, inst, token, step)
  end
  w:await(inst, token, "join")
end

function inclusive.choose(w, inst, token, step)
  local flows = walk.choose_all(w, inst, token, step)
  if not flows[1] and step.out[1] then
    walk.no_flow(inst, step, {})
  end
  return flows
end

-- look(w, inst) -> true if a gateway of the instance could go on. It is asked when all other tokens
-- of the unit wait or have ended.
function inclusive.look(w, inst)
  for _, token in ipairs(inst.frame.list) do
    local step = token.state == "join" and not token.gone and inst.plan.steps[token.at]
    if step and step.node.kind == "inclusive" then
      local tokens = parallel.waiting(inst, token.scope, step)
      if ready(inst, token.scope, step, tokens) then
        parallel.join(w, inst, tokens[#tokens], step, tokens)
        return true
      end
    end
  end
  return false
end

return inclusive
