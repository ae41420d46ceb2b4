-- What an operator sets before a definition's own limit and rate.
local engines = require "spec.support.engines"

describe("an operator's limit", function()
  after_each(engines.clean)

  local at, folder

  local function open(words)
    folder = engines.folder {
      ["handlers/work.lua"] = ("return { %s run = function() end }"):format(words or ""),
    }
    at = engines.private({}, { scripts = folder })
    for _ = 1, 9 do
      at:enqueue("work")
    end
    return at:definition("work")
  end

  local function taken()
    return at:turn().acquired
  end

  it("goes before the own one, until it is cleared", function()
    local work = open "limit = 2,"
    assert.equal(0, work:override_limit(3))
    assert.equal(3, taken())
    assert.equal(0, work:override_limit(1))
    assert.equal(1, taken())
    assert.equal(0, work:clear_limit())
    assert.equal(2, taken())
  end)

  it("bounds what had no limit, and \"none\" lets all run", function()
    local work = open()
    work:override_limit { cluster = 2 }
    assert.equal(2, taken())
    assert.same({ cluster = 2 }, at:definition("work").limit_override)
    work:override_limit "none"
    assert.equal("none", at:definition("work").limit_override)
    assert.equal(7, taken())
  end)

  it("counts as the own one does: over all executors where that one does", function()
    open("limit = { cluster = 5 },"):override_limit(2)
    assert.same({ cluster = 2 }, at:definition("work").limit_override)
    at:definition("work"):override_limit "none"
    at:definition("work"):override_limit(3)
    assert.same({ cluster = 3 }, at:definition("work").limit_override)
  end)

  it("bounds starts by a rate as well, with those before it counted where there was one", function()
    local work = open()
    work:override_rate "3/1m"
    assert.equal("3/PT1M", at:definition("work").rate_override)
    assert.same({ 3, 0 }, { taken(), taken() })
    work:override_rate "4/PT1M"
    assert.same({ 1, 0 }, { taken(), taken() })
    work:override_rate "none"
    assert.equal(5, taken())
  end)

  it("leaves the own rate once it is cleared", function()
    local work = open 'rate = "2/PT1M",'
    work:override_rate "1/PT1M"
    assert.equal(1, taken())
    work:clear_rate()
    assert.is_nil(at:definition("work").rate_override)
    assert.equal(1, taken())
  end)

  it("stays when the folder is loaded again", function()
    local work = open "limit = 4,"
    work:override_limit(1)
    work:override_rate "5/PT1H"
    local file = assert(io.open(folder .. "/handlers/work.lua", "w"))
    file:write 'return { limit = 7, rate = "6/PT1H", run = function() return 1 end }'
    file:close()
    assert(at:reload())
    assert.equal(7, at:definition("work").limit)
    assert.equal(1, at:definition("work").limit_override)
    assert.same({ 1, 1 }, { taken(), taken() })
    at:definition("work"):clear_limit()
    assert.same({ 3, 0 }, { taken(), taken() })
  end)

  it("is in the log of operations with what was before", function()
    local work = open()
    work:override_limit { cluster = 2 }
    work:override_limit(5)
    work:clear_limit()
    work:override_rate "10/1m"
    work:override_limit(3)
    work:clear_rate()
    work:override_rate "2/1m"
    local told = {}
    for _, entry in ipairs(at:operations():sort("id"):list()) do
      told[#told + 1] = ("%s %s: %s > %s"):format(entry.verb, entry.entity, entry.old, entry.new)
    end
    assert.same({
      'override_limit definition "work": nil > cluster 2',
      'override_limit definition "work": cluster 2 > 5',
      'clear_limit definition "work": 5 > nil',
      'override_rate definition "work": nil > 10/PT1M',
      'override_limit definition "work": nil > 3',
      'clear_rate definition "work": 10/PT1M > nil',
      'override_rate definition "work": nil > 2/PT1M',
    }, told)
  end)

  it("is found among what is overridden", function()
    open():override_rate "1/PT1M"
    assert.equal("work", at:definitions({ overridden = true }):one().name)
    assert.equal("1/PT1M", at:definitions({ overridden = true }):one().override_rate)
  end)

  it("is refused where it means nothing", function()
    local work = open()
    for _, value in ipairs { 0, -1, 1.5, "many", { cluster = 0 }, { clutser = 3 }, true } do
      local done, why, code = work:override_limit(value)
      assert.is_nil(done)
      assert.equal("invalid", code)
      assert.matches('^override_limit: limit .*: expected a whole number from 1', why)
    end
    assert.same({ nil, 'override_rate: rate "often": expected a number of starts and a duration, '
      .. 'such as "10/1m" or "10/PT1M"', "invalid" }, { work:override_rate "often" })
  end)

  it("may be given by a handler", function()
    at = engines.private {
      ["handlers/calm.lua"] = [[return function(job)
        job:operate { verb = "override_limit", definition = "work", limit = { cluster = 1 } }
      end]],
      ["handlers/work.lua"] = "return function() end",
    }
    at:enqueue("calm", nil, { priority = 9 })
    at:drain()
    assert.same({ cluster = 1 }, at:definition("work").limit_override)
  end)
end)
