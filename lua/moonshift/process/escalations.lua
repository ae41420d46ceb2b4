-- Escalations: the thrower goes on, unless the event that catches one interrupts it.
local outwards = require "moonshift.process.outwards"
local variables = require "moonshift.process.variables"

local escalations = {}

-- throw(w, inst, token, code) -> the event that catches it, which begins next; nil: nothing does.
function escalations.throw(w, inst, token, code)
  local at, host, step = outwards.find(w, inst, token, "escalation", code)
  if not step then
    return nil
  end
  if step.event.code_variable then
    variables.set(at, host, step.event.code_variable, code)
  end
  w.events.happened(w, at, host, step)
  return step.event
end

return escalations
