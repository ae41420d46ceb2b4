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

-- Goes on behind the call.
function service.called(w, inst, token, step, result, thrown)
  if thrown then
    return w.errors.throw(w, inst, token, thrown)
  end
  calls.spread(inst, token, step.call_out, result)
  if step.result then
    local set = SET[step.result_in] or variables.set
    set(inst, token, step.result, result == nil and rules.null or result)
  end
  w:push(walk.leave, inst, token, step)
end

function service.enter(w, inst, token, step)
  if not step.call_out then
    return w:push(walk.leave, inst, token, step)
  end
  local result, thrown = calls.run(w, inst, token, step, step.call_out, "run", nil)
  if result ~= calls.RUNS then
    service.called(w, inst, token, step, result, thrown)
  end
end

return service
