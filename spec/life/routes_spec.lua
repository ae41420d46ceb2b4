-- Routes: what a file in routes/ answers to a request, and the jobs that it creates.
local engines = require "spec.support.engines"
local hmac = require "moonshift.hmac"
local moonshift = require "moonshift"
local program = require "spec.support.program"
local testing = require "moonshift.testing"

local ROUTE = [[
return { secret = "SHOP", method = { "GET", "POST" }, run = function(request)
  if request.method == "GET" then
    return 200, request.query.challenge
  elseif not request:equal(request.headers["x-sign"], request:hmac_sha256()) then
    return 401
  end
  local event = request.json()
  for _, one in ipairs(event.jobs or {}) do
    request:enqueue(one.handler, one.payload, one.options)
  end
  if event.fails then
    error("it fails")
  end
  return event.status or 202, event.answer
end }
]]

describe("a route", function()
  local place, engine

  local function open(files, settings)
    files["handlers/note.lua"] = "return function() end\n"
    files["handlers/full.lua"] = "return { backlog = 1, run = function() end }\n"
    place = program.place(files)
    local options = { scripts = place.path }
    for key, value in pairs(settings or {}) do
      options[key] = value
    end
    engine = testing.engine(options)
  end

  after_each(function()
    engine:close()
    place.clean()
  end)

  local function send(event, name, changes)
    local body = type(event) == "string" and event or moonshift.json.encode(event)
    local given = { body = body, secret = "s", headers = { ["X-Sign"] = hmac("s", body) } }
    for key, value in pairs(changes or {}) do
      given[key] = value
    end
    return engine:receive(name or "shop", given)
  end

  local function count(filters)
    return engine:jobs(filters or {}):count()
  end

  it("creates the jobs of a signed event, and answers", function()
    open { ["routes/shop.lua"] = ROUTE }
    local answer = send { jobs = { { handler = "note", payload = { n = 1 },
      options = { priority = 5, unique = "e1" } }, { handler = "note" } }, answer = { id = 7 } }
    assert.same({ 202, '{"id":7}' }, { answer.status, answer.text })
    assert.equal(2, count { handler = "note" })
    assert.equal(1, engine:jobs({ unique = "e1" }):one().payload.n)
    assert.equal(202, send({ jobs = { { handler = "note", options = { unique = "e1" } } } }).status)
    assert.equal(2, count { handler = "note" })
  end)

  it("refuses what is not signed, or with another secret, and answers without a body", function()
    open { ["routes/shop.lua"] = ROUTE }
    local event = { jobs = { { handler = "note" } } }
    assert.equal(401, send(event, nil, { headers = {} }).status)
    assert.equal(401, send(event, nil, { secret = "other" }).status)
    local answer = send(event, nil, { method = "GET", query = { challenge = "abc" } })
    assert.same({ 200, "abc" }, { answer.status, answer.text })
    assert.equal(0, count())
  end)

  it("creates nothing where it refuses or fails, or one job cannot be", function()
    open { ["routes/shop.lua"] = ROUTE }
    assert.equal(422, send({ jobs = { { handler = "note" } }, status = 422 }).status)
    local _, message = send { jobs = { { handler = "note" } }, fails = true }
    assert.matches('route "shop": .*routes/shop.lua:12: it fails', message)
    _, message = send { jobs = { { handler = "note" }, { handler = "nobody" } } }
    assert.matches('unknown handler "nobody"', message)
    _, message = send { jobs = { { handler = "note", options = { prioritty = 1 } } } }
    assert.matches("routes/shop.lua:9: request:enqueue: .*prioritty", message)
    local _, _, code = send { jobs = { { handler = "full" }, { handler = "full" } } }
    assert.equal("backlog", code)
    assert.equal(0, count())
  end)

  it("has bytes as they came, and says what its answer may be", function()
    open {
      ["routes/raw.lua"] = "return { scope = 'read', run = function(request)\n"
        .. "  return 200, request.body .. #request.body end }",
      ["routes/none.lua"] = "return { run = function() end }",
      ["routes/odd.lua"] = "return { run = function(request) return tonumber(request.body) end }",
      ["routes/table.lua"] = "return { run = function() return 200, { f = print } end }",
    }
    assert.equal("aéb4", engine:receive("raw", { body = "aéb" }).text)
    assert.equal(204, engine:receive("none").status)
    for _, body in ipairs { "199", "600", "200.5" } do
      local _, message = engine:receive("odd", { body = body })
      assert.matches("routes/odd.lua: returned .* %(expected a status from 200 to 599", message)
    end
    assert.matches("the answer: ", select(2, engine:receive "table"))
    assert.same({ 'no route "gone"', "not_found" }, { select(2, engine:receive "gone") })
  end)

  it("has a second and its memory, and asks no other server", function()
    place = program.place {}
    engine = engines.private({
      ["routes/slow.lua"] = "return { run = function() while true do end end }",
      ["routes/asks.lua"] = "return { run = function() http.request { url = 'http://x/' } end }",
      ["routes/large.lua"] = "return { run = function() return 200, ('x'):rep(1 << 29) end }",
      ["routes/fine.lua"] = "return { run = function() return 200, 'fine' end }",
    })
    for name, expected in pairs { asks = "http.request: not available in a route",
      slow = "took longer", large = "memory" } do
      local _, message, code = engine:receive(name)
      assert.matches(expected, message)
      assert.equal("failed", code)
      assert.equal("fine", engine:receive("fine").text)
    end
  end)

  it("is asked without its secret in vain", function()
    open { ["routes/shop.lua"] = ROUTE }
    local _, message = engine:receive("shop", { body = "{}" })
    assert.equal('route "shop": routes/shop.lua: the variable SHOP is not set', message)
  end)

  local TEXT = "got the string "
  for text, expected in pairs {
    ["return 5"] = "1: returned 5 (expected a table such as { run = function(request) … end })",
    ["return {\n}"] = "1: run is missing (expected a function)",
    ["return {\n run = 5 }"] = "2: run: got 5 (expected a function)",
    ["return { run = print,\n method = 'HEAD' }"] = "2: method: " .. TEXT
      .. '"HEAD" (expected one or several of GET, POST, PUT, PATCH, DELETE)',
    ["return { run = print,\n method = { 'GET', 'GET' } }"] = "2: method: got ",
    ["return { run = print,\n secret = 'a b' }"] = "2: secret: " .. TEXT
      .. '"a b" (expected the name of an environment variable)',
    ["return { run = print,\n scope = 'all' }"] = "2: scope: " .. TEXT
      .. '"all" (expected one of read, ',
    ["return { run = print, secret = 'A',\n scope = 'read' }"] = "2: scope: the sender shows a"
      .. " secret",
    ["return { run = print,\n max = '5TB' }"] = "2: max: " .. TEXT
      .. '"5TB" (expected bytes or a size such as "64KiB")',
    ["return { run = print,\n mehtod = 'GET' }"] = '2: unknown key "mehtod" (did you mean '
      .. '"method"?)',
  } do
    it("that is wrong is refused at its line: " .. text:gsub("\n", " "), function()
      place = program.place { ["routes/x.lua"] = text, ["moonshift.lua"] = "return {}\n" }
      engine = testing.engine {}
      local _, _, errors = place.run("check")
      assert.truthy(errors:find("routes/x.lua:" .. expected, 1, true), errors)
    end)
  end

  it("is listed by check, and read again with the folder", function()
    open { ["routes/shop.lua"] = ROUTE, ["routes/a/b.lua"] = "return { run = function() end }" }
    local _, output = place.run "check"
    assert.matches("ROUTE +METHOD +WHO MAY +FILE", output)
    assert.matches("/hooks/a/b +POST +scope enqueue +routes/a/b.lua", output)
    assert.matches("/hooks/shop +GET, POST +secret SHOP +routes/shop.lua", output)
    place.write("routes/a/b.lua", "return { run = function() return 418 end }")
    assert(engine:reload())
    assert.equal(418, engine:receive("a/b").status)
  end)
end)
