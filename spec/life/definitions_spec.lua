local testing = require "moonshift.testing"

describe("a definition", function()
  local engine, running

  before_each(function()
    running = nil
    engine = testing.engine {
      handlers = {
        a = {
          priority = function()
            error("asked", 0)
          end,
          run = function()
            if running then
              running()
            end
          end,
        },
        b = { priority = 3, run = function() end },
      },
    }
  end)

  local function priority(id)
    return engine:job(id).priority
  end

  it("has a priority of the store's that goes before its own", function()
    local before = engine:enqueue("b")
    assert.equal(0, engine:definition("b"):override_priority(9))
    assert.equal(9, engine:definition("b").override)
    assert.equal(9, engine:definitions({ name = "b" }):one().override_priority)
    assert.equal(9, priority(engine:enqueue("b")))
    assert.equal(3, priority(before))
    assert.equal(5, priority(engine:enqueue("b", nil, { priority = 5 })))
  end)

  it("does not ask its function while it is overridden", function()
    assert.equal('priority of "a": asked', select(2, engine:enqueue("a")))
    engine:definition("a"):override_priority(-4)
    assert.equal(-4, priority(engine:enqueue("a")))
  end)

  it("rewrites the jobs there are with cascade, and disturbs no running one", function()
    engine:definition("a"):override_priority(1)
    local id = engine:enqueue("a")
    running = function()
      assert.equal(1, engine:definition("a"):override_priority(9, { cascade = true }))
      assert.equal(9, priority(id))
    end
    assert.same({ done = 1, failed = 0 }, engine:drain())
  end)

  it("reaches scheduled, suspended and dead jobs with cascade", function()
    local own = testing.engine { handlers = { work = function() error("no answer") end } }
    local dead = own:enqueue("work", nil, { retries = 1 })
    own:drain()
    local scheduled = own:enqueue("work", nil, { after = "PT1H" })
    local suspended = own:enqueue("work")
    own:suspend(suspended)
    own:definition("work"):override_priority(42, { cascade = true })
    for _, id in ipairs { dead, scheduled, suspended } do
      assert.equal(42, own:job(id).priority)
    end
  end)

  it("has its own priority again for later jobs once the override is cleared", function()
    local definition = engine:definition("b")
    definition:override_priority(9)
    local before = engine:enqueue("b")
    definition:clear_override()
    assert.is_nil(engine:definition("b").override)
    assert.equal(3, priority(engine:enqueue("b")))
    assert.equal(9, priority(before))
  end)

  it("that is suspended has later jobs suspended, the others with include_jobs", function()
    local before = engine:enqueue("b")
    assert.equal(0, engine:definition("b"):suspend())
    assert.is_true(engine:definition("b").suspended)
    assert.equal("suspended", engine:job(engine:enqueue("b")).state)
    assert.equal("ready", engine:job(before).state)
    assert.equal(1, engine:definition("b"):suspend { include_jobs = true })
    assert.same({ done = 0, failed = 0 }, engine:drain())
  end)

  it("that is activated lets a suspended job be, or takes it along", function()
    local definition = engine:definition("b")
    definition:suspend()
    local id = engine:enqueue("b", nil, { after = 60 })
    definition:activate()
    assert.equal("suspended", engine:job(id).state)
    assert.equal(1, definition:activate { include_jobs = true })
    assert.equal("scheduled", engine:job(id).state)
  end)

  it("lets one job of a suspended one be activated", function()
    engine:definition("b"):suspend()
    local id = engine:enqueue("b")
    assert.equal(1, engine:activate(id))
    assert.same({ done = 1, failed = 0 }, engine:drain())
  end)

  it("leaves one entry a change in the log of operations", function()
    engine:enqueue("b")
    engine:definition("b"):override_priority(9, { cascade = true })
    local entry = engine:operations():one()
    assert.equal("override_priority", entry.verb)
    assert.equal('definition "b"', entry.entity)
    assert.equal(1, entry.count)
    assert.equal("9", entry.new)
  end)

  it("is found by what it is, sorted and paged", function()
    engine:definition("b"):suspend()
    engine:definition("a"):override_priority(1)
    assert.equal("b", engine:definitions({ suspended = true }):one().name)
    assert.equal("a", engine:definitions({ overridden = true }):one().name)
    local own = engine:definitions { name = { "a", "b" } }
    assert.equal("b", own:sort("name", "desc"):page(1, 1):list()[1].name)
    assert.equal(2, own:count())
    assert.equal('cannot sort by "nam" (did you mean "name"?)', select(2, own:sort("nam"):list()))
  end)

  it("counts its jobs by where they are", function()
    engine:enqueue("b")
    engine:enqueue("b", nil, { after = 60 })
    engine:suspend(engine:enqueue("b"))
    local counts = engine:definition("b").counts
    assert.equal(1, counts.ready)
    assert.equal(1, counts.scheduled)
    assert.equal(1, counts.suspended)
  end)

  it("refuses values and options that mean nothing", function()
    local definition = engine:definition("b")
    assert.has_error(function()
      definition:override_priority("high")
    end, 'priority is the string "high" (expected an integer)')
    assert.has_error(function()
      definition:suspend { att = "2027-01-01T00:00:00Z" }
    end, 'suspend: unknown key "att" (did you mean "at"?)')
  end)
end)
