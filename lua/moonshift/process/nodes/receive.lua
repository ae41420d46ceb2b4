-- A receive task waits for its message; one without a message for the command "trigger".
local catch = require "moonshift.process.nodes.catch"

local receive = { proceed = catch.proceed }

function receive.enter(w, inst, token, step)
  if w.events.waits(step) then
    w.events.await(w, inst, token, step, w.events.state(step))
  else
    w:await(inst, token, "trigger")
  end
end

return receive
