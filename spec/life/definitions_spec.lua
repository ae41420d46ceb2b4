local engines = require "spec.support.engines"
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

  it("is told to be unknown if it is", function()
    assert.same({ 'unknown definition "none"', "not_found" },
      { select(2, engine:definition("none")) })
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

describe("what a listener sets on the product's own definitions", function()
  local engine

  local SET = [[return { all = true, run = function(d)
    if d.stock or d.name == "batch/note" then
      d.retries, d.priority, d.category = 7, 40, "upkeep"
      if d.name == "moonshift/batch_seed" then d.retry = "R9/PT1M" d.retries = nil end
    end
  end }]]

  local function open(settings)
    engine = engines.private({
      ["handlers/work.lua"] = "return function() end",
      ["batches/note.lua"] = "return function() end",
      ["listeners/upkeep.lua"] = SET,
    }, settings)
  end

  after_each(function()
    engine:close()
    engines.clean()
  end)

  local function seen(handler)
    local job = engine:jobs({ handler = handler }):sort("id"):page(1, 1):one()
    return { job.retries, job.priority, job.category }
  end

  local function run(handler)
    engine:execute(engine:jobs({ handler = handler }):sort("id"):page(1, 1):one().id)
  end

  it("holds for all jobs of a batch", function()
    open()
    engine:batch { type = "note", ids = { 1, 2, 3 }, jobs_per_seed = 2 }
    assert.same({ 9, 40, "upkeep" }, seen("moonshift/batch_seed"))
    run("moonshift/batch_seed")
    assert.same({ 7, 40, "upkeep" }, seen("batch/note"))
    assert.same({ 9, 40, "upkeep" }, seen("moonshift/batch_seed"))
    run("moonshift/batch_seed")
    assert.same({ 7, 40, "upkeep" }, seen("moonshift/batch_monitor"))
    run("moonshift/batch_monitor")
    assert.same({ 7, 40, "upkeep" }, seen("moonshift/batch_monitor"))
    engine:advance("PT1H")
    assert.equal(0, engine:drain().failed)
    assert.equal(0, engine:jobs():count())
  end)

  it("holds for stock types, and after a batch was activated without its seed", function()
    open()
    local ids = { (engine:enqueue("work", nil, { after = "P1D" })) }
    local id = engine:batch { type = "set-job-priority", ids = ids, config = { priority = 3 } }
    local batch = engine:batch(id)
    batch:suspend()
    engine:delete(engine:jobs { handler = "moonshift/batch_seed" })
    batch:activate()
    assert.same({ 9, 40, "upkeep" }, seen("moonshift/batch_seed"))
    run("moonshift/batch_seed")
    assert.same({ 7, 40, "upkeep" }, seen("batch/set-job-priority"))
  end)

  it("holds for history cleanup and verbs at a date", function()
    open { history_ttl = "P1D" }
    engine:clean_history()
    assert.same({ 7, 40, "upkeep" }, seen("moonshift/history_cleanup"))
    engine:definition("work"):suspend { at = "2026-02-01T00:00:00Z" }
    assert.same({ 7, 40, "upkeep" }, seen("moonshift/operate"))
    assert.equal(0, engine:drain().failed)
  end)

  it("does not go before what the batch, the operator or produce_priorities says", function()
    open()
    engine:batch { type = "note", ids = { 1 }, retries = 2, priority = 5 }
    assert.same({ 2, 5, "upkeep" }, seen("moonshift/batch_seed"))
    engine:drain()
    engine:definition("moonshift/batch_seed"):override_priority(60)
    engine:batch { type = "note", ids = { 1 } }
    assert.same({ 9, 60, "upkeep" }, seen("moonshift/batch_seed"))
    engine:close()
    open { produce_priorities = false }
    engine:batch { type = "note", ids = { 1 } }
    assert.same({ 9, 0, "upkeep" }, seen("moonshift/batch_seed"))
  end)

  it("is served by executors of other categories all the same", function()
    open { categories = { "mail" } }
    engine:definition("work"):suspend { at = "2026-01-01T00:00:00Z" }
    engine:batch { type = "set-job-priority", ids = { 1 }, config = { priority = 3 } }
    assert.is_true(engine:drain().done >= 2)
    assert.is_true(engine:definition("work").suspended)
  end)
end)
