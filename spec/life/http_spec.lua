-- http.request in handlers, with the spec itself for a network: what is asked, what comes back, and
-- where no request can be made.
local moonshift = require "moonshift"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

describe("http.request", function()
  local HANDLER = [[
local spec = require "spec"
return { retries = 2, run = function(job) return spec.act(http, job) end }
]]
  local asked, path

  before_each(function()
    asked, path = {}, process.folder { ["handlers/ask.lua"] = HANDLER }
  end)

  after_each(function()
    process.remove(path)
  end)

  local function answer(request)
    asked[#asked + 1] = request
    return { status = 200, headers = { ["X-Kind"] = "plain" }, body = '{"a":[null]}' }
  end

  -- Runs one job of this handler: the job, nil once it is done, and the engine.
  local function run(handler, given)
    local options = { scripts = path, modules = { spec = { act = handler } }, http = answer }
    for key, value in pairs(given or {}) do
      options[key] = value or nil
    end
    local engine = testing.engine(options)
    local id = engine:enqueue("ask", {}, { retries = 1 })
    engine:drain()
    return engine:job(id), engine, id
  end

  local function fails(handler, given)
    local job = run(handler, given)
    return job and job.message or "it has not failed"
  end

  it("hands over what is asked, with its defaults", function()
    assert.is_nil(run(function(http)
      http.request { url = "http://x.example/a", method = "post", json = { 1, moonshift.null },
        headers = { ["X-Key"] = 5 } }
    end))
    local request = asked[1]
    assert.equal("POST", request.method)
    assert.equal("[1,null]", request.body)
    assert.same({ ["x-key"] = "5", ["content-type"] = "application/json",
      accept = "application/json" }, request.headers)
    assert.equal(30000, request.timeout)
    assert.equal(5, request.follow)
    assert.equal(1048576, request.max)
  end)

  it("gives status, headers, body and JSON", function()
    assert.is_nil(run(function(http)
      local response = http.request { url = "http://x.example/" }
      assert.equal(200, response.status)
      assert.equal("plain", response.headers["x-kind"])
      local value = response.json()
      assert.equal(moonshift.null, value.a[1])
      assert.equal('{"a":[null]}', moonshift.json.encode(value))
    end))
  end)

  it("gives nil, a message and a code where there is no answer", function()
    assert.is_nil(run(function(http)
      local response, message, code = http.request { url = "http://x.example/" }
      assert.same({ nil, "no route", "connect" }, { response, message, code })
    end, { http = function()
      return nil, "no route"
    end }))
    assert.is_nil(run(function(http)
      local _, _, code = http.request { url = "http://x.example/", max = 3 }
      assert.equal("too_large", code)
    end))
  end)

  it("reads when to ask again, a number or a date", function()
    for header, seconds in pairs { ["90"] = 90, ["Thu, 01 Jan 2026 00:01:00 GMT"] = 60,
      ["Wed, 31 Dec 2025 00:00:00 GMT"] = 0, ["Thursday, 01-Jan-26 00:01:30 GMT"] = 90,
      ["Thu Jan  1 00:02:00 2026"] = 120, ["Friday, 31-Dec-99 00:00:00 GMT"] = 0,
      ["Fri Mai  1 00:02:00 2026"] = "nothing", soon = "nothing" } do
      assert.is_nil(run(function(http)
        local response = http.request { url = "http://x.example/" }
        assert.equal(seconds, response.retry_after or "nothing")
      end, { http = function()
        return { status = 503, headers = { ["Retry-After"] = header } }
      end }))
    end
  end)

  it("sends one key for all attempts of a job, and another for each job", function()
    local engine = testing.engine { scripts = path, http = answer, modules = { spec = {
      act = function(http)
        http.request { url = "http://x.example/", again = true }
        http.request { url = "http://x.example/", again = "mail" }
        error "again"
      end } } }
    local one, other = engine:enqueue "ask", engine:enqueue "ask"
    engine:drain()
    engine:advance "PT1M"
    engine:drain()
    local keys, count = {}, 0
    for _, request in ipairs(asked) do
      local key = request.headers["idempotency-key"]
      count = count + (keys[key] and 0 or 1)
      keys[key] = (keys[key] or 0) + 1
    end
    assert.is_true(one ~= other and count == 4, tostring(count))
    for _, times in pairs(keys) do
      assert.is_true(times >= 2)
    end
  end)

  it("refuses what is no request, at the line of the call", function()
    for expected, request in pairs {
      ["http.request: got nothing (expected { url = …, … })"] = false,
      ["http.request: url is missing"] = {},
      ['http.request: unknown option the string "urls" (did you mean "url"?)'] = { urls = 1 },
      ["http.request: url is 5 (expected a text)"] = { url = 5 },
      ['http.request: method is the string "GE T" (expected one such as "POST")'] =
        { url = "http://x", method = "GE T" },
      ["http.request: follow is -1 (expected a whole number from 0 to 100)"] =
        { url = "http://x", follow = -1 },
      ['http.request: max is the string "much" (expected bytes or a size such as "1MiB", up to '
        .. "1GiB)"] = { url = "http://x", max = "much" },
      ["http.request: body and json are both given (expected one of them)"] =
        { url = "http://x", body = "", json = {} },
      ["http.request: json: value[1]: cannot store a function"] =
        { url = "http://x", json = { print } },
      ["http.request: headers: content-length is not set by handlers"] =
        { url = "http://x", headers = { ["content-length"] = "1" } },
      ["http.request: headers: a is the string \"b\r\nc: d\" (expected a text of one line)"] =
        { url = "http://x", headers = { a = "b\r\nc: d" } },
      ["http.request: headers: x-a is given twice, in other letters (expected one)"] =
        { url = "http://x", headers = { ["X-A"] = "1", ["x-a"] = "2" } },
      ["http.request: sign is empty (expected a secret)"] = { url = "http://x", sign = "" },
      ["(expected a text without control characters)"] = { url = "http://x/\t" },
      ["http.request: timeout: duration"] = { url = "http://x", timeout = "soon" },
      ["http.request: again is 1 (expected true, or a text that tells requests of one job apart)"] =
        { url = "http://x", again = 1 },
    } do
      local message = fails(function(http)
        http.request(request or nil)
      end)
      assert.truthy(message:find("http_spec.lua:%d+: "), message)
      assert.truthy(message:find(expected, 1, true), message)
    end
    assert.same({}, asked)
  end)

  it("names a request that a spec does not expect", function()
    local message = fails(function(http)
      http.request { url = "http://x.example/a", method = "PUT" }
    end, { http = false })
    assert.truthy(message:find("PUT http://x.example/a is not expected", 1, true), message)
  end)

  it("says what a spec must answer", function()
    local message = fails(function(http)
      http.request { url = "http://x.example/a" }
    end, { http = function() end })
    assert.truthy(message:find("is answered with nothing (expected { status = …, … }", 1, true),
      message)
  end)
end)

describe("a request in a place that must do without", function()
  local ASK = [[http.request { url = "http://x.example/" }]]
  local EMPTY = "return function() end"

  local function message_of(files, act)
    local path = process.folder(files)
    local ok, message = pcall(act, path)
    process.remove(path)
    assert.is_false(ok)
    return tostring(message)
  end

  local function refused(files, where, act)
    local message = message_of(files, act or function(path)
      local engine = testing.engine { scripts = path }
      assert(engine:enqueue "ask")
      engine:drain()
      error(assert(engine:jobs():first()).message, 0)
    end)
    assert.truthy(message:find("http.request: not available " .. where, 1, true), message)
  end

  it("is refused in a priority function", function()
    refused({ ["handlers/ask.lua"] = "return { run = function() end, priority = function() "
      .. ASK .. " end }" }, "in a priority function")
  end)

  it("is refused in a unique function", function()
    refused({ ["handlers/ask.lua"] = "return { run = function() end, unique = function() "
      .. ASK .. " end }" }, "in a unique function")
  end)

  it("is refused while a folder is loaded", function()
    refused({ ["handlers/ask.lua"] = ASK .. " " .. EMPTY }, "while a folder is loaded")
  end)

  it("is refused in a retry function, which then counts for nothing", function()
    local path = process.folder { ["handlers/ask.lua"] = "return { retry = function() " .. ASK
      .. " end, run = function() error 'no' end }" }
    local engine = testing.engine { scripts = path }
    engine:enqueue "ask"
    engine:drain()
    local lines = table.concat(engine:log({ outcome = "failed" }):one().lines, "\n")
    process.remove(path)
    assert.truthy(lines:find("http.request: not available in a retry function", 1, true), lines)
  end)
end)

describe("requests of a process", function()
  local PROCESS = [[
local process = require "moonshift.process"
local step, choose, task = process.step, process.choose, process.task
local function ask(what)
  return function(job) http.request { url = "http://x.example/" .. what, again = true } end
end
return {
  step "handler" { run = "ask", on_start = ask "listener" },
  step "function" { run = ask "function" },
  step "bean" { expression = "${api.ask('bean')}" },
  REST
  task "wait" {},
}
]]
  local FILES = {
    ["handlers/ask.lua"] = [[return function() http.request {
      url = "http://x.example/handler", again = true } end]],
    ["beans/api.lua"] = [[return { ask = function(_, what)
      return http.request { url = "http://x.example/" .. what }.status == 200 end }]],
  }
  local asked, path

  local function start(rest)
    if path then
      process.remove(path)
    end
    FILES["processes/order.lua"] = PROCESS:gsub("REST", rest)
    path = process.folder(FILES)
    asked = {}
    local engine = testing.engine { scripts = path, http = function(request)
      asked[#asked + 1] = request
      return { status = 200 }
    end }
    return engine:start "order"
  end

  after_each(function()
    process.remove(path)
    path = nil
  end)

  it("are made by handlers, listeners, functions and calls, each with its own key", function()
    assert(start "")
    local urls, keys = {}, {}
    for i, request in ipairs(asked) do
      urls[i] = request.url:match "[^/]+$"
      keys[request.headers["idempotency-key"] or "none"] = true
    end
    assert.same({ "listener", "handler", "function", "bean" }, urls)
    local count = 0
    for _ in pairs(keys) do
      count = count + 1
    end
    assert.equal(4, count) -- three, and the one without
  end)

  local function refused(rest)
    local id, message = start(rest)
    assert.is_nil(id)
    assert.truthy(message:find("http.request: not available in a condition or a mapping", 1, true),
      message)
    assert.equal(4, #asked)
  end

  it("are refused in its conditions", function()
    refused [[choose { { when = "${api.ask('condition')}", step "x" { run = "ask" } },
      { otherwise = true } },]]
    refused [[choose { { when = function() http.request { url = "http://x.example/" } end,
      step "x" { run = "ask" } }, { otherwise = true } },]]
  end)

  it("are refused in its mappings", function()
    refused [[step "x" { run = "ask", input = { a = "${api.ask('mapping')}" } },]]
    refused [[step "x" { run = "ask",
      input = { a = function() http.request { url = "http://x.example/" } end } },]]
  end)
end)

describe("requests of hooks", function()
  it("are made once the outcome is decided", function()
    local path = process.folder { ["hooks/tell.lua"] = [[return { ended = function(event)
      http.request { url = "http://x.example/" .. event.outcome } end }]] }
    local urls = {}
    local engine = testing.engine { scripts = path, http = function(request)
      urls[#urls + 1] = request.url
      return { status = 200 }
    end }
    engine:enqueue "noop"
    engine:drain()
    process.remove(path)
    assert.same({ "http://x.example/successful" }, urls)
  end)
end)
