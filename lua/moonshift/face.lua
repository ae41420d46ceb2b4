-- The network face inside a program: it answers over HTTP from engine:serve{ … } to stop().
local core = require "moonshift.core"
local options = require "moonshift.options"

local OWN = { open = true }

--- Answers over the network for the store of an engine, from `engine:serve` to `stop`.
---@class moonshift.face
---@field addresses string[] where it listens, with the port that the system gave for 0
local Face = {}
Face.__index = Face
Face.__name = "moonshift.face"

--- Takes no connections any more, answers what is worked on, and ends.
---@return boolean done true
function Face:stop()
  return self.core:stop()
end

--- Has the script folder read again, before the next request that needs it.
---@return boolean done false once it has stopped
function Face:reload()
  return self.core:reload()
end

Face.__close = Face.stop

---@class moonshift.engine
local Engine = {}

--- Answers over the network, in threads and with connections to the store of its own: the
--- [network face](server.md). Refused for a store in memory and for a virtual clock.
---@param what moonshift.face_options
---@return moonshift.face? face nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:serve(what)
  what = options.table(what, "serve")
  if what.store ~= nil then
    return nil, "store: the face serves the store of its engine", "invalid"
  end
  local made, message, code = core.face(self.core, options.settings(what, OWN), what.open)
  if not made then
    return nil, message, code
  end
  return setmetatable({ core = made, addresses = made:addresses() }, Face)
end

--- Options of `engine:serve`: any setting, and this.
---@class moonshift.face_options: moonshift.settings
---@field open? boolean true: no token is asked for, on addresses of this machine alone

return Engine
