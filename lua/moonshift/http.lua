-- http.request as handlers call it: the request is checked here, C sends it (rules §8).
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local http = {}

local DEFAULTS = { method = "GET", timeout = "PT30S", follow = 5, max = "1MiB" }
local KEYS = { method = "text", url = "text", headers = "table", body = "text", json = "any",
  timeout = "span", follow = "count", max = "size", ca = "text", again = "any",
  sign = "secret" }
local SIZES = { KiB = 1 << 10, MiB = 1 << 20, GiB = 1 << 30 }
local MAX = 1 << 30 -- bytes of an answer that may be asked for
local FOLLOW_MAX = 100
local YEAR = 31556952000 -- ms, on the average
local FRAMING = { ["content-length"] = true, ["transfer-encoding"] = true, connection = true }
local MONTHS = { Jan = 1, Feb = 2, Mar = 3, Apr = 4, May = 5, Jun = 6, Jul = 7, Aug = 8, Sep = 9,
  Oct = 10, Nov = 11, Dec = 12 }

-- Raised at the line that called http.request.
local function refuse(text, ...)
  error({ refusal = "http.request: " .. text:format(...) }, 0)
end

-- ---- options ----

local readers = {}

function readers.any(_, value)
  return value
end

function readers.text(name, value)
  if type(value) ~= "string" then
    refuse("%s is %s (expected a text)", name, show(value))
  elseif name ~= "body" and value:find "%c" then
    refuse("%s is %s (expected a text without control characters)", name, show(value))
  end
  return value
end

-- An empty one signs nothing: everybody has it.
function readers.secret(name, value)
  if readers.text(name, value) == "" then
    refuse("%s is empty (expected a secret)", name)
  end
  return value
end

function readers.table(name, value)
  if type(value) ~= "table" then
    refuse("%s is %s (expected a table of texts by name)", name, show(value))
  end
  return value
end

function readers.span(name, value)
  local ms, message = nil, "got " .. show(value)
  if type(value) == "string" or type(value) == "number" then
    ms, message = rules.duration(value)
  end
  if not ms or ms <= 0 then
    refuse('%s: %s (expected seconds or a duration such as "PT10S")', name,
      message or "got " .. show(value))
  end
  return ms
end

function readers.count(name, value)
  local whole = math.type(value) == "integer" and value
  if not whole or whole < 0 or whole > FOLLOW_MAX then
    refuse("%s is %s (expected a whole number from 0 to %d)", name, show(value), FOLLOW_MAX)
  end
  return whole
end

function readers.size(name, value)
  local bytes = math.type(value) == "integer" and value
  if type(value) == "string" then
    local number, unit = value:match "^(%d+) ?(%a+)$"
    bytes = number and #number < 10 and SIZES[unit] and tonumber(number) * SIZES[unit]
  end
  if not bytes or bytes < 0 or bytes > MAX then
    refuse('%s is %s (expected bytes or a size such as "1MiB", up to 1GiB)', name, show(value))
  end
  return bytes
end

local NAMES = {}
for name in pairs(KEYS) do
  NAMES[#NAMES + 1] = name
end

local function read(given)
  if type(given) ~= "table" then
    refuse("got %s (expected { url = …, … })", show(given))
  end
  local request = {}
  for name, value in pairs(given) do
    local kind = KEYS[name]
    if not kind then
      local meant = type(name) == "string" and rules.suggest(name, NAMES)
      refuse("unknown option %s%s", show(name), meant and (' (did you mean "%s"?)'):format(meant)
        or "")
    end
    request[name] = readers[kind](name, value)
  end
  for name, value in pairs(DEFAULTS) do
    if request[name] == nil then
      request[name] = readers[KEYS[name]](name, value)
    end
  end
  return request
end

-- ---- what is sent ----

local function check_method(method)
  if not method:find "^%a[%a-]*$" or #method > 30 then
    refuse('method is %s (expected one such as "POST")', show(method))
  end
  return method:upper()
end

-- The headers by their names in small letters.
local function read_headers(given)
  local headers = {}
  for name, value in pairs(given or {}) do
    if type(name) ~= "string" or not name:find "^[%w!#$%%&'*+.^_`|~-]+$" then
      refuse("headers: %s is no name of a header", show(name))
    elseif FRAMING[name:lower()] then
      refuse("headers: %s is not set by handlers", name)
    end
    value = type(value) == "number" and tostring(value) or value
    if type(value) ~= "string" or value:find "[%z\r\n]" then
      refuse("headers: %s is %s (expected a text of one line)", name, show(value))
    elseif headers[name:lower()] then
      refuse("headers: %s is given twice, in other letters (expected one)", name:lower())
    end
    headers[name:lower()] = value
  end
  return headers
end

local function encode(request)
  if request.body ~= nil then
    refuse "body and json are both given (expected one of them)"
  end
  local text, message = rules.encode(request.json)
  if not text then
    refuse("json: %s", message)
  end
  request.body = text
  local headers = request.headers
  headers["content-type"] = headers["content-type"] or "application/json"
  headers.accept = headers.accept or "application/json"
end

-- The same in every attempt of a job, and another one for each call of a walk. A text tells apart
-- what one handler asks for.
local function add_key(natives, request)
  local again = request.again
  if type(again) ~= "boolean" and type(again) ~= "string" then
    refuse("again is %s (expected true, or a text that tells requests of one job apart)",
      show(again))
  elseif not again or request.headers["idempotency-key"] then
    return
  end
  local key, call = natives.request_key()
  local rest = (call or "") .. (again == true and "" or "\0" .. again)
  request.headers["idempotency-key"] = rest == "" and key
    or key .. "-" .. rules.hash(rest):sub(1, 16)
end

-- Says when and by whom the body was sent, for a receiver that has the same secret.
local function add_signature(natives, request)
  local hmac = require "moonshift.hmac"
  local at = natives.now() // 1000
  request.headers["moonshift-signature"] = ("t=%d,v1=%s"):format(at,
    hmac(request.sign, ("%d.%s"):format(at, request.body or "")))
end

local function prepare(natives, given)
  local muted = natives.muted()
  if muted then
    refuse("not available %s (expected a handler, a listener or a hook)", muted)
  end
  local request = read(given)
  if not request.url then
    refuse "url is missing"
  end
  request.method = check_method(request.method)
  request.headers = read_headers(request.headers)
  request.headers.traceparent = request.headers.traceparent or natives.trace()
  if request.json ~= nil then
    encode(request)
  end
  if request.again ~= nil then
    add_key(natives, request)
  end
  if request.sign then
    add_signature(natives, request)
  end
  return request
end

-- The lines of a head; an empty value is written with a semicolon, as the library wants it.
local function lines_of(headers)
  local lines = {}
  for name, value in pairs(headers) do
    lines[#lines + 1] = value:find "^%s*$" and name .. ";" or name .. ": " .. value
  end
  return lines
end

-- ---- what comes back ----

-- What is given twice is one list, as HTTP has it; a line that begins with a blank goes on the one
-- before it.
local function parse_head(text)
  local headers = {}
  for line in text:gsub("\r?\n[ \t]+", " "):gmatch "[^\r\n]+" do
    local name, value = line:match "^([^:%s]+)%s*:%s*(.-)%s*$"
    if name then
      name = name:lower()
      headers[name] = headers[name] and headers[name] .. ", " .. value or value
    end
  end
  return headers
end

-- The forms of a date in HTTP: today's, that of RFC 850 and that of asctime.
local DATES = {
  { "^%a+, (%d%d) (%a%a%a) (%d%d%d%d) (%d%d:%d%d:%d%d) GMT$", "day", "month", "year", "time" },
  { "^%a+, (%d%d)%-(%a%a%a)%-(%d%d) (%d%d:%d%d:%d%d) GMT$", "day", "month", "year", "time" },
  { "^%a%a%a (%a%a%a) ([ %d]%d) (%d%d:%d%d:%d%d) (%d%d%d%d)$", "month", "day", "time", "year" },
}

local function parts_of(value)
  for _, form in ipairs(DATES) do
    local parts, found = {}, { value:match(form[1]) }
    for i, part in ipairs(found) do
      parts[form[i + 1]] = part
    end
    if MONTHS[parts.month] then
      return parts
    end
  end
end

-- A year of two digits is at most 50 years ahead.
local function year_of(parts, now)
  local year = tonumber(parts.year)
  if #parts.year == 4 then
    return year
  end
  local this = 1970 + now // YEAR
  year = this - this % 100 + year
  return year > this + 50 and year - 100 or year
end

-- The instant of a date; nil: it is none.
local function instant_of(value, now)
  local parts = parts_of(value)
  return parts and rules.time(("%04d-%02d-%02dT%sZ"):format(year_of(parts, now),
    MONTHS[parts.month], tonumber(parts.day), parts.time))
end

-- Seconds from now of a Retry-After, which is a number or a date; nil: it is neither.
local function seconds_of(value, now)
  if value:find "^%d+$" and #value < 10 then
    return tonumber(value)
  end
  local at = instant_of(value, now)
  return at and math.max(0, math.ceil((at - now) / 1000))
end

local function response_of(natives, status, headers, body)
  local response = { status = status, headers = headers, body = body }
  local after = headers["retry-after"]
  if after then
    response.retry_after = seconds_of(after, natives.now())
  end
  function response.json()
    local value, message = rules.decode(body)
    if value == nil then
      return nil, message, "invalid"
    end
    return value
  end
  return response
end

-- ---- sending ----

local function send(natives, request)
  local status, head, body = natives.request(request.method, request.url,
    lines_of(request.headers), request.body, request.timeout, request.follow, request.max,
    request.ca)
  if not status then
    return nil, head, body
  end
  return response_of(natives, status, parse_head(head), body)
end

-- What a spec answers: { status, headers, body | json }, or nil, message, code.
local function answered(natives, request, answer)
  local reply, message, code = answer(request)
  local what = ("%s %s"):format(request.method, request.url)
  if reply == nil and message then
    return nil, message, code or "connect"
  elseif type(reply) ~= "table" or math.type(reply.status) ~= "integer" then
    error(("http.request: %s is answered with %s (expected { status = …, … } or nil, message, "
      .. "code)"):format(what, show(reply)), 3)
  end
  local body = reply.json ~= nil and assert(rules.encode(reply.json)) or reply.body or ""
  if #body > request.max then
    return nil, ("%s: a body of more than %d bytes (max)"):format(what, request.max), "too_large"
  end
  return response_of(natives, reply.status, read_headers(reply.headers), body)
end

local function unexpected(_, request)
  error(("http.request: %s %s is not expected (testing.engine{ http = function(request) … end } "
    .. "answers)"):format(request.method, request.url), 3)
end

-- new(natives, borrowed, answer) -> { request }. In a borrowed state, which is that of a spec,
-- answer(request) stands for the network.
function http.new(natives, borrowed, answer)
  local carry = not borrowed and send or answer and answered or unexpected
  return {
    request = function(given)
      local fine, request = pcall(prepare, natives, given)
      if not fine then
        local refusal = type(request) == "table" and request.refusal
        error(refusal or request, refusal and 2 or 0)
      end
      local response, message, code = carry(natives, request, answer)
      return response, message, code
    end,
  }
end

return http
