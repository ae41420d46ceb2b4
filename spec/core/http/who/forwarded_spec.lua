-- Users whom a proxy names: what a real proxy hands on counts, and nobody else's word.
local faces = require "spec.support.faces"
local json = require("moonshift").json
local process = require "spec.support.process"
local proxies = require "spec.support.proxies"

local head = faces.head

local USERS = json.encode {
  anna = "enqueue,read",
  ["@ops"] = "operate",
  ["@acme"] = { scopes = "read,enqueue", tenant = "acme" },
}

describe("a user behind a proxy", function()
  local folder, face, store, address, stop

  local function start(...)
    face = faces.start(folder, "serve", "--user-scopes", USERS, ...)
  end

  setup(function()
    folder = process.folder { ["handlers/work.lua"] = "return function() end" }
    store = "sqlite:" .. folder .. "/moonshift.db"
    start("--http", "127.0.0.1:0", "--trust-proxy", "127.0.0.2")
    address, stop = proxies.start("127.0.0.2", face.addresses[1])
  end)

  teardown(function()
    stop()
    process.kill(face.pid)
    process.remove(folder)
  end)

  local function as(user, first, body, ...)
    local lines = { ... }
    lines[#lines + 1] = user and "Cookie: user=" .. user
    if body then
      lines[#lines + 1] = "Content-Type: application/json"
      lines[#lines + 1] = "Content-Length: " .. #body
    end
    return face:ask(head(first, table.unpack(lines)) .. (body or ""), address)
  end

  local function id_of(answer)
    return tonumber(answer:match('^201 {"id":(%d+)')) or error(answer)
  end

  it("has the scopes of the name, or of the groups", function()
    assert.matches('^200 {"who":"user:anna","scopes":"read,enqueue"',
      as("anna/x", "GET /v1/session"))
    assert.matches("^403 .*expected operate", as("anna/ops", "POST /v1/jobs/1/retry", "{}"))
    assert.matches("^404 ", as("ben/x,ops", "POST /v1/jobs/1/retry", "{}"))
    assert.matches("^403 .*expected read", as("eve/x", "GET /v1/jobs"))
  end)

  it("sees the tenant of the entry alone", function()
    local own = id_of(as("cleo/acme", "POST /v1/jobs", '{"handler":"work","tenant":"acme"}'))
    local other = id_of(as("anna/", "POST /v1/jobs", '{"handler":"work"}'))
    assert.matches("^200 ", as("cleo/acme", "GET /v1/jobs/" .. own))
    assert.matches("^404 ", as("cleo/acme", "GET /v1/jobs/" .. other))
  end)

  it("stands in the operation log", function()
    local id = id_of(as("anna/", "POST /v1/jobs", '{"handler":"work"}'))
    assert.matches("^200 ", as("ben/ops", "POST /v1/jobs/" .. id .. "/set_priority",
      '{"priority":7}'))
    local _, rows = process.moonshift("operations", "--json", "--store", store)
    assert.truthy(rows:find('"who":"user:ben"', 1, true), rows)
  end)

  it("has keys of its own", function()
    local key, body = "Idempotency-Key: order-7", '{"handler":"work"}'
    local _, printed = process.moonshift("token", "create", "ci", "--scope", "enqueue", "--store",
      store)
    local token = "Authorization: Bearer " .. printed:match("ms_%w+")
    local first = id_of(as("anna/", "POST /v1/jobs", body, key))
    local seen = { [first] = true }
    local others = {
      as("cleo/acme", "POST /v1/jobs", '{"handler":"work","tenant":"acme"}', key),
      as(nil, "POST /v1/jobs", body, key, token),
    }
    for _, answer in ipairs(others) do
      local id = id_of(answer)
      assert.is_nil(seen[id])
      seen[id] = true
    end
    assert.equal(first, id_of(as("anna/", "POST /v1/jobs", body, key)))
  end)

  it("is named by the proxy alone", function()
    for _, line in ipairs { "X-Forwarded-User: anna", "X-Forwarded-User:",
      "x-forwarded-groups: ops" } do
      assert.matches("^400 .*a peer of the setting trust_proxy",
        face:ask(head("GET /v1/jobs", line)))
      assert.matches("^400 ", face:ask(head("GET /health/live", line)))
    end
    assert.matches("^401 ", as(nil, "GET /v1/jobs", nil, "X-Forwarded-User: anna"))
    assert.matches("^200 ", as("anna/", "GET /v1/jobs", nil, "X-Forwarded-User: ben"))
  end)

  it("is a name, once", function()
    assert.matches("^400 .*1 to 100 bytes", as(("x"):rep(101) .. "/", "GET /v1/jobs"))
    assert.matches("^400 .*not begin with @", as("@ops/", "GET /v1/jobs"))
    assert.matches("^401 ", as("/ops", "GET /v1/jobs"))
    local twice = face:talk({ { "send", head("GET /v1/jobs", "X-Forwarded-User: a",
      "X-Forwarded-User: b") }, { "read" } }, face.addresses[1])[1]
    assert.matches("^400 .*there twice", twice)
  end)

  it("needs no token, and a token without a user counts as ever", function()
    local _, printed = process.moonshift("token", "create", "reader", "--scope", "read", "--store",
      store)
    local token = "Authorization: Bearer " .. printed:match("ms_%w+")
    assert.matches('^200 {"who":"token:reader"', as(nil, "GET /v1/session", nil, token))
    assert.matches('^200 {"who":"user:anna"', as("anna/", "GET /v1/session", nil, token))
    assert.matches("^400 ", as("anna/", "POST /v1/session", nil, token))
    assert.matches("^401 ", as(nil, "GET /v1/session"))
  end)

  it("is told of events as long as it is named", function()
    local answers = face:talk({
      { "send", head("GET /v1/events?kinds=executor.joined", "Cookie: user=anna/") },
      { "headers" },
    }, address)
    assert.equal("200", answers[1])
  end)

  it("comes over a unix socket, on which the proxy itself then has no rights", function()
    process.kill(face.pid)
    stop()
    start("--http", "unix:" .. folder .. "/face", "--trust-proxy", "unix")
    address, stop = proxies.start("unix", face.addresses[1])
    assert.matches('^200 {"who":"user:anna"', as("anna/", "GET /v1/session"))
    assert.matches("^401 ", as(nil, "GET /v1/session"))
    assert.matches("^401 ", face:ask(head "GET /v1/session"))
    assert.equal(0, (process.moonshift("health", "--http", "unix:" .. folder .. "/face")))
  end)
end)

describe("the proxies of the documentation", function()
  local folder, face, address, stop

  before_each(function()
    folder = process.folder()
    face = faces.start(folder, "serve", "--http", "127.0.0.1:0", "--trust-proxy", "127.0.0.1",
      "--hosts", "jobs.example.com", "--user-scopes", json.encode { anna = "read" })
    address = "127.0.0.1:" .. proxies.port()
  end)

  after_each(function()
    process.kill(face.pid)
    process.remove(folder)
  end)

  local function has(program)
    return process.run("command -v " .. program .. " || test -x /usr/sbin/" .. program) == 0
  end

  local function ask(path, words)
    local _, text = process.run(("curl -s -w ' %%{http_code}' -H 'Host: jobs.example.com' %s "
      .. "http://%s%s"):format(words, address, path))
    return text
  end

  local function check()
    assert.matches(' 401$', ask("/v1/session", ""))
    assert.matches(' 401$', ask("/v1/session", "-u anna:wrong"))
    assert.matches(' 401$', ask("/v1/session", "-H 'X-Forwarded-User: anna'"))
    assert.matches('^{"who":"user:anna","scopes":"read"} 200$',
      ask("/v1/session", "-u anna:secret"))
    assert.matches('^{"who":"user:anna".* 200$',
      ask("/v1/session", "-u anna:secret -H 'X-Forwarded-User: root'"))
    assert.matches('^{"who":"user:anna","scopes":"read"} 200$',
      ask("/v1/session", "-u anna:secret -H 'X-Forwarded-Groups: ops'"))
    assert.matches(' 403$', ask("/v1/settings", "-u anna:secret"))
  end

  local function write(name, text)
    local file = assert(io.open(folder .. "/" .. name, "w"))
    file:write(text)
    file:close()
  end

  it("name their users: nginx", function()
    if not has "nginx" then
      return pending "nginx is not installed"
    end
    local block = proxies.documented "nginx"
    block = block:gsub("127%.0%.0%.1:8080", face.addresses[1]):gsub("listen 443 ssl;",
      "listen " .. address .. ";"):gsub("/etc/nginx/moonshift.users", folder .. "/users")
    write("users", "anna:{PLAIN}secret\n")
    write("nginx.conf", ([[
daemon off; master_process off; pid %s/pid; error_log stderr crit;
events {}
http { access_log off; client_body_temp_path %s; proxy_temp_path %s; fastcgi_temp_path %s;
uwsgi_temp_path %s; scgi_temp_path %s;
%s}
]]):gsub("%%s", { }):format(folder, folder, folder, folder, folder, folder, block))
    stop = proxies.run("$(command -v nginx || echo /usr/sbin/nginx) -c " .. folder
      .. "/nginx.conf", address)
    local fine, message = pcall(check)
    stop()
    assert(fine, message)
  end)

  it("name their users: Caddy", function()
    if not has "caddy" then
      return pending "caddy is not installed"
    end
    local _, hash = process.run("caddy hash-password --plaintext secret")
    local block = proxies.documented "Caddy"
    block = block:gsub("127%.0%.0%.1:8080", face.addresses[1]):gsub("jobs%.example%.com {",
      "http://jobs.example.com:" .. address:match("%d+$") .. " {"):gsub("%$2a%$[^\n]*",
      (hash:gsub("%s", ""):gsub("%%", "%%%%")))
    write("Caddyfile", "{\nadmin off\n}\n" .. block)
    stop = proxies.run(("env HOME=%s caddy run --adapter caddyfile --config %s/Caddyfile")
      :format(folder, folder), address)
    local fine, message = pcall(check)
    stop()
    assert(fine, message)
  end)
end)
