-- Routes: reads the files in routes/, and answers requests over HTTP with their functions (rules
-- §25). A function creates jobs; they are written before its answer goes out.
local definition = require "moonshift.definition"
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local route = {}

local KEYS = { "method", "scope", "secret", "max", "run", "description" }
local METHODS = { "GET", "POST", "PUT", "PATCH", "DELETE" }
local SCOPES = { "read", "payload", "enqueue", "work", "operate", "admin" }
local SIZES = { KiB = 1 << 10, MiB = 1 << 20 }
local MAX = 1 << 20 -- bytes of a body, unless the file says so
local LOWEST, HIGHEST, REFUSED = 200, 599, 400 -- statuses; from REFUSED on nothing is created

-- ---- files ----

local function index_of(list, value)
  for i, one in ipairs(list) do
    if one == value then
      return i
    end
  end
end

local checks = {}

function checks.run(value)
  return type(value) == "function", "a function", value
end

function checks.description(value)
  return type(value) == "string", "a text", value
end

function checks.scope(value)
  return index_of(SCOPES, value), "one of " .. table.concat(SCOPES, ", "), value
end

function checks.secret(value)
  return type(value) == "string" and value:find "^[%a_][%w_]*$",
    "the name of an environment variable", value
end

function checks.method(value)
  local list = type(value) == "table" and value or { value }
  local fine = #list > 0
  for i, method in ipairs(list) do
    fine = fine and index_of(METHODS, method) and index_of(list, method) == i
  end
  return fine, "one or several of " .. table.concat(METHODS, ", "), list
end

function checks.max(value)
  local bytes = math.type(value) == "integer" and value
  if type(value) == "string" then
    local number, unit = value:match "^(%d+) ?(%a+)$"
    bytes = number and #number < 8 and SIZES[unit] and tonumber(number) * SIZES[unit]
  end
  return bytes and bytes >= 0, 'bytes or a size such as "64KiB"', bytes
end

-- read(path, name, value, report) -> the route, or nil. report(message, key) is called for each
-- problem.
function route.read(path, name, value, report)
  if type(value) ~= "table" then
    report(("returned %s (expected a table such as { run = function(request) … end })"):format(
      show(value)))
    return nil
  end
  local found = { name = name, file = path, method = { "POST" }, max = MAX }
  for _, key in ipairs(definition.sorted_keys(value)) do
    local check = checks[key]
    if not check then
      report(definition.unknown_key(key, KEYS), key)
    else
      local fine, expected, read = check(value[key])
      found[key] = read
      if not fine then
        report(("%s: got %s (expected %s)"):format(key, show(value[key]), expected), key)
      end
    end
  end
  if value.run == nil then
    report "run is missing (expected a function)"
  end
  if value.secret ~= nil and value.scope ~= nil then
    report("scope: the sender shows a secret (expected secret or scope)", "scope")
  end
  found.scope = found.scope or (not found.secret and "enqueue" or nil)
  return found
end

-- row(found) -> what the folder says of it
function route.row(found)
  return { name = found.name, file = found.file, method = rules.array(found.method),
    scope = found.scope, secret = found.secret, max = found.max, description = found.description }
end

-- ---- requests ----

local Request = {}
local works = setmetatable({}, { __mode = "k" }) -- of requests: their jobs, and their secret

-- enqueue(handler, payload, options): the job is written before the answer, or nothing is.
function Request.enqueue(self, handler, payload, options)
  if type(handler) ~= "string" then
    error(("request:enqueue: got %s (expected the name of a handler)"):format(show(handler)), 2)
  elseif options ~= nil and type(options) ~= "table" then
    error(("request:enqueue: options is %s (expected a table)"):format(show(options)), 2)
  end
  local work, spec = works[self], {}
  for key, value in pairs(options or {}) do
    spec[key] = value
  end
  spec.handler, spec.payload = handler, payload
  local fine, message = work.check(spec)
  if not fine then
    error("request:enqueue: " .. message, 2)
  end
  work.jobs[#work.jobs + 1] = spec
end

-- hmac_sha256(text) -> in hexadecimal, with the secret of the route; of the body unless told
function Request.hmac_sha256(self, text)
  local secret = works[self].secret
  if not secret then
    error("request:hmac_sha256: the route has no secret (expected `secret` in its file)", 2)
  end
  return require "moonshift.hmac"(secret, text or self.body)
end

-- equal(left, right): takes the same time wherever they differ.
function Request.equal(_, left, right)
  if type(left) ~= "string" or type(right) ~= "string" or #left ~= #right then
    return false
  end
  local differs = 0
  for i = 1, #left do
    differs = differs | (left:byte(i) ~ right:byte(i))
  end
  return differs == 0
end

local function new_request(asked, work)
  local request = { method = asked.method, path = asked.path, query = asked.query,
    headers = asked.headers, body = asked.body }
  -- json() -> the body as a value; or nil and a message
  function request.json()
    local value, message = rules.decode(asked.body)
    return value, message
  end
  works[request] = work
  return setmetatable(request, { __index = Request, __name = "moonshift.received",
    __metatable = false })
end

-- ---- answers ----

local function answer_of(found, status, content)
  if status == nil and content == nil then
    return { status = 204 }
  elseif math.type(status) ~= "integer" or status < LOWEST or status > HIGHEST then
    error(("%s: returned %s (expected a status from %d to %d, and perhaps a text or a table)")
      :format(found.file, show(status), LOWEST, HIGHEST), 0)
  elseif content == nil or type(content) == "string" then
    return { status = status, text = content }
  end
  local text, message = rules.encode(content)
  if not text then
    error(("%s: the answer: %s"):format(found.file, message), 0)
  end
  return { status = status, text = text, json = true }
end

-- The text that the sender and the route share; nil: the route has none.
local function secret_of(found, asked)
  local secret = found.secret and (asked.secret or os.getenv(found.secret))
  if found.secret and (not secret or secret == "") then
    error(("%s: the variable %s is not set"):format(found.file, found.secret), 0)
  end
  return secret
end

-- call(found, asked, check) -> { status, text, json, jobs }. check(spec): true, or nil and what is
-- wrong with a job.
function route.call(found, asked, check)
  local work = { jobs = rules.array {}, check = check, secret = secret_of(found, asked) }
  local answer = answer_of(found, found.run(new_request(asked, work)))
  answer.jobs = answer.status < REFUSED and work.jobs or rules.array {}
  return answer
end

return route
