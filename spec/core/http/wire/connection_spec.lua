local faces = require "spec.support.faces"
local process = require "spec.support.process"

local LIVE = '200 {"status":"live"}'
local head = faces.head

-- The limits of the network face (docs/server.md): what is too slow or too much goes, and the
-- others are answered meanwhile.
describe("the limits of the network face", function()
  local folder, face

  before_each(function()
    folder = process.folder { ["handlers/hello.lua"] = "return function(job) end" }
  end)

  after_each(function()
    process.kill(face.pid)
    process.remove(folder)
  end)

  it("cut what is slow, counted from its first byte", function()
    face = faces.start(folder, "serve", "--http", "127.0.0.1:0")
    local slow = face:talk {
      { "send", "GET /health/live HTT" }, { "trickle", "P/1.1\r\nX: " .. ("a"):rep(200) },
      { "read" }, { "read" }, { "close" },
      { "send", head("POST /", "Content-Type: application/json", "Content-Length: 1000") },
      { "trickle", ("a"):rep(200) },
      { "read" }, { "read" },
    }
    assert.equal(6, #slow)
    for i = 1, 4, 3 do
      assert.equal("cut", slow[i])
      assert.matches("^408 .*did not come in time", slow[i + 1])
      assert.equal("end", slow[i + 2])
    end
  end)

  it("turn away connections beyond the setting, and take them again later", function()
    face = faces.start(folder, "serve", "--http", "127.0.0.1:0", "--connections", "20")
    local answers = face:talk {
      { "many", 20 }, { "send", head("GET /health/live") }, { "read" }, { "read" }, { "close" },
      { "fewer" }, { "until", head("GET /health/live"), LIVE },
    }
    assert.equal("503", answers[1])
    assert.equal("end", answers[2])
    assert.equal(LIVE, answers[3])
  end)

  it("leave others alone beside a thousand connections that say nothing", function()
    face = faces.start(folder, "serve", "--http", "127.0.0.1:0", "--connections", "1100")
    assert.same({ LIVE, '200 {"status":"ready"}' }, face:talk {
      { "many", 1000 }, { "send", head("GET /health/live") }, { "read" },
      { "send", head("GET /health/ready") }, { "read" },
    })
  end)

  it("hold up nobody for a client that never reads", function()
    face = faces.start(folder, "serve", "--http", "127.0.0.1:0")
    assert.same({ LIVE }, face:talk {
      { "small" }, { "flood", head("GET /health/live"), 200000 }, { "leave" },
      { "send", head("GET /health/live") }, { "read" },
    })
  end)

  it("let a program stop beside silent clients", function()
    face = faces.start(folder, "run", "--http", "127.0.0.1:0,unix:" .. folder .. "/socket")
    assert.same({ "end" }, face:talk {
      { "many", 50 }, { "send", "GET /hea" }, { "terminate", face.pid }, { "read" },
    })
    assert.equal(0, process.await_status(face.pid, 60))
    assert.is_nil(io.open(folder .. "/socket"))
  end)
end)
