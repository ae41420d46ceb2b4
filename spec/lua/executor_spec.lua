local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local lua = process.quote(os.getenv("SPEC_LUA") or "lua5.4")

describe("executor", function()
  after_each(engines.clean)

  it("turns without threads, under its own settings", function()
    local engine = testing.engine { handlers = { a = function() end } }
    engine:enqueue("a", {}, { priority = 5 })
    engine:enqueue("a", {}, { priority = 50 })
    local high = moonshift.executor { engines = { engine }, priority_range = { 10, nil } }
    local low = moonshift.executor { engines = { engine }, priority_range = { nil, 9 } }
    assert.equal(1, high:turn().done)
    assert.equal(0, high:turn().done)
    assert.equal(5, engine:jobs():one().priority)
    assert.equal(1, low:turn().done)
  end)

  it("takes only the categories it is told to", function()
    local engine = testing.engine { handlers = { a = function() end } }
    engine:enqueue("a", {}, { category = "mail" })
    engine:enqueue("a")
    local executor = moonshift.executor { engines = { engine }, categories = { "mail" } }
    assert.equal(1, executor:turn().done)
    assert.is_nil(engine:jobs():one().category)
  end)

  it("is to turn again at once while some job is ready", function()
    local engine = testing.engine {
      failed_job_wait = "PT0S",
      handlers = {
        fail = function() error("no answer") end,
        parent = function(job) job:enqueue("child") end,
        child = function() end,
        single = { limit = 1, run = function() end },
      },
    }
    local executor = moonshift.executor { engines = { engine } }
    for _, handler in ipairs { "fail", "parent", "single" } do
      engine:enqueue_many { { handler }, { handler } }
      assert.equal(0, executor:turn().wait)
      engine:drain()
      engine:delete(engine:jobs())
    end
    engine:enqueue("child", {}, { after = "PT1M" })
    assert.equal(60, executor:turn().wait)
  end)

  it("cannot be started on a store in memory #memory", function()
    local executor = moonshift.executor { engines = { testing.engine() } }
    local ok, message, code = executor:start()
    assert.is_nil(ok)
    assert.equal("an executor on a store in memory cannot be started (expected turn or drain)",
      message)
    assert.equal("conflict", code)
  end)

  it("cannot be started on a virtual clock", function()
    local engine <close> = engines.durable({}, {
      clock = moonshift.clock.virtual("2026-01-01T00:00:00Z"),
    })
    local executor = moonshift.executor { engines = { engine } }
    local _, message = executor:start()
    assert.equal("an executor on a virtual clock cannot be started (expected turn or drain)",
      message)
  end)


  it("refuses settings that it does not know", function()
    local executor, message = moonshift.executor { engines = { testing.engine() }, queu = 1 }
    assert.is_nil(executor)
    assert.matches('unknown setting "queu" (did you mean "queue"?)', message, 1, true)
  end)

  it("is inactive until it is started", function()
    local executor = moonshift.executor { engines = { testing.engine() }, name = "node-1" }
    local status = executor:status()
    assert.equal("inactive", status.state)
    assert.equal("node-1", status.name)
    assert.equal(0, status.done)
  end)

  describe("started", function()
    local files = { ["handlers/a.lua"] = "return function(job) return job.payload end" }

    it("runs what is enqueued until it is stopped", function()
      local engine <close> = engines.durable(files)
      local executor = moonshift.executor { engines = { engine }, workers = 2 }
      assert.is_true(executor:start())
      assert.equal("running", executor:status().state)
      for i = 1, 50 do
        assert(engine:enqueue("a", { n = i }))
      end
      process.await("50 jobs", 10, function()
        return executor:status().done == 50
      end)
      assert.is_true(executor:stop())
      assert.equal("stopped", executor:status().state)
      assert.equal(50, executor:status().done)
      assert.equal(0, engine:jobs():count())
    end)

    it("tells what runs and what waits at this moment", function()
      local gate = os.tmpname()
      local engine <close> = engines.durable({ ["handlers/gated.lua"] = [[
        return function(job)
          repeat
            os.execute("sleep 0.01")
            local file = io.open(job.payload.gate)
          until not (file and file:close())
        end]] })
      local executor <close> = moonshift.executor { engines = { engine }, workers = 1 }
      for _ = 1, 3 do
        assert(engine:enqueue("gated", { gate = gate }))
      end
      assert(executor:start())
      process.await("three to be acquired", 10, function()
        return executor:status().acquired == 3
      end)
      process.await("the first to run", 10, function()
        return engine:jobs({ locked = true }):count() == 3 and executor:status().running == 1
      end)
      assert.equal(2, executor:status().waiting)
      os.remove(gate)
      local status = process.await("the end", 10, function()
        local now = executor:status()
        return now.done == 3 and now
      end)
      assert.equal("0 0", status.running .. " " .. status.waiting)
      assert.equal("0 0", status.engines[1].running .. " " .. status.engines[1].waiting)
    end)

    it("cannot be started twice, but again after a stop", function()
      local engine <close> = engines.durable(files)
      local executor <close> = moonshift.executor { engines = { engine }, workers = 1 }
      assert(executor:start())
      assert.equal("conflict", select(3, executor:start()))
      assert(executor:stop())
      assert.is_true(executor:start())
    end)

    it("leaves nothing locked", function()
      local engine <close> = engines.durable(files)
      local executor = moonshift.executor { engines = { engine }, workers = 1 }
      executor:start()
      engine:enqueue("a")
      executor:stop()
      assert.equal(0, engine:jobs({ locked = true }):count())
    end)

    it("loads the scripts again with its engine", function()
      local engine <close>, folder = engines.durable(files)
      local executor <close> = moonshift.executor { engines = { engine }, workers = 1 }
      executor:start()
      local file = io.open(folder .. "/handlers/b.lua", "w")
      file:write("return function() end")
      file:close()
      assert(engine:reload())
      local id = assert(engine:enqueue("b"))
      process.await("the new handler", 10, function()
        return not engine:job(id)
      end)
    end)

    it("is stopped when nobody holds it", function()
      local engine <close> = engines.durable(files)
      moonshift.executor({ engines = { engine }, workers = 1 }):start()
      collectgarbage()
      collectgarbage()
      engine:enqueue("a")
      assert.same({ done = 1, failed = 0 }, engine:drain())
    end)

    -- Runs a program that starts an executor and then does `rest`: its status and what it prints.
    local function program(rest)
      local folder = engines.folder(files)
      local script = ([[
        local moonshift = require "moonshift"
        local engine = assert(moonshift.open { store = "sqlite:%s/x.db", scripts = "%s" })
        local executor = moonshift.executor { engines = { engine }, workers = 2 }
        assert(executor:start())
        engine:enqueue("a")
      ]]):format(folder, folder)
      local status, output, errors = process.run(lua .. " -e " .. process.quote(script .. rest))
      return status, output .. errors
    end

    it("is stopped by the end of the program", function()
      local status, output = program("")
      assert.equal("", output)
      assert.equal(0, status)
    end)

    it("is stopped by a program that fails", function()
      local status, output = program("error('no luck', 0)")
      assert.matches("no luck", output, 1, true)
      assert.equal(1, status)
    end)

    it("does not disturb os.exit", function()
      local status, output = program("os.exit(3)")
      assert.equal("", output)
      assert.equal(3, status)
    end)

    it("needs scripts", function()
      local first, folder = engines.durable(files)
      first:close()
      local engine <close> = moonshift.open { store = "sqlite:" .. folder .. "/jobs.db" }
      local _, message = moonshift.executor({ engines = { engine } }):start()
      assert.equal("the engine has no scripts to run", message)
    end)
  end)
end)
