local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local testing = require "moonshift.testing"

local function nothing() end

describe("engine", function()
  after_each(engines.clean)

  describe("open", function()
    it("applies moonshift.lua of the folder, and the options over it", function()
      local files = {
        ["moonshift.lua"] = "return { retries = 7, priority = 3 }",
        ["handlers/a.lua"] = "return function() end",
      }
      local engine = engines.private(files, { priority = 9 })
      local job = engine:job(engine:enqueue("a"))
      assert.equal(7, job.retries)
      assert.equal(9, job.priority)
    end)

    it("places a relative store of moonshift.lua beside that file", function()
      local folder = engines.folder {
        ["moonshift.lua"] = 'return { store = "sqlite:shop.db" }',
        ["handlers/a.lua"] = "return function() end",
      }
      local engine = assert(moonshift.open { scripts = folder })
      engine:close()
      assert.is_truthy(io.open(folder .. "/shop.db"))
    end)

    it("returns what is wrong with the store", function()
      local engine, message, code = moonshift.open { store = "mysql:x" }
      assert.is_nil(engine)
      assert.equal('store "mysql:x": unknown scheme (expected sqlite: or postgres://)', message)
      assert.equal("config", code)
    end)

    it("raises for options of the wrong type", function()
      assert.has_error(function()
        moonshift.open("jobs.db")
      end, "open is a string (expected a table)")
      assert.has_error(function()
        moonshift.open { scripts = 7 }
      end, "scripts has a number (expected a folder's path, or several)")
      assert.has_error(function()
        moonshift.open { clock = "now" }
      end, "clock is a string (expected one of moonshift.clock)")
    end)

    it("raises for what only an engine for specs has", function()
      for _, name in ipairs { "handlers", "modules", "missing", "http" } do
        assert.has_error(function()
          moonshift.open { store = "sqlite::memory:", [name] = {} }
        end, name .. " is for moonshift.testing.engine (expected scripts, a folder with handlers)")
      end
    end)

    it("reads several folders, the first one wins", function()
      local first = engines.folder { ["handlers/a.lua"] = "return function() return 1 end" }
      local second = engines.folder {
        ["handlers/a.lua"] = "return function() return 2 end",
        ["handlers/b.lua"] = "return function() return 3 end",
      }
      local engine = assert(moonshift.open {
        store = "sqlite::memory:",
        scripts = { first, second },
      })
      assert.equal(1, engine:execute(engine:enqueue("a")))
      assert.equal(3, engine:execute(engine:enqueue("b")))
    end)
  end)

  describe("enqueue", function()
    local engine

    before_each(function()
      engine = testing.engine { handlers = { send_invoice = nothing, archive = nothing } }
    end)

    it("returns the id and what happened", function()
      local id, outcome = engine:enqueue("send_invoice", { invoice = 7 })
      assert.equal(1, id)
      assert.equal("created", outcome)
    end)

    it("shows the job's fields", function()
      local job = engine:job(engine:enqueue("send_invoice", { invoice = 7 }, {
        after = "PT5M",
        priority = 50,
        lane = "customer-9",
        instance = "order-7",
        retries = 5,
        tenant = "acme",
        category = "mail",
      }))
      assert.equal("2026-01-01T00:05:00.000Z", job.due)
      assert.equal("scheduled", job.state)
      assert.equal(50, job.priority)
      assert.equal("customer-9", job.lane)
      assert.equal("order-7", job.instance)
      assert.is_true(job.exclusive)
      assert.equal(5, job.retries)
      assert.equal("acme", job.tenant)
      assert.equal("mail", job.category)
      assert.same({ invoice = 7 }, job.payload)
      assert.is_nil(job.message)
    end)

    it("keeps integers, floats, null and empty lists apart", function()
      local payload = { i = math.maxinteger, f = 1.0, n = moonshift.null, a = moonshift.array {} }
      local job = engine:job(engine:enqueue("archive", payload))
      assert.equal(math.maxinteger, job.payload.i)
      assert.equal("float", math.type(job.payload.f))
      assert.equal(moonshift.null, job.payload.n)
      engine:enqueue("archive", job.payload)
      assert.equal(2, engine:jobs({ handler = "archive" }):count())
    end)

    it("refuses an unknown handler, naming the one that was meant", function()
      local id, message, code = engine:enqueue("send_invoce", {})
      assert.is_nil(id)
      assert.equal('unknown handler "send_invoce" (did you mean "send_invoice"?)', message)
      assert.equal("not_found", code)
    end)

    it("refuses an unknown handler, naming those that are known", function()
      local _, message = engine:enqueue("x", {})
      assert.matches('unknown handler "x" (known: archive, ', message, 1, true)
      assert.is_nil(message:find "batch/")
    end)

    it("writes an unchecked one", function()
      local id = assert(engine:enqueue("elsewhere", {}, { unchecked = true }))
      assert.equal("elsewhere", engine:job(id).handler)
      assert.same({ done = 0, failed = 0 }, engine:drain())
    end)

    it("refuses what JSON cannot hold, with its path", function()
      local id, message, code = engine:enqueue("archive", { items = { 1, 2, print } })
      assert.is_nil(id)
      assert.matches("payload.items[3]: cannot store a function", message, 1, true)
      assert.equal("invalid", code)
    end)

    it("refuses options that it does not know", function()
      local id, message, code = engine:enqueue("archive", {}, { prioritty = 7 })
      assert.is_nil(id)
      assert.matches('did you mean "priority"', message, 1, true)
      assert.equal("invalid", code)
      assert.is_nil(engine:enqueue("archive", {}, { payload = 7 }))
    end)

    it("raises for arguments of the wrong type", function()
      assert.has_error(function()
        engine:enqueue(7)
      end)
      assert.has_error(function()
        engine:enqueue("archive", {}, "soon")
      end)
    end)

    it("writes many, in order", function()
      local ids = engine:enqueue_many {
        { "archive", { n = 1 } },
        { "send_invoice", nil, { priority = 10 } },
      }
      assert.same({ 1, 2 }, ids)
      assert.equal(10, engine:job(2).priority)
    end)

    it("writes many or none", function()
      local ids, message, code = engine:enqueue_many { { "archive" }, { "nobody" } }
      assert.is_nil(ids)
      assert.matches('unknown handler "nobody"', message, 1, true)
      assert.equal("not_found", code)
      assert.equal(0, engine:jobs():count())
    end)
  end)

  describe("without scripts", function()
    it("knows handlers of earlier deployments, priority functions included", function()
      local first, folder = engines.durable {
        ["handlers/a.lua"] = 'return { priority = "by_n", run = function() return "ran" end }',
        ["priorities/by_n.lua"] = "return function(job) return job.payload.n * 2 end",
      }
      first:close()
      local engine = assert(moonshift.open { store = "sqlite:" .. folder .. "/jobs.db" })
      local id = assert(engine:enqueue("a", { n = 21 }))
      assert.equal(42, engine:job(id).priority)
      assert.equal("ran", engine:execute(id))
      local _, message = engine:enqueue("zebra")
      assert.matches('unknown handler "zebra" (known: a', message, 1, true)
      engine:close()
    end)
  end)

  describe("execute", function()
    local files = {
      ["handlers/add.lua"] = "return function(job) return job.payload.a + job.payload.b end",
      ["handlers/fail.lua"] = 'return function() error("no luck") end',
    }

    it("ignores the due date and returns the result", function()
      local engine = engines.private(files)
      local id = engine:enqueue("add", { a = 2, b = 3 }, { after = "P1D" })
      assert.equal(5, engine:execute(id))
      assert.equal(0, engine:jobs():count())
    end)

    it("raises the stored text and counts the failure", function()
      local engine = engines.private(files)
      local id = engine:enqueue("fail")
      local ok, message = pcall(engine.execute, engine, id)
      assert.is_false(ok)
      assert.matches("^fail: ", message)
      assert.matches("no luck", message, 1, true)
      assert.equal(2, engine:job(id).retries)
    end)

    it("runs a job of an earlier deployment, whatever else its processes lack", function()
      local first, folder = engines.durable {
        ["moonshift.lua"] = 'return { missing_handlers = "incident" }',
        ["handlers/add.lua"] = files["handlers/add.lua"],
        ["processes/sum.lua"] = 'local step = require "moonshift.process".step return { '
          .. 'step "add" { run = "add", input = { a = 1, b = 2 }, result = "sum", async = true }, '
          .. 'step "tell" { run = "tell", async = true } }',
      }
      local id = assert(first:start "sum")
      first:close()
      local engine = assert(moonshift.open { store = "sqlite:" .. folder .. "/jobs.db" })
      local function job()
        return engine:jobs({ instance = tostring(id) }):one().id
      end
      engine:execute(job())
      assert.equal(3, engine:instance(id).variables.sum)
      local _, message = pcall(engine.execute, engine, job())
      assert.matches("missing handler: tell of the process sum", message, 1, true)
      engine:close()
    end)

    it("returns what is wrong with the id", function()
      local engine = engines.private(files)
      local result, message, code = engine:execute(99)
      assert.is_nil(result)
      assert.equal("not_found", code)
      assert.matches("99", message, 1, true)
    end)

    it("runs several in order", function()
      local engine = engines.private(files)
      engine:enqueue_many { { "add", { a = 1, b = 1 } }, { "add", { a = 1, b = 1 } } }
      assert.equal(2, engine:execute(engine:jobs()))
    end)
  end)

  describe("drain", function()
    it("runs what jobs create, and says how many", function()
      local engine = testing.engine {
        handlers = {
          chain = function(job)
            if job.payload.left > 0 then
              job:enqueue("chain", { left = job.payload.left - 1 })
            end
          end,
        },
      }
      engine:enqueue("chain", { left = 9 })
      assert.same({ done = 10, failed = 0 }, engine:drain())
    end)

    it("ends with an error when there is no end", function()
      local engine = testing.engine {
        handlers = {
          again = function(job)
            job:enqueue("again")
          end,
        },
      }
      engine:enqueue("again")
      local run, message = engine:drain { max = 10 }
      assert.is_nil(run)
      assert.equal("drain did not end after 10 runs (expected jobs that come to an end)", message)
      assert.equal(1, engine:jobs({ state = "ready" }):count())
    end)

    it("ends behind any run, and leaves the rest as it was", function()
      local calls
      local handlers = {
        work = function()
          calls = calls + 1
        end,
        chain = function(job)
          calls = calls + 1
          if job.payload.left > 0 then
            job:enqueue("chain", { left = job.payload.left - 1 }, { lane = job.payload.lane })
          end
        end,
      }
      for max = 1, 13 do
        local engine <close> = testing.engine { handlers = handlers }
        for i = 1, 5 do
          engine:enqueue("work", {}, { lane = i > 2 and "one" or nil })
        end
        engine:enqueue("chain", { left = 3, lane = "two" }, { lane = "two" })
        engine:enqueue("chain", { left = 2 })
        calls = 0
        local run = engine:drain { max = max }
        assert.equal(math.min(max, 12), calls)
        assert.same(max >= 12 and { done = 12, failed = 0 } or nil, run)
        for _, job in ipairs(engine:jobs():list()) do
          assert.same({ "ready", 3 }, { job.state, job.retries })
        end
        assert.same({ done = 12 - math.min(max, 12), failed = 0 }, engine:drain())
        assert.equal(12, calls)
      end
    end)

    it("raises for an option that it does not know", function()
      assert.has_error(function()
        testing.engine():drain { mx = 1 }
      end, 'drain: unknown key "mx" (did you mean "max"?)')
    end)
  end)

  describe("turn", function()
    it("says what it did and how long it would wait", function()
      local engine = testing.engine { handlers = { a = nothing } }
      engine:enqueue("a")
      engine:enqueue("a", {}, { after = "PT90S" })
      local turn = engine:turn()
      assert.equal(1, turn.acquired)
      assert.equal(1, turn.settled)
      assert.equal(1, turn.done)
      assert.equal(90, turn.wait)
    end)
  end)

  describe("reload", function()
    it("loads the files as they are now", function()
      local folder = engines.folder { ["handlers/a.lua"] = "return function() return 1 end" }
      local engine = assert(moonshift.open { store = "sqlite::memory:", scripts = folder })
      assert.equal(1, engine:execute(engine:enqueue("a")))
      local file = io.open(folder .. "/handlers/a.lua", "w")
      file:write("return function() return 2 end")
      file:close()
      assert.is_true(engine:reload())
      assert.equal(2, engine:execute(engine:enqueue("a")))
    end)

    it("keeps the old files if the new ones are broken", function()
      local folder = engines.folder { ["handlers/a.lua"] = "return function() return 1 end" }
      local engine = assert(moonshift.open { store = "sqlite::memory:", scripts = folder })
      local file = io.open(folder .. "/handlers/a.lua", "w")
      file:write("return function(")
      file:close()
      local ok, message, code = engine:reload()
      assert.is_nil(ok)
      assert.matches("handlers/a.lua:1:", message, 1, true)
      assert.equal("config", code)
      assert.equal(1, engine:execute(engine:enqueue("a")))
    end)
  end)

  describe("closed", function()
    it("returns nil, message, closed from every verb", function()
      local engine = testing.engine { handlers = { a = nothing } }
      local id = engine:enqueue("a")
      assert.is_true(engine:close())
      assert.is_true(engine:close())
      for _, verb in ipairs { "job", "execute", "delete", "suspend", "retry" } do
        local result, message, code = engine[verb](engine, id)
        assert.is_nil(result)
        assert.equal("the engine is closed", message)
        assert.equal("closed", code)
      end
      assert.equal("closed", select(3, engine:enqueue("a")))
      assert.equal("closed", select(3, engine:jobs():list()))
      assert.equal("closed", select(3, engine:drain()))
    end)

    it("is what the end of a block makes it", function()
      local kept
      do
        local engine <close> = testing.engine()
        kept = engine
      end
      assert.equal("closed", select(3, kept:stats()))
    end)
  end)
end)
