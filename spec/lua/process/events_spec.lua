local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"

local function timer(kind, text)
  return { kind = "timer", timer = { kind = kind, text = text } }
end

local function message(name, interrupting)
  return { kind = "message", name = name, interrupting = interrupting }
end

local function store(nodes, flows)
  return driver.new { graphs.make("p", nodes, flows) }
end

local MINUTE = 60000

describe("a timer", function()
  it("holds a token until it is due", function()
    local d = store({ t = { kind = "catch", event = timer("duration", "${wait}") } },
      { "s -> t -> e" })
    local id = d:start("p", { wait = "PT1M" })
    assert.equal("t", d:at(id))
    assert.equal("process/p/t:timer", d.jobs[1].handler)
    d:advance(MINUTE - 1)
    assert.equal("t", d:at(id))
    d:advance(1)
    assert.equal("completed", d:ended(id))
  end)

  it("is due at a date, and once only in a cycle", function()
    local d = store({ t = { kind = "catch", event = timer("date", "2026-01-01T01:00:00Z") },
      u = { kind = "catch", event = timer("cycle", "R3/PT1H") } }, { "s -> t -> u -> e" })
    local id = d:start("p")
    d:advance(60 * MINUTE)
    assert.equal("u", d:at(id))
    assert.is_nil(d.jobs[1]["repeat"])
    d:advance(60 * MINUTE)
    assert.equal("completed", d:ended(id))
    assert.same({}, d.jobs)
  end)

  it("may be given a span for a date, and a cycle for a span", function()
    local d = store({ t = { kind = "catch", event = timer("date", "${a}") },
      u = { kind = "catch", event = timer("duration", "${b}") } }, { "s -> t -> u -> e" })
    local id = d:start("p", { a = "PT1M", b = "R3/PT1M" })
    d:advance(MINUTE)
    assert.equal("u", d:at(id))
    d:advance(MINUTE)
    assert.equal("completed", d:ended(id))
  end)

  it("says what it cannot read", function()
    local d = store({ t = { kind = "catch", event = timer("duration", "${wait}") } },
      { "s -> t -> e" })
    local _, text = pcall(d.start, d, "p", { wait = 5 })
    assert.equal("t: the timer is 5 (expected a text such as PT5M)", text)
  end)
end)

describe("a boundary event", function()
  local function with(event, more)
    local nodes = { u = "user", b = { kind = "boundary", attached = "u", event = event },
      v = "user" }
    for name, node in pairs(more or {}) do
      nodes[name] = node
    end
    return store(nodes, { "s -> u -> e", "b -> v -> e2" })
  end

  it("goes with its activity", function()
    local d = with(timer("duration", "PT1M"))
    local id = d:start("p")
    assert.equal(1, #d.jobs)
    d:complete("u")
    assert.same({}, d.jobs)
    assert.equal("completed", d:ended(id))
  end)

  it("cancels its activity", function()
    local d = with(timer("duration", "PT1M"))
    local id = d:start("p")
    d:advance(MINUTE)
    assert.equal("v", d:at(id))
    local ended, cancelled = d:history(id)
    assert.same({ s = 1, b = 1 }, ended)
    assert.same({ u = 1 }, cancelled)
    assert.same({}, d.jobs)
    assert.equal(1, #d.tasks)
  end)

  it("leaves its activity alone if it does not interrupt", function()
    local event = timer("duration", "PT1M")
    event.interrupting = false
    local d = with(event)
    local id = d:start("p")
    d:advance(MINUTE)
    assert.equal("u v", d:at(id))
    assert.same({}, d.jobs)
    d:complete("v")
    d:complete("u")
    assert.equal("completed", d:ended(id))
  end)

  it("comes again in a cycle, until its activity ends", function()
    local event = timer("cycle", "R/PT1M")
    event.interrupting = false
    local d = with(event)
    local id = d:start("p")
    d:advance(MINUTE)
    d:advance(MINUTE)
    assert.equal("u v v", d:at(id))
    assert.equal(1, #d.jobs)
    d:complete("u")
    assert.same({}, d.jobs)
    assert.equal("v v", d:at(id))
  end)

  it("has nothing to wait for after the last of a cycle", function()
    local event = timer("cycle", "R2/PT1M")
    event.interrupting = false
    local d = with(event)
    local id = d:start("p")
    d:advance(MINUTE)
    d:advance(MINUTE)
    assert.equal("u v v", d:at(id))
    assert.same({}, d.jobs)
    assert.is_nil(d.instances[id].frame:find("on timer", 1, true))
  end)

  it("takes messages as often as they come if it does not interrupt", function()
    local d = with(message("news", false))
    local id = d:start("p")
    d:message("b", { x = 1 })
    d:message("b", { x = 2 })
    assert.equal("u v v", d:at(id))
    assert.same({ x = 2 }, d:variables(id))
    d:complete("u")
    assert.same({}, d.subscriptions)
  end)

  it("takes one message if it interrupts", function()
    local d = with(message("news"))
    local id = d:start("p")
    d:message("b")
    assert.equal("v", d:at(id))
    assert.same({}, d.subscriptions)
  end)

  it("goes with its activity alone, and not with one beside it", function()
    local d = store({ f = "parallel", u = "user", w = "user",
      b = { kind = "boundary", attached = "u", event = timer("duration", "PT1M") },
      m = { kind = "boundary", attached = "u", event = message("gone") },
      c = { kind = "boundary", attached = "w", event = timer("duration", "PT2M") },
      n = { kind = "boundary", attached = "w", event = message("news", false) } },
      { "s -> f -> u -> e1", "f -> w -> e2", "b -> e3", "m -> e4", "c -> e5", "n -> e6" })
    local id = d:start("p")
    assert.same({ 2, 2 }, { #d.jobs, #d.subscriptions })
    d:complete("u")
    assert.same({ "process/p/c:timer", "n" }, { d.jobs[1].handler, d.subscriptions[1].activity })
    assert.same({ 1, 1 }, { #d.jobs, #d.subscriptions })
    d:message("n")
    d:advance(2 * MINUTE)
    assert.equal("completed", d:ended(id))
    assert.same({ s = 1, f = 1, u = 1, e1 = 1, n = 1, e6 = 1, c = 1, e5 = 1 }, (d:history(id)))
  end)

  it("of one turn goes with that turn", function()
    local d = store({ sub = { kind = "subprocess", multi = { parallel = true, count = 3 } },
      s2 = { kind = "start", scope = "sub" }, u = { kind = "user", scope = "sub" },
      e2 = { kind = "end", scope = "sub" }, b = { kind = "boundary", attached = "u",
        scope = "sub", event = timer("duration", "PT1M") },
      v = { kind = "user", scope = "sub" }, e3 = { kind = "end", scope = "sub" } },
      { "s -> sub -> e", "s2 -> u -> e2", "b -> v -> e3" })
    local id = d:start("p")
    assert.equal(3, #d.jobs)
    d:complete("u")
    assert.equal(2, #d.jobs)
    d:advance(MINUTE)
    assert.equal("v v", d:at(id))
  end)

  it("is made when the activity begins, and not while its job waits", function()
    local d = with(timer("duration", "PT1M"), { u = { kind = "user", before = true } })
    local id = d:start("p")
    assert.equal(1, #d.jobs)
    d:drain()
    assert.equal("u", d:at(id))
    assert.equal("process/p/b:timer", d.jobs[1].handler)
  end)
end)

describe("a message", function()
  it("is waited for by catch events and receive tasks, with a key", function()
    local d = store({ c = { kind = "catch", event = { kind = "message", name = "paid",
      key = "${order}" } }, r = { kind = "receive", event = message("sent") } },
      { "s -> c -> r -> e" })
    local id = d:start("p", { order = 7 })
    assert.equal("7", d.subscriptions[1].key)
    assert.equal("paid", d.subscriptions[1].name)
    d:message("c", { sum = 3 })
    assert.equal("r", d:at(id))
    d:message("r")
    assert.equal("completed", d:ended(id))
    assert.equal(3, d:variables(id).sum)
  end)

  it("is what the calls of its unit see as received", function()
    local seen
    local d = store({ c = { kind = "catch", event = message("paid") }, a = { kind = "service",
      behaviour = { call = function(job)
        seen = job.received
      end } } }, { "s -> c -> a -> e" })
    d:start("p")
    d:message("c", { sum = 3 })
    assert.same({ sum = 3 }, seen)
  end)

  it("must have a name", function()
    local d = store({ c = { kind = "catch", event = message("${name}") } }, { "s -> c -> e" })
    local _, text = pcall(d.start, d, "p", { name = "" })
    assert.equal('c: the message is called the string "" (expected a text)', text)
  end)
end)

describe("an event-based gateway", function()
  local function gateway()
    return store({ g = "event_gateway", t = { kind = "catch", event = timer("duration", "PT1M") },
      m = { kind = "catch", event = message("paid") } }, { "s -> g -> t -> e1", "g -> m -> e2" })
  end

  it("takes the way of the message that comes", function()
    local d = gateway()
    local id = d:start("p")
    assert.equal("g", d:at(id))
    d:message("m", { x = 1 })
    local ended, cancelled = d:history(id)
    assert.same({ s = 1, m = 1, e2 = 1 }, ended)
    assert.same({ g = 1 }, cancelled)
    assert.same({}, d.jobs)
    assert.equal(1, d:variables(id).x)
  end)

  it("takes the way of the timer that is due", function()
    local d = gateway()
    local id = d:start("p")
    d:advance(MINUTE)
    local ended, cancelled = d:history(id)
    assert.same({ s = 1, t = 1, e1 = 1 }, ended)
    assert.same({ g = 1 }, cancelled)
    assert.same({}, d.subscriptions)
  end)
end)

describe("an event sub-process", function()
  local function with(event)
    return store({ u = "user", es = "event_subprocess", s2 = { kind = "start", scope = "es",
      event = event }, v = { kind = "user", scope = "es" }, e2 = { kind = "end", scope = "es" } },
      { "s -> u -> e", "s2 -> v -> e2" })
  end

  it("cancels all else in its scope", function()
    local d = with(timer("duration", "PT1M"))
    local id = d:start("p")
    d:advance(MINUTE)
    assert.equal("v", d:at(id))
    d:complete("v")
    assert.equal("completed", d:ended(id))
    local ended, cancelled = d:history(id)
    assert.same({ s = 1, es = 1, s2 = 1, v = 1, e2 = 1 }, ended)
    assert.same({ u = 1 }, cancelled)
  end)

  it("ends the events at its sub-process, too, if it interrupts", function()
    for _, interrupting in ipairs { true, false } do
      local d = store({ sub = "subprocess", s2 = { kind = "start", scope = "sub" },
        u = { kind = "user", scope = "sub" }, e2 = { kind = "end", scope = "sub" },
        es = { kind = "event_subprocess", scope = "sub" },
        s3 = { kind = "start", scope = "es", event = message("stop", interrupting) },
        v = { kind = "user", scope = "es" }, e3 = { kind = "end", scope = "es" },
        b = { kind = "boundary", attached = "sub", event = timer("duration", "PT1M") },
        c = { kind = "boundary", attached = "sub", event = message("news", false) },
        x = "user", y = "user" }, { "s -> sub -> e", "s2 -> u -> e2", "s3 -> v -> e3",
        "b -> x -> e4", "c -> y -> e5" })
      local id = d:start("p")
      d:message("s3")
      assert.equal(interrupting and "v" or "u v", d:at(id))
      assert.equal(interrupting and 0 or 2, #d.subscriptions)
      assert.equal(interrupting and 0 or 1, #d.jobs)
    end
  end)

  it("lies beside the others if it does not interrupt", function()
    local d = with(message("news", false))
    local id = d:start("p")
    d:message("s2")
    d:message("s2")
    assert.equal("u v v", d:at(id))
    d:complete("u")
    d:complete("v")
    assert.equal(1, #d.subscriptions)
    d:complete("v")
    assert.equal("completed", d:ended(id))
    assert.same({}, d.subscriptions)
  end)

  it("goes with its scope", function()
    local d = with(timer("duration", "PT1M"))
    d:start("p")
    d:complete("u")
    assert.same({}, d.jobs)
  end)
end)

describe("a terminate end event", function()
  it("ends its scope and no other", function()
    local d = store({ sub = "subprocess", s2 = { kind = "start", scope = "sub" },
      f = { kind = "parallel", scope = "sub" }, u = { kind = "user", scope = "sub" },
      v = { kind = "user", scope = "sub" }, e2 = { kind = "end", scope = "sub",
        event = { kind = "terminate" } }, e3 = { kind = "end", scope = "sub" }, w = "user" },
      { "s -> sub -> w -> e", "s2 -> f -> u -> e2", "f -> v -> e3" })
    local id = d:start("p")
    assert.equal("u v", d:at(id))
    d:complete("u")
    assert.equal("w", d:at(id))
    assert.equal(1, select(2, d:history(id)).v)
  end)
end)

describe("a link event", function()
  it("goes to the event that catches it", function()
    local link = { kind = "link", name = "far" }
    local d = store({ out = { kind = "throw", event = link }, back = { kind = "catch",
      event = link } }, { "s -> out", "back -> e" })
    assert.same({ s = 1, out = 1, back = 1, e = 1 }, (d:history(d:start("p"))))
  end)
end)
