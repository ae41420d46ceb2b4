-- Tasks that call: service, send, script and business rule tasks. What the call returns is the
-- variable named by `result`. `result_in` may say that it belongs to the nearest scope, or lasts
-- for the walk.
local calls = require "moonshift.process.calls"
local rules = require "moonshift.rules"
local variables = require "moonshift.process.variables"
local walk = require "moonshift.process.walk"

local service = {}

local SET = { ["local"] = variables.set_local }

function SET.transient(inst, token, name, value)
  variables.set_transient(inst, name, value, token)
end

function service.enter(w, inst, token, step)
  local callout = step.call_out
  if not callout then
    return w:push(walk.leave, inst, token, step)
  end
  local result, thrown = calls.run(w, inst, token, step, callout, "run", nil)
  if thrown then
    return w.errors.throw(w, inst, token, thrown)
  end
  calls.spread(inst, token, callout, result)
  if step.result then
    local set = SET[step.result_in] or variables.set
    set(inst, token, step.result, result == nil and rules.null or result)
  end
  w:push(walk.leave, inst, token, step)
end

return service
