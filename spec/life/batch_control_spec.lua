-- What is done to one batch: its priority, its execution jobs held alone, when it goes from the
-- history; and which batches are asked for.
local engines = require "spec.support.engines"
local testing = require "moonshift.testing"

describe("a batch", function()
  local engine

  before_each(function()
    engine = testing.engine {
      who = "ada",
      batch_jobs_per_seed = 4,
      failed_job_wait = "PT0S",
      history_cleanup_window = { "mon-sun 00:00-00:00" },
      handlers = { work = function() end },
    }
  end)

  after_each(engines.clean)

  -- A batch over `count` jobs.
  local function begin(count, more)
    local ids = {}
    for i = 1, count do
      ids[i] = engine:enqueue("work", nil, { after = "P1D" })
    end
    local spec = { type = "set-job-priority", ids = ids, config = { priority = 3 } }
    for key, value in pairs(more or {}) do
      spec[key] = value
    end
    return engine:batch(assert(engine:batch(spec)))
  end

  local function priorities(batch)
    local found = {}
    for _, job in ipairs(engine:jobs({ batch = batch.id }):list()) do
      found[#found + 1] = job.priority
    end
    return found
  end

  it("gets a priority, its jobs to come, too", function()
    local batch = begin(6)
    assert.same({ 0 }, priorities(batch))
    assert.equal(1, batch:set_priority(40))
    engine:turn() -- its first seed
    for _, priority in ipairs(priorities(batch)) do
      assert.equal(40, priority)
    end
    assert.is_true(#priorities(batch) >= 4)
    assert.equal(40, engine:batch(batch.id).priority)
    engine:drain()
    local _, message, code = batch:set_priority(1)
    assert.equal("conflict", code)
    assert.matches("is completed", message)
  end)

  it("can hold its execution jobs alone, while its seed goes on", function()
    local batch = begin(6)
    assert.equal(0, batch:suspend { jobs_only = true })
    engine:drain()
    local row = engine:batch(batch.id)
    assert.same({ "active", true, 6, 0 },
      { row.state, row.jobs_suspended, row.created, row.completed })
    assert.equal(6, batch:jobs({ suspended_by = "batch" }):count())
    assert.equal(0, engine:jobs({ batch = batch.id, handler = "moonshift/batch_monitor",
      suspended = true }):count())
    assert.equal(1, engine:batches({ suspended = true }):count())
    assert.equal(6, batch:activate())
    engine:drain()
    engine:advance("PT1M")
    engine:drain()
    row = engine:batch(batch.id)
    assert.same({ "completed", false, 6 }, { row.state, row.jobs_suspended, row.completed })
  end)

  it("goes from the history when it is told to, or never", function()
    local early, never = begin(1), begin(1)
    engine:drain()
    local open = begin(1)
    local _, _, code = open:set_removal_time("never")
    assert.equal("conflict", code)
    assert.equal(1, never:set_removal_time("never"))
    assert.equal(1, early:set_removal_time("2026-01-02T00:00:00Z"))
    assert.equal("never", engine:batch(never.id).removal_time)
    engine:advance("P2D")
    engine:clean_history()
    engine:drain()
    assert.is_nil(engine:batch(early.id))
    assert.equal("never", engine:batch(never.id).removal_time)
    assert.equal(1, never:set_removal_time("computed"))
    assert.is_nil(engine:batch(never.id).removal_time)
  end)

  it("is found by who began it, when, and whether jobs of it have failed", function()
    local batch = begin(1)
    engine:batch { type = "set-job-priority", ids = { 4711 }, priority = 3, job_retries = 1 }
    engine:drain()
    assert.equal(2, engine:batches({ who = "ada" }):count())
    assert.equal(0, engine:batches({ who = "bob" }):count())
    assert.equal(0, engine:batches({ with_failures = true, id = batch.id }):count())
    assert.equal(2, engine:batches({ started_before = "2200-01-01T00:00:00Z" }):count())
    assert.equal(0, engine:batches({ started_after = "2200-01-01T00:00:00Z" }):count())
    assert.equal(2, engine:batches({ suspended = false }):count())
  end)
end)

describe("batches of certain types", function()
  after_each(engines.clean)

  it("are kept for a time of their own, decided at their end", function()
    local engine = testing.engine {
      history_ttl_batches = "P10D",
      history_ttl_batches_by_type = { ["set-job-priority"] = "P1D", suspend = "off" },
      handlers = { work = function() end },
    }
    local id = engine:enqueue("work", nil, { after = "P90D" })
    local function batch(spec)
      spec.ids = { id }
      return engine:batch(spec)
    end
    local short = batch { type = "set-job-priority", priority = 3 }
    local long, kept = batch { type = "set-job-retries", retries = 2 }, batch { type = "suspend" }
    engine:drain()
    engine:advance("PT1M")
    engine:drain()
    assert.equal("never", engine:batch(kept).removal_time)
    assert.is_nil(engine:batch(long).removal_time)
    assert.matches("^2026%-01%-02T", engine:batch(short).removal_time)
    for day, left in ipairs { 3, 2, 2 } do
      engine:advance(day == 3 and "P20D" or "PT23H")
      engine:clean_history()
      engine:drain()
      assert.equal(day == 3 and 1 or left, engine:batches():count())
    end
    assert.equal(kept, engine:batches():one().id)
  end)

  it("are refused a time that is none", function()
    local _, message = pcall(testing.engine,
      { history_ttl_batches_by_type = { suspend = "soon" }, handlers = {} })
    assert.matches("history_ttl_batches_by_type", tostring(message))
  end)
end)

describe("ids that are given twice", function()
  after_each(engines.clean)

  it("count once, from part to part, too", function()
    local engine = testing.engine { handlers = { work = function() end } }
    local ids = {}
    for i = 1, 2500 do
      ids[i] = (i - 1) % 1200 + 1
    end
    ids[2501], ids[2502] = -7, -7
    local id = assert(engine:batch { type = "set-job-priority", ids = ids, priority = 1 })
    assert.equal(1201, engine:batch(id).ids)
    assert.equal(1201, engine:batch(id).total)
  end)

  it("are as many payloads", function()
    local engine = testing.engine { handlers = { work = function() end } }
    local id = assert(engine:batch { type = "enqueue", ids = { 5, 5, 5 }, handler = "work" })
    assert.equal(3, engine:batch(id).ids)
    engine:drain()
    assert.equal(3, #engine:log({ handler = "work", outcome = "successful" }):list())
  end)
end)

describe("an incident that has ended", function()
  after_each(engines.clean)

  it("goes from the history when it is told to, or never", function()
    local engine = testing.engine { handlers = { fail = function() error("no luck", 0) end } }
    local ids = {}
    for i = 1, 3 do
      engine:enqueue("fail", nil, { retries = 1 })
      ids[i] = i
    end
    engine:drain()
    local _, _, code = engine:set_incident_removal_time(ids[1], "never")
    assert.equal("conflict", code)
    for _, id in ipairs(ids) do
      engine:resolve(id)
    end
    assert.equal(1, engine:set_incident_removal_time(ids[1], "2026-01-02T00:00:00Z"))
    assert.equal(1, engine:set_incident_removal_time(ids[2], "never"))
    local told = {}
    for i, entry in ipairs(engine:operations():sort("id"):list()) do
      told[i] = ("%s %s: %s"):format(entry.verb, entry.entity, entry.new)
    end
    assert.same({ "set_incident_removal_time incident 1: 2026-01-02T00:00:00.000Z",
      "set_incident_removal_time incident 2: never" }, { table.unpack(told, #told - 1) })
    engine:advance("P2D")
    engine:clean_history()
    engine:drain()
    local left = engine:incidents():list()
    assert.equal(2, #left)
    assert.same({ "never", ids[2] }, { left[1].removal_time, left[1].id })
    assert.is_nil(left[2].removal_time)
  end)
end)

describe("retries that are set", function()
  after_each(engines.clean)

  it("make a job run at once if they are told to, else when it is due", function()
    local engine = testing.engine { failed_job_wait = "PT1H",
      handlers = { fail = function() error("no luck", 0) end } }
    local id = engine:enqueue("fail", nil, { retries = 2 })
    engine:turn()
    engine:drain()
    assert.equal("scheduled", engine:job(id).state)
    engine:set_retries(id, 1)
    assert.equal("scheduled", engine:job(id).state)
    engine:set_retries(id, 1, { due = "now" })
    assert.equal("ready", engine:job(id).state)
    engine:set_due(id, "2200-01-01T00:00:00Z")
    engine:retry(id, { due = "now" })
    assert.equal("ready", engine:job(id).state)
  end)
end)
