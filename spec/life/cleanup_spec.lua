-- History cleanup on a virtual clock: when it runs, how much it removes, what is asked by hand.
local moonshift = require "moonshift"
local testing = require "moonshift.testing"

local CLEANER = "moonshift/history_cleanup"
local START = "2026-01-01T12:00:00Z" -- a Thursday

describe("history cleanup", function()
  local engine

  local function fresh(settings)
    local given = {
      clock = moonshift.clock.virtual(START),
      history_ttl = "P1D",
      handlers = { work = function() end },
    }
    for key, value in pairs(settings or {}) do
      given[key] = value
    end
    engine = testing.engine(given)
  end

  local function work(count)
    for _ = 1, count do
      engine:enqueue("work")
    end
    engine:drain()
  end

  -- When the one cleanup job is due.
  local function due()
    local job = engine:jobs({ handler = CLEANER }):one()
    return job and (job.due and job.due:sub(1, 16) or "now")
  end

  local function left()
    return engine:log({ handler = "work", outcome = "successful" }):count()
  end

  local function to(instant)
    engine.clock:set(instant)
    engine:drain()
  end

  -- The local time zone's offset decides when the window opens.
  local function opens(window, zone, now)
    fresh { history_cleanup_window = window, history_cleanup_zone = zone,
      clock = moonshift.clock.virtual(now) }
    engine:drain()
    return due()
  end

  it("without a window or a request never runs", function()
    fresh()
    work(3)
    engine:advance("P9D")
    assert.same({ done = 0, failed = 0 }, engine:drain())
    assert.equal(3, left())
    assert.is_nil(due())
  end)

  it("waits for its window and removes what is old enough then", function()
    fresh { history_cleanup_window = { "22:00-06:00" } }
    work(3)
    assert.equal("2026-01-01T22:00", due())
    to "2026-01-02T22:00:00Z"
    assert.equal(0, left())
    assert.equal("2026-01-02T22:00", due())
  end)

  it("with much to do goes on at once, a batch each time", function()
    fresh { history_cleanup_window = { "22:00-06:00" }, history_cleanup_batch_size = 10 }
    work(35)
    engine.clock:set "2026-01-02T22:00:00Z"
    assert.equal(4, engine:drain().done)
    assert.equal(0, left())
    local lines = engine:log({ handler = CLEANER, outcome = "successful" }):list()[1].lines
    assert.same({ "removed 5 jobs" }, lines)
    assert.equal(35, engine:stats().metrics.removed_jobs)
  end)

  it("with little to do waits ten seconds, then twice as long, an hour at most", function()
    fresh { history_cleanup_window = { "12:00-11:59" } }
    local waits = {}
    for i = 1, 12 do
      engine:drain()
      waits[i] = engine:jobs({ handler = CLEANER }):one().due
      engine.clock:set(waits[i])
    end
    assert.equal("2026-01-01T12:00:10.000Z", waits[1])
    assert.equal("2026-01-01T12:00:30.000Z", waits[2])
    assert.equal("2026-01-01T12:01:10.000Z", waits[3])
    assert.equal("2026-01-01T14:25:10.000Z", waits[10])
    assert.equal("2026-01-01T15:25:10.000Z", waits[11])
  end)

  it("does not reach beyond the end of its window", function()
    fresh { history_cleanup_window = { "12:00-12:01" } }
    engine:drain()
    assert.equal("2026-01-01T12:00", due())
    to "2026-01-01T12:00:10Z"
    assert.equal("2026-01-01T12:00", due())
    to "2026-01-01T12:00:30Z"
    assert.equal("2026-01-02T12:00", due())
  end)

  it("that comes too late for its window does nothing and waits for the next", function()
    fresh { history_cleanup_window = { "22:00-06:00" } }
    work(3)
    to "2026-01-04T06:00:00Z"
    assert.equal(3, left())
    assert.equal("2026-01-04T22:00", due())
    to "2026-01-05T05:59:59Z"
    assert.equal(0, left())
  end)

  describe("window", function()
    it("may differ by weekday, and a day may have none", function()
      local window = { "22:00-06:00", "sat-sun 20:00-10:00", "fri off" }
      assert.equal("2026-01-01T22:00", opens(window, nil, START))
      assert.equal("2026-01-03T20:00", opens(window, nil, "2026-01-02T06:00:00Z"))
      assert.equal("2026-01-04T20:00", opens(window, nil, "2026-01-04T10:00:00Z"))
      assert.equal("2026-01-05T22:00", opens(window, nil, "2026-01-05T10:00:00Z"))
    end)

    it("is open from its start until before its end", function()
      assert.equal("2026-01-01T22:00", opens({ "22:00-06:00" }, nil, "2026-01-01T21:59:59Z"))
      assert.equal("2026-01-01T22:00", opens({ "22:00-06:00" }, nil, "2026-01-01T22:00:00Z"))
      assert.equal("2026-01-02T05:59", opens({ "22:00-06:00" }, nil, "2026-01-02T05:59:40Z"))
      assert.equal("2026-01-02T22:00", opens({ "22:00-06:00" }, nil, "2026-01-02T06:00:00Z"))
    end)

    it("is local time, also where clocks are changed", function()
      local window, zone = { "02:30-04:00" }, "Europe/Berlin"
      assert.equal("2026-03-28T01:30", opens(window, zone, "2026-03-27T12:00:00Z"))
      assert.equal("2026-03-29T01:00", opens(window, zone, "2026-03-28T12:00:00Z"))
      assert.equal("2026-03-30T00:30", opens(window, zone, "2026-03-29T12:00:00Z"))
      assert.equal("2026-10-25T00:30", opens(window, zone, "2026-10-24T12:00:00Z"))
    end)

    it("that cannot be read is refused", function()
      local function refusal(settings)
        settings.store = "sqlite::memory:"
        return (select(2, moonshift.open(settings)))
      end
      local expected = 'history_cleanup_window: window "%s": expected "22:00-06:00", '
        .. '"sat-sun 20:00-10:00" or "sun off"'
      for _, text in ipairs { "22-06", "24:00-06:00", "22:00-24:01", "sam 20:00-10:00", "sat" } do
        assert.truthy(refusal { history_cleanup_window = { text } }, text)
      end
      assert.equal(expected:format("22:00"), refusal { history_cleanup_window = { "22:00" } })
      assert.equal('history_cleanup_zone: zone "Europe/Berln": unknown (did you mean '
        .. '"Europe/Berlin"?)', refusal { history_cleanup_zone = "Europe/Berln" })
    end)
  end)

  describe("on demand", function()
    it("ignores the window and ends when nothing is left", function()
      fresh { history_cleanup_window = { "22:00-06:00" }, history_cleanup_batch_size = 10 }
      work(25)
      to "2026-01-02T12:00:00Z"
      local ids = engine:clean_history()
      assert.equal(1, #ids)
      assert.equal(CLEANER, engine:job(ids[1]).handler)
      assert.equal(3, engine:drain().done)
      assert.equal(0, left())
      assert.equal(1, engine:jobs({ handler = CLEANER }):count())
      assert.equal("2026-01-02T22:00", due())
    end)

    it("needs no window", function()
      fresh()
      work(3)
      engine:advance("P1D")
      engine:clean_history()
      engine:drain()
      assert.equal(0, left())
      assert.is_nil(due())
    end)

    it("is shared by as many jobs as the setting says", function()
      fresh { history_cleanup_parallelism = 8 }
      assert.equal(8, #engine:clean_history())
      assert.equal(8, #engine:clean_history())
      assert.equal(8, engine:jobs({ handler = CLEANER }):count())
    end)

    it("is told beforehand what it will remove", function()
      fresh { history_ttl_operations = "off" }
      work(3)
      engine:suspend(engine:enqueue("work"))
      engine:advance("P1D")
      assert.same({ jobs = 3, incidents = 0, batches = 0, operations = 0, instances = 0 },
        engine:history().removable)
      assert.equal("P1D", engine:history().ttl.jobs)
      assert.is_nil(engine:history().ttl.operations)
      assert.equal(3, left())
    end)

    it("lets jobs of the window that were given up go on", function()
      fresh { history_cleanup_window = { "22:00-06:00" } }
      engine:turn()
      local id = engine:jobs({ handler = CLEANER }):one().id
      engine:dead_letter(id)
      engine:clean_history()
      assert.equal("scheduled", engine:job(id).state)
      assert.equal(0, engine:incidents({ open = true }):count())
    end)

    it("is in the operation log", function()
      fresh()
      local id = engine:clean_history()[1]
      local entry = engine:operations():one()
      assert.same({ "clean_history", "by job " .. id }, { entry.verb, entry.new })
    end)
  end)

  describe("jobs", function()
    it("have a priority of their own, which a definition's override replaces", function()
      fresh { history_cleanup_priority = -5 }
      assert.equal(-5, engine:job(engine:clean_history()[1]).priority)
      engine:drain()
      engine:definition(CLEANER):override_priority(7)
      assert.equal(7, engine:job(engine:clean_history()[1]).priority)
    end)

    it("wait while their definition is suspended", function()
      fresh { history_cleanup_window = { "00:00-00:00" } }
      work(2)
      engine:definition(CLEANER):suspend { include_jobs = true }
      engine:advance("P2D")
      engine:drain()
      assert.equal(2, left())
      engine:definition(CLEANER):activate { include_jobs = true }
      engine:drain()
      assert.equal(0, left())
    end)
  end)

  describe("removal time", function()
    before_each(function()
      fresh()
      work(3)
    end)

    local function removal(id)
      return engine:log({ job = id, outcome = "successful" }):one().removal_time
    end

    it("is counted from the end unless it is set", function()
      assert.equal("2026-01-02T12:00:00.000Z", removal(1))
      assert.equal(1, engine:set_removal_time(1, "2026-01-01T13:00:00Z"))
      assert.equal("2026-01-01T13:00:00.000Z", removal(1))
      assert.equal(2, engine:set_removal_time({ 1, 2 }, "never"))
      assert.equal("never", removal(2))
      assert.equal(3, engine:set_removal_time(engine:log { handler = "work" }, "computed"))
      assert.equal("2026-01-02T12:00:00.000Z", removal(2))
    end)

    it("decides what cleanup removes", function()
      engine:set_removal_time(1, "2026-01-01T13:00:00Z")
      engine:set_removal_time(2, "never")
      engine:advance("PT1H")
      engine:clean_history()
      engine:drain()
      assert.equal(2, left())
      engine:advance("P9D")
      engine:clean_history()
      engine:drain()
      assert.equal("never", removal(2))
      assert.equal(1, left())
    end)

    it("is refused for what has not ended", function()
      local id = engine:enqueue("work")
      assert.same({ nil, "job 4 has not ended", "conflict" },
        { engine:set_removal_time({ 1, id }, "never") })
      assert.same({ nil, "no job 9 in the history", "not_found" }, { engine:delete_history(9) })
      assert.has_error(function()
        engine:delete_history(engine:jobs())
      end, "delete_history: expected ids, or a query of the log without a page")
    end)

    it("of now is delete_history", function()
      assert.equal(2, engine:delete_history { 1, 3 })
      assert.equal(1, left())
      assert.equal(1, engine:delete_history(engine:log { handler = "work" }))
      assert.equal(0, left())
      assert.equal(3, engine:operations():count() + 1)
    end)
  end)
end)
