local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"
local rules = require "moonshift.rules"

local calls

-- A service that notes its name, and what it sees as `l`.
local function notes(scope, more)
  local node = { kind = "service", scope = scope, behaviour = { call = function(job)
    calls[#calls + 1] = job.activity .. (job.variables.l and ":" .. job.variables.l or "")
  end } }
  for name, value in pairs(more or {}) do
    node[name] = value
  end
  return node
end

local function handler(scope, kind)
  local node = kind and { kind = kind, scope = scope } or notes(scope)
  node.compensates = true
  return node
end

local function undo(host, by, scope)
  return { kind = "boundary", attached = host, handler = by, scope = scope,
    event = { kind = "compensation" } }
end

local function throws(kind, scope, activity)
  return { kind = kind, scope = scope, event = { kind = "compensation", activity = activity } }
end

local function inside(scope, kind)
  return { kind = kind, scope = scope }
end

-- A sub-process with two activities that can be taken back, between two others.
local function trip(more)
  local nodes = { a = notes(), ca = undo("a", "ua"), ua = handler(), sub = "subprocess",
    s2 = inside("sub", "start"), b = notes("sub"), cb = undo("b", "ub", "sub"),
    ub = handler("sub"), c = notes("sub"), cc = undo("c", "uc", "sub"), uc = handler("sub"),
    e2 = inside("sub", "end"), d = notes(), cd = undo("d", "ud"), ud = handler(), m = "user",
    t = throws "throw", u = "user" }
  for id, node in pairs(more or {}) do
    nodes[id] = node or nil
  end
  return { graphs.make("p", nodes, { "s -> a -> sub -> d -> m -> t -> u -> e",
    "s2 -> b -> c -> e2" }) }
end

describe("a compensation", function()
  before_each(function()
    calls = {}
  end)

  it("takes back what has ended, the newest first, and forgets it", function()
    local d = driver.new(trip())
    local id = d:start("p")
    assert.equal("m", d:at(id))
    d:complete("m")
    assert.same({ "a", "b", "c", "d", "ud", "uc", "ub", "ua" }, calls)
    assert.equal("u", d:at(id))
    assert.equal(1, #d:frame(id).tokens)
    d:complete("u")
    assert.equal("completed", d:ended(id))
    assert.same({ 1, 1, 1 }, { d:history(id).ua, d:history(id).ub, d:history(id).t })
  end)

  it("forgets what an uncaught error ends, not what threw at its end", function()
    local function fork(more)
      return driver.new { graphs.make("p", { f = "parallel", a = notes(nil, more),
        ca = undo("a", "ua"), ua = handler(), m = "user", t = throws "throw", u = "user" },
        { "s -> f -> a -> e", "f -> m -> t -> u" }) }
    end
    local function fails(job)
      calls[#calls + 1] = job.activity
      job:throw "x"
    end
    local d = fork { behaviour = { call = fails } }
    local id = d:start("p")
    d:complete("m")
    assert.equal("a", table.concat(calls, " "))
    assert.equal("u", d:at(id))
    calls = {}
    d = fork { listeners = { ["end"] = { { call = fails } } } }
    d:start("p")
    d:complete("m")
    assert.equal("ua", calls[#calls])
  end)

  it("takes back the activity alone that it names, or all of a sub-process", function()
    local d = driver.new(trip { t = throws("throw", nil, "a") })
    d:start("p")
    d:complete("m")
    assert.equal("ua", table.concat(calls, " ", 5))
    calls = {}
    d = driver.new(trip { t = throws("throw", nil, "sub") })
    d:start("p")
    d:complete("m")
    assert.equal("uc ub", table.concat(calls, " ", 5))
  end)

  it("goes on at once where nothing has ended, as of what was interrupted", function()
    local d = driver.new { graphs.make("p", { t = throws "throw", u = "user" },
      { "s -> t -> u -> e" }) }
    assert.equal("u", d:at(d:start("p")))
    d = driver.new { graphs.make("q", { sub = "subprocess", s2 = inside("sub", "start"),
      a = notes("sub"), ca = undo("a", "ua", "sub"), ua = handler("sub"),
      b = { kind = "end", scope = "sub", event = { kind = "error", code = "x" } },
      be = { kind = "boundary", attached = "sub", event = { kind = "error" } },
      t = throws "throw" }, { "s -> sub -> e", "s2 -> a -> b", "be -> t -> e2" }) }
    assert.equal("completed", d:ended(d:start("q")))
    assert.same({ "a" }, calls)
  end)

  it("waits for handlers that wait, and for all of them", function()
    local d = driver.new(trip { ua = handler(nil, "user"), ub = handler("sub", "user") })
    local id = d:start("p")
    d:complete("m")
    assert.equal("t ua ub", d:at(id))
    d:complete("ub")
    assert.equal("t ua", d:at(id))
    d:complete("ua")
    assert.equal("u", d:at(id))
  end)

  it("sees the variables of an inner scope as they were, and sets those that live", function()
    local d = driver.new(trip { ub = { kind = "service", scope = "sub", compensates = true,
      behaviour = { call = function(job)
        calls[#calls + 1] = job.variables.l
        job.variables.l, job.variables.seen = 7, job.variables.x
      end } }, b = inside("sub", "user") })
    local id = d:start("p", { x = 1 })
    d:command { kind = "set", instance = id, place = "sub",
      variables = { l = 5 } }
    d:complete("b")
    d:command { kind = "set", instance = id, variables = { x = 9 } }
    d:complete("m")
    assert.equal("5", tostring(calls[#calls - 1]))
    assert.same({ x = 9, seen = 9 }, d:variables(id))
  end)

  it("sees large variables of an inner scope, and keeps what kinds they have", function()
    local long = ("x"):rep(3000)
    local d = driver.new(trip { ub = { kind = "service", scope = "sub", compensates = true,
      behaviour = { call = function(job)
        calls[#calls + 1] = job.variables.l
      end } }, b = inside("sub", "user"), uc = handler("sub", "user") })
    local id = d:start("p")
    d:command { kind = "set", instance = id, place = "sub", variables = { l = long, n = 5 },
      types = { n = "Short" } }
    d:complete("b")
    d:complete("m")
    assert.equal(long, calls[#calls - 1])
    assert.truthy(rules.encode(d:frame(id)):find('"Short"', 1, true))
  end)

  it("is the sub-process's own event, if it has one", function()
    local d = driver.new { graphs.make("p", { sub = "subprocess", s2 = inside("sub", "start"),
      a = notes("sub"), ca = undo("a", "ua", "sub"), ua = handler("sub"),
      e2 = inside("sub", "end"), es = inside("sub", "event_subprocess"),
      s3 = { kind = "start", scope = "es", event = { kind = "compensation" } }, x = notes("es"),
      r = throws("throw", "es"), e3 = inside("es", "end"), m = "user",
      t = throws("throw", nil, "sub"), u = "user" },
      { "s -> sub -> m -> t -> u -> e", "s2 -> a -> e2", "s3 -> x -> r -> e3" }) }
    local id = d:start("p")
    d:complete("m")
    assert.same({ "a", "x", "ua" }, calls)
    assert.equal("u", d:at(id))
    assert.equal(1, #d:frame(id).tokens)
  end)

  it("is that event also of what cannot be taken back, and once for each turn", function()
    local function own(more)
      return driver.new { graphs.make("p", { sub = { kind = "subprocess", multi = more.multi },
        s2 = inside("sub", "start"), a = notes("sub"), ca = more.ca, ua = more.ua,
        e2 = inside("sub", "end"), es = inside("sub", "event_subprocess"),
        s3 = { kind = "start", scope = "es", event = { kind = "compensation" } },
        x = notes("es"), e3 = inside("es", "end"), t = throws("throw", nil, "sub"), u = "user" },
        { "s -> sub -> t -> u -> e", "s2 -> a -> e2", "s3 -> x -> e3" }) }
    end
    local undone = { ca = undo("a", "ua", "sub"), ua = handler("sub") }
    local turns = { multi = { parallel = true, count = 2 } }
    for text, more in pairs { ["a x"] = {}, ["a x "] = undone, ["a a x x"] = turns } do
      calls = {}
      local d = own(more)
      local id = d:start("p")
      assert.equal(text:match("^(.-) ?$"), table.concat(calls, " "))
      assert.same({ 1, "u" }, { #d:frame(id).tokens, d:at(id) })
    end
  end)

  it("does not reach out of the sub-process that throws it, which is no event's", function()
    local d = driver.new { graphs.make("p", { a = notes(), ca = undo("a", "ua"), ua = handler(),
      sub = "subprocess", s2 = inside("sub", "start"), t = throws("throw", "sub"),
      e2 = inside("sub", "end") }, { "s -> a -> sub -> e", "s2 -> t -> e2" }) }
    d:start("p")
    assert.same({ "a" }, calls)
  end)

  it("runs once for each turn, and for each round of a loop", function()
    local d = driver.new { graphs.make("p", { a = notes(nil, { multi = { parallel = true,
      count = 3 } }), ca = undo("a", "ua"), ua = handler(), m = "user", g = "exclusive",
      t = throws "end" }, { "s -> a -> m -> g", { "g -> t", default = true },
      { "g -> a", when = "${again}" } }) }
    local id = d:start("p")
    d:complete("m", { again = true })
    d:complete("m", { again = false })
    assert.equal(6, d:history(id).ua)
    assert.equal("completed", d:ended(id))
  end)

  it("makes all turns of a handler that has several", function()
    local d = driver.new { graphs.make("p", { a = notes(), ca = undo("a", "ua"),
      ua = notes(nil, { compensates = true, multi = { parallel = true, count = 3 } }),
      t = throws "throw" }, { "s -> a -> t -> e" }) }
    local id = d:start("p")
    assert.same({ "a", "ua", "ua", "ua" }, calls)
    assert.equal("completed", d:ended(id))
  end)

  it("lets a handler throw an error outwards from the thrower", function()
    local d = driver.new { graphs.make("p", { sub = "subprocess", s2 = inside("sub", "start"),
      a = notes("sub"), ca = undo("a", "ua", "sub"), ua = { kind = "service", scope = "sub",
        compensates = true, behaviour = { call = function(job)
          job:throw("x")
        end } }, t = throws("throw", "sub"), e2 = inside("sub", "end"),
      be = { kind = "boundary", attached = "sub", event = { kind = "error" } }, u = "user" },
      { "s -> sub -> e", "s2 -> a -> t -> e2", "be -> u -> e3" }) }
    assert.equal("u", d:at(d:start("p")))
  end)

  it("is ended with its thrower, and with the instance", function()
    local d = driver.new(trip { ua = handler(nil, "user") })
    local id = d:start("p")
    d:complete("m")
    d:command { kind = "cancel", instance = id }
    assert.equal("cancelled", d:ended(id))
    assert.equal(0, #d.tasks)
    assert.equal(1, select(2, d:history(id)).t)
  end)

  it("runs in its own jobs", function()
    local d = driver.new(trip { ua = notes(nil, { compensates = true, before = true,
      after = true }) })
    local id = d:start("p")
    d:complete("m")
    assert.equal("t ua:before", d:at(id))
    d:drain()
    assert.equal("u", d:at(id))
    assert.equal("ua", calls[#calls])
  end)
end)

describe("a transaction", function()
  before_each(function()
    calls = {}
  end)

  -- Its branch `b` cancels it, while `t` waits and `a` has ended.
  local function booking(more)
    local nodes = { x = "transaction", s2 = inside("x", "start"), f = inside("x", "parallel"),
      a = notes("x"), ca = undo("a", "ua", "x"), ua = handler("x", "user"),
      t = inside("x", "user"), b = inside("x", "user"), e2 = inside("x", "end"),
      ce = { kind = "end", scope = "x", event = { kind = "cancel" } },
      bc = { kind = "boundary", attached = "x", event = { kind = "cancel" } }, n = "user" }
    for id, node in pairs(more or {}) do
      nodes[id] = node
    end
    return driver.new { graphs.make("p", nodes, { "s -> x -> e", "s2 -> f -> a -> t -> e2",
      "f -> b -> ce", "bc -> n -> e3" }) }
  end

  it("is cancelled: what runs ends, what had ended is taken back, its event comes", function()
    local d = booking()
    local id = d:start("p")
    d:complete("b")
    assert.equal("ce ua", d:at(id))
    d:complete("ua")
    assert.equal("n", d:at(id))
    local ended, cancelled = d:history(id)
    assert.same({ 1, 1, 1, 1, 1 }, { cancelled.t, cancelled.x, cancelled.ce, ended.ua, ended.bc })
    d:complete("n")
    assert.equal("completed", d:ended(id))
  end)

  it("is left at once where nothing has ended in it", function()
    local d = booking { ca = undo("t", "ua", "x") }
    local id = d:start("p")
    d:complete("b")
    assert.equal("n", d:at(id))
  end)

  it("waits for the events at it no longer while it is taken back", function()
    local d = booking { m = { kind = "boundary", attached = "x", event = { kind = "message",
      name = "stop" } }, o = "user" }
    d:start("p")
    assert.equal(1, #d.subscriptions)
    d:complete("b")
    assert.same({}, d.subscriptions)
  end)

  it("ends with all of its turns", function()
    local d = booking { x = { kind = "transaction", multi = { parallel = true, count = 2 } },
      ua = handler("x") }
    local id = d:start("p")
    d:complete("b")
    assert.equal("n", d:at(id))
    assert.same({ "a", "a", "ua" }, calls)
  end)

  it("that ended well is taken back from outside", function()
    local d = driver.new { graphs.make("p", { x = "transaction", s2 = inside("x", "start"),
      a = notes("x"), ca = undo("a", "ua", "x"), ua = handler("x"), e2 = inside("x", "end"),
      t = throws "throw" }, { "s -> x -> t -> e", "s2 -> a -> e2" }) }
    local id = d:start("p")
    assert.equal("completed", d:ended(id))
    assert.same({ "a", "ua" }, calls)
  end)
end)
