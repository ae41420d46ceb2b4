-- The network face inside a program: it answers over HTTP from engine:serve{ … } to stop().
local core = require "moonshift.core"
local options = require "moonshift.options"

local OWN = { open = true }
local RECEIVE = { method = "text", query = "object", headers = "object", body = "text",
  secret = "text" }

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

--- Has the script folder read again; until it is loaded, requests find the one before.
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

-- A request as the network would bring it; `given` may say how it differs from an empty POST.
local function request_of(name, given)
  local headers = {}
  for header, value in pairs(given.headers or {}) do
    headers[header:lower()] = value
  end
  return { name = name, path = "/hooks/" .. name, method = given.method or "POST",
    query = given.query or {}, headers = headers, body = given.body or "",
    secret = given.secret }
end

--- Asks a [route](scripts.md#routes) of the script folder without a network, as a spec does. The
--- jobs that it creates are on disk when this returns.
---@param name string of the file in `routes/`
---@param given? moonshift.receive_options what the request has
---@return moonshift.route_answer? answer nil on failure, such as an error of the route
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:receive(name, given)
  options.value(name, "route", "name")
  given = options.only(given, "receive", RECEIVE)
  return self.core:receive(request_of(name, given))
end

--- What `engine:receive` gives a route.
---@class moonshift.receive_options
---@field method? string "POST" unless told
---@field query? table<string, string> the parameters behind the `?`
---@field headers? table<string, string>
---@field body? string
---@field secret? string stands for the variable that the route's `secret` names

--- What a route has answered.
---@class moonshift.route_answer
---@field status integer
---@field text? string the content
---@field jobs table[] that it has created

--- Options of `engine:serve`: any setting, and this.
---@class moonshift.face_options: moonshift.settings
---@field open? boolean true: no token is asked for, on addresses of this machine alone

return Engine
