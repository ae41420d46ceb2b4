local testing = require "moonshift.testing"
local process = require "spec.support.process"

describe("examples/first", function()
  it("has nothing to complain of", function()
    local status, output, errors = process.moonshift("-C", "examples/first", "check", "--json")
    assert.equal("0 ", status .. " " .. errors)
    assert.matches('"problems":%[%],"warnings":%[%]', output)
  end)

  it("has specs that pass where they lie", function()
    local status, output = process.run("cd examples/first && LUA_PATH='../../lua/?.lua;"
      .. "../../lua/?/init.lua;;' LUA_CPATH='" .. (os.getenv("LUA_CPATH") or "") .. ";;"
      .. "../../build/lua/?.so' busted --lua=lua5.4 spec")
    assert.equal(0, status, output)
    assert.truthy(output:find("2 successes", 1, true), output)
  end)

  it("retries for more than three hours", function()
    local engine = testing.engine {
      scripts = "examples/first",
      handlers = { greet = function() error("no answer") end },
    }
    local id = engine:enqueue("greet")
    engine:drain()
    for _ = 1, 3 do
      engine:advance("PT1H")
    end
    engine:drain()
    assert.is_true(engine:job(id).retries > 0)
    engine:close()
  end)
end)
