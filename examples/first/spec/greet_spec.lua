-- Runs in memory, on a clock that the spec sets: "busted --lua=lua5.4 spec" in this folder.
local testing = require "moonshift.testing"

describe("greet", function()
  local engine

  before_each(function()
    engine = testing.engine { scripts = "." }
  end)

  after_each(function()
    engine:close()
  end)

  it("greets by the name in its payload", function()
    local id = engine:enqueue("greet", { name = "ada" })
    engine:drain()
    local entry = engine:log({ job = id, outcome = "successful" }):one()
    assert.same({ "hello, ada" }, entry.lines)
    assert.same({ greeted = "ada" }, entry.result)
  end)

  it("greets by its schedule", function()
    engine:advance("PT10S")
    engine:drain()
    assert.same({ greeted = "moon" }, engine:log({ outcome = "successful" }):one().result)
  end)
end)
