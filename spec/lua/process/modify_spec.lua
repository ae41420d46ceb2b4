local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"

local calls

local function note(name)
  return { call = function(job)
    calls[#calls + 1] = name .. " " .. job.activity .. " " .. job.event
  end }
end

-- An activity with listeners on its start and its end.
local function heard(kind, more)
  local node = { kind = kind, listeners = { start = { note "start" }, ["end"] = { note "end" } } }
  for name, value in pairs(more or {}) do
    node[name] = value
  end
  return node
end

local function inside(scope, kind)
  return { kind = kind, scope = scope }
end

local function boundary(host, kind, more)
  local node = { kind = "boundary", attached = host, event = { kind = kind, name = "go",
    timer = kind == "timer" and { kind = "duration", text = "PT1H" } or nil } }
  for name, value in pairs(more or {}) do
    node.event[name] = value
  end
  return node
end

-- A sub-process with an input, a timer and an event sub-process.
local function shop()
  return graphs.make("p", { a = heard "user", b = heard "user",
    sub = heard("subprocess", { input = { { name = "l", value = 7 } } }),
    s2 = inside("sub", "start"), t = heard("user", { scope = "sub" }), e2 = inside("sub", "end"),
    late = boundary("sub", "timer"), c = "user", ev = { kind = "event_subprocess" },
    s3 = { kind = "start", scope = "ev", event = { kind = "message", name = "stop" } },
    w = inside("ev", "user"), e3 = inside("ev", "end"),
    j = { kind = "user", before = true } },
    { "s -> a -> sub -> b -> j -> e", "s2 -> t -> e2", "late -> c -> e", "s3 -> w -> e3" },
    { listeners = { ["end"] = { note "over" } } })
end

describe("a modification", function()
  local d, id

  local function modify(operations, more)
    local cause = { kind = "modify", instance = id, operations = operations }
    for name, value in pairs(more or {}) do
      cause[name] = value
    end
    return d:command(cause)
  end

  before_each(function()
    calls = {}
    d = driver.new { shop() }
    id = d:start "p"
    calls = {}
  end)

  it("makes the scopes between, with their listeners, inputs and timers", function()
    modify { { start_before = "t", variables = { x = 1 } } }
    assert.same({ "start sub start", "start t start" }, calls)
    assert.equal("a t", d:at(id))
    assert.equal(1, #d.jobs)
    assert.same({ l = 7 }, d:frame(id).scopes[2][4])
    assert.same({ x = 1 }, d:variables(id))
  end)

  it("calls and maps nothing where that is said", function()
    modify({ { start_before = "t" }, { cancel = "t" } },
      { skip_listeners = true, skip_mappings = true })
    assert.same({}, calls)
    assert.equal("a", d:at(id))
  end)

  it("keeps variables of its own where it begins", function()
    modify { { start_before = "t", variables = { x = 1 }, ["local"] = true } }
    assert.same({ l = 7, x = 1 }, d:frame(id).scopes[2][4])
    modify { { start_before = "t", variables = { x = 2 }, ["local"] = true } }
    assert.same({}, d:variables(id))
    assert.equal("a t t", d:at(id))
  end)

  it("cancels a place with the scopes that hold nothing else, inner ones first", function()
    modify { { start_before = "t" } }
    calls = {}
    modify { { cancel = "t" } }
    assert.same({ "end t end", "end sub end" }, calls)
    assert.equal("a", d:at(id))
    assert.equal(0, #d.jobs)
  end)

  it("ends the instance with the last place, unless a later operation starts one", function()
    modify { { cancel = "a" }, { start_before = "b" } }
    assert.equal("b", d:at(id))
    calls = {}
    modify({ { cancel = "b" } }, { reason = "enough" })
    assert.equal("terminated", d:ended(id))
    assert.equal("enough", d.past[1].reason)
    assert.same({ "end b end", "over  end" }, calls)
  end)

  it("completes an instance that comes to its end by a start, if that is the last", function()
    modify { { cancel = "a" }, { start_before = "e" } }
    assert.equal("completed", d:ended(id))
    id = d:start "p"
    modify { { cancel = "a" }, { start_before = "e" }, { start_before = "b" }, { cancel = "b" } }
    assert.equal("terminated", d:ended(id))
  end)

  it("goes behind an activity or along a flow, and begins in a job where one stands", function()
    modify { { start_after = "a" }, { start_flow = "b>j" } }
    assert.equal("a j:before t", d:at(id))
    modify { { cancel = "j" } }
    assert.equal("a t", d:at(id))
    assert.equal(1, #d.jobs)
  end)

  it("interrupts as the event would that it starts", function()
    modify { { start_before = "t" } }
    modify { { start_before = "late" } }
    assert.equal("a c", d:at(id))
    modify { { start_before = "w" } }
    assert.equal("a c w", d:at(id))
    modify { { cancel = "w" }, { start_before = "ev" } }
    assert.equal("w", d:at(id))
    assert.equal(1, #d.subscriptions) -- the instance still waits for its events
  end)

  it("is tried without a call, and says what each operation would do", function()
    local list = d:walk { kind = "modify", instance = id, dry_run = true,
      operations = { { start_before = "t" }, { cancel = "a" }, { cancel = "z" } } }
    assert.same({ { cancels = {}, begins = { "sub", "t" } }, { cancels = { "a" }, begins = {} },
      { cancels = {}, begins = {} } }, list.result)
    assert.same({ {}, {}, {} }, { list.instances, list.jobs, calls })
  end)

  it("is refused as a whole before anything is done", function()
    local fine, message = pcall(modify, { { start_before = "b" }, { start_before = "zz" } })
    assert.is_false(fine)
    assert.matches("operation 2, start_before zz: the process p has no activity zz", message)
    assert.same({}, calls)
    assert.equal("a", d:at(id))
  end)

  it("lets a join go that waited for what is cancelled", function()
    d = driver.new { graphs.make("p", { f = "parallel", a = "user", b = "user", i = "inclusive",
      c = "user" }, { "s -> f -> a -> i -> c -> e", "f -> b -> i" }) }
    id = d:start "p"
    d:complete "a"
    modify { { cancel = "b" } }
    assert.equal("c", d:at(id))
  end)

  it("counts the turns of a body", function()
    d = driver.new { graphs.make("p", { m = { kind = "user",
      multi = { count = 3, parallel = true } }, b = "user" }, { "s -> m -> b -> e" }) }
    id = d:start "p"
    modify { { start_before = "m" }, { cancel = "m#1" } }
    assert.equal("m m m", d:at(id))
    for _ = 1, 3 do
      d:complete "m"
    end
    assert.equal("b", d:at(id))
    modify { { start_before = "m" } }
    assert.equal("b m", d:at(id))
    d:complete "m"
    assert.equal("b b", d:at(id))
    d = driver.new { graphs.make("p", { a = "user", m = { kind = "user",
      multi = { count = 3, parallel = false } }, b = "user" }, { "s -> a -> m -> b -> e" }) }
    id = d:start "p"
    modify { { start_before = "m" } }
    d:complete "m"
    assert.equal("a b", d:at(id))
  end)

  it("ends the first of the turns that wait in their jobs, and leaves the others theirs", function()
    d = driver.new { graphs.make("p", { m = { kind = "service", before = true,
      behaviour = { call = function() end }, multi = { count = 3, parallel = true } },
      b = "user" }, { "s -> m -> b -> e" }) }
    id = d:start "p"
    local tokens = { d.jobs[2].token, d.jobs[3].token }
    modify { { cancel = "m#1" } }
    assert.same(tokens, { d.jobs[1].token, d.jobs[2].token })
    d:drain()
    assert.equal("b", d:at(id))
  end)

  it("gives each loop number once if a turn is cancelled while others are to be made", function()
    d = driver.new { graphs.make("p", { m = { kind = "user",
      multi = { count = 2005, parallel = true } } }, { "s -> m -> e" }) }
    id = d:start "p"
    modify { { cancel = "m#7" } }
    d:drain()
    local seen, count = {}, 0
    for _, token in ipairs(d:frame(id).tokens) do
      local at = token[6].loopCounter
      assert.is_nil(seen[at], "twice: " .. at)
      seen[at], count = true, count + 1
    end
    assert.equal(2004, count)
    assert(seen[999] and seen[1000] and seen[2004])
  end)

  it("ends what the activity has called as cancelled", function()
    d = driver.new { graphs.make("p", { c = { kind = "call", call = { process = "q" } },
      x = "user" }, { "s -> c -> x -> e" }), graphs.make("q", { t = "user" },
      { "s -> t -> e" }) }
    id = d:start "p"
    modify { { start_before = "x" }, { cancel = "c" } }
    assert.same({ "cancelled", "its caller was cancelled" }, { d.past[1].ended, d.past[1].reason })
    modify({ { cancel = "x" } }, { reason = "wrong" })
    assert.same({ "terminated", "wrong" }, { d.past[2].ended, d.past[2].reason })
  end)

  it("cancels the activity of the caller with the last place, and takes no flow", function()
    d = driver.new { graphs.make("p", { c = heard("call", { call = { process = "q" } }),
      f = "parallel", x = "user", y = "user" }, { "s -> f -> c -> y -> e", "f -> x -> e" }),
      graphs.make("q", { t = "user" }, { "s -> t -> e" }) }
    local caller = d:start "p"
    id = d.tasks[1].activity == "t" and d.tasks[1].instance or d.tasks[2].instance
    calls = {}
    modify { { cancel = "t" } }
    assert.same({ "end c end" }, calls)
    assert.equal("x", d:at(caller))
    assert.equal("terminated", d:ended(id))
    caller = d:start "p"
    id = caller
    modify { { cancel = "x" } }
    id = d.tasks[#d.tasks].instance
    modify { { cancel = "t" } }
    assert.equal("terminated", d:ended(caller))
  end)

  it("leaves a caller that is suspended as it is where a scope of it would end", function()
    d = driver.new { graphs.make("p", { sub = "subprocess", s2 = inside("sub", "start"),
      c = { kind = "call", scope = "sub", call = { process = "q" } }, e2 = inside("sub", "end") },
      { "s -> sub -> e", "s2 -> c -> e2" }), graphs.make("q", { t = "user" }, { "s -> t -> e" }) }
    local caller = d:start "p"
    id = d.tasks[1].instance
    d.instances[caller].held = true
    local ok, text = pcall(modify, { { cancel = "t" } })
    assert.is_false(ok)
    assert.equal(("instance %d, which has called, is suspended"):format(caller), text)
    assert.equal("t", d:at(id))
  end)

  it("begins an instance at activities, with the listeners of the process", function()
    local graph = shop()
    graph.listeners.start = { note "hello" }
    d = driver.new { graph }
    id = d:start("p", { y = 2 }, { operations = { { start_before = "t", variables = { x = 1 } },
      { start_after = "b" } } })
    assert.equal("hello t start", calls[1])
    assert.equal("j:before t", d:at(id))
    assert.same({ x = 1, y = 2 }, d:variables(id))
    assert.equal(1, #d.subscriptions)
    id = d:start("p", nil, { operations = { { start_before = "e" } } })
    assert.equal("completed", d:ended(id))
    local _, message = pcall(d.start, d, "p", nil, { operations = { { cancel = "a" } } })
    assert.equal("the process p cannot start so: operation 1: expected one of start_before, "
      .. "start_after, start_flow", message)
    local trial = d:walk { kind = "start", version = 1, dry_run = true,
      operations = { { start_before = "t" } } }
    assert.same({ { { cancels = {}, begins = { "sub", "t" } } }, {} },
      { trial.result, trial.instances })
  end)

  it("passes a catch event behind a gateway, which it ends", function()
    d = driver.new { graphs.make("p", { g = "event_gateway", m = { kind = "catch",
      event = { kind = "message", name = "go" } }, n = { kind = "catch",
      event = { kind = "message", name = "no" } }, b = "user", c = "user" },
      { "s -> g -> m -> b -> e", "g -> n -> c -> e" }) }
    id = d:start "p"
    modify { { start_before = "m" } }
    assert.equal("b", d:at(id))
    assert.equal(0, #d.subscriptions)
  end)
end)
