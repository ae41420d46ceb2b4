-- Why a job waits, and who would take it, as programs ask: the words themselves are in
-- spec/core/store/why_contract.c.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local testing = require "moonshift.testing"

describe("why", function()
  local engine

  before_each(function()
    engine = testing.engine { handlers = { work = function() end } }
  end)

  it("is a sentence and its facts", function()
    local id = engine:enqueue("work", nil, { after = "PT5M" })
    local text, facts = engine:why(id)
    assert.equal("job 1 is due at 2026-01-01T00:05:00.000Z, in 5 min; as things are, "
      .. "no executor runs", text)
    assert.same({
      job = 1,
      handler = "work",
      state = "scheduled",
      reason = "due",
      ["when"] = "2026-01-01T00:05:00.000Z",
      ["then"] = "no_executor",
    }, facts)
  end)

  it("points at the log of a job that has ended", function()
    local id = engine:enqueue("work")
    engine:drain()
    assert.equal("job 1 has ended successfully at 2026-01-01T00:00:00.000Z (see its log)",
      (engine:why(id)))
  end)

  it("of an unknown job is not found", function()
    local text, message, code = engine:why(7)
    assert.is_nil(text)
    assert.same({ "no job 7", "not_found" }, { message, code })
  end)

  it("wants an id", function()
    assert.has_error(function()
      engine:why("seven")
    end)
  end)

  it("names the limit of a handler", function()
    for _, limit in ipairs { 1, { cluster = 1 } } do
      local text, facts
      engine = testing.engine {
        handlers = {
          tight = {
            limit = limit,
            run = function(job)
              if job.id == 1 then text, facts = job.engine:why(2) end
            end,
          },
        },
      }
      engine:enqueue_many { { "tight" }, { "tight" } }
      engine:drain()
      local where = limit == 1 and "on " .. facts.executor or "over all executors"
      assert.equal("job 2 waits for its handler's limit: 1 job at once " .. where, text)
      assert.same({ "limit", 1 }, { facts.reason, facts.limit })
    end
  end)

  it("can be asked by a handler", function()
    local text, facts
    engine = testing.engine {
      handlers = {
        ask = function(job)
          text, facts = job.engine:why(job.payload.id)
        end,
        work = function() end,
      },
    }
    local id = engine:enqueue("work", nil, { after = "PT5M" })
    engine:enqueue("ask", { id = id })
    engine:drain()
    assert.equal("job 1 is due at 2026-01-01T00:05:00.000Z, in 5 min", text)
    assert.equal("due", facts.reason)
  end)

  it("names the instance that is suspended", function()
    local id = engine:enqueue("work", nil, { instance = "order-7" })
    assert(engine:suspend_instance("order-7"))
    local text, facts = engine:why(id)
    assert.equal('job 1 is suspended by its instance "order-7"', text)
    assert.same({ "instance" }, facts.by)
  end)

  it("counts in the order of the executor that would take it", function()
    local executor = moonshift.executor { engines = { engine }, prefer_timers = true,
      by_priority = false }
    executor:turn()
    local first = engine:enqueue("work", nil, { priority = 9 })
    engine:enqueue("work", nil, { at = "2025-01-01T00:00:00Z" })
    local _, facts = engine:why(first)
    assert.equal(1, facts.ahead)
  end)
end)

describe("executors", function()
  local engine

  before_each(function()
    engine = engines.private({ ["handlers/work.lua"] = "return function() end\n" },
      { name = "node", priority_range = { 0, 9 }, categories = { "mail" } })
    engine:turn()
  end)

  after_each(engines.clean)

  it("are listed with what they take", function()
    local list = assert(engine:executors())
    assert.equal(1, #list)
    local one = list[1]
    assert.same({ "node", "live", 0, 9, "mail" },
      { one.name, one.state, one.priority_min, one.priority_max, one.categories[1] })
    assert.same({ 0, 0 }, { one.running, one.waiting })
    assert.equal("number", type(one.handlers))
  end)

  it("drain by name, and work again", function()
    local id = engine:enqueue("work", nil, { priority = 1, category = "mail" })
    assert.equal(1, engine:drain_executor("node"))
    assert.equal(0, engine:turn().acquired)
    assert.equal("job 1 is ready, but node/1, which serves it, is draining", (engine:why(id)))
    assert.equal(1, engine:drain_executor(1, false))
    assert.equal(1, engine:turn().acquired)
  end)

  it("that are not there cannot drain", function()
    local done, message, code = engine:drain_executor("other")
    assert.is_nil(done)
    assert.same({ 'no executor "other" runs (known: node/1)', "not_found" }, { message, code })
  end)

  it("leave a trace in the operation log when they are told to drain", function()
    engine:drain_executor("node")
    local entry = engine:operations():list()[1]
    assert.same({ "drain", "executor 1" }, { entry.verb, entry.entity })
  end)
end)

describe("gaps", function()
  after_each(engines.clean)

  it("are part of the stats", function()
    local engine = engines.private({ ["handlers/work.lua"] = "return function() end\n" },
      { priority_range = { 10, 49 } })
    engine:turn()
    engine:enqueue("work", nil, { priority = 5 })
    engine:enqueue("work", nil, { priority = 50, after = "PT1H" })
    assert.same({
      { kind = "range", text = "no live executor serves priority 9 and below", count = 1,
        more = false, priority_max = 9 },
      { kind = "range", text = "no live executor serves priority 50 and above", count = 1,
        more = false, priority_min = 50 },
    }, engine:stats().gaps)
  end)
end)
