-- The ways in which a run can go wrong, and what is left of it.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

describe("a run", function()
  after_each(engines.clean)

  -- An engine with one handler, `work`, and one job of it.
  local function one_job(run, options)
    local engine = testing.engine { handlers = { work = run, other = function() end } }
    return engine, (engine:enqueue("work", nil, options))
  end

  it("leaves nothing of its work when it fails, but its lines and progress", function()
    local engine, id = one_job(function(job)
      job:enqueue("other")
      job:log("half done")
      job:progress(0.5, "half")
      error("no luck", 0)
    end)
    engine:drain()
    assert.equal(0, engine:jobs({ handler = "other" }):count())
    assert.equal(0, engine:log({ handler = "other" }):count())
    assert.same({ "half done" }, engine:log({ job = id, outcome = "failed" }):list()[1].lines)
    assert.equal(0.5, engine:job(id).progress.fraction)
  end)

  it("says why the time that its error asks for counts for nothing", function()
    for value, said in pairs { ["120"] = 'duration "120": expected a unit', [-5] = "-5: expected",
      [true] = "true: expected seconds", P1M = "months have no fixed length" } do
      local engine, id = one_job(function()
        error { message = "no luck", retry_after = value }
      end)
      engine:drain()
      local lines = engine:log({ job = id, outcome = "failed" }):list()[1].lines
      assert.equal("no luck", engine:job(id).message)
      assert.truthy(lines and lines[1]:find("the error's retry_after", 1, true), tostring(value))
      assert.truthy(lines[1]:find(said, 1, true), lines[1])
    end
  end)

  it("that meets a conflict is no failure and runs again", function()
    local runs = 0
    local engine, id = one_job(function(job)
      runs = runs + 1
      job:enqueue("other")
      if runs < 3 then
        error { conflict = true, message = "the row has moved" }
      end
    end)
    assert.same({ done = 0, failed = 0 }, engine:drain())
    assert.equal(2, runs) -- the second time at once
    engine:advance(0.01)
    assert.same({ done = 2, failed = 0 }, engine:drain())
    local last = engine:log({ job = id }):list()
    assert.same({ "successful", 1, 3 }, { last[1].outcome, last[1].attempt, last[1].retries })
    assert.equal("conflict, runs again: the row has moved", last[1].lines[1])
    assert.equal(2, #last)
    assert.equal(3, runs)
  end)

  it("that meets a conflict keeps due date and retries as they were, and says why", function()
    local engine, id = one_job(function()
      error { conflict = true, message = "moved" }
    end, { retries = 2, at = "2025-12-31T00:00:00Z" })
    engine:turn()
    local job = engine:job(id)
    assert.same({ 2, 1, "2025-12-31T00:00:00.000Z", "ready" },
      { job.retries, job.attempt, job.due, job.state })
    assert.same({ "moved", 1 }, { job.message, job.conflicts })
  end)

  it("that a newer program alone understands is no failure and waits a while", function()
    local engine, id = one_job(function()
      error { later = true, message = "shape 2" }
    end, { retries = 2 })
    engine:turn()
    local job = engine:job(id)
    assert.same({ 2, 1, "scheduled" }, { job.retries, job.attempt, job.state })
    assert.equal(10000, moonshift.time(job.due) - moonshift.time(engine.clock:now()))
    assert.equal("snoozed", engine:log({ job = id }):list()[1].outcome)
  end)

  -- Runs it again and again, each time when it is due: the seconds that it waited.
  local function waits_of(engine, id, count)
    local waits = {}
    for i = 1, count do
      local from = moonshift.time(engine.clock:now())
      engine:turn()
      local job = engine:job(id)
      local due = job.due and moonshift.time(job.due) or from
      waits[i] = math.max(due - from, 0)
      engine:advance(waits[i] / 1000)
    end
    return waits
  end

  it("that meets one conflict after the other waits longer each time, up to a minute", function()
    local engine, id = one_job(function()
      error { conflict = true, message = "moved" }
    end)
    local waits = waits_of(engine, id, 19)
    assert.equal(0, waits[1])
    for i = 2, 19 do
      local most = math.min(10 * 2 ^ (i - 2), 60000)
      assert.is_true(waits[i] <= most and waits[i] > most * 0.74, i .. ": " .. waits[i])
    end
    local job = engine:job(id)
    assert.same({ 19, 3, 1 }, { job.conflicts, job.retries, job.attempt })
  end)

  it("that meets too many conflicts in a row is a failure like any other", function()
    local runs = 0
    local engine, id = one_job(function()
      runs = runs + 1
      if runs <= 20 then
        error { conflict = true, message = "moved" }
      end
    end)
    waits_of(engine, id, 20)
    local job = engine:job(id)
    assert.same({ 0, 2, 2, "20 conflicts in a row: moved" },
      { job.conflicts, job.retries, job.attempt, job.message })
    local failed = engine:log({ job = id, outcome = "failed" }):list()
    assert.same({ "20 conflicts in a row: moved", 1 }, { failed[1].message, #failed })
    assert.matches("^conflict, runs again in [%d.]+ m?s %(19 in a row%): moved$",
      failed[1].lines[#failed[1].lines])
    engine:drain() -- it succeeds, and the counters are written
    assert.equal(19, engine:stats().metrics.conflicts)
  end)

  it("that meets a conflict now and then counts those in a row only", function()
    local runs = 0
    local engine, id = one_job(function(job)
      runs = runs + 1
      if runs % 2 == 0 then
        job:snooze(1)
        return
      end
      error { conflict = true, message = "moved" }
    end)
    for _ = 1, 30 do
      engine:turn()
      engine:advance(1)
    end
    local job = engine:job(id)
    assert.is_true(runs >= 30 and job.conflicts <= 1)
    assert.same({ 3, 1 }, { job.retries, job.attempt })
  end)

  it("that waits after a conflict is told of by why", function()
    local engine, id = one_job(function()
      error { conflict = true, message = "moved" }
    end)
    engine:turn()
    engine:turn()
    assert.matches("^job 1 is due again at .*, in [%d.]+ m?s, after 2 conflicts in a row: moved$",
      (engine:why(id)))
    assert.equal("conflict", select(2, engine:why(id)).reason)
  end)

  it("that meets a conflict by hand raises to the caller", function()
    local engine, id = one_job(function()
      error({ conflict = true, message = "moved" })
    end)
    local fine, raised = pcall(engine.execute, engine, id)
    assert.is_false(fine)
    assert.equal("moved", raised.message)
    assert.equal(3, engine:job(id).retries)
  end)

  it("by hand runs whatever its due date, suspension and retries", function()
    local fails = true
    local engine, id = one_job(function()
      if fails then
        error("no luck", 0)
      end
      return 7
    end, { after = 3600, retries = 1 })
    engine:suspend(id)
    assert.is_false((pcall(engine.execute, engine, id)))
    assert.equal(0, engine:job(id).retries)
    fails = false
    assert.equal(7, engine:execute(id))
    assert.equal("resolved", engine:incidents({ job = id }):one().how)
  end)

  it("by hand counts like any other and goes on with the configured delay", function()
    local engine = engines.private { ["handlers/fail.lua"] = [[
      return { retry = "R5/PT5M", run = function() error("no luck", 0) end }]] }
    local id = engine:enqueue("fail")
    assert.is_false((pcall(engine.execute, engine, id)))
    assert.same({ 4, "2026-01-01T00:05:00.000Z" }, { engine:job(id).retries, engine:job(id).due })
  end)

  it("is skipped where its job is gone when its turn comes", function()
    local second, ran
    local engine
    engine = testing.engine {
      handlers = {
        first = function()
          engine:cancel(second)
        end,
        second = function()
          ran = true
        end,
      },
    }
    engine:enqueue("first", nil, { priority = 1 })
    second = engine:enqueue("second")
    assert.same({ done = 1, failed = 0 }, engine:drain())
    assert.is_nil(ran)
    assert.equal(0, engine:stats().metrics.stale_commits)
  end)

  it("is not begun where its job was cancelled in the queue", function()
    local dir = engines.folder { ["handlers/slow.lua"] = [[
      return function(job)
        local file = io.open("LOG", "a")
        file:write(job.id, " ")
        file:close()
        while job.id == 1 do end
      end]] }
    local path = dir .. "/handlers/slow.lua"
    local text = process.read(path):gsub("LOG", dir .. "/runs")
    local file = io.open(path, "w")
    file:write(text)
    file:close()
    local where = { "-C", dir, "--store", "sqlite:" .. dir .. "/jobs.db" }
    process.moonshift("enqueue", "slow", "--count", "3", table.unpack(where))
    local pid = process.start(dir .. "/log", "run", "--workers", "1", table.unpack(where))
    process.await("the first run", 5, function()
      return process.read(dir .. "/runs") == "1 "
    end)
    process.moonshift("job", "cancel", "1", "2", table.unpack(where)) -- the executor hears of both
    process.await("the third run", 10, function()
      return process.read(dir .. "/runs"):find("3")
    end)
    process.kill(pid, "TERM")
    process.await_end(pid, 5)
    assert.equal("1 3 ", process.read(dir .. "/runs"))
  end)

  for verb, left in pairs { suspend = "suspended", cancel = "gone" } do
    it("cannot commit after " .. verb .. ", which is no failure", function()
      local engine
      engine = testing.engine {
        handlers = {
          work = function(job)
            job:enqueue("other")
            engine[verb](engine, job.id)
          end,
          other = function() end,
        },
      }
      local id = engine:enqueue("work")
      assert.same({ done = 0, failed = 0 }, engine:drain())
      local job = engine:job(id)
      assert.equal(left, job and job.state or "gone")
      assert.equal(3, job and job.retries or 3)
      assert.equal(0, engine:jobs({ handler = "other" }):count())
      assert.equal(1, engine:stats().metrics.stale_commits)
    end)
  end

  it("keeps what an operator set meanwhile when it fails", function()
    local engine
    engine = testing.engine {
      handlers = {
        work = function(job)
          engine:set_retries(job.id, 9)
          engine:set_due(job.id, "2026-02-01T00:00:00Z")
          error("no luck", 0)
        end,
      },
    }
    local id = engine:enqueue("work")
    engine:drain()
    local job = engine:job(id)
    assert.same({ 9, 2, "2026-02-01T00:00:00.000Z", "no luck" },
      { job.retries, job.attempt, job.due, job.message })
  end)

  it("that snoozes comes back later and uses no retry", function()
    local engine, id = one_job(function(job)
      job:snooze("PT5M")
    end)
    engine:drain()
    local job = engine:job(id)
    assert.same({ 3, 1, "2026-01-01T00:05:00.000Z" }, { job.retries, job.attempt, job.due })
    assert.equal(0, engine:log({ outcome = "failed" }):count())
  end)

  it("that snoozes leaves an entry in the log, with its message and when it comes back", function()
    local engine, id = one_job(function(job)
      if job.payload.label ~= "second" then
        job:snooze("PT5M", "the shop is closed")
      end
      job:log("looked")
    end)
    engine:drain()
    engine:advance("PT5M")
    engine:drain()
    local entries = engine:log({ job = id, outcome = "snoozed" }):list()
    assert.equal(2, #entries)
    local entry = entries[2]
    assert.same({ 1, 3, "the shop is closed", "2026-01-01T00:05:00.000Z" },
      { entry.attempt, entry.retries, entry.message, entry["until"] })
    assert.same({ nil, nil, 0.0 }, { entry.due, entry.lines, entry.duration })
    assert.equal(3, engine:log({ job = id }):count())
    assert.is_nil(engine:job(id).message)
    engine:cancel(id)
    engine:delete_history(id)
    assert.equal(0, engine:log({ job = id }):count())
  end)

  it("that snoozes for ever keeps its newest hundred entries, of failures alone none", function()
    for history, kept in pairs { full = 100, failures = 0 } do
      local engine = testing.engine { history = history,
        handlers = { work = function(job) job:snooze(1) end } }
      local id = engine:enqueue("work")
      for _ = 1, 103 do
        engine:drain()
        engine:advance(1)
      end
      assert.equal(kept, engine:log({ job = id, outcome = "snoozed" }):count())
      engine:close()
    end
  end)

  it("that was the last has the number of the dead job's last attempt", function()
    local engine = testing.engine { failed_job_wait = "PT0S",
      handlers = { work = function() error("no luck", 0) end } }
    local id = engine:enqueue("work")
    assert.equal(1, engine:job(id).attempt)
    engine:drain()
    assert.same({ "dead", 3 }, { engine:job(id).state, engine:job(id).attempt })
    assert.equal(3, engine:jobs({ state = "dead" }):one().attempt)
    engine:delete(id)
    assert.equal(3, engine:log({ job = id, outcome = "deleted" }):one().attempt)
    local never = engine:enqueue("work")
    engine:dead_letter(never)
    assert.equal(0, engine:job(never).attempt)
    engine:retry(never)
    assert.equal(1, engine:job(never).attempt)
    engine:close()
  end)

  it("that snoozes keeps what it has created and asked for", function()
    local engine, id = one_job(function(job)
      if job.payload.label ~= "child" then
        job:enqueue("work", { label = "child" })
        job:operate { verb = "set_priority", ids = job.id, priority = 7 }
        job:snooze("PT5M")
      end
    end)
    engine:drain()
    assert.equal("scheduled", engine:job(id).state)
    assert.equal(7, engine:job(id).priority)
    assert.equal(1, engine:log({ outcome = "successful" }):count())
    engine:advance("PT5M")
    engine:drain()
    assert.equal(2, engine:log({ outcome = "successful" }):count())
  end)

  it("that snoozes for ever keeps its newest lines, in bounds", function()
    local runs = 0
    local engine, id = one_job(function(job)
      runs = runs + 1
      for line = 1, 300 do
        job:log(runs, line)
      end
      if runs < 9 then
        job:snooze(1)
      end
    end)
    for _ = 1, 9 do
      engine:drain()
      engine:advance(1)
    end
    local lines = engine:log({ job = id, outcome = "successful" }):one().lines
    -- Those of a run go together, and the last run adds its own.
    assert.same({ 1500, "5 1", "9 300" }, { #lines, lines[1], lines[#lines] })
  end)

  describe("raises", function()
    local luckless = setmetatable({}, {
      __tostring = function()
        error("not even that")
      end,
    })
    local raised = {
      { "a table without a message", { code = 5 }, '{"code":5}' },
      { "a table with a message", { message = "no luck" }, "no luck" },
      { "a number", 42, "42" },
      { "nothing", nil, "nil" },
      { "what has no text", luckless,
        "error object (a table that cannot be turned into text)" },
    }

    for _, case in ipairs(raised) do
      it(case[1] .. ", which is stored as text", function()
        local engine, id = one_job(function()
          error(case[2], 0)
        end)
        engine:drain()
        assert.equal(case[3], engine:job(id).message)
      end)
    end

    it("bytes that are no text, and much of it, stored as UTF-8 in bounds", function()
      local engine, id = one_job(function()
        error("\xff" .. ("x"):rep(100000), 0)
      end)
      engine:drain()
      local job = engine:job(id)
      assert.equal(666, utf8.len(job.message))
      assert.is_true(#job.stack <= 65536 and utf8.len(job.stack) ~= nil)
    end)
  end)
end)
