-- Routes of the folder over HTTP: who may ask them, what they take, and what is told of a failure.
local faces = require "spec.support.faces"
local hmac = require "moonshift.hmac"
local json = require("moonshift").json
local process = require "spec.support.process"

local CLIENTS = 12

local FILES = {
  ["handlers/note.lua"] = "return function() end\n",
  ["handlers/full.lua"] = "return { backlog = 1, run = function() end }\n",
  ["routes/shop.lua"] = [[
return { secret = "SHOP", max = "1KiB", run = function(request)
  if not request:equal(request.headers["x-sign"], request:hmac_sha256()) then
    return 401
  end
  request:enqueue("note", { size = #request.body, kind = request.headers["content-type"],
    by = request.headers.authorization })
  return 202
end }
]],
  ["routes/inner/seen.lua"] = [[
return { method = { "GET", "PUT" }, scope = "read", run = function(request)
  request:enqueue("note", { from = request.query.from })
  return 200, { path = request.path, query = request.query, cookie = request.headers.cookie,
    token = request.headers.authorization }
end }
]],
  ["routes/make.lua"] = [[
return { run = function(request)
  request:enqueue(request.query.handler, {}, { tenant = request.query.tenant })
  return 201, "made"
end }
]],
  ["routes/broken.lua"] = "return { scope = 'read', run = function() error 'a secret' end }",
}

describe("a route over HTTP", function()
  local folder, face, executors

  setup(function()
    folder = process.folder(FILES)
    process.environment = "SHOP=s"
    face = faces.start(folder, "serve", "--http", "127.0.0.1:0")
    process.environment = ""
    executors = {}
    for i = 1, 2 do
      executors[i] = process.start(folder .. "/log" .. i, "run", folder, "--workers", "2",
        "--store", "sqlite:" .. folder .. "/moonshift.db", "--name", "x" .. i)
    end
  end)

  teardown(function()
    face:stop()
    for _, pid in ipairs(executors) do
      process.kill(pid)
    end
    process.remove(folder)
  end)

  local function token(...)
    local status, output, errors = process.moonshift("token", "create",
      "--store", "sqlite:" .. folder .. "/moonshift.db", ...)
    assert(status == 0, errors)
    return (output:gsub("%s+$", ""))
  end

  local tokens = {}
  local function bearer(name, ...)
    tokens[name] = tokens[name] or token(name, ...)
    return "Authorization: Bearer " .. tokens[name]
  end

  local function send(method, path, body, ...)
    return faces.head(method .. " " .. path, "Content-Length: " .. #body, ...) .. body
  end

  local function signed(body, ...)
    return send("POST", "/hooks/shop", body, "X-Sign: " .. hmac("s", body), ...)
  end

  -- The payloads of all jobs of the handler, that run or have ended.
  local function notes()
    local _, output = process.moonshift("log", "--json", "--handler", "note", "--outcome",
      "created", "--limit", "1000", "--store", "sqlite:" .. folder .. "/moonshift.db")
    return #json.decode(output)
  end

  it("with a secret takes bytes of any kind without a token, and their signature alone", function()
    local before = notes()
    local body = "a=1&b=\1\2"
    assert.equal("202", face:ask(signed(body, "Content-Type: application/x-www-form-urlencoded")))
    assert.equal("202", face:ask(signed("")))
    assert.equal("401", face:ask(send("POST", "/hooks/shop", body, "X-Sign: " .. hmac("t", body))))
    assert.equal("401", face:ask(send("POST", "/hooks/shop", body)))
    assert.equal(before + 2, notes())
  end)

  it("writes the jobs of many at once, each before its answer, while executors work", function()
    local before = notes()
    local list = {}
    for i = 1, CLIENTS * 10 do
      list[i] = signed(("event %d"):format(i))
    end
    for _, answer in ipairs(face:ask_all(list)) do
      assert.equal("202", answer)
    end
    assert.equal(before + #list, notes())
    process.await("the end of all", 60, function()
      local _, output = process.moonshift("job", "list", "--json", "--handler", "note", "--store",
        "sqlite:" .. folder .. "/moonshift.db")
      return #json.decode(output) == 0
    end)
  end)

  it("has its methods, its size and its path", function()
    local answers = face:talk { { "send", send("GET", "/hooks/shop", "") }, { "headers" } }
    assert.matches("^405\nallow: POST\n", table.concat(answers, "\n"))
    assert.matches('^413 .*"too_large"', face:ask(signed(("x"):rep(1025))))
    assert.equal("202", face:ask(signed(("x"):rep(1024))))
    for _, path in ipairs { "/hooks/none", "/hooks/inner", "/hooks/shop/", "/hooks/shop/more" } do
      assert.matches("^40[01] ", face:ask(send("POST", path, "")), path)
    end
  end)

  it("without a secret asks for a token with its scope, and hides that", function()
    local path = "/hooks/inner/seen?from=a%20b&x=1"
    assert.matches("^401 ", face:ask(send("GET", path, "")))
    assert.matches('^403 .*expected read', face:ask(send("GET", path, "",
      bearer("creator", "--scope", "enqueue"))))
    local reader = bearer("reader", "--scope", "read")
    local answer = json.decode(face:ask(send("GET", path, "", reader, "Cookie: c=1"))
      :match("^200 (.*)$"))
    assert.same({ path = "/hooks/inner/seen", query = { from = "a b", x = "1" } }, answer)
    assert.matches("^404 ", face:ask(send("GET", "/hooks/none", "", reader)))
    assert.matches('^400 .*"field":"from"', face:ask(send("GET", "/hooks/inner/seen?from=1&from=2",
      "", reader)))
    assert.matches("^405 .*expected GET, PUT", face:ask(send("POST", path, "", reader)))
  end)

  it("creates for the tenant and the handlers of its caller alone", function()
    local narrow = bearer("narrow", "--scope", "enqueue", "--tenant", "acme", "--handler", "note")
    local path = "/hooks/make?handler="
    assert.equal("201 made", face:ask(send("POST", path .. "note&tenant=acme", "", narrow)))
    assert.equal("201 made", face:ask(send("POST", path .. "note&tenant=acme", "", narrow)))
    for _, rest in ipairs { "note&tenant=other", "full&tenant=acme", "nobody&tenant=acme" } do
      local answer = face:ask(send("POST", path .. rest, "", narrow))
      assert.matches('^403 .*the caller may not create .*"code":"forbidden"', answer, rest)
    end
    local other = process.read(face.log)
    assert.is_nil(other:find("may not create", 1, true))
    local all = bearer("all", "--scope", "enqueue")
    assert.matches("^500 .*see the log", face:ask(send("POST", path .. "nobody", "", all)))
  end)

  it("tells the sender nothing of why it failed, but that it may ask again", function()
    local reader = bearer("reader2", "--scope", "read")
    local answer = face:ask(send("POST", "/hooks/broken", "", reader))
    assert.matches('^500 .*"code":"failed"', answer)
    assert.is_nil(answer:find("secret", 1, true))
    assert.matches("route failed.*broken.*a secret", process.read(face.log))
    process.moonshift("definition", "suspend", "full", "--store",
      "sqlite:" .. folder .. "/moonshift.db")
    local creator = bearer("creator2", "--scope", "enqueue")
    face:ask(send("POST", "/hooks/make?handler=full&tenant=a", "", creator))
    local headers = face:talk { { "send", send("POST", "/hooks/make?handler=full&tenant=a", "",
      creator) }, { "headers" } }
    assert.matches("^429\n.*retry%-after: 1", table.concat(headers, "\n"))
  end)

  it("refuses pages of other sites", function()
    assert.matches("^403 ", face:ask(signed("", "Sec-Fetch-Site: cross-site")))
    assert.matches("^403 ", face:ask(signed("", "Origin: http://other.example")))
    local before, reader = notes(), bearer("reader", "--scope", "read")
    assert.matches("^403 ", face:ask(send("GET", "/hooks/inner/seen", "", reader,
      "Origin: http://other.example")))
    assert.equal(before, notes())
    assert.matches("^200 ", face:ask(send("GET", "/hooks/inner/seen", "", reader)))
  end)

  it("is read again with the folder", function()
    local file = assert(io.open(folder .. "/routes/new.lua", "w"))
    file:write("return { scope = 'read', run = function() return 200, 'new' end }")
    file:close()
    process.kill(face.pid, "HUP")
    local reader = bearer("reader3", "--scope", "read")
    local answer = face:talk { { "until", send("POST", "/hooks/new", "", reader), "200 new" } }
    assert.same({ "200 new" }, answer)
  end)
end)
