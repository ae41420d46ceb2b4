-- Intermediate throw events: a link goes to its catching event, an escalation outwards, a signal to
-- all that wait for it; a compensation takes back what has ended. Others call as a service task
-- does.
local service = require "moonshift.process.nodes.service"
local walk = require "moonshift.process.walk"

local throw = {}

local function target(inst, step)
  for _, other in ipairs(inst.plan.order) do
    if other.node.kind == "catch" and other.event.kind == "link" and other.scope == step.scope
      and other.event.link == step.event.link then
      return other
    end
  end
  error(("%s: no link event catches %s"):format(step.id, tostring(step.event.link)), 0)
end

-- What catches it runs before the thrower goes on.
function throw.escalate(w, inst, token, step)
  w:push(walk.leave, inst, token, step)
  w.escalations.throw(w, inst, token, step.event.code)
end

-- The same of a signal.
function throw.signal(w, inst, token, step)
  w:push(walk.leave, inst, token, step)
  w.signals.throw(w, inst, token, step.event)
end

function throw.enter(w, inst, token, step)
  if step.event.kind == "escalation" then
    return throw.escalate(w, inst, token, step)
  elseif step.event.kind == "signal" then
    return throw.signal(w, inst, token, step)
  elseif step.event.kind == "compensation" then
    return w.compensation.enter(w, inst, token, step)
  elseif step.event.kind ~= "link" then
    return service.enter(w, inst, token, step)
  end
  if walk.finish(w, inst, token, step) then
    w:push(walk.arrive, inst, token, target(inst, step))
  end
end

return throw
