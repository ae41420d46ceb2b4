local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"
local rules = require "moonshift.rules"

local BRANCHES = 100

-- What a unit kept, as it comes back: through JSON.
local function handed_back(unit)
  return rules.decode(rules.encode(unit.kept))
end

-- A process of branches beside each other, each a job that is not exclusive, and their join.
local function wide(fn, more)
  local nodes = { f = "parallel", j = "parallel" }
  local flows = { "s -> f", "j -> e" }
  for i = 1, BRANCHES do
    nodes["b" .. i] = { kind = "service", before = true, exclusive = false,
      behaviour = { call = fn } }
    for name, value in pairs(more or {}) do
      nodes["b" .. i][name] = value
    end
    flows[#flows + 1] = ("f -> b%d -> j"):format(i)
  end
  return driver.new { graphs.make("p", nodes, flows) }
end

-- Walks all jobs that are there on the frame of now, then writes them one after another: all but
-- the first are behind, and walk again as often.
local function race(d)
  local units = {}
  for i, job in ipairs { table.unpack(d.jobs) } do
    local cause = d:take(job)
    units[i] = { cause = cause, unit = d:walk(cause) }
  end
  local behind = 0
  for _, one in ipairs(units) do
    while not d:write(one.unit, one.cause) do
      behind = behind + 1
      one.cause.kept = handed_back(one.unit)
      one.unit = d:walk(one.cause)
    end
  end
  return behind
end

describe("a unit that was behind", function()
  it("takes back once what another branch does not touch", function()
    local told = 0
    local d = driver.new { graphs.make("p", { a = "service", f = "parallel", g = "parallel",
      ca = { kind = "boundary", attached = "a", handler = "ua", event = { kind = "compensation" } },
      ua = { kind = "service", compensates = true, behaviour = { call = function()
        told = told + 1
      end } }, b = { kind = "service", before = true, exclusive = false }, u = "user", v = "user",
      t = { kind = "throw", before = true, exclusive = false, event = { kind = "compensation" } } },
      { "s -> a -> f", "f -> t -> e3", "f -> b -> g -> u -> e", "g -> v -> e2" }) }
    d:start("p")
    local by = {}
    for _, job in ipairs(d.jobs) do
      by[job.handler:match "[^/]+$"] = job
    end
    local cause = d:take(by.t)
    local unit = d:walk(cause)
    d:run(by.b)
    assert.is_false(d:write(unit, cause))
    cause.kept = handed_back(unit)
    assert.is_true(d:write(d:walk(cause), cause))
    assert.equal(1, told)
  end)

  it("begins the instance that it calls under the number that its handlers were told", function()
    local told = {}
    local d = driver.new { graphs.make("p", { f = "parallel", j = "parallel",
      a = { kind = "service", before = true, exclusive = false,
        behaviour = { call = function() end } },
      c = { kind = "call", before = true, exclusive = false, call = { process = "q" } } },
      { "s -> f -> a -> j -> e", "f -> c -> j" }),
      graphs.make("q", { b = { kind = "service", behaviour = { call = function(job)
        told[#told + 1] = job.instance
      end } } }, { "s -> b -> e" }) }
    d:start("p")
    assert.equal(1, race(d))
    assert.equal(1, #told)
    assert.equal("completed", d:ended(tonumber(told[1])))
  end)

  it("calls listeners of variables again where something else is written", function()
    local told, nodes = {}, { f = "parallel", j = "parallel", u = "user" }
    for i = 1, 3 do
      nodes["b" .. i] = { kind = "service", before = true, exclusive = false,
        behaviour = { call = function(job)
          job.variables.shared = true
          job.variables["done_" .. i] = i
        end } }
    end
    local graph = graphs.make("p", nodes, { "s -> f -> b1 -> j -> u -> e", "f -> b2 -> j",
      "f -> b3 -> j" })
    graph.listeners = { variable_create = { { call = function(job)
      local name = job.variable.name
      if not name:find "^heard_" then
        told[name] = (told[name] or 0) + 1
        job.variables["heard_" .. name] = true
      end
    end } } }
    local d = driver.new { graph }
    local id = d:start("p")
    assert.equal(2, race(d))
    assert.same({ shared = 3, done_1 = 1, done_2 = 1, done_3 = 1 }, told)
    assert.same({ shared = true, done_1 = 1, done_2 = 2, done_3 = 3, heard_shared = true,
      heard_done_1 = true, heard_done_2 = true, heard_done_3 = true }, d:variables(id))
  end)

  it("calls no handler again", function()
    local called = {}
    local d = wide(function(job)
      called[job.activity] = (called[job.activity] or 0) + 1
      job.variables["done_" .. job.activity] = true
    end)
    local id = d:start("p")
    assert.equal(BRANCHES - 1, race(d))
    for i = 1, BRANCHES do
      assert.equal(1, called["b" .. i])
      assert.is_true(d:variables(id)["done_b" .. i])
    end
    assert.equal("completed", d:ended(id))
    assert.equal(1, d:history(id).e)
  end)

  it("calls again what has read and written a variable that is another now", function()
    local calls = 0
    local d = wide(function(job)
      calls = calls + 1
      job.variables.count = job.variables.count + 1
    end)
    local id = d:start("p", { count = 0 })
    race(d)
    assert.equal(BRANCHES, d:variables(id).count)
    assert.equal(2 * BRANCHES - 1, calls)
  end)

  it("counts also through an input and a result", function()
    local d = wide(function(job)
      return job.payload.n + 1
    end, { input = { { name = "n", value = "${count}" } }, result = "count" })
    local id = d:start("p", { count = 0 })
    race(d)
    assert.equal(BRANCHES, d:variables(id).count)
  end)

  it("counts in an expression that assigns", function()
    local d = wide(nil, {
      behaviour = { expression = "${execution.setVariable('count', count + 1)}" },
    })
    local id = d:start("p", { count = 0 })
    race(d)
    assert.equal(BRANCHES, d:variables(id).count)
  end)

  it("does not look again at what was only read", function()
    local calls = 0
    local d = driver.new { graphs.make("p", { a = { kind = "service", before = true, result = "y",
      behaviour = { call = function(job)
        calls = calls + 1
        return job.variables.x
      end } }, u = "user" }, { "s -> a -> u -> e" }) }
    local id = d:start("p", { x = 1 })
    local cause = d:take(d.jobs[1])
    local unit = d:walk(cause)
    d:command { kind = "set", instance = id, variables = { x = 5 } }
    assert.is_false(d:write(unit))
    cause.kept = handed_back(unit)
    assert.is_true(d:write(d:walk(cause), cause))
    assert.equal(1, calls)
    assert.same({ x = 5, y = 1 }, d:variables(id))
  end)

  it("drops what was kept for a token that has gone", function()
    local d = driver.new { graphs.make("p", { f = "parallel", a = { kind = "service",
      before = true, exclusive = false, behaviour = { call = function(job)
        job.variables.x = 1
      end } }, u = "user", e2 = { kind = "end", event = { kind = "terminate" } } },
      { "s -> f -> a -> e", "f -> u -> e2" }) }
    local id = d:start("p")
    local cause = d:take(d.jobs[1])
    local unit = d:walk(cause)
    d:complete("u")
    assert.equal("completed", d:ended(id))
    cause.kept = handed_back(unit)
    assert.is_false(d:write(unit))
    assert.is_true(d:walk(cause).skipped)
    assert.same({}, d:variables(id))
  end)

  it("keeps what was thrown, enqueued and started", function()
    local calls = 0
    local d = driver.new { graphs.make("p", { f = "parallel", a = { kind = "service",
      before = true, exclusive = false, behaviour = { call = function(job)
        calls = calls + 1
        job.variables.child = job:start("q")
        job:enqueue("mail")
        job:throw("sold_out")
      end } }, caught = { kind = "boundary", attached = "a",
        event = { kind = "error", code = "sold_out" } }, u = "user", v = "user" },
      { "s -> f -> a -> e", "caught -> v -> e", "f -> u -> e" }) }
    d:deploy(graphs.make("q", { w = "user" }, { "s -> w -> e" }))
    local id = d:start("p")
    local cause = d:take(d.jobs[1])
    local unit = d:walk(cause)
    d:complete("u")
    assert.is_false(d:write(unit))
    cause.kept, d.enqueued = handed_back(unit), {}
    assert.is_true(d:write(d:walk(cause), cause))
    assert.equal(1, calls)
    assert.equal("v", d:at(id))
    assert.equal("w", d:at(tonumber(d:variables(id).child)))
    assert.equal(1, #d.enqueued)
  end)

  it("ends as if its jobs had run one after another, each handler called once a job", function()
    for seed = 1, 60 do
      local calls, runs = 0, 0
      local r = graphs.random(seed * 104729)
      local graph = graphs.draw(r, { "parallel", "inclusive", function()
        return { kind = "service", before = true, exclusive = false, behaviour = {
          call = function(job)
            calls = calls + 1
            job.variables.count = job.variables.count + 1
            job.variables["n" .. job.activity] = (job.variables["n" .. job.activity] or 0) + 1
          end } }
      end, function()
        return { kind = "service", before = true, exclusive = false, behaviour = {
          call = function()
            runs = runs + 1
          end } }
      end })
      local serial, raced = driver.new { graph }, driver.new { graph }
      local first = serial:start("p", { count = 0 })
      serial:drain()
      local called, once = calls, runs
      calls, runs = 0, 0
      local second = raced:start("p", { count = 0 })
      while raced.jobs[1] do
        race(raced)
      end
      assert.same(serial:variables(first), raced:variables(second))
      assert.same((serial:history(first)), (raced:history(second)))
      assert.equal(serial:at(first), raced:at(second))
      assert.equal(once, runs)
      assert.is_true(calls >= called)
    end
  end)

  it("knows calls of tokens that were made in the unit", function()
    local calls = 0
    local fn = { kind = "service", behaviour = { call = function()
      calls = calls + 1
    end } }
    local function copy()
      return { kind = fn.kind, behaviour = fn.behaviour }
    end
    local d = driver.new { graphs.make("p", { g = "parallel", u = "user", f = { kind = "parallel",
      before = true, exclusive = false }, a = copy(), b = copy(), j = "parallel" },
      { "s -> g -> f -> a -> j -> e", "f -> b -> j", "g -> u -> e" }) }
    local id = d:start("p")
    local cause = d:take(d.jobs[1])
    local unit = d:walk(cause)
    d:complete("u")
    cause.kept = handed_back(unit)
    assert.is_true(d:write(d:walk(cause), cause))
    assert.equal(2, calls)
    assert.equal("completed", d:ended(id))
  end)
end)
