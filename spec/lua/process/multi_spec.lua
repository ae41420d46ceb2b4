local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"
local rules = require "moonshift.rules"

-- A store with the process s -> a -> e, whose activity `a` is repeated.
local function store(multi, a, nodes, flows)
  a = a or { kind = "user" }
  a.multi = multi
  nodes = nodes or {}
  nodes.a = a
  return driver.new { graphs.make("p", nodes, flows or { "s -> a -> e" }) }
end

describe("a multi-instance activity", function()
  it("has all turns of a parallel body at once", function()
    local d = store { parallel = true, count = 3 }
    local id = d:start("p")
    assert.equal("a a a", d:at(id))
    local body = d:frame(id).scopes[2]
    assert.same({ nrOfInstances = 3, nrOfCompletedInstances = 0, nrOfActiveInstances = 3 }, body[4])
    d:complete("a")
    assert.equal("a a", d:at(id))
    assert.equal(1, d:frame(id).scopes[2][4].nrOfCompletedInstances)
    d:complete("a")
    d:complete("a")
    assert.same({ s = 1, a = 3, ["a#multiInstanceBody"] = 1, e = 1 }, (d:history(id)))
  end)

  it("has one turn of a sequential body after another", function()
    local seen = {}
    local d = store({ collection = "lines", element = "line" }, { kind = "service",
      behaviour = { call = function(job)
        seen[#seen + 1] = { job.variables.line, job.variables.loopCounter, job.loop.item,
          job.loop.index, job.loop.done, job.loop.open }
      end } })
    local id = d:start("p", { lines = { "x", "y" } })
    assert.same({ { "x", 0, "x", 0, 0, 1 }, { "y", 1, "y", 1, 1, 1 } }, seen)
    assert.equal(2, d:history(id).a)
  end)

  it("gives the number of a turn a name that it says, also to turns that begin in a job", function()
    local seen = {}
    local function a(before)
      return { kind = "service", before = before, behaviour = { call = function(job)
        seen[#seen + 1] = { job.variables.i, job.variables.loopCounter }
      end } }
    end
    store({ count = 2, index = "i" }, a()):start("p")
    store({ count = 2, index = "i", parallel = true }, a()):start("p")
    local d = store({ count = 2, index = "i", parallel = true }, a(true))
    d:start("p")
    d:drain()
    assert.same({ { 0, 0 }, { 1, 1 }, { 0, 0 }, { 1, 1 }, { 0, 0 }, { 1, 1 } }, seen)
  end)

  it("goes through the list that an expression gives", function()
    local seen = {}
    local d = store({ parallel = true, collection = "${order.lines}", element = "line" },
      { kind = "service", behaviour = { call = function(job)
        seen[#seen + 1] = job.variables.line.n
      end } })
    d:start("p", { order = { lines = { { n = 1 }, { n = 2 } } } })
    assert.same({ 1, 2 }, seen)
  end)

  it("has no turn for an empty list", function()
    local d = store { parallel = true, collection = "lines", element = "line" }
    local id = d:start("p", { lines = rules.array {} })
    assert.same({ s = 1, ["a#multiInstanceBody"] = 1, e = 1 }, (d:history(id)))
  end)

  it("ends when its condition is true, and cancels the turns that are left", function()
    local d = store { parallel = true, count = 4, ["until"] = "${nrOfCompletedInstances >= 2}" }
    local id = d:start("p")
    d:complete("a")
    d:complete("a")
    assert.equal("completed", d:ended(id))
    local ended, cancelled = d:history(id)
    assert.equal(2, ended.a)
    assert.equal(2, cancelled.a)
    assert.same({}, d.tasks)
  end)

  it("ends a sequential body when its condition is true", function()
    local d = store { count = 9, ["until"] = "${nrOfCompletedInstances == 2}" }
    local id = d:start("p")
    d:complete("a")
    d:complete("a")
    assert.equal(2, d:history(id).a)
    assert.equal("completed", d:ended(id))
  end)

  it("has jobs of its body and jobs of its turns", function()
    local d = store({ parallel = true, count = 2, before = true, after = true },
      { kind = "task", before = true, after = true })
    local id = d:start("p")
    assert.equal("a#multiInstanceBody:before", d:at(id))
    d:run(d.jobs[1])
    assert.equal(2, #d.jobs)
    assert.equal("process/p/a", d.jobs[1].handler)
    d:run(d.jobs[2])
    assert.equal("process/p/a:after", d.jobs[2].handler)
    d:run(d.jobs[2])
    d:run(d.jobs[1])
    d:run(d.jobs[1])
    assert.equal("a#multiInstanceBody:after", d:at(id))
    assert.equal("process/p/a#multiInstanceBody:after", d.jobs[1].handler)
    d:run(d.jobs[1])
    assert.equal("completed", d:ended(id))
  end)

  it("keeps turns that wait in their first job as a range", function()
    local seen = {}
    local d = store({ parallel = true, count = 500 }, { kind = "service", before = true,
      behaviour = { call = function(job)
        seen[job.variables.loopCounter] = true
      end } })
    local id = d:start("p")
    assert.equal(500, #d.jobs)
    assert.is_true(#d.instances[id].frame < 250)
    d:run(d.jobs[250])
    assert.is_true(seen[249])
    d:drain()
    assert.equal(500, d:history(id).a)
    for i = 0, 499 do
      assert.is_true(seen[i])
    end
  end)

  it("takes away the jobs of a range", function()
    local d = store({ parallel = true, count = 3, ["until"] = "${true}" },
      { kind = "task", before = true })
    local id = d:start("p")
    d:run(d.jobs[2])
    assert.equal("completed", d:ended(id))
    assert.same({}, d.jobs)
  end)

  it("makes a thousand turns a unit, and the others by a job of its own", function()
    local seen = {}
    local d = store({ parallel = true, count = 2500 }, { kind = "service", before = true,
      behaviour = { call = function(job)
        seen[job.variables.loopCounter] = true
      end } })
    local id = d:start("p")
    assert.equal(1001, #d.jobs)
    d:drain()
    assert.equal(2500, d:history(id).a)
    assert.same({ true, true, true }, { seen[0], seen[1000], seen[2499] })
    assert.equal(2500, #seen + 1)
    assert.equal("completed", d:ended(id))
  end)

  it("makes jobs that are exclusive as the model says of the body and of its turns", function()
    for _, case in ipairs { { true, false }, { false, true } } do
      local d = store({ parallel = true, count = 1001, exclusive = case[1] },
        { kind = "service", before = true, exclusive = case[2] })
      d:start("p")
      local found = {}
      for _, job in ipairs(d.jobs) do
        found[job.handler .. " " .. tostring(job.exclusive)] = true
      end
      assert.same({ ["process/p/a#multiInstanceBody " .. tostring(case[1])] = true,
        ["process/p/a " .. tostring(case[2])] = true }, found)
    end
  end)

  it("makes each turn once, whatever number of units makes them", function()
    for _, multi in ipairs { { index = "i" }, { collection = "list", element = "item" } } do
      local count, list, seen = 2003, {}, {}
      for i = 1, count do
        list[i] = "item " .. i - 1
      end
      multi.parallel, multi.count = true, not multi.collection and count or nil
      local d = store(multi, { kind = "service", before = true })
      local id = d:start("p", { list = list })
      for _ = 1, 2 do
        for _, job in ipairs(d.jobs) do
          if job.handler == "process/p/a#multiInstanceBody" then
            d:run(job)
            break
          end
        end
      end
      assert.equal(count, #d.jobs)
      for _, token in ipairs(d:frame(id).tokens) do
        local own = token[6]
        local at = own.loopCounter
        assert.equal(multi.index and at or "item " .. at, own.i or own.item)
        seen[at] = (seen[at] or 0) + 1
      end
      for i = 0, count - 1 do
        assert.equal(1, seen[i], i)
      end
    end
  end)

  it("repeats sub-processes, each with variables of its own", function()
    local d = store({ parallel = true, count = 2 }, { kind = "subprocess" },
      { s2 = { kind = "start", scope = "a" }, u = { kind = "user", scope = "a" },
        e2 = { kind = "end", scope = "a" } }, { "s -> a -> e", "s2 -> u -> e2" })
    local id = d:start("p")
    assert.equal("u u", d:at(id))
    local scopes = d:frame(id).scopes
    assert.same({ { loopCounter = 0 }, { loopCounter = 1 } }, { scopes[3][4], scopes[4][4] })
    d:complete("u")
    d:complete("u")
    assert.same({ s = 1, a = 2, s2 = 2, u = 2, e2 = 2, ["a#multiInstanceBody"] = 1, e = 1 },
      (d:history(id)))
  end)

  it("has one boundary timer for all turns", function()
    local d = store({ parallel = true, count = 3 }, nil, { late = { kind = "boundary",
      attached = "a", event = { kind = "timer", timer = { kind = "duration", text = "PT1M" } } } },
      { "s -> a -> e", "late -> e2" })
    local id = d:start("p")
    assert.equal(1, #d.jobs)
    d:advance(60000)
    local ended, cancelled = d:history(id)
    assert.same({ s = 1, late = 1, e2 = 1 }, ended)
    assert.same({ a = 3, ["a#multiInstanceBody"] = 1 }, cancelled)
  end)

  it("refuses a number of turns that is none", function()
    local d = store { parallel = true, count = "${n}" }
    local _, message = pcall(d.start, d, "p", { n = -1 })
    assert.equal("a: the number of turns is -1 (expected a whole number from 0)", message)
  end)

  it("refuses a collection that is no list", function()
    local d = store { parallel = true, collection = "lines", element = "line" }
    local _, message = pcall(d.start, d, "p", { lines = { n = 1 } })
    assert.equal("a: the collection lines is a table (expected a list)", message)
  end)

  it("refuses an element that is no data, by the name of its variable", function()
    local d = store { parallel = true, collection = function() return { print } end,
      element = "line" }
    local _, message = pcall(d.start, d, "p", {})
    assert.truthy(message:find("line", 1, true), message)
    assert.truthy(message:find("function", 1, true), message)
  end)

  it("counts the turns that are left, and begins each without what the one before had", function()
    local d = store({ parallel = true, count = 3 })
    local id = d:start("p")
    d:complete("a")
    assert.equal(2, d:frame(id).scopes[2][4].nrOfActiveInstances)
    local seen = {}
    store({ count = 2 }, { kind = "service", behaviour = { call = function(job)
      seen[#seen + 1] = tostring(job.variables.mine)
      job:set_local("mine", job.variables.loopCounter)
    end } }):start("p")
    assert.same({ "nil", "nil" }, seen)
  end)
end)
