-- BPMN errors: what catches one (outwards.lua) cancels its host or scope; one that nothing catches
-- ends its token.
local calls = require "moonshift.process.calls"
local outwards = require "moonshift.process.outwards"
local variables = require "moonshift.process.variables"
local walk = require "moonshift.process.walk"

local errors = {}

local function caught(w, inst, host, step, thrown)
  local event = step.event
  if event.code_variable then
    variables.set(inst, host, event.code_variable, thrown.code)
  end
  if event.message_variable then
    variables.set(inst, host, event.message_variable, thrown.message or thrown.code)
  end
  w.events.happened(w, inst, host, step)
end

-- Nothing takes it: the token ends with a warning, or the unit fails.
local function unhandled(w, inst, token, thrown)
  local text = ("%s at %s is caught by nothing"):format(tostring(thrown), token.at)
  if w.settings.unhandled_errors == "fail" then
    error(text, 0)
  end
  inst:warn(token, text)
  local step = inst.plan.steps[token.at]
  if not token.scope then
    w.scopes.cancel_inside(w, inst, token)
    return w.scopes.complete(w, inst, text)
  end
  local begun = w.scopes.has_begun(token)
  if begun and step and step.on_delete and not token.throws then
    step.kind.cancel(w, inst, token, step)
  end
  w:waited(inst, token)
  if begun and step and not token.throws then
    token.throws = true -- a listener at its end may throw again
    if not walk.finish(w, inst, token, step, true) then
      return
    end
  end
  token.throws = nil
  if token.scope.state == "body" then
    return w.multi.turn_ended(w, inst, token, step)
  end
  walk.ended(w, inst, token)
end

-- throw(w, inst, token, thrown): finds what catches the error and begins it.
function errors.throw(w, inst, token, thrown)
  local at, host, step = outwards.find(w, inst, token, "error", thrown.code)
  if step then
    return caught(w, at, host, step, thrown)
  end
  return unhandled(w, inst, token, thrown)
end

errors.thrown = calls.thrown

return errors
