local faces = require "spec.support.faces"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local LIVE = '200 {"status":"live"}'

describe("engine:serve", function()
  local folder, engine

  before_each(function()
    folder = process.folder { ["handlers/hello.lua"] = "return function(job) end" }
    engine = assert(moonshift.open { store = "sqlite:" .. folder .. "/jobs.db", scripts = folder })
  end)

  after_each(function()
    engine:close()
    process.remove(folder)
  end)

  it("answers until it is stopped, beside the engine", function()
    local socket = folder .. "/socket"
    local face = assert(engine:serve { http = { "127.0.0.1:0", "unix:" .. socket } })
    assert.equal(2, #face.addresses)
    for _, address in ipairs(face.addresses) do
      assert.equal(LIVE, faces:ask(faces.head("GET /health/live"), address))
      assert.equal('200 {"status":"ready"}', faces:ask(faces.head("GET /health/ready"), address))
    end
    assert.is_number(engine:enqueue("hello"))
    assert.is_true(face:reload())
    assert.equal(LIVE, faces:ask(faces.head("GET /health/live"), face.addresses[1]))
    assert.is_true(face:stop())
    assert.is_false(face:reload())
    assert.is_nil(io.open(socket))
    assert.is_true(face:stop())
    local again <close> = assert(engine:serve { http = { "unix:" .. socket } })
    assert.equal("unix:" .. socket, again.addresses[1])
  end)

  it("refuses what it cannot serve", function()
    local function refused(...)
      local face, message, code = engine:serve(...)
      assert.is_nil(face)
      return message, code
    end
    assert.same({ "http is missing (expected an address)", "invalid" }, { refused {} })
    assert.same({ 'http "here": expected ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:8080, or '
      .. "unix:PATH", "invalid" }, { refused { http = { "here" } } })
    assert.same({ "store: the face serves the store of its engine", "invalid" },
      { refused { store = "sqlite:other.db" } })
    assert.matches("other machines", (refused { http = { "0.0.0.0:0" }, open = true }))
    local inside <close> = testing.engine {}
    local _, message = inside:serve { http = { "127.0.0.1:0" } }
    assert.equal("serve: the store is in memory (expected a file or a server)", message)
  end)
end)
