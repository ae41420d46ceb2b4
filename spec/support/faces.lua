-- Programs with a network face, and clients that talk to it byte by byte.
local json = require("moonshift").json
local process = require "spec.support.process"

local faces = {}

local TALK = "python3 spec/support/talk.py "

-- Starts `verb` on the folder with these words; a face with its pid, its log and its addresses.
function faces.start(folder, verb, ...)
  local face = { log = folder .. "/log-" .. verb, folder = folder }
  os.remove(face.log)
  local store = "sqlite:" .. folder .. "/moonshift.db"
  face.pid = process.start_watched(face.log, verb, folder, "--store", store, ...)
  face.addresses = {}
  process.await("the face listens", 60, function()
    face.text = process.read(face.log) or ""
    return face.text:find("http listens") or not process.alive(face.pid)
  end)
  for address in face.text:gmatch('event="http listens" address=(%S+)') do
    face.addresses[#face.addresses + 1] = address
  end
  return setmetatable(face, { __index = faces })
end

-- Ends it as TERM does. Its exit status.
function faces:stop()
  process.kill(self.pid, "TERM")
  return process.await_status(self.pid, 60)
end

-- What an address is to a client: "127.0.0.1:8080", or a path.
local function place(address)
  return (address:gsub("^unix:", ""))
end

-- Takes these steps on a connection (spec/support/talk.py). What was answered, a line each.
function faces:talk(steps, address)
  local lines = {}
  for i, step in ipairs(steps) do
    lines[i] = json.encode(step)
  end
  local input = os.tmpname()
  local file = assert(io.open(input, "wb"))
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
  local to = place(address or self.addresses[1])
  local _, output, errors = process.run(TALK .. to .. " <" .. input)
  os.remove(input)
  assert(errors == "", errors)
  local answers = {}
  for line in output:gmatch("[^\n]+") do
    answers[#answers + 1] = line
  end
  return answers
end

-- The head of a request with these further lines.
function faces.head(first, ...)
  local lines = { first .. " HTTP/1.1", "Host: localhost", ... }
  return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

-- A request with this JSON, and these further lines.
function faces.post(path, body, ...)
  local text = assert(json.encode(body))
  return faces.head("POST " .. path, "Content-Type: application/json",
    "Content-Length: " .. #text, ...) .. text
end

-- The headers of the answer to a request, by their names in small letters, and its `status`.
function faces:headers(request)
  local lines = self:talk { { "send", request }, { "headers" } }
  local list = { status = lines[1] }
  for i = 2, #lines do
    local name, value = lines[i]:match("^(.-): (.*)$")
    list[name] = value
  end
  return list
end

-- Sends one request and reads its answer.
function faces:ask(request, address)
  return self:talk({ { "send", request }, { "read" } }, address)[1]
end

-- The same of many requests on one connection, or of each on one of its own. What was answered to
-- each, with its status first.
function faces:ask_all(requests, apart)
  local steps = {}
  for _, request in ipairs(requests) do
    steps[#steps + 1] = { "send", request }
    steps[#steps + 1] = { "read" }
    steps[#steps + 1] = apart and { "read" } or nil
    steps[#steps + 1] = apart and { "close" } or nil
  end
  return self:talk(steps)
end

return faces
