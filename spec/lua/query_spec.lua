local testing = require "moonshift.testing"

describe("query", function()
  local engine

  before_each(function()
    engine = testing.engine { handlers = { mail = function() end, call = function() end } }
    for i = 1, 5 do
      engine:enqueue("mail", { n = i }, { priority = i % 3 })
    end
    engine:enqueue("call")
  end)

  local function numbers(query)
    local list = {}
    for i, job in ipairs(assert(query:list())) do
      list[i] = job.payload.n
    end
    return list
  end

  it("lists what matches, by id", function()
    assert.same({ 1, 2, 3, 4, 5 }, numbers(engine:jobs { handler = "mail" }))
  end)

  it("matches any of a list", function()
    assert.equal(6, engine:jobs({ handler = { "mail", "call" } }):count())
  end)

  it("matches nothing of an empty list", function()
    assert.equal(0, engine:jobs({ id = {} }):count())
    assert.equal(0, engine:jobs({ state = {} }):count())
    assert.equal(0, engine:jobs({ handler = {} }):count())
  end)

  it("counts", function()
    assert.equal(5, engine:jobs({ handler = "mail" }):count())
    assert.equal(0, engine:jobs({ state = "dead" }):count())
  end)

  it("sorts by a field, both ways", function()
    assert.same({ 3, 1, 4, 2, 5 }, numbers(engine:jobs({ handler = "mail" }):sort("priority")))
    local down = engine:jobs({ handler = "mail" }):sort("priority", "desc")
    assert.equal(2, down:list()[1].priority)
  end)

  it("pages from 1", function()
    local query = engine:jobs { handler = "mail" }
    assert.same({ 3, 4 }, numbers(query:page(2, 2)))
    assert.same({ 5 }, numbers(query:page(3, 2)))
  end)

  it("is not changed by sort and page", function()
    local query = engine:jobs { handler = "mail" }
    query:page(1, 1)
    query:sort("priority", "desc")
    assert.same({ 1, 2, 3, 4, 5 }, numbers(query))
  end)

  it("gives the one row, or nil, or a conflict", function()
    assert.equal("call", engine:jobs({ handler = "call" }):one().handler)
    assert.is_nil(engine:jobs({ state = "dead" }):one())
    local job, message, code = engine:jobs({ handler = "mail" }):one()
    assert.is_nil(job)
    assert.equal("several jobs match (expected one)", message)
    assert.equal("conflict", code)
  end)

  it("gives ids", function()
    assert.same({ 1, 2, 3, 4, 5 }, engine:jobs({ handler = "mail" }):ids())
  end)

  it("visits each row, more than a page of them", function()
    local entries = {}
    for i = 1, 1200 do
      entries[i] = { "call" }
    end
    assert(engine:enqueue_many(entries))
    local seen = {}
    assert.equal(1201, engine:jobs({ handler = "call" }):each(function(job)
      seen[job.id] = true
    end))
    assert.equal(1201, #engine:jobs({ handler = "call" }):ids())
    assert.is_true(seen[6] and seen[1206])
  end)

  it("stops visiting when told", function()
    assert.equal(2, engine:jobs():each(function(job)
      return job.id < 2
    end))
  end)

  it("refuses a list of more than 10 000", function()
    local entries = {}
    for i = 1, 10000 do
      entries[i] = { "call" }
    end
    assert(engine:enqueue_many(entries))
    local rows, message, code = engine:jobs():list()
    assert.is_nil(rows)
    assert.equal("more than 10000 jobs match (expected fewer: use each or page)", message)
    assert.equal("invalid", code)
    assert.equal(10006, engine:jobs():count())
  end)

  it("refuses an unknown filter", function()
    local rows, message, code = engine:jobs({ handlr = "mail" }):list()
    assert.is_nil(rows)
    assert.matches('did you mean "handler"', message, 1, true)
    assert.equal("invalid", code)
  end)

  it("raises for filters that are no table", function()
    assert.has_error(function()
      engine:jobs("mail")
    end, "jobs: filters is a string (expected a table)")
  end)

  it("raises for a direction that is none", function()
    assert.has_error(function()
      engine:jobs():sort("priority", "down")
    end, 'sort: direction is "down" (expected "asc" or "desc")')
  end)

  it("raises for a page that is none", function()
    assert.has_error(function()
      engine:jobs():page(0, 10)
    end, "page: number is 0 (expected 1 or more)")
    assert.has_error(function()
      engine:jobs():page(1, 10001)
    end, "page: size is 10001 (expected 1 to 10000)")
  end)

  it("asks for definitions, incidents, log and operations too", function()
    assert.equal("mail", engine:definitions({ name = "mail" }):one().name)
    assert.equal(0, engine:incidents():count())
    engine:drain()
    assert.equal(12, engine:log():count())
    assert.equal(0, engine:operations():count())
  end)
end)
