local moonshift = require "moonshift"
local process = require "spec.support.process"

describe("examples/hello", function()
  local dir, store

  before_each(function()
    dir = process.folder()
    store = "sqlite:" .. dir .. "/jobs.db"
  end)

  after_each(function()
    process.remove(dir)
  end)

  local function moonshift_ok(...)
    local status, output, errors = process.moonshift(...)
    assert.equal(0, status, errors)
    return output
  end

  it("greets and keeps what it returned", function()
    local id = moonshift_ok("-C", "examples/hello", "--store", store, "enqueue", "hello",
      '{"name":"moon"}')
    moonshift_ok("run", "examples/hello", "--store", store, "--drain")
    local engine <close> = assert(moonshift.open { store = store })
    local ended = engine:log({ job = tonumber(id), outcome = "successful" }):one()
    assert.same({ greeted = "moon" }, ended.result)
    assert.equal(0, engine:jobs():count())
  end)

  it("is five lines", function()
    local lines = 0
    for _ in io.lines("examples/hello/handlers/hello.lua") do
      lines = lines + 1
    end
    assert.equal(5, lines)
  end)
end)
