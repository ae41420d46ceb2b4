-- Sessions of browsers, and the page that they show.
local faces = require "spec.support.faces"
local process = require "spec.support.process"

local head = faces.head

describe("a browser", function()
  local folder, face, token

  setup(function()
    folder = process.folder()
    local store = "sqlite:" .. folder .. "/moonshift.db"
    face = faces.start(folder, "serve", "--http", "127.0.0.1:0")
    local _, printed = process.moonshift("token", "create", "reader", "--scope", "read,enqueue",
      "--store", store)
    token = "Authorization: Bearer " .. printed:match("ms_%w+")
  end)

  teardown(function()
    process.kill(face.pid)
    process.remove(folder)
  end)

  local function headers(request)
    return face:headers(request)
  end

  -- A session of the token: the header of its cookie, and what was set.
  local function sign_in()
    local set = headers(head("POST /v1/session", token))["set-cookie"]
    return "Cookie: other=1; " .. set:match("^[^;]*") .. "; more=2", set
  end

  local function post(...)
    return head("POST /v1/jobs", "Content-Type: application/json", "Content-Length: 2", ...) .. "{}"
  end

  it("gets the page, whose policy lets in nothing of others", function()
    local policies = {}
    for path, kind in pairs { [""] = "html", ["page.css"] = "css", ["page.js"] = "javascript" } do
      local seen = headers(head("GET /" .. path))
      assert.equal("200", seen.status)
      assert.equal("text/" .. kind .. "; charset=utf-8", seen["content-type"])
      policies[seen["content-security-policy"]] = true
    end
    local policy, other = next(policies)
    assert.is_nil((next(policies, policy)), other)
    for _, part in ipairs { "default-src 'none'", "script-src 'self'", "style-src 'self'",
      "connect-src 'self'", "base-uri 'none'", "frame-ancestors 'none'" } do
      assert.truthy((policy .. ";"):find(part .. ";", 1, true), policy)
    end
    assert.is_nil(policy:find("unsafe", 1, true))
    assert.matches("^405 ", face:ask(head("POST /", "Content-Length: 0")))
  end)

  it("gets a cookie for a token, which scripts and other sites do not get", function()
    local _, set = sign_in()
    local value, rest = set:match("^moonshift=(%x+)(.*)$")
    assert.equal(64, #value)
    assert.equal("; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200", rest)
    assert.is_nil(set:find("ms_", 1, true))
  end)

  it("is the token's as long as the session lasts", function()
    local cookie = sign_in()
    local answers = face:ask_all {
      head("GET /v1/session", cookie), head("GET /v1/jobs", cookie),
      head("GET /v1/settings", cookie), head("DELETE /v1/session", cookie),
      head("GET /v1/session", cookie), head("GET /v1/jobs", cookie),
    }
    assert.matches('^200 {"who":"token:reader","scopes":"read,enqueue"', answers[1])
    for i, status in ipairs { "200", "200", "403", "204", "401", "401" } do
      assert.equal(status, answers[i]:match("^%d+"), answers[i])
    end
  end)

  it("loses its cookie with its session", function()
    local seen = headers(head("DELETE /v1/session", (sign_in())))
    assert.equal("204", seen.status)
    assert.equal("moonshift=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0", seen["set-cookie"])
  end)

  it("opens no session without a token that counts", function()
    for _, header in ipairs { "X: 1", "Authorization: Bearer ms_" .. ("a"):rep(43),
      "Authorization: Bearer", "Cookie: moonshift=" .. ("a"):rep(64) } do
      local seen = headers(head("POST /v1/session", header))
      assert.equal("401", seen.status)
      assert.is_nil(seen["set-cookie"])
    end
  end)

  it("changes nothing with its cookie for a page of another site", function()
    local cookie = sign_in()
    local answers = face:ask_all {
      post(cookie, "Origin: http://evil.example"), post(cookie, "Origin: null"),
      post(cookie, "Origin: evil://localhost"), post(cookie, "Origin: http://localhost:1"),
      post(cookie, "Sec-Fetch-Site: cross-site"), post(cookie, "Sec-Fetch-Site: same-site"),
      head("DELETE /v1/session", cookie, "Origin: http://evil.example"),
      post(cookie, "Origin: http://localhost"), head("GET /v1/session", cookie),
    }
    for i = 1, 7 do
      assert.matches("^403 .*another site", answers[i])
    end
    assert.matches("^400 ", answers[8]) -- it came through: no handler is named
    assert.matches("^200 ", answers[9])
  end)

  it("says what it sends in letters of any size", function()
    assert.matches("^400 .*handler", face:ask(head("POST /v1/jobs", token,
      "Content-Type: Application/JSON", "Content-Length: 2") .. "{}"))
  end)

  it("gets nothing under a foreign name", function()
    local cookie = sign_in()
    for _, path in ipairs { "/", "/v1/session", "/v1/jobs" } do
      assert.matches("^421 ", face:ask("GET " .. path .. " HTTP/1.1\r\nHost: evil.example\r\n"
        .. cookie .. "\r\n\r\n"))
    end
  end)

  it("uses its token, and the list of tokens says when", function()
    assert.equal("200", headers(head("GET /v1/session", token)).status:match("%d+"))
    process.await("the use to be written", 60, function()
      local _, rows = process.moonshift("token", "list", "--json", "--store",
        "sqlite:" .. folder .. "/moonshift.db")
      return rows:find('"used":"', 1, true)
    end)
  end)
end)
