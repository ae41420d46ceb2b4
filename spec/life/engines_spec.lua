local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local noop = { ["handlers/noop.lua"] = "return function() end" }

-- A handler that appends a letter to the file that its payload names.
local function writer(letter)
  return {
    ["handlers/write.lua"] = ([[
return function(job)
  local file = assert(io.open(job.payload.to, "a"))
  file:write(%q)
  file:close()
end]]):format(letter),
    ["handlers/wait.lua"] = [[
return function(job)
  assert(io.open(job.payload.to, "a")):write("-"):close()
  while not io.open(job.payload.go) do end
end]],
  }
end

local function await_done(executor, count)
  process.await(count .. " jobs", 20, function()
    return executor:status().done >= count
  end)
end

describe("an executor without threads", function()
  it("turns each of its engines", function()
    local a = testing.engine { handlers = { a = function() end } }
    local b = testing.engine { handlers = { b = function() end } }
    a:enqueue("a")
    b:enqueue("b")
    local executor = moonshift.executor { engines = { a, b } }
    assert.equal(2, executor:turn().done)
  end)

  it("waits for what comes first in any of them", function()
    local a = testing.engine { handlers = { a = function() end } }
    local b = testing.engine { handlers = { b = function() end } }
    a:enqueue("a", {}, { after = "PT1H" })
    b:enqueue("b", {}, { after = "PT1M" })
    assert.equal(60, moonshift.executor({ engines = { a, b } }):turn().wait)
  end)

  it("serves an engine from when it is added until it is removed", function()
    local a = testing.engine { handlers = { a = function() end } }
    local executor = moonshift.executor { engines = {} }
    a:enqueue("a")
    assert.equal(0, executor:turn().done)
    assert.is_true(executor:add(a))
    assert.equal(1, executor:turn().done)
    assert.is_true(executor:remove(a))
    a:enqueue("a")
    assert.equal(0, executor:turn().done)
  end)

  it("gives each engine its own settings of acquisition", function()
    local a = testing.engine { handlers = { a = function() end }, page = 2 }
    local b = testing.engine { handlers = { a = function() end }, acquisition = "slow" }
    for _ = 1, 5 do
      a:enqueue("a")
      b:enqueue("a")
    end
    local executor = moonshift.executor {
      engines = { a, b },
      acquisitions = { slow = { page = 1 } },
    }
    assert.equal(3, executor:turn().acquired)
  end)

  it("lets an acquisition's settings win over the engine's own", function()
    local a = testing.engine { handlers = { a = function() end }, acquisition = "slow", page = 4 }
    for _ = 1, 5 do
      a:enqueue("a")
    end
    local executor = moonshift.executor { engines = { a }, acquisitions = { slow = { page = 3 } } }
    assert.equal(3, executor:turn().acquired)
  end)

  it("refuses an acquisition that nobody declared", function()
    local a = testing.engine { acquisition = "slow" }
    assert.same({ nil, 'acquisition "slow" is not declared (expected default, or a name in'
      .. " acquisitions)", "invalid" }, { moonshift.executor { engines = { a } } })
  end)

  it("refuses an engine twice and one that is closed", function()
    local a = testing.engine()
    local executor = moonshift.executor { engines = { a } }
    assert.same({ nil, "the executor serves this engine already", "conflict" },
      { executor:add(a) })
    assert.same({ nil, "the executor serves this engine already", "conflict" },
      { moonshift.executor { engines = { a, a } } })
    a:close()
    assert.same({ nil, "the engine is closed", "closed" }, { executor:turn() })
    assert.is_true(executor:remove(a))
    assert.same({ nil, "the engine is closed", "closed" }, { executor:add(a) })
  end)

  it("refuses to remove what it does not serve", function()
    local executor = moonshift.executor { engines = {} }
    assert.same({ nil, "the executor does not serve this engine", "not_found" },
      { executor:remove(testing.engine()) })
  end)

  it("needs engines", function()
    assert.has_error(function()
      moonshift.executor { name = "node-1" }
    end, "engines is missing (expected { engine, … })")
    assert.has_error(function()
      moonshift.executor { engines = { testing.engine(), 5 } }
    end, "engines[2] is a number (expected an engine)")
    assert.has_error(function()
      moonshift.executor({ engines = {} }):add({})
    end, "engine is a table (expected an engine)")
  end)
end)

describe("a reload that takes a handler away", function()
  after_each(engines.clean)

  local old = {
    ["handlers/a.lua"] = "return function() return 'old' end",
    ["handlers/b.lua"] = "return function() return 'old' end",
  }

  local function replace(folder)
    os.remove(folder .. "/handlers/b.lua")
    local file = io.open(folder .. "/handlers/a.lua", "w")
    file:write("return function() return 'new' end")
    file:close()
  end

  local function results(engine)
    local list = {}
    engine:log({ outcome = "successful" }):sort("job"):each(function(entry)
      list[#list + 1] = entry.handler .. "=" .. tostring(entry.result)
    end)
    table.sort(list)
    return list
  end

  it("leaves its jobs to the generation that has it", function()
    local engine <close>, folder = engines.durable(old)
    engine:enqueue("b")
    engine:enqueue("a")
    replace(folder)
    assert(engine:reload())
    assert.equal(2, engine:drain().done)
    assert.same({ "a=new", "b=old" }, results(engine))
  end)

  it("does so in a running executor", function()
    local engine <close>, folder = engines.durable(old)
    local executor <close> = moonshift.executor { engines = { engine }, workers = 1 }
    assert(executor:start())
    replace(folder)
    assert(engine:reload())
    process.await("the new generation", 10, function()
      engine:enqueue("a")
      await_done(executor, 1)
      return engine:log({ outcome = "successful" }):sort("at", "desc"):list()[1].result == "new"
    end)
    local before = executor:status().done
    engine:enqueue("b")
    await_done(executor, before + 1)
    assert.equal(0, engine:incidents():count())
  end)
end)

describe("an executor of several engines", function()
  after_each(engines.clean)

  it("runs the jobs of all", function()
    local a <close> = engines.durable(noop)
    local b <close> = engines.durable(noop)
    local executor <close> = moonshift.executor { engines = { a, b }, workers = 2 }
    for _ = 1, 20 do
      a:enqueue("noop")
      b:enqueue("noop")
    end
    assert(executor:start())
    await_done(executor, 40)
    local status = executor:status()
    assert.equal(20, status.engines[1].done)
    assert.equal(20, status.engines[2].done)
    assert.not_equal(status.engines[1].store, status.engines[2].store)
  end)

  it("does not let the backlog of one hold up another", function()
    local a <close>, folder = engines.durable(writer("a"))
    local b <close> = engines.durable(writer("b"))
    local payload = { to = folder .. "/order", go = folder .. "/go" }
    local executor <close> = moonshift.executor { engines = { a, b }, workers = 1, queue = 64 }
    a:enqueue("wait", payload, { priority = 9 })
    assert(executor:start())
    process.await("the worker to be held up", 10, function()
      return process.read(payload.to) == "-"
    end)
    for _ = 1, 500 do
      a:enqueue("write", payload)
    end
    for _ = 1, 10 do
      b:enqueue("write", payload)
    end
    io.open(payload.go, "w"):close()
    await_done(executor, 511)
    local _, last = process.read(payload.to):find(".*b")
    assert.is_true(last <= 250, "the last of b is number " .. last)
  end)

  it("takes an engine in while it runs and lets it go", function()
    local a <close> = engines.durable(noop)
    local b <close> = engines.durable(noop)
    local executor <close> = moonshift.executor { engines = { a }, workers = 1 }
    assert(executor:start())
    assert.is_true(executor:add(b))
    b:enqueue("noop")
    await_done(executor, 1)
    assert.is_true(executor:remove(b))
    b:enqueue("noop")
    a:enqueue("noop")
    await_done(executor, 2)
    assert.equal(1, #executor:status().engines)
    assert.equal("ready", b:jobs():one().state)
    assert.equal(0, #b:executors())
  end)

  it("gives back what a removed engine has waiting, and what runs too long", function()
    local a <close>, folder = engines.durable(writer("a"))
    local b <close> = engines.durable(noop)
    local payload = { to = folder .. "/order", go = folder .. "/go" }
    local executor <close> = moonshift.executor {
      engines = { a, b },
      workers = 2,
      shutdown_wait = "PT0.1S",
    }
    a:enqueue("wait", payload, { priority = 9 })
    for _ = 1, 20 do
      a:enqueue("write", payload, { lane = "one" })
    end
    a:enqueue("wait", payload, { lane = "one", priority = 5 })
    assert(executor:start())
    process.await("both workers", 10, function()
      return executor:status().running == 2
    end)
    assert.is_true(executor:remove(a))
    assert.equal(0, a:jobs({ locked = true }):count())
    assert.equal(22, a:jobs({ executable = true }):count())
    assert.equal(3, a:jobs({ handler = "wait" }):list()[1].retries)
    b:enqueue("noop")
    await_done(executor, 1)
  end)

  it("has a loop for each named acquisition", function()
    local a <close> = engines.durable(noop)
    local b <close> = engines.durable(noop, { acquisition = "slow" })
    local executor <close> = moonshift.executor {
      engines = { a, b },
      acquisitions = { slow = { page = 1 } },
      workers = 1,
    }
    assert(executor:start())
    for _ = 1, 5 do
      a:enqueue("noop")
      b:enqueue("noop")
    end
    await_done(executor, 10)
    assert.equal("default", executor:status().engines[1].acquisition)
    assert.equal("slow", executor:status().engines[2].acquisition)
  end)

  it("may have two of one store", function()
    local a <close>, folder = engines.durable { ["handlers/mine.lua"] = "return function() end" }
    local other = engines.folder({ ["handlers/other.lua"] = "return function() end" })
    local b <close> = moonshift.open { store = "sqlite:" .. folder .. "/jobs.db", scripts = other }
    local executor <close> = moonshift.executor { engines = { a, b }, workers = 1 }
    assert(executor:start())
    for _ = 1, 5 do
      a:enqueue("mine")
      a:enqueue("other")
    end
    await_done(executor, 10)
    assert.equal(5, executor:status().engines[1].done)
    assert.equal(5, executor:status().engines[2].done)
  end)

  it("can be empty", function()
    local executor <close> = moonshift.executor { engines = {}, name = "node-1" }
    assert.is_true(executor:start())
    local a <close> = engines.durable(noop)
    a:enqueue("noop")
    assert.is_true(executor:add(a))
    await_done(executor, 1)
    assert.equal("node-1", a:executors()[1].name)
  end)

  it("refuses to add what cannot be started, and goes on #file", function()
    local a <close> = engines.durable(noop)
    local executor <close> = moonshift.executor { engines = { a }, workers = 1 }
    assert(executor:start())
    assert.same({ nil, "an executor on a store in memory cannot be started (expected turn or"
      .. " drain)", "conflict" }, { executor:add(testing.engine()) })
    a:enqueue("noop")
    await_done(executor, 1)
  end)

  it("starts all of its engines or none", function()
    local a <close> = engines.durable(noop)
    local executor = moonshift.executor { engines = { a, testing.engine() } }
    assert.equal("conflict", select(3, executor:start()))
    assert.equal("inactive", executor:status().state)
    assert.equal(0, #a:executors())
  end)
end)
