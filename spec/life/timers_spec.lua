-- Jobs that repeat: their dates, what a next occurrence is like, what operators do to them.
local testing = require "moonshift.testing"

local START = "2026-01-01T00:00:00Z"

describe("a repeating job", function()
  local engine, runs

  local function fresh(settings)
    runs = {}
    local given = {
      handlers = {
        tick = function(job)
          runs[#runs + 1] = job.due
          if job.payload.fails then
            error("no luck")
          end
        end,
      },
    }
    for key, value in pairs(settings or {}) do
      given[key] = value
    end
    engine = testing.engine(given)
  end

  before_each(fresh)

  -- Hours and minutes of an instant on the first of January, else the instant.
  local function short(due)
    return due and due:match("^2026%-01%-01T(%d%d:%d%d):00%.000Z$") or due
  end

  local function dues(filters)
    local list = {}
    for _, job in ipairs(engine:jobs(filters):list()) do
      list[#list + 1] = short(job.due) or "none"
    end
    return table.concat(list, " ")
  end

  local function ran()
    local list = {}
    for i, due in ipairs(runs) do
      list[i] = short(due) or "none"
    end
    return table.concat(list, " ")
  end

  local function pass(span, times)
    for _ = 1, times or 1 do
      engine:advance(span)
      engine:drain()
    end
  end

  describe("at creation", function()
    it("is a timer that waits for its first date", function()
      local job = engine:job((engine:enqueue("tick", {}, { cycle = "R3/PT1H" })))
      assert.equal("timer", job.type)
      assert.equal("R3/PT1H", job["repeat"])
      assert.equal("2026-01-01T01:00:00.000Z", job.due)
    end)

    it("may call its cycle repeat, as a job's field is called", function()
      engine:enqueue("tick", {}, { ["repeat"] = "R/PT5M" })
      assert.equal("00:05", dues())
    end)

    it("begins its grid where a date or a delay says", function()
      engine:enqueue("tick", {}, { cycle = "R/PT1H", after = "PT5M" })
      engine:enqueue("tick", {}, { cycle = "R/PT1H", at = "2026-01-01T08:30:00Z" })
      engine:enqueue("tick", {}, { cycle = "0 * * * *", at = "2026-01-01T03:00:00Z" })
      assert.equal("00:05 08:30 03:00", dues())
      pass("PT5M")
      assert.equal("08:30 03:00 01:05", dues())
    end)

    it("takes the first date that is not past of a grid with a start", function()
      engine:enqueue("tick", {}, { cycle = "R/2025-12-31T23:20:00Z/PT1H" })
      engine:enqueue("tick", {}, { cycle = "R2/2026-01-01T00:00:00Z/PT1H" })
      assert.equal("00:20 00:00", dues())
    end)

    it("reads cron in a zone", function()
      engine:enqueue("tick", {}, { cycle = "0 8 * * *", zone = "Europe/Berlin" })
      engine:enqueue("tick", {}, { cycle = "0 30 9 * * ?" })
      assert.equal("07:00 09:30", dues())
    end)

    local function refuses(options, message, code)
      local id, said, kind = engine:enqueue("tick", {}, options)
      assert.is_nil(id)
      assert.equal(message, said)
      assert.equal(code or "invalid", kind)
      assert.equal(0, engine:jobs():count())
    end

    it("is refused with a start and a date at once", function()
      refuses({ cycle = "R/2026-02-01T00:00:00Z/P1D", after = "PT5M" },
        'cycle "R/2026-02-01T00:00:00Z/P1D": has a start of its own '
        .. "(expected no due date beside it)")
    end)

    it("is refused when its cycle has no date left", function()
      refuses({ cycle = "R3/2025-01-01T00:00:00Z/PT1H" },
        'cycle "R3/2025-01-01T00:00:00Z/PT1H": has no date left', "conflict")
    end)

    it("is refused with two cycles, or with a zone but none", function()
      refuses({ cycle = "R/PT1H", ["repeat"] = "R/PT1H" },
        "cycle and repeat: expected only one")
      refuses({ zone = "Europe/Berlin" }, "zone: expected a cycle beside it")
      refuses({ misfire = "all" }, "misfire: expected a cycle beside it")
    end)

    it("is refused with values that mean nothing", function()
      refuses({ cycle = 5 }, "cycle 5: expected a text")
      refuses({ cycle = "R/PT1H", misfire = "never" },
        'misfire "never": expected "once", "all" or "skip"')
      refuses({ cycle = "R/PT1H", zone = "Mars" },
        'zone "Mars": unknown (expected a name such as "Europe/Berlin")')
    end)
  end)

  describe("that has run", function()
    it("runs again at each date of its grid, and after the last no more", function()
      engine:enqueue("tick", {}, { cycle = "R3/PT1H" })
      pass("PT30M", 10)
      assert.equal("01:00 02:00 03:00", ran())
      assert.equal("", dues())
    end)

    it("leaves a next one that is like it", function()
      local id = engine:enqueue("tick", { n = 7 }, {
        cycle = "R/PT1H", priority = 5, lane = "a", instance = "i", root = "r", activity = "act",
        tenant = "t", category = "c", retries = 4,
      })
      engine:set_priority(id, 9999)
      local before = engine:job(id)
      pass("PT1H")
      local after = engine:jobs():one()
      for _, key in ipairs { "payload", "lane", "instance", "root", "activity", "tenant",
        "category", "retries", "repeat", "type", "deployment", "exclusive" } do
        assert.same(before[key], after[key], key)
      end
      assert.equal(9999, after.priority)
      assert.equal("02:00", short(after.due))
      assert.equal(1, after.attempt)
    end)

    it("has logs of each run apart", function()
      engine:enqueue("tick", {}, { cycle = "R/PT1H" })
      pass("PT1H", 2)
      local log = engine:log({ handler = "tick", outcome = "successful" }):list()
      assert.equal(2, #log)
      assert.not_equal(log[1].job, log[2].job)
    end)

    it("fails beside its successor, which has all its runs", function()
      engine:enqueue("tick", { fails = true }, { cycle = "R3/PT1H", retries = 2 })
      engine:advance("PT1H")
      engine:turn()
      local jobs = engine:jobs():list()
      assert.equal(2, #jobs)
      assert.equal(1, jobs[1].retries)
      assert.equal(2, jobs[2].retries)
      assert.equal("02:00", short(jobs[2].due))
      engine:drain()
      assert.equal(2, engine:jobs():count())
    end)

    it("goes on beside its dead letters", function()
      engine:enqueue("tick", { fails = true }, { cycle = "R3/PT1H", retries = 1 })
      pass("PT1H", 5)
      assert.equal("01:00 02:00 03:00", ran())
      assert.equal(3, engine:jobs({ state = "dead" }):count())
      assert.equal(3, engine:incidents({ open = true }):count())
    end)

    it("does not drift when it runs late", function()
      engine:enqueue("tick", {}, { cycle = "R/PT1H" })
      pass("PT1H25M")
      assert.equal("02:00", dues())
    end)

    it("goes on by its zone's local time when the clocks change", function()
      engine:enqueue("tick", {}, { cycle = "0 8 * * *", zone = "Europe/Berlin",
        at = "2026-03-28T00:00:00Z" })
      engine:advance("P86DT12H")
      engine:drain()
      assert.equal("2026-03-29T06:00:00.000Z", dues())
    end)
  end)

  describe("that missed dates", function()
    local function miss(misfire, cycle)
      engine:enqueue("tick", {}, { cycle = cycle or "R/PT1H", misfire = misfire })
      pass("PT3H30M")
    end

    it("runs once, late, unless told otherwise", function()
      miss(nil)
      assert.equal("01:00", ran())
      assert.equal("04:00", dues())
    end)

    it("runs for all of them if told so", function()
      miss("all")
      assert.equal("01:00 02:00 03:00", ran())
      assert.equal("04:00", dues())
    end)

    it("runs for none of them if told so", function()
      miss("skip")
      assert.equal("", ran())
      assert.equal("04:00", dues())
      pass("PT30M")
      assert.equal("04:00", ran())
      assert.equal(1, #engine:log({ outcome = "successful" }):list())
    end)

    it("has used them up", function()
      miss("once", "R3/PT1H")
      miss("skip", "R3/PT1H")
      assert.equal("01:00", ran())
      assert.equal("", dues())
    end)

    it("is not skipped within a minute", function()
      engine:enqueue("tick", {}, { cycle = "R/PT1H", misfire = "skip" })
      pass("PT1H1M")
      assert.equal("01:00", ran())
    end)
  end)

  describe("in an operator's hands", function()
    it("ends when the job that waits is deleted", function()
      local id = engine:enqueue("tick", {}, { cycle = "R/PT1H" })
      engine:delete(id)
      pass("PT1H", 3)
      assert.equal("", ran())
    end)

    it("leaves a later one when it is run by hand before its date", function()
      local id = engine:enqueue("tick", {}, { cycle = "R2/PT1H" })
      engine:execute(id)
      assert.equal("02:00", dues())
      engine:execute(engine:jobs():one().id)
      assert.equal("", dues())
    end)

    it("is followed by a suspended one only if it is suspended when it is run", function()
      local id = engine:enqueue("tick", {}, { cycle = "R/PT1H" })
      engine:suspend(id)
      pass("PT2H30M")
      assert.equal("", ran())
      engine:execute(id)
      assert.is_true(engine:jobs():one().suspended)
      engine:activate(engine:jobs():one().id)
      pass("PT2H")
      assert.equal("01:00 03:00", ran())
      assert.is_false(engine:jobs():one().suspended)
    end)

    it("is followed by a suspended one if its definition is", function()
      engine:enqueue("tick", {}, { cycle = "R/PT1H" })
      engine:definition("tick"):suspend()
      pass("PT1H")
      assert.equal("01:00", ran())
      assert.is_true(engine:jobs():one().suspended)
    end)

    it("keeps its grid when one date is changed", function()
      local id = engine:enqueue("tick", {}, { cycle = "R/PT1H" })
      engine:set_due(id, "2026-01-01T01:20:00Z")
      pass("PT1H20M")
      assert.equal("01:20", ran())
      assert.equal("02:00", dues())
    end)

    it("moves as a whole with cascade, which adds up and may go back", function()
      local id = engine:enqueue("tick", {}, { cycle = "R/PT1H" })
      engine:set_due(id, "2026-01-01T01:20:00Z", { cascade = true })
      pass("PT1H20M")
      assert.equal("02:20", dues())
      engine:set_due(engine:jobs():one().id, "2026-01-01T01:50:00Z", { cascade = true })
      pass("PT30M")
      assert.equal("01:20 01:50", ran())
      assert.equal("02:50", dues())
    end)

    it("does not move once its next one is there", function()
      local id = engine:enqueue("tick", { fails = true }, { cycle = "R/PT1H" })
      engine:advance("PT1H")
      engine:turn()
      local touched, message, code = engine:set_due(id, "2026-01-01T05:00:00Z",
        { cascade = true })
      assert.is_nil(touched)
      assert.equal("job 1 has made its next occurrence, job 2", message)
      assert.equal("conflict", code)
      assert.equal(1, engine:set_due(id, "2026-01-01T05:00:00Z"))
    end)

    it("returns to its grid when its date is counted anew", function()
      local id = engine:enqueue("tick", {}, { cycle = "R/PT1H" })
      engine:set_due(id, "2026-01-01T09:20:00Z", { cascade = true })
      assert.equal(1, engine:recalculate_due(id))
      assert.equal("01:00", dues())
      pass("PT1H")
      assert.equal("02:00", dues())
    end)
  end)

  it("runs once at its date when the clock has been set back", function()
    engine:enqueue("tick", {}, { cycle = "R/PT1H" })
    pass("PT1H")
    engine:advance(-1800)
    engine:drain()
    assert.equal("01:00", ran())
    assert.equal("02:00", dues())
  end)
end)

describe("a timer", function()
  local engine

  before_each(function()
    engine = testing.engine { handlers = { tick = function() end } }
  end)

  local function due(options)
    local id, message = engine:enqueue("tick", {}, options)
    return id and engine:job(id).due or message
  end

  it("is due at a date with a zone or without, or after a span of the calendar", function()
    assert.equal("2026-05-01T06:00:00.000Z", due { at = "2026-05-01T08:00:00+02:00" })
    assert.equal("2026-05-01T08:00:00.000Z", due { at = "2026-05-01T08:00" })
    assert.equal("2026-02-01T00:00:00.000Z", due { after = "P1M" })
    assert.equal("2027-03-04T00:00:01.500Z", due { after = "P1Y2M3DT1.5S" })
    assert.equal("2026-01-01T00:00:01.500Z", due { after = 1.5 })
  end)

  it("is not taken before its date, also after the clock was set back", function()
    local id = engine:enqueue("tick", {}, { after = "PT1H" })
    engine:suspend(id)
    engine:advance("PT2H")
    engine:activate(id)
    engine:advance(-5400)
    assert.same({ done = 0, failed = 0 }, engine:drain())
    assert.equal("scheduled", engine:job(id).state)
    engine:advance("PT30M")
    assert.same({ done = 1, failed = 0 }, engine:drain())
  end)

  describe("counted anew", function()
    it("keeps its span, from now or from its creation", function()
      local id = engine:enqueue("tick", {}, { after = "PT1H" })
      engine:advance("PT10M")
      assert.equal(1, engine:recalculate_due(id))
      assert.equal("2026-01-01T01:10:00.000Z", engine:job(id).due)
      engine:recalculate_due(id, { from_creation = true })
      assert.equal("2026-01-01T01:00:00.000Z", engine:job(id).due)
      local entry = engine:operations():sort("id", "desc"):list()[1]
      assert.equal("recalculate_due", entry.verb)
      assert.equal("2026-01-01T01:10:00.000Z", entry.old)
      assert.equal("2026-01-01T01:00:00.000Z", entry.new)
    end)

    it("keeps its date", function()
      local id = engine:enqueue("tick", {}, { at = "2026-05-01T08:00" })
      engine:set_due(id, START)
      engine:recalculate_due(id)
      assert.equal("2026-05-01T08:00:00.000Z", engine:job(id).due)
    end)

    it("is refused for what is no timer, and for what is not there", function()
      local id = engine:enqueue("tick")
      local touched, message, code = engine:recalculate_due { id }
      assert.same({ nil, "job 1 is no timer", "conflict" }, { touched, message, code })
      assert.equal("no job 9", (select(2, engine:recalculate_due(9))))
    end)
  end)
end)
