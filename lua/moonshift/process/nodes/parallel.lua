-- A parallel gateway waits for as many tokens as it has flows into it, then takes all flows out.
local frame = require "moonshift.process.frame"
local walk = require "moonshift.process.walk"

local parallel = {}

-- The tokens of this scope that wait at the gateway.
function parallel.waiting(inst, scope, step)
  local found = {}
  for _, token in ipairs(inst.frame.list) do
    local here = token.scope == scope and token.at == step.id and not token.gone
    if here and token.state == "join" then
      found[#found + 1] = token
    end
  end
  return found
end

-- join(w, inst, token, step, tokens): the token goes on for all of them.
function parallel.join(w, inst, token, step, tokens)
  for _, other in ipairs(tokens) do
    if other ~= token and not other.gone then
      if not walk.finish(w, inst, other, step) then
        return
      end
      frame.remove(inst.frame, other)
    end
  end
  token.state, token.more = "run", nil
  w:push(walk.leave, inst, token, step)
end

function parallel.enter(w, inst, token, step)
  if step.incoming <= 1 then
    return w:push(walk.leave, inst, token, step)
  end
  w:await(inst, token, "join")
  token.more = step.incoming
  local tokens = parallel.waiting(inst, token.scope, step)
  if #tokens >= step.incoming then
    parallel.join(w, inst, token, step, tokens)
  end
end

-- All flows out of it are taken, whatever their conditions.
function parallel.choose(_, _, _, step)
  return step.out
end

return parallel
