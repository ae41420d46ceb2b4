-- Intermediate catch events: timers and messages are waited for, links have come already.
local variables = require "moonshift.process.variables"
local walk = require "moonshift.process.walk"

local catch = {}

function catch.enter(w, inst, token, step)
  local kind = step.event.kind
  if token.came or (kind ~= "timer" and kind ~= "message") then
    token.came = nil
    w:push(walk.leave, inst, token, step)
  elseif kind == "timer" then
    w.events.await_timer(w, inst, token, step, "timer", false)
  else
    w.events.await_message(w, inst, token, step, "message")
  end
end

function catch.proceed(w, inst, token, step)
  w:waited(inst, token)
  token.state = "run"
  variables.set_given(inst, token, w.cause)
  w:push(walk.leave, inst, token, step)
end

return catch
