-- Each Host with each Origin, at each kind of address: every cell beside a model.
local faces = require "spec.support.faces"
local process = require "spec.support.process"

-- The kinds of address, and the name by which each is reached.
local KINDS = { "127.0.0.1:0", "[::1]:0", "0.0.0.0:0", "unix" }
local HERE = { "127.0.0.1", "[::1]", "127.0.0.1", "localhost" }

-- A Host, and where it is a name of the server: at all addresses, at those reached by it, nowhere.
local ALL, OWN, NONE = {}, {}, {}
local HOSTS = {
  { "localhost", ALL }, { "LocalHost:1", ALL }, { "jobs.example", ALL }, { "JOBS.example:4", ALL },
  { "127.0.0.1", OWN }, { "127.0.0.1:%d", OWN }, { "[::1]", OWN }, { "[::1]:%d", OWN },
  { "127.0.0.2", NONE }, { "0.0.0.0", NONE }, { "[::]", NONE }, { "[::ffff:127.0.0.1]", NONE },
  { "127.0.0.1.evil.example", NONE }, { "evil.localhost", NONE }, { "jobs.example.", NONE },
  { "2130706433", NONE },
}

-- An Origin, without or with what the browser says of the site. "%s" is the Host.
local NAMED = "https://ops.example"
local ORIGINS = { false, "http://%s", "https://%s", "http://%s.evil.example", "http://evil.example",
  "%s", "null", NAMED, NAMED .. ":8443" }
local SITES = { false, "same-origin", "same-site", "cross-site", "none" }

-- What is asked: a question, a change, a change of who is signed in, and before a change.
local ASKED = { "GET /v1/openapi.json", "POST /v1/jobs", "POST /v1/session", "OPTIONS /v1/jobs" }

local function is_named(host, here, where)
  return where == ALL or where == OWN and host:match "^%[[^%]]*%]" == here:match "^%[.*"
    and host:match "^[^:]*" == here:match "^[^:]*"
end

-- The model: the status of what the guard refuses or answers itself; nil: it lets the request pass.
local function verdict(asked, origin, site, host)
  local own = not origin
  if site then
    own = site == "same-origin"
  elseif origin then
    own = origin == "http://" .. host or origin == "https://" .. host
  end
  local admitted = origin == NAMED and not own
  if asked:find "^OPTIONS" then
    return admitted and "204" or nil
  elseif asked:find "^GET" or own or admitted and not asked:find "session" then
    return nil
  end
  return "403"
end

describe("the Host and the Origin of a request", function()
  local folder, face, token

  setup(function()
    folder = process.folder { ["handlers/work.lua"] = "return function() end" }
    face = faces.start(folder, "serve", "--http", table.concat(KINDS, ",") .. ":" .. folder
      .. "/socket", "--hosts", "jobs.example", "--cors-origins", NAMED)
    local _, printed = process.moonshift("token", "create", "page", "--scope", "enqueue,read",
      "--store", "sqlite:" .. folder .. "/moonshift.db")
    token = "Authorization: Bearer " .. printed:match("ms_%w+")
  end)

  teardown(function()
    process.kill(face.pid)
    process.remove(folder)
  end)

  -- The cells of an address: each a request and the status that it gets.
  local function cells(here, port)
    local list = {}
    for _, row in ipairs(HOSTS) do
      local host = row[1]:format(port)
      local named = is_named(host, here, row[2])
      for _, asked in ipairs(ASKED) do
        for _, shape in ipairs(ORIGINS) do
          for _, site in ipairs(SITES) do
            local origin = shape and shape:format(host)
            local status = "421"
            if named then
              status = verdict(asked, origin, site, host)
            end
            list[#list + 1] = { asked, host, origin, site, status = status,
              preflight = asked:find "^OPTIONS" }
          end
        end
      end
    end
    return list
  end

  local function request(cell)
    local lines = { cell[1] .. " HTTP/1.1", "Host: " .. cell[2], token }
    lines[#lines + 1] = cell[3] and "Origin: " .. cell[3] or nil
    lines[#lines + 1] = cell[4] and "Sec-Fetch-Site: " .. cell[4] or nil
    if cell[1]:find "^OPTIONS" then
      lines[#lines + 1] = "Access-Control-Request-Method: POST"
    elseif cell[1]:find "^POST" then
      lines[#lines + 1] = "Content-Length: 0" -- let pass, it is refused for what it lacks
    end
    return table.concat(lines, "\r\n") .. "\r\n\r\n"
  end

  for i, kind in ipairs(KINDS) do
    it("are those of the model at " .. kind, function()
      local address = face.addresses[i]
      local list, steps, wrong = cells(HERE[i], tonumber(address:match ":(%d+)$") or 0), {}, {}
      for _, cell in ipairs(list) do
        table.move({ { "send", request(cell) }, { "read" }, { "close" } }, 1, 3, #steps + 1, steps)
      end
      local answers = face:talk(steps, address)
      assert.equal(#list, #answers)
      for at, cell in ipairs(list) do
        local status = answers[at]:match "^%d+"
        local guarded = status == "421" or status == "403" or cell.preflight and status == "204"
        if (guarded and status or nil) ~= cell.status then
          wrong[#wrong + 1] = { request(cell), answers[at], cell.status }
        end
      end
      assert.same({}, wrong)
    end)
  end
end)

describe("the content of a request", function()
  it("is JSON and says so, unless there is none", function()
    local folder = process.folder { ["handlers/work.lua"] = "return function() end" }
    local face = faces.start(folder, "serve", "--http", "unix:" .. folder .. "/socket")
    local text, told = '{"handler":"work"}', {}
    for i, kind in ipairs { "Content-Type: application/json",
      "Content-Type: Application/JSON; charset=utf-8", "X: 1", "Content-Type: text/plain",
      "Content-Type: application/jsons" } do
      told[i] = face:ask(faces.head("POST /v1/jobs", kind, "Content-Length: " .. #text) .. text)
        :match "^%d+"
    end
    local id = face:ask(faces.post("/v1/jobs", { handler = "work" })):match '"id":(%d+)'
    local without = face:ask(faces.head(("POST /v1/jobs/%s/suspend"):format(id),
      "Content-Length: 0"))
    process.kill(face.pid)
    process.remove(folder)
    assert.same({ "201", "201", "415", "415", "415" }, told)
    assert.equal("200", without:match "^%d+")
  end)
end)
