-- Pages of other origins, as their browsers ask.
local faces = require "spec.support.faces"
local process = require "spec.support.process"

local head = faces.head

describe("a page of another origin", function()
  local folder, face, token

  setup(function()
    folder = process.folder { ["handlers/work.lua"] = "return function() end" }
    face = faces.start(folder, "serve", "--http", "127.0.0.1:0", "--cors-origins",
      "https://ops.example.com,http://localhost:5173")
    local _, printed = process.moonshift("token", "create", "page", "--scope", "enqueue,read",
      "--store", "sqlite:" .. folder .. "/moonshift.db")
    token = "Authorization: Bearer " .. printed:match("ms_%w+")
  end)

  teardown(function()
    process.kill(face.pid)
    process.remove(folder)
  end)

  local function headers(request)
    return face:headers(request)
  end

  local function post(...)
    return faces.post("/v1/jobs", { handler = "work" }, ...)
  end

  local OPS, SITE = "Origin: https://ops.example.com", "Sec-Fetch-Site: cross-site"

  it("hears what it may ask, if it is named", function()
    local seen = headers(head("OPTIONS /v1/jobs", OPS, SITE, "Access-Control-Request-Method: POST",
      "Access-Control-Request-Headers: authorization,content-type"))
    assert.equal("204", seen.status)
    assert.equal("https://ops.example.com", seen["access-control-allow-origin"])
    assert.matches("POST", seen["access-control-allow-methods"])
    assert.matches("Authorization, Content%-Type", seen["access-control-allow-headers"])
    assert.equal("Origin", seen.vary)
    assert.is_nil(seen["access-control-allow-credentials"])
  end)

  it("hears nothing, if it is not", function()
    for _, origin in ipairs { "https://evil.example", "http://ops.example.com", "null",
      "https://ops.example.com:444", "https://ops.example.com.evil.example",
      "https://OPS.example.com" } do
      for _, request in ipairs {
        head("OPTIONS /v1/jobs", "Origin: " .. origin, "Access-Control-Request-Method: POST"),
        head("GET /v1/jobs", "Origin: " .. origin, token),
        post("Origin: " .. origin, SITE, token),
      } do
        local seen = headers(request)
        assert.is_nil(seen["access-control-allow-origin"], origin)
        assert.is_nil(seen["access-control-allow-methods"], origin)
      end
      assert.matches("^403 ", face:ask(post("Origin: " .. origin, token)))
    end
  end)

  it("asks by its token alone", function()
    local seen = headers(post(OPS, SITE, token))
    assert.equal("201", seen.status)
    assert.equal("https://ops.example.com", seen["access-control-allow-origin"])
    assert.matches("Location", seen["access-control-expose-headers"])
    local set = headers(head("POST /v1/session", token))["set-cookie"]
    local cookie = "Cookie: " .. set:match("^[^;]*")
    for _, site in ipairs { SITE, "Sec-Fetch-Site: same-site", "X: 1" } do
      assert.matches("^401 ", face:ask(head("GET /v1/jobs", cookie, OPS, site)))
      assert.matches("^401 ", face:ask(post(cookie, OPS, site)))
      assert.matches("^403 ", face:ask(head("POST /v1/session", OPS, site, token)))
      assert.matches("^403 ", face:ask(head("DELETE /v1/session", OPS, site, cookie)))
    end
    assert.matches("^200 ", face:ask(head("GET /v1/jobs", cookie, "Sec-Fetch-Site: same-origin")))
    local own = head("GET /v1/jobs", cookie, OPS, "Sec-Fetch-Site: same-origin")
    assert.matches("^200 ", face:ask(own)) -- a page of our own may be named, too
    assert.is_nil(headers(own)["access-control-allow-origin"])
  end)

  it("asks by its token, whomever a proxy or an open face would let in", function()
    local inner = process.folder { ["handlers/work.lua"] = "return function() end",
      ["moonshift.lua"] = "return { cors_origins = { 'https://ops.example.com' },\n"
        .. "  trust_proxy = { '127.0.0.1' }, user_scopes = { anna = 'operate,enqueue' } }" }
    local user = "X-Forwarded-User: anna"
    local trusting = faces.start(inner, "serve", "--http", "127.0.0.1:0")
    assert.matches("^201 ", trusting:ask(post(user)))
    assert.matches("^401 ", trusting:ask(post(user, OPS, SITE)))
    assert.matches("^401 ", trusting:ask(head("POST /v1/jobs/1/suspend", "Content-Length: 0", user,
      OPS, SITE)))
    process.kill(trusting.pid)
    local open = faces.start(inner, "serve", "--http", "127.0.0.1:0", "--open", "--trust-proxy=")
    assert.matches("^201 ", open:ask(post()))
    assert.matches("^401 ", open:ask(post(OPS, SITE)))
    process.kill(open.pid)
    process.remove(inner)
  end)

  it("reads problems, too", function()
    for _, request in ipairs { head("GET /v1/jobs", OPS), head("GET /v1/nothing", OPS),
      post(OPS, "Content-Type: text/plain", SITE) } do
      local seen = headers(request)
      assert.is_true(tonumber(seen.status) >= 400)
      if seen.connection ~= "close" then -- its head could be read
        assert.equal("https://ops.example.com", seen["access-control-allow-origin"])
      end
    end
  end)

  it("leaves the page of the server as it is", function()
    assert.equal(nil, headers(head("GET /v1/jobs", "Origin: http://localhost", token))
      ["access-control-allow-origin"])
    assert.matches("^405 ", face:ask(head("OPTIONS /v1/jobs", "Origin: http://localhost")))
  end)
end)
