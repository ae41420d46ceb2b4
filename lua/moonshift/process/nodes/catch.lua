-- Intermediate catch events: timers, messages and signals are waited for, links have come already.
local variables = require "moonshift.process.variables"
local walk = require "moonshift.process.walk"

local catch = {}

function catch.enter(w, inst, token, step)
  if token.came or not w.events.waits(step) then
    token.came = nil
    return w:push(walk.leave, inst, token, step)
  end
  w.events.await(w, inst, token, step, w.events.state(step))
end

-- What it waits for has come, with the variables of `given`, else of the cause.
function catch.proceed(w, inst, token, step, given)
  w:waited(inst, token)
  token.state, token.more, token.begun = "run", nil, true
  variables.set_given(inst, token, given or w.cause)
  variables.set_all_own(inst, token, not given and w.cause.local_variables)
  w:push(walk.leave, inst, token, step)
end

return catch
