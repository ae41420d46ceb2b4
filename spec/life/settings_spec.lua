-- Settings that no other spec changes: each does what it says.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

describe("the setting", function()
  after_each(engines.clean)

  it("by_due_date lets an older due date go first", function()
    local order = {}
    local function engine_with(by_due_date)
      order = {}
      local engine = testing.engine {
        by_due_date = by_due_date,
        handlers = {
          a = function() order[#order + 1] = "a" end,
          b = function() order[#order + 1] = "b" end,
        },
      }
      engine:enqueue("a", nil, { at = "2025-06-01T00:00:00Z" })
      engine:enqueue("b", nil, { at = "2025-01-01T00:00:00Z" })
      engine:drain()
      return table.concat(order)
    end
    assert.equal("ba", engine_with(true))
    assert.equal("ab", engine_with(false))
  end)

  it("ensure_due_date gives a date to a job that has none, and leaves the others theirs", function()
    local engine = testing.engine { ensure_due_date = true, handlers = { a = function() end } }
    local now, later = "2026-01-01T00:00:00.000Z", "2026-01-01T00:05:00.000Z"
    local none, dated = engine:enqueue "a", engine:enqueue("a", nil, { at = later })
    assert.same({ now, later }, { engine:job(none).due, engine:job(dated).due })
    engine:drain()
    assert.equal("scheduled", engine:job(dated).state)
  end)

  it("recycle_after gives a worker a fresh state after so many jobs", function()
    local function counts(after)
      local engine = engines.private({ ["handlers/count.lua"] =
        "local n = 0\nreturn function() n = n + 1 return n end\n" }, { recycle_after = after })
      local seen = {}
      for i = 1, 5 do
        seen[i] = engine:execute((engine:enqueue("count")))
      end
      return table.concat(seen, " ")
    end
    assert.equal("1 2 1 2 1", counts(2))
    assert.equal("1 2 3 4 5", counts(10000))
  end)

  it("crash_limit says after how many deaths a job is dead", function()
    local folder = engines.folder { ["handlers/die.lua"] =
      "return function() os.execute('kill -9 $PPID') end\n" }
    local store = "sqlite:" .. folder .. "/moonshift.db"
    process.moonshift("enqueue", "die", "-C", folder, "--store", store)
    process.moonshift("run", folder, "--store", store, "--crash-limit", "1")
    process.moonshift("run", folder, "--store", store, "--crash-limit", "1", "--drain")
    local _, why = process.moonshift("job", "why", "1", "--store", store)
    assert.equal("job 1 has no retries left (incident 1, workerDied): "
      .. "the process died 1 time while this job ran\n", why)
  end)

  it("shutdown_wait bounds how long a running job is waited for", function()
    local folder = engines.folder { ["handlers/long.lua"] =
      "return function() while true do end end\n" }
    local store, log = "sqlite:" .. folder .. "/moonshift.db", folder .. "/log"
    process.moonshift("enqueue", "long", "-C", folder, "--store", store)
    local pid = process.start(log, "run", folder, "--store", store, "--shutdown-wait", "PT0.2S",
      "--log-format", "logfmt")
    process.await("the job", 5, function()
      local _, why = process.moonshift("job", "why", "1", "--store", store)
      return why:find("has been running", 1, true)
    end)
    process.kill(pid, "TERM")
    process.await_end(pid, 5)
    local _, why = process.moonshift("job", "why", "1", "--store", store)
    assert.equal("job 1 is ready, but no executor runs\n", why)
  end)

  it("ensure_due_date gives every new job a due date", function()
    local engine = testing.engine { ensure_due_date = true, handlers = { work = function() end } }
    local id = engine:enqueue("work")
    assert.equal("2026-01-01T00:00:00.000Z", engine:job(id).due)
    assert.same({ done = 1, failed = 0 }, engine:drain())
  end)

  describe("ensure_due_date", function()
    local engine, now

    before_each(function()
      engine = testing.engine { ensure_due_date = true, failed_job_wait = "PT0S",
        handlers = { work = function() end, fail = function() error("no luck", 0) end } }
      engine:advance(60)
      now = "2026-01-01T00:01:00.000Z"
    end)

    after_each(function()
      engine:close()
    end)

    it("makes now of the date that a verb takes away", function()
      local id = engine:enqueue("work", nil, { after = "P1D" })
      engine:set_due(id)
      assert.equal(now, engine:job(id).due)
      assert.same({ done = 1, failed = 0 }, engine:drain())
    end)

    it("makes now of the date that a retry does not name", function()
      local id = engine:enqueue("fail", nil, { retries = 1 })
      engine:drain()
      engine:advance(60)
      engine.core:command { verb = "retry", ids = id, due = moonshift.null }
      assert.equal("2026-01-01T00:02:00.000Z", engine:job(id).due)
      assert.same({ done = 0, failed = 3 }, engine:drain())
    end)

    it("makes now of the date that a batch takes away", function()
      local id = engine:enqueue("work", nil, { after = "P1D" })
      engine:batch { type = "set-due-date", ids = { id } }
      engine:drain()
      assert.equal("not_found", select(3, engine:job(id)))
    end)

    it("dates what is replaced and what goes on as jobs of the store", function()
      engine:enqueue("work", nil, { unique = "k", after = "P1D" })
      local id = engine:enqueue("work", nil, { unique = "k", on_conflict = "replace" })
      assert.equal(now, engine:job(id).due)
    end)

    it("has the history cleaned", function()
      engine:drain()
      local ids = assert(engine:clean_history())
      assert.equal(now, engine:job(ids[1]).due)
      assert.same({ done = 1, failed = 0 }, engine:drain { max = 1 })
    end)
  end)
end)

describe("a due date", function()
  it("is met within a moment, without a look at the store before", function()
    local folder = engines.folder { ["handlers/work.lua"] = "return function() end\n" }
    local store, log = folder .. "/moonshift.db", folder .. "/log"
    local pid = process.start(log, "run", folder, "--store", "sqlite:" .. store, "--log-format",
      "logfmt")
    process.await("the executor", 5, function()
      return process.read(log):find("event=started", 1, true)
    end)
    local late, count = {}, 0
    repeat -- 1 to 10 ms late on a quiet machine; one job of many meets a quiet moment
      process.moonshift("enqueue", "work", "--in", "PT1.2S", "--store", "sqlite:" .. store, "-C",
        folder)
      count = count + 1
      process.await("the job", 5, function()
        late = process.sql(store, "SELECT started-due FROM ended ORDER BY 1")
        return #late == count
      end)
      assert.is_true(tonumber(late[1]) >= 0, table.concat(late, " "))
    until tonumber(late[1]) < 100 or count == 20
    process.kill(pid, "TERM")
    process.await_end(pid, 5)
    assert.is_true(tonumber(late[1]) < 100, table.concat(late, " "))
    engines.clean()
  end)
end)

describe("a virtual second", function()
  it("is all that a far timer costs: the wait is to its date", function()
    local engine = testing.engine { handlers = { work = function() end } }
    engine:enqueue("work", nil, { after = "P300D" })
    assert.equal(300 * 86400, engine:turn().wait)
  end)
end)
