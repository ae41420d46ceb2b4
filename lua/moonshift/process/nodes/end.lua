-- End events: none, error, terminate, cancel, and what a throw event has, too.
local throw = require "moonshift.process.nodes.throw"
local walk = require "moonshift.process.walk"

local ends = {}

-- Ends the scope: all else that stands in it is cancelled.
local function terminate(w, inst, token, step)
  if not walk.finish(w, inst, token, step) then
    return
  end
  local scope = token.scope
  require("moonshift.process.frame").remove(inst.frame, token)
  w.scopes.interrupt(w, inst, scope)
  w:push(walk.scope_ended, inst, scope)
end

function ends.enter(w, inst, token, step)
  local kind = step.event.kind
  if kind == "terminate" then
    return terminate(w, inst, token, step)
  elseif kind == "error" then
    local message = w:text(inst, token, step.event.message, "the message of the error")
    return w.errors.throw(w, inst, token, w.errors.thrown(step.event.code, message))
  end
  if kind == "cancel" then
    return w.compensation.cancel(w, inst, token, step)
  end
  throw.enter(w, inst, token, step)
end

return ends
