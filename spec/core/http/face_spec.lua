local faces = require "spec.support.faces"
local process = require "spec.support.process"

local LIVE = '{"status":"live"}'
local head = faces.head

describe("the network face", function()
  local folder, face

  setup(function()
    folder = process.folder { ["handlers/hello.lua"] = "return function(job) end" }
    face = faces.start(folder, "run", "--http", "127.0.0.1:0,[::1]:0,unix:" .. folder .. "/socket")
  end)

  teardown(function()
    process.kill(face.pid)
    process.remove(folder)
  end)

  it("answers at each of its addresses", function()
    assert.equal(3, #face.addresses, face.text)
    for _, address in ipairs(face.addresses) do
      assert.equal("200 " .. LIVE, face:ask(head("GET /health/live"), address))
    end
  end)

  it("makes a unix socket for its owner alone", function()
    local _, mode = process.run("stat -c %a " .. folder .. "/socket")
    assert.equal("600\n", mode)
  end)

  it("is ready once the store answers and the executor takes work", function()
    assert.equal('200 {"status":"ready"}', face:ask(head("GET /health/ready")))
    assert.matches("^404 ", face:ask(head("GET /health/ready/now")))
    process.moonshift("executor", "drain", "--store", "sqlite:" .. folder .. "/moonshift.db", "1")
    process.await("it drains", 60, function()
      return face:ask(head("GET /health/ready")):find("503 .*draining")
    end)
    process.moonshift("executor", "resume", "--store", "sqlite:" .. folder .. "/moonshift.db", "1")
    process.await("it works again", 60, function()
      return face:ask(head("GET /health/ready")):find("^200")
    end)
  end)

  it("sends headers that keep browsers from guessing and keeping", function()
    local lines = face:talk { { "send", head("GET /health/live") }, { "headers" } }
    local text = table.concat(lines, "\n")
    assert.matches("^200\ncache%-control: no%-store\ncontent%-length: 17\n"
      .. "content%-type: application/json\ndate: %a%a%a, %d%d %a%a%a %d%d%d%d %d%d:%d%d:%d%d GMT\n"
      .. "referrer%-policy: no%-referrer\nx%-content%-type%-options: nosniff$", text)
  end)

  it("answers HEAD without content, and goes on", function()
    assert.same({ "200", "200 " .. LIVE }, face:talk {
      { "send", head("HEAD /health/live") }, { "head" },
      { "send", head("GET /health/live") }, { "read" },
    })
  end)

  it("answers pipelined requests in order", function()
    local three = head("GET /health/live") .. head("GET /health/ready") .. head("GET /nothing")
    local answers = face:talk { { "send", three }, { "read" }, { "read" }, { "read" } }
    assert.equal("200 " .. LIVE, answers[1])
    assert.equal('200 {"status":"ready"}', answers[2])
    assert.matches("^404", answers[3])
  end)

  it("answers a thousand requests that come at once", function()
    local steps = { { "send", head("GET /health/live"):rep(1000) } }
    for i = 2, 1001 do
      steps[i] = { "read" }
    end
    local answers = face:talk(steps)
    assert.equal(1000, #answers)
    for _, answer in ipairs(answers) do
      assert.equal("200 " .. LIVE, answer)
    end
  end)

  it("takes a request in two pieces, wherever it is cut", function()
    local body = '{"a":1}'
    local request = head("POST /nothing", "Content-Type: application/json",
      "Content-Length: " .. #body) .. body
    local steps, count = {}, 0
    for at = 1, #request - 1, 5 do
      count = count + 1
      steps[#steps + 1] = { "send", request:sub(1, at) }
      steps[#steps + 1] = { "send", request:sub(at + 1) }
      steps[#steps + 1] = { "read" }
    end
    local answers = face:talk(steps)
    assert.equal(count, #answers)
    for _, answer in ipairs(answers) do
      assert.matches("^404", answer)
    end
  end)

  it("asks for a body that waits to be asked for", function()
    local answers = face:talk {
      { "send", head("POST /nothing", "Content-Type: application/json", "Content-Length: 2",
        "Expect: 100-continue") }, { "read" },
      { "send", "{}" }, { "read" },
      { "send", head("GET /health/live") }, { "read" },
    }
    assert.equal("100", answers[1])
    assert.matches("^404", answers[2])
    assert.equal("200 " .. LIVE, answers[3])
  end)

  it("refuses a body that is too large before it comes, and hears the rest", function()
    local answers = face:talk {
      { "send", head("POST /nothing", "Content-Type: application/json",
        "Content-Length: 99999999") },
      { "send", ("x"):rep(300000) }, { "read" }, { "half" }, { "read" },
    }
    assert.matches("^413 .*body_max", answers[1])
    assert.equal("end", answers[2])
  end)

  it("answers a client that will send nothing more", function()
    assert.same({ "200 " .. LIVE, "end" }, face:talk {
      { "send", head("GET /health/live") }, { "half" }, { "read" }, { "read" },
    })
  end)

  it("ends the connection that the client wants to end", function()
    assert.same({ "200 " .. LIVE, "end" }, face:talk {
      { "send", head("GET /health/live", "Connection: close") .. head("GET /health/live") },
      { "read" }, { "read" },
    })
  end)

  it("refuses what two readers could understand in two ways, and closes", function()
    local statuses, requests = {}, {}
    local function refused(status, request)
      statuses[#statuses + 1] = status
      requests[#requests + 1] = request .. head("GET /health/live")
    end
    refused("400", "GET / HTTP/1.1\nHost: localhost\n\n")
    refused("400", "GET / HTTP/1.1\r\n\r\n")
    refused("505", "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
    refused("400", "GET / HTTP/1.1\r\nHost: :80\r\n\r\n")
    refused("400", head("GET /../etc"))
    refused("400", head("GET /a%2fb"))
    refused("414", head("GET /" .. ("a"):rep(9000)))
    refused("431", head("GET /", "X: " .. ("a"):rep(17000)))
    refused("411", head("POST /", "Transfer-Encoding: chunked"))
    refused("400", head("POST /", "Content-Length: 1", "Content-Length: 1"))
    refused("417", head("POST /", "Expect: more"))
    local answers = face:ask_all(requests, true)
    for i, status in ipairs(statuses) do
      assert.matches("^" .. status .. ' {"type":"/problems/', answers[2 * i - 1])
      assert.equal("end", answers[2 * i], requests[i])
    end
  end)

  -- Pairs of a request and the status of its answer, asked on one connection.
  local function statuses(list)
    local requests = {}
    for i, one in ipairs(list) do
      requests[i] = one[1]
    end
    local answers = face:ask_all(requests)
    assert.equal(#list, #answers)
    for i, one in ipairs(list) do
      assert.equal(one[2], answers[i]:match("^%d+"), one[1])
    end
  end

  it("answers its own names alone", function()
    local list = {}
    for status, hosts in pairs {
      ["200"] = { "127.0.0.1", "localhost", "LOCALHOST:99", "127.0.0.1:1" },
      ["421"] = { "evil.example", "localhost.evil.example", "127.0.0.2", "[::1]" },
    } do
      for _, host in ipairs(hosts) do
        list[#list + 1] = { "GET /health/live HTTP/1.1\r\nHost: " .. host .. "\r\n\r\n", status }
      end
    end
    statuses(list)
  end)

  local function post(...)
    return head("POST /nothing", ...)
  end

  it("takes no change from a page of another site", function()
    local kind = "Content-Type: application/json"
    statuses {
      { post("Sec-Fetch-Site: cross-site", kind), "403" },
      { post("Sec-Fetch-Site: same-site", kind), "403" },
      { post("Sec-Fetch-Site: none", kind), "403" },
      { post("Origin: http://evil.example", kind), "403" },
      { post("Origin: null", kind), "403" },
      { post("Sec-Fetch-Site: same-origin", "Origin: https://proxy", kind), "404" },
      { post("Origin: http://localhost", kind), "404" },
      { post(kind), "404" },
      { head("GET /nothing", "Sec-Fetch-Site: cross-site"), "404" },
    }
  end)

  it("takes no body that a form can send", function()
    local function kind(type)
      return post("Content-Length: 2", type) .. "{}"
    end
    statuses {
      { kind("Content-Type: application/json; charset=utf-8"), "404" },
      { kind("Content-Type: application/x-ndjson"), "404" },
      { kind("Content-Type: text/plain"), "415" },
      { kind("Content-Type: application/x-www-form-urlencoded"), "415" },
      { kind("Content-Type: multipart/form-data; boundary=x"), "415" },
      { kind("Content-Type: application/jsonp"), "415" },
      { kind("Accept: application/json"), "415" },
      { kind("Content-Type: application/json\r\nContent-Encoding: gzip"), "415" },
      { kind("Content-Type: application/json\r\nContent-Encoding: identity"), "404" },
      { post("Content-Type: text/plain"), "415" },
      { post(), "404" },
    }
  end)
end)
