local testing = require "moonshift.testing"

describe("suspension", function()
  local engine, runs, during

  before_each(function()
    runs, during = {}, nil
    engine = testing.engine {
      retry = "R3/PT1H",
      handlers = {
        work = function(job)
          runs[#runs + 1] = job.id
          if during then
            during(job)
          end
        end,
        fail = function()
          error("no luck", 0)
        end,
        other = function() end,
      },
    }
  end)

  local function state(id)
    return engine:job(id).state
  end

  local function operation()
    return engine:operations():sort("id", "desc"):list()[1]
  end

  describe("of a job", function()
    it("that runs refuses its commit, discards its work and counts no failure", function()
      local id = engine:enqueue("work")
      during = function(job)
        job:enqueue("other")
        engine:suspend(id)
        during = nil
      end
      assert.same({ done = 0, failed = 0 }, engine:drain())
      assert.equal("suspended", state(id))
      assert.equal(3, engine:job(id).retries)
      assert.equal(0, engine:jobs({ handler = "other" }):count())
      engine:activate(id)
      assert.same({ done = 1, failed = 0 }, engine:drain())
    end)

    it("keeps the delay of a retry until it is activated, and then goes on waiting", function()
      local id = engine:enqueue("fail")
      engine:drain()
      local due = engine:job(id).due
      engine:suspend(id)
      assert.equal("suspended", state(id))
      engine:activate(id)
      assert.equal("scheduled", state(id))
      assert.equal(due, engine:job(id).due)
      assert.same({ done = 0, failed = 0 }, engine:drain())
      engine:advance("PT1H")
      assert.same({ done = 0, failed = 1 }, engine:drain())
    end)

    it("does not keep it from being run by hand", function()
      local id = engine:enqueue("work")
      engine:suspend(id)
      engine:execute(id)
      assert.same({ id }, runs)
      assert.equal("not_found", select(3, engine:job(id)))
    end)

    it("is kept beside the lack of retries, and outlives it", function()
    local fails = testing.engine {
      retry = "PT5M",
      handlers = { work = function() error("no answer") end },
    }
    local id = fails:enqueue("work", nil, { retries = 1 })
    fails:drain()
    fails:suspend(id)
    assert.same({ "dead", true }, { fails:job(id).state, fails:job(id).suspended })
    fails:set_retries(id, 1)
    assert.equal("suspended", fails:job(id).state)
    fails:activate(id)
    assert.same({ "scheduled", "2026-01-01T00:05:00.000Z" },
      { fails:job(id).state, fails:job(id).due })
  end)

  it("stays when a run by hand fails", function()
    local fails = testing.engine { handlers = { work = function() error("no") end } }
    local id = fails:enqueue("work")
    fails:suspend(id)
    assert.is_false(pcall(fails.execute, fails, id))
    assert.same({ "suspended", 2 }, { fails:job(id).state, fails:job(id).retries })
  end)

  it("is logged with what it was and what it is", function()
      local id = engine:enqueue("work")
      engine:suspend(id)
      assert.equal("suspend", operation().verb)
      assert.equal("active", operation().old)
      assert.equal("suspended", operation().new)
    end)
  end)

  describe("of a definition", function()
    it("has the jobs that a running job creates suspended too", function()
      engine:definition("other"):suspend()
      engine:enqueue("work")
      during = function(job)
        job:enqueue("other")
      end
      engine:drain()
      assert.equal("suspended", engine:jobs({ handler = "other" }):one().state)
    end)

    it("with its jobs takes the commit from the one that runs", function()
      local id = engine:enqueue("work")
      during = function()
        assert.equal(1, engine:definition("work"):suspend { include_jobs = true })
      end
      assert.same({ done = 0, failed = 0 }, engine:drain())
      assert.equal("suspended", state(id))
    end)

    it("ends with its jobs, and leaves those of others alone", function()
      local own, foreign = engine:enqueue("work"), engine:enqueue("other")
      engine:definition("work"):suspend { include_jobs = true }
      engine:definition("other"):suspend { include_jobs = true }
      assert.equal(1, engine:definition("work"):activate { include_jobs = true })
      assert.equal("ready", state(own))
      assert.equal("suspended", state(foreign))
    end)

    it("is logged with the number of jobs", function()
      engine:enqueue_many { { "work" }, { "work" } }
      engine:definition("work"):suspend { include_jobs = true }
      local entry = operation()
      assert.equal("suspend_definition", entry.verb)
      assert.equal('definition "work"', entry.entity)
      assert.equal(2, entry.count)
      assert.equal("active", entry.old)
      assert.equal("suspended", entry.new)
    end)
  end)

  describe("of an instance", function()
    it("takes its jobs, those created later, and no others", function()
      local mine = engine:enqueue("work", nil, { instance = "order-7" })
      local other = engine:enqueue("work", nil, { instance = "order-8" })
      assert.equal(1, engine:suspend_instance("order-7"))
      local later = engine:enqueue("work", nil, { instance = "order-7" })
      assert.equal("suspended", state(mine))
      assert.equal("suspended", state(later))
      engine:drain()
      assert.same({ other }, runs)
    end)

    it("leaves the jobs of instances it has called alone", function()
      local called = engine:enqueue("work", nil, { instance = "called", root = "order-7" })
      engine:suspend_instance("order-7")
      assert.equal("ready", state(called))
    end)

    it("ends for all its jobs, also those with a date", function()
      engine:suspend_instance("order-7")
      local id = engine:enqueue("work", nil, { instance = "order-7", after = 60 })
      assert.equal(1, engine:activate_instance("order-7"))
      assert.equal("scheduled", state(id))
      assert.equal("ready", state(engine:enqueue("work", nil, { instance = "order-7" })))
    end)

    it("has the jobs that a running job creates for it suspended too", function()
      engine:enqueue("work")
      during = function(job)
        engine:suspend_instance("order-7")
        job:enqueue("other", nil, { instance = "order-7" })
      end
      engine:drain()
      assert.equal("suspended", engine:jobs({ handler = "other" }):one().state)
    end)

    it("is logged", function()
      engine:suspend_instance("order-7")
      local entry = operation()
      assert.equal("suspend_instance", entry.verb)
      assert.equal('instance "order-7"', entry.entity)
      assert.equal(0, entry.count)
    end)

    it("that nobody suspended cannot be activated", function()
      engine:enqueue("work", nil, { instance = "order-7" })
      local touched, message, code = engine:activate_instance("order-7")
      assert.is_nil(touched)
      assert.equal('instance "order-7": neither it nor any of its jobs is suspended', message)
      assert.equal("not_found", code)
    end)

    it("refuses what is no key", function()
      assert.has_error(function()
        engine:suspend_instance(7.5)
      end, "instance is 7.5 (expected its key, or the id of a process instance)")
    end)
  end)

  describe("at a date", function()
    it("is done by a timer job of its own", function()
      local before = engine:enqueue("work", nil, { after = "P1D" })
      local touched, id = engine:definition("work"):suspend {
        include_jobs = true, at = "2026-01-01T01:00:00Z",
      }
      assert.equal(0, touched)
      local timer = engine:job(id)
      assert.equal("moonshift/operate", timer.handler)
      assert.equal("2026-01-01T01:00:00.000Z", timer.due)
      assert.same({ verb = "suspend_definition", definition = "work", include_jobs = true },
        timer.payload)
      assert.is_false(engine:definition("work").suspended)
      engine:advance("PT1H")
      assert.same({ done = 1, failed = 0 }, engine:drain())
      assert.is_true(engine:definition("work").suspended)
      assert.equal("suspended", state(before))
    end)

    it("ends at a date", function()
      engine:definition("work"):suspend()
      local id = engine:enqueue("work")
      engine:definition("work"):activate { include_jobs = true, at = "2026-01-02T00:00:00Z" }
      engine:drain()
      assert.equal("suspended", state(id))
      engine:advance("P1D")
      engine:drain()
      assert.same({ id }, runs)
    end)

    it("is called off by deleting that job", function()
    local _, timer = engine:definition("work"):suspend { at = "2026-01-01T01:00:00Z" }
    engine:delete(timer)
    engine:advance("PT1H")
    engine:drain()
    assert.is_false(engine:definition("work").suspended)
  end)

  it("takes an instance too", function()
      engine:enqueue("work", nil, { instance = "order-7", after = "PT2H" })
      engine:suspend_instance("order-7", { at = "2026-01-01T01:00:00Z" })
      engine:activate_instance("order-7", { at = "2026-01-01T03:00:00Z" })
      for _ = 1, 2 do
        engine:advance("PT1H")
        engine:drain()
        assert.same({}, runs)
      end
      engine:advance("PT1H")
      engine:drain()
      assert.equal(1, #runs)
    end)

    it("is logged when it is asked for, and when the job does it", function()
      local _, id = engine:definition("work"):suspend { at = "2026-01-01T01:00:00Z" }
      assert.equal(("at 2026-01-01T01:00:00.000Z by job %d"):format(id), operation().new)
      engine:advance("PT1H")
      engine:drain()
      assert.equal("job " .. id, operation().who)
      assert.equal("suspend_definition", operation().verb)
      assert.equal("suspended", operation().new)
    end)

    it("is done in the order of the dates, however late", function()
      local definition = engine:definition("work")
      local _, first = definition:activate { at = "2026-01-01T03:00:00Z" }
      local _, second = definition:suspend { at = "2026-01-01T01:00:00Z" }
      assert.equal("moonshift/definition/work", engine:job(first).lane)
      assert.equal("moonshift/definition/work", engine:job(second).lane)
      engine:advance("P1D")
      engine:drain()
      assert.is_false(engine:definition("work").suspended)
    end)

    it("in the past is done at once", function()
      engine:definition("work"):suspend { at = "2020-01-01T00:00:00Z" }
      engine:drain()
      assert.is_true(engine:definition("work").suspended)
    end)

    it("takes more jobs than one transaction does", function()
      local entries = {}
      for i = 1, 2100 do
        entries[i] = { "work", nil, { after = "PT1H" } }
      end
      engine:enqueue_many(entries)
      engine:definition("work"):suspend { include_jobs = true, at = "2026-01-01T00:00:00Z" }
      assert.same({ done = 3, failed = 0 }, engine:drain())
      assert.equal(2100, engine:jobs({ suspended = true }):count())
      local entries_of_job = engine:operations({ verb = "suspend_definition" }):list()
      assert.equal(2, #entries_of_job)
      assert.equal(2100, entries_of_job[2].count)
    end)

    it("is kept by an executor that takes certain categories only, whatever its folder", function()
      engine:definition("work"):suspend { at = "2026-01-01T00:00:00Z" }
      local executor = require("moonshift").executor {
        engines = { engine }, categories = { "mail" }, deployment_aware = true,
      }
      executor:turn()
      assert.is_true(engine:definition("work").suspended)
    end)

    it("that is none is refused", function()
      local touched, message, code = engine:definition("work"):suspend { at = "soon" }
      assert.is_nil(touched)
      assert.matches('^suspend_definition: at: time "soon": expected ', message)
      assert.equal("invalid", code)
    end)
  end)
end)
