-- Asks an API once. Payload: what http.request takes, and `expect`, the statuses that are a
-- success: { 200, "2xx" }; the second one unless given. The result is { status, headers, body },
-- with `json` instead of the body where the answer is JSON, unless `text` is true. Any other
-- answer is a failure: a permanent one for 4xx but 408, 425 and 429. Retry-After is obeyed. A
-- POST or PATCH has an Idempotency-Key unless `again` is false. In a process the activity's
-- fields say what is asked.
local OPTIONS = { "method", "url", "headers", "body", "json", "timeout", "follow", "max", "again" }
local FLOWABLE = { requestMethod = "method", requestUrl = "url", requestBody = "body",
  requestHeaders = "headers", requestTimeout = "timeout" }
local AGAIN = { POST = true, PATCH = true }
local LATER = { [408] = true, [425] = true, [429] = true }

local function refuse(text, ...)
  error({ message = text:format(...), permanent = true })
end

-- "Accept: text/plain", one a line, as fields of models have them.
local function headers_of(text)
  local headers = {}
  for line in (text or ""):gmatch "[^\r\n]+" do
    local name, value = line:match "^%s*([^:%s]+)%s*:%s*(.-)%s*$"
    if not name then
      refuse('requestHeaders: "%s" (expected a name, a colon and a value)', line)
    end
    headers[name] = value
  end
  return headers
end

-- The fields of an activity by the names of Flowable, or by ours.
local function from_fields(fields)
  local asked = {}
  for name, value in pairs(fields) do
    asked[FLOWABLE[name] or name] = value
  end
  if fields.requestTimeout then -- in ms
    asked.timeout = (tonumber(fields.requestTimeout) or 0) / 1000
  end
  if tostring(fields.disallowRedirects) == "true" then
    asked.follow = 0
  end
  if type(asked.headers) == "string" then
    asked.headers = headers_of(asked.headers)
  end
  if type(asked.expect) == "string" then
    local list = {}
    for one in asked.expect:gmatch "[^%s,]+" do
      list[#list + 1] = one
    end
    asked.expect = list
  end
  return asked
end

local function asked_of(job)
  if type(job) == "table" and next(job.fields) then -- an activity
    return from_fields(job.fields)
  end
  return job.payload
end

local function request_of(asked)
  local request = {}
  for _, name in ipairs(OPTIONS) do
    request[name] = asked[name]
  end
  if request.again == nil and AGAIN[tostring(request.method):upper()] then
    request.again = true
  end
  return request
end

local function is_expected(status, expect)
  for _, one in ipairs(expect or { "2xx" }) do
    if tostring(one) == tostring(status) or one == status // 100 .. "xx" then
      return true
    end
  end
  return false
end

local function check(response, expect)
  local status = response.status
  if is_expected(status, expect) then
    return
  end
  error({
    message = ("answered %d: %s"):format(status, response.body:sub(1, 1000)),
    permanent = status >= 400 and status < 500 and not LATER[status],
    retry_after = response.retry_after,
  })
end

-- A body that is no text cannot be kept.
local function result_of(response, as_text)
  local kind = response.headers["content-type"] or ""
  local result = { status = response.status, headers = response.headers }
  if not as_text and (kind:find "^application/json" or kind:find "^application/[%w.-]+%+json") then
    result.json = response.json()
  end
  result.body = result.json == nil and utf8.len(response.body) and response.body or nil
  return result
end

return { run = function(job)
  local asked = asked_of(job)
  if type(asked) ~= "table" or type(asked.url) ~= "string" then
    refuse "url: expected a text"
  end
  local fine, response, message, code = pcall(http.request, request_of(asked))
  if not fine then
    refuse("%s", response)
  elseif not response then
    error({ message = message, permanent = code == "refused" or code == "too_large" })
  end
  check(response, asked.expect)
  return result_of(response, tostring(asked.text) == "true")
end }
