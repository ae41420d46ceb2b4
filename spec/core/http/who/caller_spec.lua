-- Each scope against each route, every cell tried with a token.
local faces = require "spec.support.faces"
local json = require("moonshift").json
local process = require "spec.support.process"

local SCOPES = { "read", "payload", "enqueue", "work", "operate", "admin" }

-- What is not operate for POST and not read for GET.
local NEEDS = {
  ["DELETE /hooks/{name}"] = {},
  ["GET /hooks/{name}"] = {},
  ["PATCH /hooks/{name}"] = {},
  ["POST /hooks/{name}"] = {},
  ["PUT /hooks/{name}"] = {},
  ["GET /metrics"] = { "read" },
  ["GET /v1/openapi.json"] = {},
  ["GET /v1/settings"] = { "admin" },
  ["GET /v1/tokens"] = { "admin" },
  ["POST /v1/tokens"] = { "admin" },
  ["POST /v1/tokens/{name}/revoke"] = { "admin" },
  ["GET /v1/process-instances/{id}/variables"] = { "read", "payload" },
  ["POST /v1/jobs"] = { "enqueue" },
  ["POST /v1/processes/{name}/start"] = { "enqueue" },
  ["POST /v1/messages"] = { "enqueue" },
  ["POST /v1/signals"] = { "enqueue" },
  ["POST /v1/conditions"] = { "enqueue" },
  ["POST /v1/fetch"] = { "work" },
  ["POST /v1/settle"] = { "work" },
  ["POST /v1/jobs/{id}/complete"] = { "work" },
  ["POST /v1/jobs/{id}/fail"] = { "work" },
  ["POST /v1/jobs/{id}/bpmn_error"] = { "work" },
  ["POST /v1/jobs/{id}/snooze"] = { "work" },
  ["POST /v1/jobs/{id}/extend"] = { "work" },
  ["POST /v1/jobs/{id}/release"] = { "work" },
  ["POST /v1/jobs/{id}/progress"] = { "work" },
}

-- What a token of one scope may besides.
local INCLUDES = { operate = { read = true, payload = true } }

describe("a token", function()
  local folder, face, routes

  -- The routes of the description, such as "GET /v1/jobs/{id}".
  local function read_routes()
    local answer = face:ask(faces.head "GET /v1/openapi.json")
    local list = {}
    for path, methods in pairs(json.decode((answer:gsub("^200 ", ""))).paths) do
      for method in pairs(methods) do
        list[#list + 1] = ("%s %s"):format(method:upper(), path)
      end
    end
    table.sort(list)
    return list
  end

  setup(function()
    folder = process.folder { ["handlers/work.lua"] = "return function() end" }
    local users = {}
    for _, scope in ipairs(SCOPES) do
      users[scope] = scope
    end
    face = faces.start(folder, "serve", "--http", "127.0.0.1:0", "--trust-proxy", "127.0.0.1",
      "--user-scopes", json.encode(users))
    routes = read_routes()
  end)

  teardown(function()
    process.kill(face.pid)
    process.remove(folder)
  end)

  local function request(route, ...)
    local line = route:gsub("{id}", "1"):gsub("{name}", "work")
    if line:find("^GET") then
      return faces.head(line, ...)
    end
    return faces.head(line, "Content-Type: application/json", "Content-Length: 2", ...) .. "{}"
  end

  local function needs(route)
    return NEEDS[route] or { route:find("^GET") and "read" or "operate" }
  end

  local function may(scope, route)
    for _, needed in ipairs(needs(route)) do
      if needed ~= scope and not (INCLUDES[scope] or {})[needed] then
        return false
      end
    end
    return true
  end

  -- The statuses of lines, of which one answer may have many.
  local function statuses(lines)
    local list = {}
    for _, line in ipairs(lines) do
      list[#list + 1] = line:match("^%d%d%d%f[ \0]")
    end
    assert.equal(#routes, #list)
    return list
  end

  -- Asks all routes as a caller of this scope, who is known by this header.
  local function try(scope, header)
    local steps, wrong = {}, {}
    for _, route in ipairs(routes) do -- each on a connection: one of them answers for ever
      steps[#steps + 1] = { "send", request(route, header) }
      steps[#steps + 1] = { "read" }
      steps[#steps + 1] = { "close" }
    end
    for i, status in ipairs(statuses(face:talk(steps))) do
      if status == "401" or status == "429" or (status ~= "403") ~= may(scope, routes[i]) then
        wrong[#wrong + 1] = routes[i] .. ": " .. status
      end
    end
    assert.same({}, wrong)
  end

  it("has routes to be tried at", function()
    local seen = {}
    for _, route in ipairs(routes) do
      seen[route] = true
    end
    for route in pairs(NEEDS) do
      assert.is_true(seen[route], route)
    end
  end)

  for _, scope in ipairs(SCOPES) do
    it("of the scope " .. scope .. " reaches its routes alone", function()
      local _, printed = process.moonshift("token", "create", scope, "--scope", scope, "--store",
        "sqlite:" .. folder .. "/moonshift.db")
      try(scope, "Authorization: Bearer " .. printed:match("ms_%w+"))
    end)

    it("of a proxy's user has the same routes: " .. scope, function()
      try(scope, "X-Forwarded-User: " .. scope)
    end)
  end

  it("is needed by all routes but the description", function()
    local steps, wrong = {}, {}
    for i, route in ipairs(routes) do
      steps[#steps + 1] = { "on", tostring(i) }
      steps[#steps + 1] = { "send", request(route) }
    end
    for i in ipairs(routes) do
      steps[#steps + 1] = { "on", tostring(i) }
      steps[#steps + 1] = { "read" }
    end
    for i, status in ipairs(statuses(face:talk(steps))) do
      local expected = routes[i] == "GET /v1/openapi.json" and "200" or "401"
      if status ~= expected then
        wrong[#wrong + 1] = routes[i] .. ": " .. status
      end
    end
    assert.same({}, wrong)
  end)
end)

describe("an address that shows wrong tokens", function()
  local folder, store, face

  setup(function()
    folder = process.folder { ["handlers/work.lua"] = "return function() end" }
    store = "sqlite:" .. folder .. "/moonshift.db"
    face = faces.start(folder, "serve", "--http", "127.0.0.1:0")
  end)

  teardown(function()
    process.kill(face.pid)
    process.remove(folder)
  end)

  local function made(name)
    local _, out, errors = process.moonshift("token", "create", name, "--scope", "read", "--store",
      store)
    return assert(out:match "ms_%x+", errors)
  end

  local function head(shown)
    return faces.head("GET /v1/jobs/count", "Authorization: Bearer " .. shown)
  end

  -- The statuses of one request with each of these tokens.
  local function shown(tokens)
    local requests, statuses = {}, {}
    for i, one in ipairs(tokens) do
      requests[i] = head(one)
    end
    for i, answer in ipairs(face:ask_all(requests)) do
      statuses[i] = answer:match "^%d+"
    end
    return statuses
  end

  it("is refused, and those behind it who show right ones are not", function()
    local kept, fresh = made "kept", made "fresh"
    local wrong = {}
    for i = 1, 21 do
      wrong[i] = "ms_wrong" .. i
    end
    assert.same({ "200" }, shown { kept })
    local statuses = shown(wrong)
    assert.same({ "401", "429" }, { statuses[20], statuses[21] })
    assert.same({ "200", "200", "200", "429" }, shown { kept, fresh, made "late", "ms_wrong" })
  end)
end)
