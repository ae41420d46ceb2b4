-- A start event: what it waited for, if anything, has come before.
local walk = require "moonshift.process.walk"

local start = {}

function start.enter(w, inst, token, step)
  w:push(walk.leave, inst, token, step)
end

return start
