-- A call activity waits for the instance that it begins.
local called = require "moonshift.process.called"

local call = {}

function call.enter(w, inst, token, step)
  called.begin(w, inst, token, step)
end

function call.cancel(w, _, token)
  called.cancel(w, token)
end

return call
