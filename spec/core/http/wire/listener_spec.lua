-- Sockets that are handed over, as systemd does it (LISTEN_FDS).
local faces = require "spec.support.faces"
local process = require "spec.support.process"

local LIVE = '200 {"status":"live"}'

describe("a socket that is handed over", function()
  local folder, face

  before_each(function()
    folder = process.folder { ["handlers/work.lua"] = "return function() end" }
  end)

  after_each(function()
    process.kill(face.pid)
    process.remove(folder)
  end)

  local function start(kind, verb, ...)
    process.environment = "python3 spec/support/hand_over.py " .. kind
    local fine, started = pcall(faces.start, folder, verb, ...)
    process.environment = ""
    face = assert(fine and started, started)
  end

  it("is an address of serve", function()
    start("listens", "serve")
    assert.equal(1, #face.addresses, face.text)
    assert.equal(LIVE, face:ask(faces.head "GET /health/live"))
    assert.equal(0, face:stop())
  end)

  it("is an address of run, beside those of the setting", function()
    start("listens", "run", "--http", "127.0.0.1:0")
    assert.equal(2, #face.addresses, face.text)
    for _, address in ipairs(face.addresses) do
      assert.equal(LIVE, face:ask(faces.head "GET /health/live", address))
    end
    assert.equal(0, face:stop())
  end)

  it("is refused unless it listens", function()
    start("silent", "serve")
    assert.equal(78, process.await_status(face.pid, 60))
    assert.matches("LISTEN_FDS: descriptor 3 is no socket that listens", process.read(face.log))
  end)

  it("is left alone if it is another process's", function()
    start("other", "serve", "--http", "127.0.0.1:0")
    assert.equal(1, #face.addresses, face.text)
    assert.equal(0, face:stop())
  end)

  it("is none for serve if it is another process's", function()
    start("other", "serve")
    assert.equal(2, process.await_status(face.pid, 60))
    assert.matches("http", process.read(face.log))
  end)
end)
