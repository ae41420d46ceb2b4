local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"

local function on(kind, name, more)
  local node = { kind = kind, event = { kind = "signal", name = name or "S" } }
  for key, value in pairs(more or {}) do
    if key == "attached" or key == "scope" then
      node[key] = value
    else
      node.event[key] = value
    end
  end
  return node
end

-- A task whose end throws; beside it stands what waits.
local function beside(nodes, flows, event)
  local all = { f = "parallel", a = "user", t = on("throw", "S", event), d = "user" }
  for id, node in pairs(nodes) do
    all[id] = node
  end
  return graphs.make("p", all, { "s -> f -> a -> t -> d -> e", table.unpack(flows) })
end

local function starter()
  return graphs.make("q", { s = on "start", b = "user" }, { "s -> b -> e" })
end

describe("a signal that is thrown", function()
  it("reaches what waits in the same instance, and start events, before its thrower goes on",
    function()
      local order = {}
      local d = driver.new({ beside({ w = on "catch", c = { kind = "service",
        behaviour = { run = "note" } }, u = "user" }, { "f -> w -> c -> u -> e2" }), starter() },
        { handlers = { note = function(job)
          order[#order + 1] = job.activity
        end } })
      local id = d:start("p")
      d:complete("a")
      assert.equal("d u", d:at(id))
      assert.same({ "c" }, order)
      assert.equal(2, #d.tasks - 1)
      assert.same({ 1, 1 }, { d:history(id).w, d:history(id).t })
    end)

  it("brings variables, as its mappings say", function()
    local d = driver.new { beside({}, {}, { into = { { from = "x", to = "x" },
      { value = "${x + y}", to = "z" } } }), starter() }
    d:start("p", { x = 1, y = 2 })
    d:complete("a")
    local began
    for id, row in pairs(d.instances) do
      began = row.version == 2 and id or began
    end
    assert.same({ x = 1, z = 3 }, d:variables(began))
  end)

  it("interrupts an activity, or comes beside it as often as it is thrown", function()
    local d = driver.new { graphs.make("p", { a = "user", b = on("boundary", "S",
      { attached = "a", interrupting = false }), c = "user", i = on("boundary", "T",
      { attached = "a" }), u = "user" }, { "s -> a -> e", "b -> c -> e2", "i -> u -> e3" }) }
    local id = d:start("p")
    d:command { kind = "signal", name = "S" }
    d:command { kind = "signal", name = "S", variables = { x = 1 } }
    assert.equal("a c c", d:at(id))
    assert.equal(1, d:command({ kind = "signal", name = "T" }).result)
    assert.equal("c c u", d:at(id))
    assert.same({ x = 1 }, d:variables(id))
    assert.equal(0, d:command({ kind = "signal", name = "S" }).result)
  end)

  it("takes one of the ways of a gateway that wait for it", function()
    local d = driver.new { graphs.make("p", { g = "event_gateway", w = on "catch", x = on "catch",
      a = "user" }, { "s -> g -> w -> a -> e", "g -> x -> a" }) }
    local id = d:start("p")
    d:command { kind = "signal", name = "S" }
    assert.equal("a", d:at(id))
    d = driver.new { beside({ g = "event_gateway", w = on "catch", x = on "catch", u = "user" },
      { "f -> g -> w -> u -> e2", "g -> x -> u" }) }
    id = d:start("p")
    d:complete("a")
    assert.equal("d u", d:at(id))
  end)

  it("does not reach what waits in an instance that is suspended", function()
    local d = driver.new { beside({ w = on "catch", u = "user" }, { "f -> w -> u -> e2" }) }
    local id = d:start("p")
    d.instances[id].held = true
    d:command { kind = "modify", instance = id, operations = { { start_before = "t" } } }
    assert.equal("a d w", d:at(id))
  end)

  it("is for instances of its thrower's tenant, and those of none", function()
    local d = driver.new { beside({ w = on "catch", u = "user" }, { "f -> w -> u -> e2" }) }
    local ids = {}
    for i, tenant in ipairs { "one", "one", "two", false } do
      ids[i] = d:start("p", nil, { tenant = tenant or nil })
    end
    d:complete("a")
    assert.same({ "d u", "a u", "a w", "a u" },
      { d:at(ids[1]), d:at(ids[2]), d:at(ids[3]), d:at(ids[4]) })
  end)

  it("says who has given it to what it starts", function()
    local d = driver.new { graphs.make("q", { s = on "start", b = "user" }, { "s -> b -> e" },
      { initiator = "by" }) }
    d:command { kind = "signal", name = "S", who = "ada" }
    assert.same({ by = "ada" }, d:variables(d.tasks[1].instance))
  end)

  it("starts event sub-processes, and is a way out of an event-based gateway", function()
    local d = driver.new { graphs.make("p", { g = "event_gateway", w = on "catch",
      w2 = on("catch", "T"), a = "user", b = "user", sub = "event_subprocess",
      s2 = on("start", "T", { scope = "sub", interrupting = false }),
      c = { kind = "user", scope = "sub" }, e4 = { kind = "end", scope = "sub" } },
      { "s -> g -> w -> a -> e", "g -> w2 -> b -> e2", "s2 -> c -> e4" }) }
    local id = d:start("p")
    d:command { kind = "signal", name = "S" }
    assert.equal("a", d:at(id))
    d:command { kind = "signal", name = "T" }
    assert.equal("a c", d:at(id))
  end)

  it("may be called what an expression says", function()
    local d = driver.new { graphs.make("p", { w = on("catch", "S-${n}"), a = "user" },
      { "s -> w -> a -> e" }) }
    local one, two = d:start("p", { n = 1 }), d:start("p", { n = 2 })
    assert.equal(1, d:command({ kind = "signal", name = "S-2" }).result)
    assert.same({ "w", "a" }, { d:at(one), d:at(two) })
    d = driver.new { graphs.make("p", { w = on("catch", "${n}") }, { "s -> w -> e" }) }
    local _, message = pcall(d.start, d, "p", { n = 5 })
    assert.equal("w: the signal is called 5 (expected a text)", message)
  end)

  it("is given by a handler, once for the run", function()
    local d = driver.new({ graphs.make("p", { c = { kind = "service", before = true,
      behaviour = { run = "call" } } }, { "s -> c -> e" }), starter() },
      { handlers = { call = function(job)
        job:signal("S", { x = 1 })
        job:signal("T")
      end } })
    d:start("p")
    assert.equal(0, #d.tasks)
    d:drain()
    assert.equal(1, #d.tasks)
    assert.same({ x = 1 }, d:variables(d.tasks[1].instance))
  end)

  it("refuses to bring what is no table", function()
    local d = driver.new({ graphs.make("p", { c = { kind = "service",
      behaviour = { run = "call" } } }, { "s -> c -> e" }) },
      { handlers = { call = function(job)
        job:signal("S", 1)
      end } })
    local _, message = pcall(d.start, d, "p")
    assert.truthy(message:find("job:signal: the variables are 1 (expected a table of names and "
      .. "values)", 1, true))
  end)
end)

describe("an asynchronous signal", function()
  it("reaches each by a job, that which has begun to wait in the same unit, too", function()
    local d = driver.new { graphs.make("p", { f = "parallel", w = on "catch", u = "user",
      t = on("throw", "S", { async = true, into = { { value = 1, to = "x" } } }), d = "user",
      w2 = on "catch", v = "user" },
      { "s -> f -> w -> u -> e", "f -> t -> d -> w2 -> v -> e2" }), starter() }
    local id = d:start("p")
    assert.equal("d w", d:at(id))
    assert.equal(2, #d.orders)
    d:deliver()
    assert.equal("d u", d:at(id))
    assert.equal(3, #d.tasks)
    assert.same({ { x = 1 }, {} }, { d:variables(id), d:variables(d.tasks[3].instance) })
  end)

  it("finds one that has gone on meanwhile, and does nothing", function()
    local d = driver.new { graphs.make("p", { w = on "catch", w2 = on("catch", "T"), u = "user" },
      { "s -> w -> w2 -> u -> e" }), graphs.make("t", { t = on("throw", "S", { async = true }) },
      { "s -> t -> e" }) }
    local id = d:start("p")
    d:start("t")
    d:command { kind = "signal", name = "S" }
    assert.equal("w2", d:at(id))
    d:deliver()
    assert.equal("w2", d:at(id))
  end)

  it("is any signal for more than a hundred", function()
    local list = { graphs.make("p", { w = on "catch", u = "user" }, { "s -> w -> u -> e" }) }
    local d = driver.new(list)
    for _ = 1, 100 do
      d:start("p")
    end
    assert.equal(100, d:command({ kind = "signal", name = "S" }).result)
    d = driver.new(list)
    for _ = 1, 101 do
      d:start("p")
    end
    local unit = d:command { kind = "signal", name = "S" }
    assert.is_nil(unit.result)
    assert.equal(101, #d.orders)
    d:deliver()
    assert.equal(101, #d.tasks)
  end)
end)

describe("a signal for an instance that is busy", function()
  it("comes by a job, and its thrower does not wait", function()
    local d = driver.new { graphs.make("p", { w = on("catch"), a = "user" },
      { "s -> w -> a -> e" }), graphs.make("q", { t = on("throw"), b = "user" },
      { "s -> t -> b -> e" }) }
    local busy, free = d:start("p"), d:start("p")
    d.busy = { [busy] = true }
    local thrower = d:start("q")
    assert.same({ "w", "a", "b" }, { d:at(busy), d:at(free), d:at(thrower) })
    assert.equal(1, #d.orders)
    d:deliver()
    assert.equal("a", d:at(busy))
  end)
end)

describe("a message to all", function()
  local function give(d, more)
    local cause = { kind = "signal", message = true, name = "M", key = "k", variables = { v = 1 } }
    for name, value in pairs(more or {}) do
      cause[name] = value
    end
    return d:command(cause)
  end

  local function waits(key)
    return graphs.make("p", { w = { kind = "receive", event = { kind = "message", name = "M",
      key = key } }, a = "user", f = "parallel", c = "user", b = { kind = "boundary",
      attached = "c", event = { kind = "message", name = "M", interrupting = false } } },
      { "s -> f -> w -> a -> e", "f -> c -> e", "b -> e" })
  end

  it("reaches what waits with its key, beside an activity too, and start events", function()
    local d = driver.new { waits "${key}", graphs.make("q", { s = { kind = "start",
      event = { kind = "message", name = "M" } }, d = "user" }, { "s -> d -> e" }) }
    local one, two = d:start("p", { key = "k" }), d:start("p", { key = "other" })
    local unit = give(d)
    assert.equal(4, #unit.result)
    assert.same({ "a c", "c w" }, { d:at(one), d:at(two) })
    assert.same({ key = "k", v = 1 }, d:variables(one))
    assert.equal(1, d:history(two).b)
    assert.equal("d", d.tasks[#d.tasks].activity)
  end)

  it("is not for what a signal of that name waits for", function()
    local d = driver.new { graphs.make("p", { w = on("catch", "M"), a = "user" },
      { "s -> w -> a -> e" }) }
    local id = d:start "p"
    assert.same({}, give(d).result)
    assert.equal("w", d:at(id))
  end)

  it("that a job brings is skipped where nothing waits for it any more", function()
    local d = driver.new { waits() }
    local id = d:start "p"
    local token = d:token(id, "w")
    local job = { instance = id, token = token, activity = "w" }
    give(d, job)
    assert.equal("a c", d:at(id))
    assert.is_true(d:walk { kind = "signal", message = true, name = "M", instance = id,
      token = token, activity = "w" }.skipped)
  end)
end)

describe("a message to all", function()
  it("does not reach the next wait of a token that has gone on meanwhile", function()
    local message = { kind = "message", name = "M" }
    local d = driver.new { graphs.make("p", { f = "parallel", ua = "user", ub = "user", un = "user",
      ra = { kind = "receive", event = message }, rb = { kind = "receive", event = message },
      t = on "throw", bx = { kind = "boundary", attached = "rb", event = { kind = "signal",
        name = "S", interrupting = true } },
      rn = { kind = "receive", event = { kind = "message", name = "N" } } },
      { "s -> f -> ra -> t -> ua -> e", "f -> rb -> ub -> e2", "bx -> rn -> un -> e3" }) }
    local id = d:start("p")
    d:command { kind = "signal", message = true, name = "M" }
    assert.equal("rn ua", d:at(id))
  end)
end)
