-- Jobs by what is in their payload.
local moonshift = require "moonshift"
local testing = require "moonshift.testing"

describe("a query by payload", function()
  local engine

  before_each(function()
    engine = testing.engine { handlers = { bill = function() end } }
  end)

  after_each(function()
    engine:close()
  end)

  local function add(payload)
    return assert(engine:enqueue("bill", payload))
  end

  local function found(payload)
    return table.concat(assert(engine:jobs({ payload = payload }):ids()), " ")
  end

  it("compares several fields, nested ones too", function()
    add { invoice = 7, customer = { id = 3, address = { city = "Bonn" } } }
    add { invoice = 7, customer = { id = 4, address = { city = "Bonn" } } }
    add { invoice = 8, customer = { id = 3 } }
    assert.equal("1 2", found { invoice = 7 })
    assert.equal("1", found { invoice = 7, customer = { id = 3 } })
    assert.equal("1 2", found { customer = { address = { city = "Bonn" } } })
    assert.equal("2", found { ["customer.address.city"] = "Bonn", ["customer.id"] = 4 })
    assert.equal("1 3", found { customer = { id = 3 } })
    assert.equal("", found { customer = 3 })
  end)

  it("tells texts, numbers, booleans, null and what is absent apart", function()
    add { v = "7" }
    add { v = 7 }
    add { v = true }
    add { v = false }
    add { v = moonshift.null }
    add { w = 1 }
    add { v = 7.5 }
    for id, value in ipairs { "7", 7, true, false, moonshift.null } do
      assert.equal(tostring(id), found { v = value })
    end
    assert.equal("7", found { v = 7.5 })
    assert.equal("2", found { v = 7.0 })
    assert.equal("1 3", found { v = { "7", true } })
    assert.equal("", found { v = {} })
  end)

  it("compares integers to all of their 64 bits", function()
    add { n = math.maxinteger }
    add { n = math.maxinteger - 1 }
    add { n = math.mininteger }
    add { n = 9007199254740993 }
    assert.equal("1", found { n = math.maxinteger })
    assert.equal("2", found { n = math.maxinteger - 1 })
    assert.equal("3", found { n = math.mininteger })
    assert.equal("", found { n = 9007199254740992 })
    assert.equal("", found { n = 9007199254740992.0 })
  end)

  it("reaches elements of arrays, and names with dots in quotes", function()
    add { items = { { sku = "a" }, { sku = "b" } }, ["a.b"] = 1 }
    assert.equal("1", found { ["items[1].sku"] = "b" })
    assert.equal("1", found { ["items[#-1].sku"] = "b" })
    assert.equal("1", found { items = { ["[0].sku"] = "a" } })
    assert.equal("1", found { ['"a.b"'] = 1 })
    assert.equal("1", found { ["a.b"] = 1 })
    add { a = { b = 1 } }
    assert.equal("1 2", found { ["a.b"] = 1 })
    assert.equal("1", found { ['"a.b"'] = 1 })
    assert.equal("2", found { a = { b = 1 } })
    assert.equal("1", found { ["$.items[0].sku"] = "a" })
  end)

  it("finds texts with quotes, percent signs and emoji as they are", function()
    for _, text in ipairs { 'say "hi"', "50% _x_", "it's 🚀", "" } do
      local id = add { text = text }
      assert.equal(tostring(id), found { text = text })
    end
  end)

  it("is refused with a path that is none", function()
    for _, path in ipairs { "a..b", ".a", "a.", "", "a[", "a[x]", "a]b", 'a"b', "$x", '"a' } do
      local jobs, message, code = engine:jobs({ payload = { [path] = 1 } }):list()
      assert.is_nil(jobs)
      assert.equal("invalid", code)
      assert.equal(('filter "payload": path "%s": expected names joined by dots, such as'
        .. " customer.id or items[0].price"):format(path), message)
    end
  end)

  it("is refused with a value that cannot be compared", function()
    assert.same({ nil, 'filter "payload": "a": expected a text, number, boolean, null, a list of'
      .. " them, or fields by name", "invalid" },
      { engine:jobs({ payload = { a = { { b = 1 } } } }):list() })
    assert.same({ nil, 'filter "payload": expected names and values', "invalid" },
      { engine:jobs({ payload = 7 }):list() })
  end)

  it("selects what a verb is done to", function()
    add { invoice = 7 }
    add { invoice = 8 }
    assert.equal(1, engine:delete(engine:jobs({ payload = { invoice = 7 } })))
    assert.equal("2", found { invoice = 8 })
  end)
end)

describe("a payload that a job hands on", function()
  local null = moonshift.null
  local payloads = {
    "", "text", 'quoted "text" \\ and\ttab', "\127 and Grüße, 世界", "a longer text without more",
    0, -7, 123456789012345678, math.maxinteger, math.mininteger, 1.5, -0.0, 1e300, true, false,
    {}, moonshift.array {}, { 1, "two", { 3 }, null }, { a = null, b = {}, c = moonshift.array {} },
    { ["key with \"quotes\""] = 1, ["ключ"] = "значение", deep = { { { x = { 1, 2.5, "z" } } } } },
  }

  it("arrives as it was, and is stored alike", function()
    local seen, ids = {}, {}
    local engine = testing.engine {
      handlers = {
        first = function(job)
          ids[#ids + 1] = job:enqueue("second", job.payload, { priority = 1 })
          ids[#ids + 1] = job:enqueue("second", job.payload, { retries = 2 })
        end,
        second = function(job)
          seen[#seen + 1] = { job.payload }
        end,
      },
    }
    for i, payload in ipairs(payloads) do
      engine:enqueue("first", payload)
      engine:drain()
      assert.same({ payload }, seen[2 * i - 1])
      assert.same(seen[2 * i - 1], seen[2 * i])
    end
    engine:close()
  end)

  it("comes out of tables nested deeply, too", function()
    local deep, depth = { "bottom" }, 0
    for _ = 1, 60 do
      deep = { deep }
    end
    local engine = testing.engine {
      handlers = {
        dive = function(job)
          local at = job.payload
          while type(at) == "table" do
            at, depth = at[1], depth + 1
          end
        end,
      },
    }
    engine:enqueue("dive", deep)
    engine:drain()
    assert.equal(61, depth)
    engine:close()
  end)
end)
