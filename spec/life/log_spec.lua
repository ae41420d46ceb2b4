-- The job log: what became of jobs, seen from outside.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

describe("the log", function()
  local engine

  local HANDLERS = {
    fine = function(job)
      job:log("on the way")
      return { sum = 5 }
    end,
    plain = function()
      return { sum = 5 }
    end,
    fail = function()
      error("no luck", 0)
    end,
  }

  before_each(function()
    engine = testing.engine { failed_job_wait = "PT0S", handlers = HANDLERS }
  end)

  after_each(engines.clean)

  -- One text for each entry: the fields in this order.
  local function told(query, ...)
    local texts = {}
    for i, entry in ipairs(query:list()) do
      local words = {}
      for _, field in ipairs { ... } do
        words[#words + 1] = tostring(entry[field])
      end
      texts[i] = table.concat(words, " ")
    end
    return texts
  end

  it("tells a job's life, newest first, also when it has ended", function()
    local id = engine:enqueue("fine")
    engine:drain()
    assert.same({ "successful", "created" }, told(engine:log { job = id }, "outcome"))
  end)

  it("tells of each of many jobs that end together what it returned, and when", function()
    for _ = 1, 5 do
      engine:enqueue("plain")
    end
    engine:drain()
    local entries = engine:log({ outcome = "successful" }):list()
    assert.equal(5, #entries)
    for _, entry in ipairs(entries) do
      assert.same({ { sum = 5 }, engines.START, engines.START },
        { entry.result, entry.started, entry.at })
    end
  end)

  it("is walked in the order of its list, also from page to page", function()
    local function key(entry)
      return ("%s %d %s %s"):format(entry.outcome, entry.job, entry.attempt, entry.at)
    end
    for i = 1, 700 do
      engine:enqueue(i % 7 == 0 and "fail" or "fine", nil, { retries = 2 })
      if i % 50 == 0 then
        engine:drain()
        engine:advance("PT1S")
      end
    end
    for _, filters in ipairs { {}, { outcome = "failed" }, { job = { 3, 7, 690 } } } do
      local wanted, walked = {}, {}
      for i, entry in ipairs(engine:log(filters):sort("at"):list()) do
        wanted[i] = key(entry)
      end
      local count = engine:log(filters):each(function(entry)
        walked[#walked + 1] = key(entry)
      end)
      assert.equal(#wanted, count)
      assert.same(wanted, walked)
      assert.equal(count, engine:log(filters):count())
    end
  end)

  it("counts down the retries before each failure", function()
    local id = engine:enqueue("fail")
    engine:drain()
    assert.same({ "failed 1 3", "failed 2 2", "failed 3 1", "created 3 1" },
      told(engine:log { job = id }, "outcome", "retries", "attempt"))
  end)

  it("has a run by hand with no retries left at 0", function()
    local id = engine:enqueue("fail", nil, { retries = 1 })
    engine:drain()
    pcall(engine.execute, engine, id)
    assert.same({ "0", "1" }, told(engine:log { job = id, outcome = "failed" }, "retries"))
  end)

  it("keeps what the job was when it ended", function()
    local id = engine:enqueue("fine", nil, { priority = 7, at = "2026-01-01T00:01:00Z" })
    engine:advance("PT2M")
    engine:drain()
    local entry = engine:log({ job = id, outcome = "successful" }):one()
    assert.same({ 7, "2026-01-01T00:01:00.000Z", 3, 1, "fine", "vm/1" }, { entry.priority,
      entry.due, entry.retries, entry.attempt, entry.handler, entry.executor })
    assert.same({ 0.0, { sum = 5 }, { "on the way" } },
      { entry.duration, entry.result, entry.lines })
  end)

  it("shows a creation with the values it was made with", function()
    local id = engine:enqueue("fail", nil, { priority = 7, at = "2026-01-01T00:01:00Z" })
    engine:advance("PT2M")
    engine:drain()
    engine:set_priority(id, 1)
    engine:delete(id)
    local entry = engine:log({ job = id, outcome = "created" }):one()
    assert.same({ 7, "2026-01-01T00:01:00.000Z", 3, "2026-01-01T00:00:00.000Z" },
      { entry.priority, entry.due, entry.retries, entry.at })
  end)

  it("has deletions and cancellations, with what was left", function()
    engine:delete((engine:enqueue("fine", nil, { priority = 4, after = 60 })))
    engine:cancel((engine:enqueue("fine", nil, { priority = 5, after = 70 })))
    assert.same({ "cancelled 5 2026-01-01T00:01:10.000Z", "deleted 4 2026-01-01T00:01:00.000Z" },
      told(engine:log { outcome = { "deleted", "cancelled" } }, "outcome", "priority", "due"))
  end)

  it("is cut to handlers, definitions and times", function()
    engine:enqueue("fine")
    engine:enqueue("fail", nil, { retries = 1 })
    engine:drain()
    engine:advance(60)
    engine:enqueue("fine")
    engine:drain()
    local fail = engine:definition("fail").id
    assert.same({ "failed", "created" }, told(engine:log { handler = "fail" }, "outcome"))
    assert.same({ "failed", "created" }, told(engine:log { definition = fail }, "outcome"))
    assert.same({ "failed", "created" }, told(engine:log { definition = "fail" }, "outcome"))
    assert.same({ "failed", "created" },
      told(engine:log { definition = { tostring(fail), "none" } }, "outcome"))
    assert.same({ "3 successful", "3 created" },
      told(engine:log { after = "2026-01-01T00:01:00Z" }, "job", "outcome"))
    assert.equal(4, engine:log({ before = "2026-01-01T00:01:00Z" }):count())
  end)

  it("is read page by page without a gap, in either direction", function()
    for _ = 1, 7 do
      engine:enqueue("fine")
      engine:drain()
      engine:advance(1)
    end
    for _, direction in ipairs { "asc", "desc" } do
      local log, paged = engine:log():sort("at", direction), {}
      for page = 1, 5 do
        for _, text in ipairs(told(log:page(page, 3), "job", "outcome")) do
          paged[#paged + 1] = text
        end
      end
      assert.equal(14, #paged)
      assert.same(told(log, "job", "outcome"), paged)
    end
  end)

  it("keeps the order of writing where a clock was set back", function()
    for _, at in ipairs { "2026-01-01T01:00:00Z", "2026-01-01T00:30:00Z" } do
      engine.clock:set(at)
      engine:enqueue("fine")
      engine:drain()
    end
    assert.same({ "2", "1" }, told(engine:log { outcome = "successful" }, "job"))
  end)

  it("is not asked for outcomes that are none, or in an order it has not", function()
    local _, message = engine:log({ outcome = { "failed", "done" } }):list()
    assert.equal('filter "outcome": "done" (expected created, successful, failed, '
      .. "snoozed, deleted, cancelled or skipped)", message)
    _, message = engine:log():sort("id"):list()
    assert.equal('cannot sort by "id" (expected at, job)', message)
  end)

  it("has only failures with history = failures, and nothing with none", function()
    local counts = {}
    for _, level in ipairs { "full", "failures", "none" } do
      local one = testing.engine { handlers = HANDLERS, history = level }
      one:enqueue("fine")
      one:enqueue("fail", nil, { retries = 1 })
      one:drain()
      counts[level] = one:log():count()
    end
    assert.same({ full = 4, failures = 1, none = 0 }, counts)
  end)

  it("is the same before and after its index is written behind #file", function()
    local durable, folder = engines.durable { ["handlers/fine.lua"] = "return function() end" }
    local id = durable:enqueue("fine")
    durable:drain()
    local before = told(durable:log { job = id }, "outcome", "at")
    local executor = moonshift.executor { engines = { durable } }
    executor:start()
    process.await("the index", 10, function()
      return process.sql(folder .. "/jobs.db", "SELECT count(*) FROM ended_by_job")[1] == "1"
    end)
    executor:stop()
    assert.same(before, told(durable:log { job = id }, "outcome", "at"))
    assert.is_true(moonshift.time(before[1]:match("%S+$")) > 0)
    durable:close()
  end)
end)
