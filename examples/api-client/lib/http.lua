-- As much of HTTP as the example needs. Lua has no sockets; bash opens them as /dev/tcp/HOST/PORT.
local http = {}

local TALK = [[exec 3<>"/dev/tcp/$1/$2" && printf %s "$3" >&3 && cat <&3]]

local function quote(word)
  return "'" .. tostring(word):gsub("'", "'\\''") .. "'"
end

-- post(host:port, path, body) -> status, body of the answer; raises if there is none in 5 s.
function http.post(address, path, body)
  local host, port = tostring(address):match("^([%w.-]+):(%d+)$")
  if not host then
    error(("address %q: expected host:port"):format(tostring(address)), 0)
  end
  local request = table.concat({
    ("POST %s HTTP/1.0"):format(path),
    ("Host: %s"):format(address),
    "Content-Type: application/json",
    ("Content-Length: %d"):format(#body),
    "",
    body,
  }, "\r\n")
  local pipe <close> = assert(io.popen(("timeout 5 bash -c %s http %s %s %s 2>&1"):format(
    quote(TALK), quote(host), port, quote(request))))
  local answer = pipe:read("a")
  local status, text = answer:match("^HTTP/1%.[01] (%d%d%d).-\r\n\r\n(.*)$")
  if not status then
    error(("%s: no answer: %s"):format(address, answer:match("[^\n]*")), 0)
  end
  return math.tointeger(status), text
end

return http
