-- What a handler does through its job, and what becomes of it.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local testing = require "moonshift.testing"

describe("the work of a job", function()
  after_each(engines.clean)

  it("is kept with what it created when it succeeds", function()
    local engine = testing.engine {
      handlers = {
        import = function(job)
          for i = 1, 3 do
            job:enqueue("order", { n = i }, { after = "PT1H" })
          end
        end,
        order = function() end,
      },
    }
    engine:enqueue("import")
    engine:drain()
    assert.equal(3, engine:jobs({ handler = "order" }):count())
  end)

  it("is discarded with what it created when it fails", function()
    local engine = testing.engine {
      retries = 1,
      handlers = {
        import = function(job)
          job:enqueue("order")
          error("no luck")
        end,
        order = function() end,
      },
    }
    engine:enqueue("import")
    assert.same({ done = 0, failed = 1 }, engine:drain())
    assert.equal(0, engine:jobs({ handler = "order" }):count())
  end)

  it("returns the ids of what it creates", function()
    local ids = {}
    local engine = testing.engine {
      handlers = {
        import = function(job)
          ids[1], ids[2] = job:enqueue("order", { n = 1 }), job:enqueue("order", { n = 2 })
        end,
        order = function() end,
      },
    }
    engine:enqueue("import")
    engine:turn()
    assert.equal(1, engine:job(ids[1]).payload.n)
    assert.equal(2, engine:job(ids[2]).payload.n)
  end)

  it("fails when it creates a job of an unknown handler", function()
    local engine = testing.engine {
      retries = 1,
      handlers = {
        import = function(job)
          job:enqueue("nobody")
        end,
      },
    }
    local id = engine:enqueue("import")
    engine:drain()
    assert.matches('unknown handler "nobody"', engine:job(id).message, 1, true)
  end)

  it("can be put off by snooze, which costs no retry", function()
    local engine = testing.engine {
      handlers = {
        wait = function(job)
          if job.created == "2026-01-01T00:00:00.000Z" and not job.payload.woken then
            job:snooze("PT5M")
          end
        end,
      },
    }
    local id = engine:enqueue("wait")
    assert.same({ done = 0, failed = 0 }, engine:drain())
    local job = engine:job(id)
    assert.equal("2026-01-01T00:05:00.000Z", job.due)
    assert.equal(3, job.retries)
    assert.equal(1, job.attempt)
  end)

  it("leaves its result in the log", function()
    local engine = testing.engine {
      handlers = {
        add = function()
          return { sum = 5 }
        end,
      },
    }
    local id = engine:enqueue("add")
    engine:drain()
    local entry = engine:log({ job = id }):list()[1]
    assert.equal("successful", entry.outcome)
    assert.same({ sum = 5 }, entry.result)
  end)

  it("leaves its lines in the log, also where it failed", function()
    local engine = testing.engine {
      handlers = {
        talk = { retry = "R2/PT1S", run = function(job)
          job:log("attempt", job.attempt)
          job:log("done")
          assert(job.attempt == 2)
        end },
      },
    }
    local id = engine:enqueue("talk")
    engine:drain()
    assert.same({ "attempt 1", "done" }, engine:log({ outcome = "failed" }):one().lines)
    assert.is_nil(engine:log({ outcome = "created" }):one().lines)
    engine:advance("PT1S")
    engine:drain()
    assert.same({ "attempt 2", "done" },
      engine:log({ job = id, outcome = "successful" }):one().lines)
  end)

  it("can see its own fields", function()
    local seen
    local engine = testing.engine {
      handlers = {
        look = function(job)
          seen = { job.id, job.handler, job.priority, job.lane, job.attempt, job.payload.n }
        end,
      },
    }
    local id = engine:enqueue("look", { n = 7 }, { priority = 4, lane = "a" })
    engine:drain()
    assert.same({ id, "look", 4, "a", 1, 7 }, seen)
  end)

  it("shows its progress at once", function()
    local engine, seen
    engine = testing.engine {
      handlers = {
        slow = function(job)
          job:progress(0.4, "2 of 5 files")
          seen = engine:job(job.id).progress
        end,
      },
    }
    engine:enqueue("slow")
    assert.same({ done = 1, failed = 0 }, engine:drain())
    assert.equal(0.4, seen.fraction)
    assert.equal("2 of 5 files", seen.text)
  end)

  it("holds its lock while it runs", function()
    local engine, state
    engine = testing.engine {
      handlers = {
        look = function(job)
          local row = engine:job(job.id)
          state = row.state
          job:extend("PT1H")
        end,
      },
    }
    engine:enqueue("look")
    assert.same({ done = 1, failed = 0 }, engine:drain())
    assert.equal("locked", state)
  end)

  it("cannot commit when the job was suspended meanwhile", function()
    local engine
    engine = testing.engine {
      handlers = {
        slow = function(job)
          job:enqueue("slow")
          engine:suspend(job.id)
        end,
      },
    }
    local id = engine:enqueue("slow")
    assert.same({ done = 0, failed = 0 }, engine:drain())
    assert.equal("suspended", engine:job(id).state)
    assert.equal(3, engine:job(id).retries)
    assert.equal(1, engine:jobs():count())
  end)

  it("keeps what an operator set while it ran and failed", function()
    local engine
    engine = testing.engine {
      retry = "R3/PT1M",
      handlers = {
        slow = function(job)
          engine:set_retries(job.id, 9)
          error("no luck")
        end,
      },
    }
    local id = engine:enqueue("slow")
    engine:drain { max = 1 }
    assert.equal(9, engine:job(id).retries)
  end)

  it("ends at its time limit, as a failure with that reason", function()
    local engine = engines.private {
      ["handlers/spin.lua"] = [[
        return { timeout = 0.2, retry = function(_, failure)
          return failure.reason == "timeout" and 60 or nil
        end, run = function() while true do pcall(function() while true do end end) end end }
      ]],
    }
    local id = engine:enqueue("spin")
    assert.same({ done = 0, failed = 1 }, engine:drain())
    assert.equal("2026-01-01T00:01:00.000Z", engine:job(id).due)
  end)

  it("ends at the memory limit, as a failure with that reason", function()
    local engine = engines.private({
      ["handlers/eat.lua"] = [[
        return { retry = function(_, failure)
          return failure.reason == "memory" and 60 or nil
        end, run = function()
          local t = {}
          for i = 1, 1e9 do t[i] = ("x"):rep(1000) .. i end
        end }
      ]],
      ["handlers/fine.lua"] = "return function() return 1 end",
    }, { memory_limit = 16 * 1024 * 1024 })
    local id = engine:enqueue("eat")
    engine:enqueue("fine")
    assert.same({ done = 1, failed = 1 }, engine:drain())
    assert.equal("2026-01-01T00:01:00.000Z", engine:job(id).due)
    assert.equal(1, engine:execute(engine:enqueue("fine")))
  end)

  it("is refused globals", function()
    local engine = engines.private({
      ["handlers/leak.lua"] = "return function() counter = 1 end",
    }, { retries = 1 })
    local id = engine:enqueue("leak")
    engine:drain()
    assert.matches('cannot set global "counter" (declare it local)', engine:job(id).message, 1,
      true)
  end)

  it("is that of the engine's own handlers, each time that it drains", function()
    local store = "sqlite:" .. engines.folder {} .. "/jobs.db"
    local ours = testing.engine { store = store, handlers = { ours = function() end } }
    local theirs = testing.engine { store = store, clock = ours.clock,
      handlers = { theirs = function() end } }
    for _ = 1, 2 do
      ours:enqueue "ours"
      theirs:enqueue "theirs"
      assert.same({ done = 1, failed = 0 }, ours:drain { max = 2 })
      assert.equal("theirs", ours:jobs():one().handler)
      assert.same({ done = 1, failed = 0 }, theirs:drain { max = 2 })
    end
    ours:close()
    theirs:close()
  end)

  it("survives the engine: jobs are there when the store is opened again", function()
    local first, folder = engines.durable {
      ["handlers/a.lua"] = "return function(job) return job.payload end",
    }
    local id = first:enqueue("a", { n = 7 })
    first:close()
    local second <close> = moonshift.open {
      store = "sqlite:" .. folder .. "/jobs.db",
      scripts = folder,
    }
    assert.same({ n = 7 }, second:job(id).payload)
    assert.same({ done = 1, failed = 0 }, second:drain())
  end)
end)
