local moonshift = require "moonshift"
local testing = require "moonshift.testing"

describe("misuse of the engine", function()
  local engine

  before_each(function()
    engine = testing.engine { handlers = { a = function() end } }
  end)

  local function refuses(message, verb, ...)
    local arguments = table.pack(...)
    assert.has_error(function()
      engine[verb](engine, table.unpack(arguments, 1, arguments.n))
    end, message)
  end

  it("is refused where it was written", function()
    refuses("handler is nothing (expected a name)", "enqueue")
    refuses("options is 5 (expected a table)", "enqueue", "a", nil, 5)
    refuses("list is nothing (expected { { handler, payload, options }, … })", "enqueue_many")
    refuses("retries is -1 (expected 0 or more)", "set_retries", 1, -1)
    refuses("drain: max is 0 (expected 1 or more)", "drain", { max = 0 })
  end)

  it("is an option that nobody reads", function()
    refuses('set_due: unknown key "casade" (did you mean "cascade"?)', "set_due", 1, nil,
      { casade = true })
  end)

  it("is a store of an executor's own", function()
    local executor, message, code = moonshift.executor { engines = { engine }, store = "sqlite:x" }
    assert.is_nil(executor)
    assert.equal("store: an executor works on the store of its engine", message)
    assert.equal("invalid", code)
  end)
end)

describe("a priority range in Lua", function()
  local function range(value)
    local engine, message = moonshift.open { store = "sqlite::memory:", priority_range = value }
    if not engine then
      return nil, message
    end
    for _, setting in ipairs(engine:settings()) do
      if setting.name == "priority_range" then
        return setting.text
      end
    end
  end

  it("is a list of two or has names, either side open", function()
    assert.equal("1:2", range { 1, 2 })
    assert.equal(":2", range { nil, 2 })
    assert.equal("1:2", range { min = 1, max = 2 })
    assert.equal("-3:", range { min = -3 })
  end)

  it("is no list of three", function()
    assert.matches("^priority_range %[1,2,3%]: expected {min, max}", select(2, range { 1, 2, 3 }))
  end)
end)
