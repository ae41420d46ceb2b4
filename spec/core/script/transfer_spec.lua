-- http.request against answers of a real server: each has its code, its time and its memory.
local answers = require "spec.support.answers"
local process = require "spec.support.process"
local program = require "spec.support.program"

-- Each job asks once and writes what it got, and the memory that its process has had at most.
local ASK = [[
return { retries = 1, timeout = "PT1M", run = function(job)
  local asked = job.payload
  local begun = http.request and os.time()
  local response, message, code = http.request(asked.request)
  local file <close> = assert(io.open("found/" .. asked.name, "w"))
  local memory = io.open("/proc/self/status"):read("a"):match("VmHWM:%s*(%d+)")
  file:write(response and response.status or code, "\n", memory, "\n", os.time() - begun, "\n",
    response and response.body or message, "\n")
end }
]]

describe("http.request", function()
  local server, place

  setup(function()
    server = answers.start(true)
  end)

  teardown(function()
    server.stop()
  end)

  before_each(function()
    place = program.place { ["handlers/ask.lua"] = ASK, ["found/none"] = "" }
  end)

  after_each(function()
    place.clean()
  end)

  -- Runs the cases { name, request, expected, body } all at once, each in a job of its own.
  local function run(cases, ...)
    local lines = {}
    for i, case in ipairs(cases) do
      local parts = {}
      for key, value in pairs(case[2]) do
        parts[#parts + 1] = ("%q:%s"):format(key, type(value) == "string"
          and ('"%s"'):format(value:gsub('["\\]', "\\%0")) or tostring(value))
      end
      lines[i] = ('{"handler":"ask","payload":{"name":"%d","request":{%s}}}'):format(i,
        table.concat(parts, ","))
    end
    place.write("jobs", table.concat(lines, "\n") .. "\n")
    assert.equal(0, (place.run("enqueue", "--from", "jobs")))
    local status, _, errors = place.run("run", "--drain", "--workers", "16", ...)
    assert.equal(0, status, errors)
  end

  local function check(cases, ...)
    run(cases, ...)
    for i, case in ipairs(cases) do
      local got, memory, took, body = process.read(place.path .. "/found/" .. i):match(
        "^(%S+)\n(%d+)\n(%d+)\n(.*)\n$")
      local what = ("%s: %s"):format(case[1], body)
      assert.equal(tostring(case[3]), got, what)
      assert(case[4] == nil or body:find(case[4], 1, true), what)
      assert(tonumber(memory) < 300000, case[1] .. ": " .. memory .. " kB")
      assert(tonumber(took) < 55, case[1] .. ": " .. took .. " s")
    end
  end

  local function to(path, more)
    local request = { url = server.url() .. path, timeout = 20 }
    for key, value in pairs(more or {}) do
      request[key] = value
    end
    return request
  end

  it("has a code for each answer that is none", function()
    local short = { timeout = 0.5 }
    check {
      { "a closed port", { url = server.url("closed") .. "/" }, "connect", "127.0.0.1:" },
      { "closed at once", to "/close", "connect" },
      { "reset at once", to "/reset", "connect" },
      { "reset after the head", to "/head_reset", "connect" },
      { "closed in the head", to "/head_cut", "connect", "ended in the head of the answer" },
      { "closed within the body", to "/short", "connect" },
      { "silent", to("/silent", short), "timeout" },
      { "a byte of the head a second", to("/drip_head", short), "timeout" },
      { "a byte of the body a second", to("/drip_body", short), "timeout" },
      { "no TLS and no answer", { url = server.url("hang", "https") .. "/", timeout = 0.5 },
        "timeout" },
      { "a bad chunk", to "/chunk_bad", "connect" },
      { "bad gzip", to "/gzip_bad", "connect" },
      { "gzip of gzip of gzip", to "/gzip_layers", "connect" },
      { "no HTTP", to "/no_http", "connect" },
      { "no head", to "/bare", "connect" },
      { "a status that is none", to "/status_bad", "connect" },
      { "a name without an address", { url = "http://nowhere.invalid/" }, "dns", "nowhere" },
      { "another scheme", { url = "ftp://127.0.0.1/" }, "refused" },
      { "a file", { url = "file:///etc/passwd" }, "refused" },
      { "no URL", { url = "127.0.0.1" }, "refused" },
    }
  end)

  it("bounds the body and the head", function()
    check {
      { "a body of max", to("/size/1000", { max = 1000 }), 200 },
      { "a byte above max", to("/size/1001", { max = 1000 }), "too_large", "1000 bytes (max)" },
      { "1 MiB unless told", to "/size/1048576", 200 },
      { "a byte above that", to "/size/1048577", "too_large" },
      { "an endless body", to "/endless", "too_large" },
      { "gzip that grows", to "/gzip_bomb", "too_large" },
      { "many headers", to "/heads", "too_large", "a head" },
      { "a long header", to "/long_line", "too_large" },
      { "endless 100", to "/continues", "too_large" },
      { "trailers", to "/trailers", "too_large" },
      { "a length beyond numbers", to("/huge_length", { timeout = 0.5 }), "timeout" },
      { "chunks", to "/chunked", 200, "abcde" },
      { "a trailer", to "/trailer", 200, "x" },
      { "gzip", to "/gzip", 200, "unpacked" },
      { "no body", to "/empty", 204 },
      { "a head alone", to("/size/2000000", { method = "HEAD" }), 200 },
    }
  end)

  it("verifies certificates", function()
    local ca = { ca = server.ca }
    local function tls(name)
      return { url = server.url(name, "https") .. "/ok", timeout = 20, ca = ca.ca }
    end
    check {
      { "as it should be", tls "good", 200, "42" },
      { "out of date", tls "expired", "tls" },
      { "of another name", tls "wrong", "tls" },
      { "of another authority", tls "strange", "tls" },
      { "of an authority that the system does not know",
        { url = server.url("good", "https") .. "/ok" }, "tls" },
      { "no TLS behind https", { url = server.url("plain", "https") .. "/ok" }, "tls" },
      { "a file that is not there", { url = server.url("good", "https") .. "/ok", ca = "none.pem" },
        "tls" },
      { "TLS behind http", { url = server.url("good") .. "/ok", timeout = 20 }, "connect" },
    }
  end)

  it("follows redirects as far as it may", function()
    check({
      { "to a path", to "/to_ok", 200, "42" },
      { "to a URL", to "/to_absolute", 200, "42" },
      { "not at all", to("/to_ok", { follow = 0 }), 302 },
      { "nowhere", to "/to_none", 302 },
      { "to another scheme", to "/to_ftp", "refused", "ftp:" },
      { "to a file", to "/to_file", "refused" },
      { "to no URL", to "/to_nowhere", "refused" },
      { "in a circle", to "/to_circle", "refused", "more than 5 redirects" },
      { "to a denied network", to "/to_denied", "refused", "127.0.0.2" },
      { "to a denied name", to "/to_denied_name", "refused", "denied.invalid" },
      { "POST and 302", to("/302", { method = "POST", body = "x" }), 200, '"GET"' },
      { "POST and 303", to("/303", { method = "POST", body = "x" }), 200, '"GET"' },
      { "PUT and 307", to("/307", { method = "PUT", body = "kept" }), 200, '"body": "kept"' },
    }, "--http-deny", "127.0.0.2,denied.invalid")
    assert.equal(6, server.seen("GET /to_circle"))
  end)

  it("keeps secrets from other hosts", function()
    place.write("jobs", ('{"handler":"ask","payload":{"name":"1","request":{"url":"%s/to_other",'
      .. '"headers":{"Authorization":"secret","X-Api-Key":"secret","Accept":"text/plain"}}}}\n')
      :format(server.url()))
    assert.equal(0, (place.run("enqueue", "--from", "jobs")))
    assert.equal(0, (place.run("run", "--drain")))
    local found = process.read(place.path .. "/found/1")
    assert.truthy(found:find("text/plain", 1, true), found)
    assert.falsy(found:find("secret", 1, true), found)
  end)

  it("shows no password and no query in its messages", function()
    local lines = {}
    local form = '{"handler":"ask","payload":{"name":"%d","request":{"url":"%s?secret"}}}'
    for i, url in ipairs { "http://user:secret@127.0.0.1:" .. server.ports.closed,
      "htp://user:secret@127.0.0.1/a", "htp://127.0.0.1/a" } do
      lines[i] = form:format(i, url) .. "\n"
    end
    place.write("jobs", table.concat(lines))
    assert.equal(0, (place.run("enqueue", "--from", "jobs")))
    assert.equal(0, (place.run("run", "--drain")))
    for name, code in ipairs { "connect", "refused", "refused" } do
      local found = process.read(place.path .. "/found/" .. name)
      assert.truthy(found:find("^" .. code), found)
      assert.falsy(found:find("secret", 1, true), found)
    end
  end)

  it("looks at the address, not at the name", function()
    local port = server.ports.plain
    local function at(host)
      return { url = ("http://%s:%d/ok"):format(host, port), timeout = 20 }
    end
    check({
      { "an address", at "127.0.0.1", "refused", "denied" },
      { "a name", at "localhost", "refused" },
      { "a number", at "2130706433", "refused" },
      { "short", at "127.1", "refused" },
      { "in octal", at "0177.0.0.1", "refused" },
      { "IPv4 inside IPv6", at "[::ffff:127.0.0.1]", "refused" },
      { "IPv6", at "[::1]", "refused" },
      { "any address", at "0.0.0.0", "refused" },
      { "any address, as a number", at "0", "refused" },
      { "any address of IPv6", at "[::]", "refused" },
      { "any address inside IPv6", at "[::ffff:0.0.0.0]", "refused" },
      { "any address by a redirect",
        { url = server.url(nil, nil, "127.0.0.2") .. "/to_any", timeout = 20 }, "refused",
        "0.0.0.0" },
    }, "--http-deny", "127.0.0.1,::1/128")
    check({
      { "a network inside IPv6", at "127.0.0.1", "refused" },
      { "any address itself", at "0.0.0.0", "refused" },
      { "a name with a dot behind it", at "localhost", "refused" },
      { "another one", at "127.0.0.2", 200 },
    }, "--http-deny", "::ffff:127.0.0.0/127,0.0.0.0/8,LocalHost.")
  end)

  it("reaches what is allowed alone", function()
    local port = server.ports.plain
    local function at(host)
      return { url = ("http://%s:%d/ok"):format(host, port), timeout = 20 }
    end
    check({
      { "by its name", at "localhost", 200 },
      { "in other letters", at "LocalHost", 200 },
      { "by its network", at "127.0.0.1", 200 },
      { "another one", at "127.0.0.2", "refused" },
    }, "--http-allow", "LOCALHOST,127.0.0.1/32")
  end)

  it("reads a header that goes on in the next line, and sends one that is blank", function()
    place.write("handlers/ask.lua", ([[
      return function()
        local long = http.request { url = "%s/folded" }.headers["x-long"]
        assert(long == "one, two", long)
        local sent = http.request { url = "%s/echo", headers = { ["X-Blank"] = " " } }
        assert(sent.json().headers["x-blank"] == "", sent.body)
      end]]):format(server.url(), server.url()))
    assert.equal(0, (place.run("enqueue", "ask")))
    local _, _, errors = place.run("run", "--drain", "--log-format", "logfmt")
    assert.truthy(errors:find("done=1 failed=0", 1, true), errors)
  end)

  it("loads the library with the first request, and keeps the connection", function()
    place.write("handlers/ask.lua", ([[
      local function has_library()
        local file <close> = io.open("/proc/self/maps")
        return file:read("a"):find("libcurl", 1, true) ~= nil
      end
      return function()
        assert(not has_library())
        for _ = 1, 20 do
          assert(http.request { url = "%s/keep" }.status == 404)
        end
        assert(has_library())
      end]]):format(server.url()))
    local before = server.seen "connection"
    assert.equal(0, (place.run("enqueue", "ask")))
    local _, _, errors = place.run("run", "--drain", "--log-format", "logfmt")
    assert.truthy(errors:find("done=1 failed=0", 1, true), errors)
    assert.equal(20, server.seen "GET /keep")
    assert.equal(before + 1, server.seen "connection")
  end)

  it("knows no proxy, no .netrc and no environment", function()
    local proxy = "http://127.0.0.1:" .. server.ports.closed
    place.write(".netrc", "machine 127.0.0.1 login a password b\n")
    place.write("jobs", ('{"handler":"ask","payload":{"name":"1","request":{"url":"%s/echo"}}}\n')
      :format(server.url()))
    assert.equal(0, (place.run("enqueue", "--from", "jobs")))
    local status, _, errors = program.run({ "run", "--drain" }, { dir = place.path, env = {
      http_proxy = proxy, HTTP_PROXY = proxy, all_proxy = proxy, ALL_PROXY = proxy,
      HOME = place.path, NETRC = place.path .. "/.netrc" } })
    assert.equal(0, status, errors)
    local found = process.read(place.path .. "/found/1")
    assert.truthy(found:find("^200\n"), found)
    assert.falsy(found:find("authorization", 1, true), found)
  end)
end)
