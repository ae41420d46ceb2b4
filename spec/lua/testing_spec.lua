local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local testing = require "moonshift.testing"

describe("testing", function()
  after_each(engines.clean)

  it("opens an engine in memory on a virtual clock", function()
    local engine = testing.engine()
    assert.equal("2026-01-01T00:00:00.000Z", engine.clock:now())
    assert.equal("2026-01-01T00:00:10.000Z", engine:advance(10))
    assert.same({ done = 0, failed = 0 }, engine:drain())
  end)

  it("runs handlers that the spec gives", function()
    local seen
    local engine = testing.engine {
      handlers = {
        greet = function(job)
          seen = job.payload.name
        end,
      },
    }
    engine:enqueue("greet", { name = "Ada" })
    assert.same({ done = 1, failed = 0 }, engine:drain())
    assert.equal("Ada", seen)
  end)

  it("gives handlers of a folder the modules of the spec", function()
    local sent = {}
    local engine = testing.engine {
      scripts = engines.folder {
        ["handlers/mail.lua"] = [[
          local mail = require "lib.mail"
          return function(job) mail.send(job.payload.to) end
        ]],
        ["lib/mail.lua"] = [[return { send = function() error("a real mail") end }]],
      },
      modules = {
        ["lib.mail"] = {
          send = function(to)
            sent[#sent + 1] = to
          end,
        },
      },
    }
    engine:enqueue("mail", { to = "a@b.example" })
    assert.same({ done = 1, failed = 0 }, engine:drain())
    assert.same({ "a@b.example" }, sent)
  end)

  it("gives an earlier deployment what the spec has for its processes", function()
    local folder = engines.folder { ["processes/order.lua"] = [[
      local p = require "moonshift.process"
      return { p.step "pack" { run = "pack", async = true }, p.step "bill" { run = "bill" } }
    ]] }
    local called = {}
    local engine = testing.engine { scripts = folder, missing = function(name)
      called[#called + 1] = name
    end }
    assert(engine:start("order"))
    local file = assert(io.open(folder .. "/processes/order.lua", "w"))
    file:write [[return { require "moonshift.process".step "send" { run = "send" } }]]
    file:close()
    assert(engine:reload())
    assert.same({ done = 1, failed = 0 }, engine:drain())
    assert.same({ "pack", "bill" }, called)
  end)

  it("counts failures and does not raise them in drain", function()
    local engine = testing.engine {
      handlers = {
        fail = function()
          error("no luck", 0)
        end,
      },
    }
    engine:enqueue("fail")
    assert.same({ done = 0, failed = 1 }, engine:drain())
    engine:advance("PT10S") -- an engine under test waits as any other does
    assert.same({ done = 0, failed = 1 }, engine:drain())
  end)

  it("raises in execute what the handler raised, as it is", function()
    local thrown = { code = 7 }
    local engine = testing.engine {
      handlers = {
        fail = function()
          error(thrown)
        end,
      },
    }
    local id = engine:enqueue("fail")
    local ok, raised = pcall(engine.execute, engine, id)
    assert.is_false(ok)
    assert.equal(thrown, raised)
  end)

  it("returns in execute what the handler returned", function()
    local engine = testing.engine {
      handlers = {
        add = function(job)
          return job.payload.a + job.payload.b
        end,
      },
    }
    assert.equal(5, engine:execute(engine:enqueue("add", { a = 2, b = 3 })))
  end)

  it("takes settings and a clock", function()
    local clock = moonshift.clock.virtual("2030-01-01T00:00:00Z")
    local engine = testing.engine { clock = clock, retries = 1, handlers = { a = function() end } }
    local id = engine:enqueue("a")
    assert.equal(1, engine:job(id).retries)
    assert.equal("2030-01-01T00:00:00.000Z", engine:job(id).created)
  end)

  it("raises for a folder that cannot be loaded", function()
    local folder = engines.folder { ["handlers/broken.lua"] = "return function(" }
    local ok, message = pcall(testing.engine, { scripts = folder })
    assert.is_false(ok)
    assert.matches("handlers/broken.lua:1:", message, 1, true)
  end)

  it("raises for a setting that it does not know", function()
    local ok, message = pcall(testing.engine, { wrokers = 4 })
    assert.is_false(ok)
    assert.matches('unknown setting "wrokers" (did you mean "workers"?)', message, 1, true)
  end)

  it("raises for an option that is near to one of its own", function()
    local _, message = pcall(testing.engine, { modles = {} })
    assert.equal('unknown setting "modles" (did you mean "modules"?)', message)
  end)

  it("raises for handlers without names", function()
    local _, message = pcall(testing.engine, { handlers = { function() end } })
    assert.equal("handlers has a number for a key (expected names)", message)
  end)

  it("does not let a handler close or drain the engine that runs it", function()
    local engine, answers
    engine = testing.engine {
      handlers = {
        meddle = function()
          answers = { select(3, engine:drain()), select(3, engine:close()) }
        end,
      },
    }
    engine:enqueue("meddle")
    assert.same({ done = 1, failed = 0 }, engine:drain())
    assert.same({ "conflict", "conflict" }, answers)
  end)

  it("survives an engine that nobody closed", function()
    for _ = 1, 20 do
      testing.engine { handlers = { a = function() end } }:enqueue("a")
    end
    collectgarbage()
    collectgarbage()
  end)
end)
