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
    for kind, names in pairs {
      jobs = { "owner", "suspended_by" },
      log = { "outcome", "reason", "executor" },
      batches = { "state" },
    } do
      for _, name in ipairs(names) do
        assert.same({}, assert(engine[kind](engine, { [name] = {} }):list()))
      end
    end
  end)

  it("is no list, and says so", function()
    local query = engine:jobs { handler = "mail" }
    local said = "a query is no list of rows %(expected :list%(%), :one%(%), :each%(fn%) or "
      .. ":count%(%)%)$"
    for _, misuse in ipairs {
      function() return #query end,
      function() return query[1] end,
      function() for _ in ipairs(query) do error "a row" end end,
      function() for _ in query do error "a row" end end,
    } do
      assert.matches(said, select(2, pcall(misuse)))
    end
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
    assert.equal(5, #engine:jobs({ handler = "mail" }):ids(5))
    assert.same({ nil, "more than 4 jobs match (expected fewer)", "invalid" },
      { engine:jobs({ handler = "mail" }):ids(4) })
  end)

  it("visits rows that are not paged by id", function()
    local names = {}
    assert.is_true(engine:definitions():each(function(definition)
      names[#names + 1] = definition.name
    end) >= 2)
    assert.equal(#engine:definitions():list(), #names)
    assert.equal(#names, engine:definitions():count())
  end)

  it("visits each row, more than a page of them", function()
    local entries = {}
    for i = 1, 1200 do
      entries[i] = { "call" }
    end
    local ids = assert(engine:enqueue_many(entries))
    local seen = {}
    assert.equal(1201, engine:jobs({ handler = "call" }):each(function(job)
      seen[job.id] = true
    end))
    assert.equal(1201, #engine:jobs({ handler = "call" }):ids())
    assert.is_true(seen[ids[1]] and seen[ids[1200]])
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
    assert(engine:delete(engine:jobs({ handler = "call" }):one().id))
    assert(engine:enqueue_many(entries))
    assert.equal(10000, #engine:jobs({ handler = "call" }):list())
    local rows, message, code = engine:jobs():list()
    assert.is_nil(rows)
    assert.equal("more than 10000 jobs match (expected fewer: use each or page)", message)
    assert.equal("invalid", code)
    assert.equal(10005, engine:jobs():count())
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
    assert.has_error(function()
      engine:jobs():page((1 << 62) + 1, 4)
    end, "page: number is 4611686018427387905 (expected at most 2147483647)")
  end)

  it("raises for a number of ids that is none", function()
    for _, max in ipairs { math.maxinteger, -1, 1.5, "x" } do
      assert.has_error(function()
        engine:jobs():ids(max)
      end, ("ids: max is %s (expected 0 to 1000000)"):format(max))
    end
    assert.equal(6, #engine:jobs():ids(1000000))
  end)

  it("raises for ids of rows that have none", function()
    for _, kind in ipairs { "log", "suspended_instances" } do
      assert.has_error(function()
        engine[kind](engine):ids()
      end, ("ids: the rows of %s have no id"):format(kind))
    end
  end)

  it("of a definition or batch stays with it", function()
    local mail = engine:definition("mail")
    assert.equal(5, mail:jobs({ handler = "mail", state = "ready" }):count())
    assert.has_error(function()
      mail:jobs({ handler = "call" })
    end, 'jobs: handler is the string "call" (expected none: its object says it)')
    assert.has_error(function()
      mail:jobs("x")
    end, "jobs: filters is a string (expected a table)")
    local batch = engine:batch(engine:batch { type = "enqueue", handler = "mail", ids = { 1 } })
    assert.has_error(function()
      batch:jobs({ batch = 99 })
    end, "jobs: batch is 99 (expected none: its object says it)")
  end)

  it("is no target of a verb on other rows, whose filters mean the same", function()
    for _, kind in ipairs { "incidents", "definitions", "log", "batches" } do
      local filters = kind ~= "batches" and { handler = "mail" } or {}
      local query = engine[kind](engine, filters)
      for _, target in ipairs { query, query:page(1, 5) } do
        for _, verb in ipairs { "delete", "suspend", "execute" } do
          assert.has_error(function()
            engine[verb](engine, target)
          end, ("a query of %s (expected ids, or a query of jobs)"):format(kind))
        end
      end
    end
    assert.equal(6, engine:jobs({ suspended = false }):count())
  end)

  it("asks for definitions, incidents, log and operations too", function()
    assert.equal("mail", engine:definitions({ name = "mail" }):one().name)
    assert.equal(0, engine:incidents():count())
    engine:drain()
    assert.equal(12, engine:log():count())
    assert.equal(0, engine:operations():count())
  end)
end)
