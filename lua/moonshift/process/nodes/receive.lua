-- A receive task waits for its message; one without a message for the command "trigger".
local catch = require "moonshift.process.nodes.catch"

local receive = { proceed = catch.proceed }

function receive.enter(w, inst, token, step)
  if step.event.kind == "message" then
    w.events.await_message(w, inst, token, step, "message")
  else
    w:await(inst, token, "trigger")
  end
end

return receive
