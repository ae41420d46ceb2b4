-- The network face of a store on a PostgreSQL server that crashes and starts again.
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

describe("a face whose server starts again", function()
  if not postgres.programs() then
    it("knows its tokens", function()
      return pending("no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server, folder, pid, token, address

  before_each(function()
    server = postgres.start()
    folder = process.folder { ["handlers/work.lua"] = "return function() end" }
    local url = postgres.url(server, "jobs")
    local _, printed = process.moonshift("token", "create", "ci", "--scope", "read,enqueue",
      "--store", url)
    token = printed:match("ms_%w+")
    pid = process.start(folder .. "/log", "serve", folder, "--store", url, "--http",
      "127.0.0.1:0")
    process.await("the face listens", 60, function()
      address = (process.read(folder .. "/log") or ""):match(
        'event="http listens" address=(%S+)')
      return address
    end)
  end)

  after_each(function()
    process.kill(pid)
    process.remove(folder)
    postgres.stop(server)
  end)

  -- The status of a request with the token, and its answer.
  local function ask(words)
    local _, text = process.run(("curl -s -m 30 -w ' %%{http_code}' -H 'Content-Type: "
      .. "application/json' %s"):format(words:format(address)))
    return text:match("(%d+)$"), text
  end

  local function with(shown)
    return ("-H 'Authorization: Bearer %s' http://%%s/v1/jobs"):format(shown)
  end

  it("knows its tokens, refuses others, and keeps what was asked under a key", function()
    local create = "-H 'Idempotency-Key: order-7' -d '{\"handler\":\"work\"}' " .. with(token)
    local status, first = ask(create)
    assert.equal("201", status, first)
    for _ = 1, 2 do
      postgres.restart(server)
      process.await("the token is known", 60, function()
        status = ask(with(token))
        assert.is_true(status == "200" or status == "503", status)
        return status == "200"
      end)
      assert.equal("401", (ask(with("ms_" .. ("a"):rep(64)))))
      assert.equal(first, select(2, ask(create)))
    end
  end)
end)
