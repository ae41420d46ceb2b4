-- A repeating job that waits is given another cycle.
local testing = require "moonshift.testing"

describe("a waiting job's cycle", function()
  local engine, runs

  before_each(function()
    runs = {}
    engine = testing.engine {
      handlers = {
        tick = function(job)
          runs[#runs + 1] = job.due
          if job.payload.fails then
            error("no luck")
          end
        end,
        change = function(job)
          job:operate(job.payload)
        end,
      },
    }
  end)

  -- Hours and minutes of an instant on the first of January, else the instant.
  local function short(due)
    return due and due:match("^2026%-01%-01T(%d%d:%d%d):00%.000Z$") or due
  end

  local function all(list)
    local short_ones = {}
    for i, due in ipairs(list) do
      short_ones[i] = short(due)
    end
    return table.concat(short_ones, " ")
  end

  local function pass(span, times)
    for _ = 1, times or 1 do
      engine:advance(span)
      engine:drain()
    end
  end

  local function hourly(options, payload)
    options = options or {}
    options.cycle = options.cycle or "R/PT1H"
    return (engine:enqueue("tick", payload or {}, options))
  end

  local function refused(code, message, ...)
    local touched, said, kind = engine:set_cycle(...)
    assert.is_nil(touched)
    assert.equal(message, said)
    assert.equal(code, kind)
  end

  it("is counted from now", function()
    local id = hourly()
    engine:advance("PT20M")
    assert.equal(1, engine:set_cycle(id, "R/PT2H"))
    local job = engine:job(id)
    assert.equal("R/PT2H", job["repeat"])
    assert.equal("02:20", short(job.due))
    engine:advance("PT1H")
    assert.equal(0, engine:drain().done)
    pass("PT1H", 3)
    assert.equal("02:20 04:20", all(runs))
    assert.equal("06:20", short(engine:jobs():one().due))
  end)

  it("brings the next date forward, too, and ends after its own number of runs", function()
    local id = hourly { cycle = "R/P1D" }
    engine:set_cycle(id, "R2/PT10M")
    pass("PT10M", 5)
    assert.equal("00:10 00:20", all(runs))
    assert.equal(0, engine:jobs():count())
  end)

  it("may name a start, whose missed dates are passed over", function()
    local id = hourly()
    engine:advance("PT20M")
    engine:set_cycle(id, "R/2026-01-01T00:15:00Z/PT30M")
    assert.equal("00:45", short(engine:job(id).due))
  end)

  it("keeps its zone and its policy unless others are given", function()
    local id = hourly { cycle = "0 8 * * *", zone = "Europe/Berlin", misfire = "skip" }
    engine:set_cycle(id, "0 9 * * *")
    assert.equal("08:00", short(engine:job(id).due))
    engine:set_cycle(id, "0 9 * * *", { zone = "UTC", misfire = "all" })
    assert.equal("09:00", short(engine:job(id).due))
    local log = engine:operations():list()
    assert.equal("0 9 * * * (Europe/Berlin, skip)", log[2].old)
    assert.equal("0 9 * * * (UTC, all)", log[2].new)
    engine:advance("P3D")
    engine:drain()
    assert.equal(3, #runs)
  end)

  it("changes nothing else of the job, and its successors inherit that", function()
    local id = hourly({ unique = "one", priority = 7, lane = "x", retries = 4 }, { n = 1 })
    engine:set_cycle(id, "R/PT5M")
    pass("PT5M")
    local job = engine:jobs():one()
    assert.equal("00:10", short(job.due))
    assert.same({ 7, "x", 4, 1 }, { job.priority, job.lane, job.retries, job.payload.n })
    assert.equal("kept", select(2, engine:enqueue("tick", {}, { unique = "one" })))
  end)

  it("takes a job that is due out of those that are ready", function()
    local id = hourly()
    engine:advance("PT61M")
    assert.equal("ready", engine:job(id).state)
    engine:set_cycle(id, "R/PT2H")
    assert.equal("scheduled", engine:job(id).state)
    assert.equal(0, engine:drain().done)
    pass("PT2H")
    assert.equal("03:01", all(runs))
  end)

  it("forgets a date that was moved with all later ones", function()
    local id = hourly()
    engine:set_due(id, "2026-01-01T01:15:00Z", { cascade = true })
    engine:set_cycle(id, "R/PT1H")
    assert.equal("01:00", short(engine:job(id).due))
    engine:recalculate_due(id)
    assert.equal("01:00", short(engine:job(id).due))
  end)

  it("waits on if the job is suspended", function()
    local id = hourly()
    engine:suspend(id)
    engine:set_cycle(id, "R/PT10M")
    pass("PT10M", 2)
    assert.equal("", all(runs))
    engine:activate(id)
    engine:drain()
    assert.equal("00:10", all(runs))
  end)

  it("is changed for a list, for a query, and by a job", function()
    local a, b = hourly(), hourly()
    assert.equal(2, engine:set_cycle({ a, b }, "R/PT2H"))
    assert.equal(2, engine:set_cycle(engine:jobs { handler = "tick" }, "R/PT3H"))
    engine:enqueue("change", { verb = "set_cycle", ids = { a }, cycle = "R/PT4H" })
    assert.equal(1, engine:drain().done)
    assert.equal("04:00", short(engine:job(a).due))
    assert.equal("03:00", short(engine:job(b).due))
    assert.equal("job " .. a, engine:operations():list()[3].entity)
  end)

  it("is changed by a batch of jobs", function()
    local a, b = hourly(), hourly()
    engine:batch { type = "set-cycle", ids = { a, b }, cycle = "0 3 * * *", zone = "UTC" }
    engine:drain()
    assert.equal("03:00", short(engine:job(a).due))
    assert.equal("03:00", short(engine:job(b).due))
  end)

  it("stays in a dry run, which refuses what the verb would", function()
    local id = hourly()
    assert.equal(1, engine:set_cycle(id, "R/PT2H", { dry_run = true }))
    assert.equal("R/PT1H", engine:job(id)["repeat"])
    refused("conflict", 'cycle "R2/2020-01-01T00:00:00Z/PT1H": has no date left', id,
      "R2/2020-01-01T00:00:00Z/PT1H", { dry_run = true })
  end)

  describe("is not changed", function()
    it("where the job does not repeat", function()
      local id = engine:enqueue("tick", {}, { after = "PT1H" })
      refused("conflict", ("job %d does not repeat (enqueue one with a cycle instead)"):format(id),
        id, "R/PT1H")
    end)

    it("where the job is dead, or has made its next occurrence", function()
      local id = hourly({ retries = 2 }, { fails = true })
      engine:advance("PT1H")
      engine:turn()
      local next_one = engine:jobs({ timer = true, due_after = "2026-01-01T01:30:00Z" }):one().id
      refused("conflict", ("job %d has made its next occurrence, job %d"):format(id, next_one), id,
        "R/PT2H")
      engine:dead_letter(id)
      refused("conflict", ("job %d is dead (expected one that waits for its date)"):format(id), id,
        "R/PT2H")
      assert.equal(1, engine:set_cycle(next_one, "R/PT2H"))
    end)

    it("where the job runs", function()
      local said, busy
      busy = testing.engine {
        handlers = {
          tick = function(job)
            said = { busy:set_cycle(job.id, "R/PT2H") }
          end,
        },
      }
      local id = busy:enqueue("tick", {}, { cycle = "R/PT1H" })
      busy:advance("PT1H")
      busy:drain()
      assert.is_nil(said[1])
      assert.equal(("job %d is locked (expected one that waits for its date)"):format(id), said[2])
    end)

    it("where one of several is refused", function()
      local a, b = hourly(), (engine:enqueue("tick", {}, { after = "PT1H" }))
      assert.is_nil(engine:set_cycle({ a, b }, "R/PT2H"))
      assert.equal("R/PT1H", engine:job(a)["repeat"])
      assert.equal(0, engine:operations():count())
    end)

    it("by a text that is no cycle, which an example follows", function()
      local id = hourly()
      local _, said, code = engine:set_cycle(id, "hourly")
      assert.equal("invalid", code)
      assert.truthy(said:find('^set_cycle: cron "hourly": expected 5 fields'), said)
      assert.truthy(said:find('; a cycle is such as "R/PT2H" or "0 3 * * *"', 1, true), said)
      refused("invalid", 'set_cycle: zone "Europe/Berln": unknown (did you mean "Europe/Berlin"?)',
        id, "0 3 * * *", { zone = "Europe/Berln" })
      refused("invalid", 'set_cycle: misfire "never": expected "once", "all" or "skip"', id,
        "0 3 * * *", { misfire = "never" })
      refused("conflict", 'cycle "R2/2020-01-01T00:00:00Z/PT1H": has no date left', id,
        "R2/2020-01-01T00:00:00Z/PT1H")
      refused("not_found", "no job 99", 99, "R/PT2H")
      assert.equal("01:00", short(engine:job(id).due))
      assert.equal(0, engine:operations():count())
    end)

    it("by nothing", function()
      local id = hourly()
      assert.has_error(function()
        engine:set_cycle(id, nil)
      end, 'cycle is nothing (expected a text such as "R/PT2H" or "0 3 * * *")')
      assert.has_error(function()
        engine:set_cycle(id, "R/PT2H", { zones = "UTC" })
      end, 'set_cycle: unknown key "zones" (did you mean "zone"?)')
    end)
  end)
end)
