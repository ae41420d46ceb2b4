local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local testing = require "moonshift.testing"

describe("a job's fields", function()
  after_each(engines.clean)

  it("name the deployment of its definition", function()
    local created
    local engine = testing.engine {
      handlers = {
        a = function(job)
          created = job:enqueue("b")
        end,
        b = function() end,
      },
    }
    local deployment = engine:definition("a").deployment
    assert.equal(deployment, engine:job(engine:enqueue("a")).deployment)
    engine:turn()
    assert.equal(deployment, engine:job(created).deployment)
  end)

  it("name no deployment for a handler that nobody has deployed", function()
    local engine = testing.engine()
    assert.is_nil(engine:job(engine:enqueue("later", nil, { unchecked = true })).deployment)
  end)

  it("name the owner of the lock alike in the handler, in questions and in the log", function()
    local inside, asked
    local engine = testing.engine {
      name = "node",
      handlers = {
        a = function(job)
          inside, asked = job.lock_owner, job.engine:job(job.id).lock_owner
        end,
      },
    }
    engine:enqueue("a")
    engine:drain()
    assert.equal("node/1", inside)
    assert.equal("node/1", asked)
    assert.equal("node/1", engine:log({ outcome = "successful" }):one().executor)
  end)

  it("name the zone and misfire of a cycle, and its schedule", function()
    local engine = testing.engine { handlers = { a = function() end } }
    local once = engine:job(engine:enqueue("a"))
    assert.same({}, { once.zone, once.misfire, once.schedule })
    local id = engine:enqueue("a", nil, { cycle = "0 8 * * *", zone = "Europe/Berlin",
      misfire = "skip" })
    local job = engine:job(id)
    assert.same({ "Europe/Berlin", "skip" }, { job.zone, job.misfire })
    job = engine:job(engine:enqueue("a", nil, { cycle = "R/PT1H" }))
    assert.same({ "UTC", "once" }, { job.zone, job.misfire })
  end)

  it("are in the log of its creation as they were then", function()
    local engine = testing.engine {
      handlers = {
        a = function()
          error("no", 0)
        end,
      },
    }
    engine:enqueue("a", nil, { retries = 2 })
    engine:drain()
    assert.equal(2, engine:log({ outcome = "created" }):one().retries)
  end)
end)

describe("a deployment-aware executor", function()
  after_each(engines.clean)

  it("is registered under its own name for what its engine has loaded", function()
    local engine = testing.engine { name = "node-1", handlers = { a = function() end } }
    engine:enqueue("a")
    local executor = assert(moonshift.executor {
      engines = { engine },
      name = "node-2",
      deployment_aware = true,
    })
    assert.equal(1, executor:turn().done)
    assert.same({ "node-1", "node-2" }, engine:deployments()[1].executors)
  end)
end)

describe("a job that is cancelled by another engine", function()
  after_each(engines.clean)

  it("hears of it when it asks", function()
    local store = "sqlite:" .. engines.folder {} .. "/jobs.db"
    local other = assert(moonshift.open { store = store })
    local before, after
    local engine = testing.engine {
      store = store,
      handlers = {
        a = function(job)
          before = job:cancelled()
          assert(other:cancel(job.id))
          after = job:cancelled()
        end,
      },
    }
    engine:enqueue("a")
    assert.same({ done = 0, failed = 0 }, engine:drain())
    assert.same({ false, true }, { before, after })
  end)

  it("keeps what its run has said, before and after", function()
    local store = "sqlite:" .. engines.folder {} .. "/jobs.db"
    local other = assert(moonshift.open { store = store })
    local handlers = {
      a = function(job)
        job:log("begun")
        assert(other:cancel(job.id))
        job:log("gave up")
      end,
    }
    local engine = testing.engine { store = store, handlers = handlers }
    engine:enqueue("a")
    engine:drain()
    local entry = engine:log({ outcome = "cancelled" }):one()
    assert.same({ "begun", "gave up" }, entry.lines)
  end)
end)

describe("the questions of a handler", function()
  after_each(engines.clean)

  it("are those of an engine: sorted, in pages, counted, each", function()
    local engine = engines.private {
      ["handlers/a.lua"] = "return function() end",
      ["handlers/ask.lua"] = [[
        return function(job)
          local jobs = job.engine:jobs { handler = "a" }
          local calls = jobs:each(function(row) return row.priority < 2 end)
          local page = jobs:sort("priority", "desc"):page(1, 2):list()
          return { jobs:count(), calls, page[1].priority, page[2].priority }
        end
      ]],
    }
    for priority = 1, 4 do
      engine:enqueue("a", nil, { priority = priority })
    end
    assert.same({ 4, 2, 4, 3 }, engine:execute((engine:enqueue("ask"))))
  end)

  it("give a row without what it has not, and refuse an id that is none", function()
    local engine = engines.private {
      ["handlers/a.lua"] = "return function() end",
      ["handlers/ask.lua"] = [[
        return function(job)
          local row, refused = job.engine:job(1), {}
          for i, verb in ipairs { "job", "batch", "why" } do
            refused[i] = select(2, pcall(job.engine[verb], job.engine, "1")):match("%l+: id.*")
          end
          return { row.handler, row.tenant == nil, row.priority, refused }
        end
      ]],
    }
    engine:enqueue("a", nil, { priority = 5 })
    local wrong = ': id is the string "1" (expected a whole number)'
    assert.same({ "a", true, 5, { "job" .. wrong, "batch" .. wrong, "why" .. wrong } },
      engine:execute((engine:enqueue("ask"))))
  end)

  it("name what is not known", function()
    local message, code
    local engine = testing.engine {
      handlers = {
        ask = function(job)
          message, code = select(2, job.engine:jobs({ handlr = "a" }):list())
        end,
      },
    }
    engine:enqueue("ask")
    engine:drain()
    assert.equal('unknown filter "handlr" (did you mean "handler"?)', message)
    assert.equal("invalid", code)
  end)
end)
