-- What the store refuses at the commit is a failure like any other: the job's own retry decides.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local testing = require "moonshift.testing"

describe("a run whose commit the store refuses", function()
  local engine, told

  after_each(function()
    if engine then
      engine:close()
    end
    engine = nil
    engines.clean()
  end)

  -- Three ways to ask for what is refused.
  local refusals = {
    ["for a unique key"] = function(job)
      job:enqueue("held", nil, { unique = "key", on_conflict = "refuse" })
    end,
    ["for a full backlog"] = function(job)
      job:enqueue("small")
      job:enqueue("small")
    end,
    ["for a verb"] = function(job)
      job:operate { verb = "delete", ids = { 4711 } }
    end,
  }
  local messages = {
    ["for a unique key"] = 'unique "key" of "held" is held by job 1',
    ["for a full backlog"] = 'backlog of "small" is full: 1 job waits (limit 1)',
    ["for a verb"] = "no job 4711",
  }

  local function engine_of(retry, ask, settings)
    told = {}
    settings = settings or {}
    settings.handlers = {
      work = { retry = retry, run = function(job)
        job:log("asked")
        ask(job)
        return "done"
      end },
      held = function() end, small = { backlog = 1, run = function() end },
    }
    engine = testing.engine(settings)
    engine:enqueue("held", nil, { unique = "key", at = "2027-01-01T00:00:00Z" })
    return engine
  end

  -- Seconds until the next run; retries left; state.
  local function after_one(options)
    local id = engine:enqueue("work", nil, options)
    engine:turn()
    local job = engine:job(id)
    local now = moonshift.time(engine.clock:now())
    return job.due and (moonshift.time(job.due) - now) / 1000, job.retries, job.state, job.message
  end

  for how, ask in pairs(refusals) do
    describe(how, function()
      it("is retried by the handler's own span", function()
        engine_of("R6/PT0.1S", ask)
        assert.same({ 0.1, 5, "scheduled", messages[how] }, { after_one() })
        local entry = engine:log({ outcome = "failed" }):one()
        assert.same({ { "asked" }, nil }, { entry.lines, entry.result })
      end)

      it("is retried by the handler's list", function()
        engine_of("PT1H,PT2H", ask)
        assert.same({ 3600, 2, "scheduled", messages[how] }, { after_one() })
      end)

      it("is dead where a function gives up, which is told of it", function()
        engine_of(function(job, failure)
          told[#told + 1] = { job.attempt, failure.message, failure.reason, failure.permanent }
        end, ask)
        assert.same({ nil, 0, "dead", messages[how] }, { after_one() })
        assert.same({ { 1, messages[how], "error", false } }, told)
      end)

      it("is retried by the setting", function()
        engine_of(nil, ask, { retry = "R4/PT7M" })
        assert.same({ 420, 3, "scheduled", messages[how] }, { after_one() })
      end)

      it("is retried by an expression", function()
        engine_of("${payload.wait}", ask)
        local id = engine:enqueue("work", { wait = 77 })
        engine:turn()
        assert.equal("2026-01-01T00:01:17.000Z", engine:job(id).due)
      end)

      it("is retried by the standard rule without any", function()
        engine_of(nil, ask)
        assert.same({ 10, 2, "scheduled", messages[how] }, { after_one() })
      end)
    end)
  end

  it("fails to the caller of a run by hand, and its own retry decides", function()
    engine_of("R6/PT0.1S", refusals["for a verb"])
    local id = engine:enqueue("work")
    local fine, message = pcall(engine.execute, engine, id)
    assert.is_false(fine)
    assert.matches("no job 4711", message, 1, true)
    assert.same({ 5, "2026-01-01T00:00:00.100Z" }, { engine:job(id).retries, engine:job(id).due })
    assert.is_true(engine:close()) -- nothing runs any more
    engine = nil
  end)

  it("leaves its lane to the others of its item", function()
    local order = {}
    engine = testing.engine { handlers = {
      work = { retry = "R2/PT0S", run = function(job)
        order[#order + 1] = job.payload
        if job.payload == 2 and job.attempt == 1 then
          job:enqueue("work", 9, { lane = "one" })
          job:operate { verb = "delete", ids = { 4711 } }
        end
      end } } }
    for n = 1, 4 do
      engine:enqueue("work", n, { lane = "one" })
    end
    assert.same({ done = 4, failed = 1 }, engine:drain())
    table.sort(order)
    assert.same({ 1, 2, 2, 3, 4 }, order)
  end)

  it("of an activity is retried as the activity says, and its batch by its handler", function()
    engine = testing.engine {
      scripts = engines.folder {
        ["handlers/ask.lua"] = [[return function(job)
          job:operate { verb = "delete", ids = { 4711 } }
        end]],
        ["batches/asking.lua"] = [[return { retry = "PT3H", run = function(job)
          job:operate { verb = "delete", ids = { 4711 } }
        end }]],
        ["processes/p.lua"] = [[
          return { require "moonshift.process".step "s" {
            run = "ask", async = true, retry = "R5/PT20M" } }]],
      },
    }
    engine:start("p")
    engine:turn()
    local job = engine:jobs():one()
    assert.same({ 4, "2026-01-01T00:20:00.000Z", "no job 4711" },
      { job.retries, job.due, job.message })
    engine:batch { type = "asking", ids = { 1 } }
    engine:drain()
    job = engine:jobs({ handler = "batch/asking" }):one()
    assert.same({ 1, "2026-01-01T03:00:00.000Z", "no job 4711" },
      { job.retries, job.due, job.message })
  end)

  it("of an activity leaves its instance where it was, until nothing refuses it", function()
    engine = testing.engine {
      scripts = engines.folder {
        ["handlers/held.lua"] = "return function() end",
        ["handlers/ask.lua"] = [[return function(job)
          job.variables.asked = (job.variables.asked or 0) + 1
          job:enqueue("held", nil, { unique = "key", on_conflict = "refuse" })
        end]],
        ["processes/p.lua"] = [[
          local p = require "moonshift.process"
          return { p.step "s" { run = "ask", async = true, retry = "R5/PT20M" },
            p.task "t" }]],
      },
    }
    local holder = engine:enqueue("held", nil, { unique = "key", at = "2027-01-01T00:00:00Z" })
    local id = engine:start "p"
    engine:turn()
    local at = engine:at(id)
    assert.same({ 0, {} }, { #engine:tasks():list(), engine:instance(id).variables })
    engine:delete(holder)
    engine:advance "PT20M"
    engine:turn()
    assert.same({ "t", { asked = 1 } }, { engine:tasks():one().activity,
      engine:instance(id).variables })
    assert.not_same(at, engine:at(id))
  end)
end)
