local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"

local function escalates(kind, scope, code)
  return { kind = kind, scope = scope, event = { kind = "escalation", code = code or "late" } }
end

local function inside(scope, kind)
  return { kind = kind, scope = scope }
end

local function catch(host, code, more)
  local event = { kind = "escalation", code = code }
  for name, value in pairs(more or {}) do
    event[name] = value
  end
  return { kind = "boundary", attached = host, event = event }
end

-- A sub-process that throws an escalation and then has a user task, with events at it.
local function thrower(more)
  local nodes = { sub = "subprocess", s2 = inside("sub", "start"), t = escalates("throw", "sub"),
    a = inside("sub", "user"), e2 = inside("sub", "end"), u = "user" }
  for id, node in pairs(more) do
    nodes[id] = node
  end
  return nodes
end

local FLOWS = { "s -> sub -> e", "s2 -> t -> a -> e2", "b -> u -> e3" }

describe("an escalation", function()
  it("lets its thrower go on beside what catches it", function()
    local d = driver.new { graphs.make("p", thrower { b = catch("sub", "late",
      { interrupting = false, code_variable = "code" }) }, FLOWS) }
    local id = d:start("p")
    assert.equal("a u", d:at(id))
    assert.same({ code = "late" }, d:variables(id))
    d:complete("a")
    d:complete("u")
    assert.equal("completed", d:ended(id))
    assert.same({ 1, 1, 1 }, { d:history(id).t, d:history(id).sub, d:history(id).b })
  end)

  it("ends its thrower where what catches it interrupts", function()
    local d = driver.new { graphs.make("p", thrower { b = catch("sub", "late") }, FLOWS) }
    local id = d:start("p")
    assert.equal("u", d:at(id))
    local ended, cancelled = d:history(id)
    assert.same({ 1, 1, 1 }, { ended.b, cancelled.sub, cancelled.t })
  end)

  it("goes on where nothing catches it, and by its code first", function()
    local d = driver.new { graphs.make("p", thrower {}, { FLOWS[1], FLOWS[2] }),
      graphs.make("q", thrower { b = catch("sub", "other", { interrupting = false }),
        b2 = catch("sub", nil, { interrupting = false }), b3 = catch("sub", "late",
        { interrupting = false }) }, { FLOWS[1], FLOWS[2], FLOWS[3], "b2 -> e4", "b3 -> e5" }) }
    assert.equal("a", d:at(d:start("p")))
    local id = d:start("q")
    assert.equal("a", d:at(id))
    assert.equal(1, d:history(id).b3)
  end)

  it("begins an event sub-process of its scope, each time anew", function()
    local d = driver.new { graphs.make("p", { f = "exclusive", t = escalates("throw"), u = "user",
      es = "event_subprocess", w = inside("es", "user"), e2 = inside("es", "end"),
      s2 = { kind = "start", scope = "es", event = { kind = "escalation", code = "late",
        interrupting = false, code_variable = "code" } } },
      { "s -> f -> t -> u -> f", "s2 -> w -> e2" }) }
    local id = d:start("p")
    d:complete("u")
    assert.equal("u w w", d:at(id))
    assert.same({ code = "late" }, d:variables(id))
  end)

  it("that an event sub-process throws goes outwards from that", function()
    local d = driver.new { graphs.make("p", { sub = "subprocess", s2 = inside("sub", "start"),
      t = escalates("throw", "sub"), e2 = inside("sub", "end"), es = inside("sub",
      "event_subprocess"), s3 = { kind = "start", scope = "es", event = { kind = "escalation" } },
      e3 = escalates("end", "es"), b = catch("sub", "late"), u = "user" },
      { "s -> sub -> e", "s2 -> t -> e2", "s3 -> e3", "b -> u -> e4" }) }
    local id = d:start("p")
    assert.equal("u", d:at(id))
    assert.equal(1, d:history(id).s3)
  end)

  it("reaches the caller with the variables of the called instance, which goes on", function()
    local d = driver.new {
      graphs.make("p", { c = { kind = "call", call = { process = "q",
        back = { { from = "x", to = "y" } } } }, b = catch("c", "late", { interrupting = false }),
        u = "user" }, { "s -> c -> e", "b -> u -> e2" }),
      graphs.make("q", { x = { kind = "service", behaviour = { call = function(job)
        job.variables.x = 5
      end } }, t = escalates("throw"), a = "user" }, { "s -> x -> t -> a -> e" }),
    }
    local id = d:start("p")
    assert.equal("c u", d:at(id))
    assert.equal("a", d:at(2))
    assert.same({ y = 5 }, d:variables(id))
    d:complete("a")
    d:complete("u")
    assert.equal("completed", d:ended(id))
  end)

  it("ends the called instance where the caller is interrupted", function()
    local d = driver.new {
      graphs.make("p", { c = { kind = "call", call = { process = "q" } }, b = catch("c") },
        { "s -> c -> e", "b -> e2" }),
      graphs.make("q", { t = escalates("throw"), a = "user" }, { "s -> t -> a -> e" }),
    }
    local id = d:start("p")
    assert.equal("completed", d:ended(id))
    assert.equal("terminated", d:ended(2))
  end)

  it("comes from an end, and from turns of many", function()
    local d = driver.new { graphs.make("p", { sub = { kind = "subprocess",
      multi = { parallel = true, count = 3 } }, s2 = inside("sub", "start"),
      e2 = escalates("end", "sub"), b = catch("sub", "late", { interrupting = false }) },
      { "s -> sub -> e", "s2 -> e2", "b -> e3" }) }
    local id = d:start("p")
    assert.equal("completed", d:ended(id))
    local ended = d:history(id)
    assert.same({ 3, 3, 1 }, { ended.e2, ended.b, ended.e })
  end)
end)

describe("a user task", function()
  local function escalate(d, code, variables)
    local row = d.tasks[1]
    return d:command { kind = "escalate", instance = row.instance, token = row.token,
      activity = row.activity, code = code, variables = variables }
  end

  local function approval(interrupting)
    return driver.new { graphs.make("p", { a = "user",
      b = catch("a", "late", { interrupting = interrupting }), u = "user" },
      { "s -> a -> e", "b -> u -> e2" }) }
  end

  it("escalates and stays open, or ends where it is interrupted", function()
    local d = approval(false)
    local id = d:start("p")
    escalate(d, "late", { why = "ill" })
    assert.equal("a u", d:at(id))
    assert.same({ why = "ill" }, d:variables(id))
    d = approval(true)
    id = d:start("p")
    escalate(d, "late")
    assert.equal("u", d:at(id))
  end)

  it("is not escalated where nothing catches it", function()
    local d = approval(true)
    d:start("p")
    local _, message = pcall(escalate, d, "other")
    assert.equal("the escalation other at a is caught by nothing", message)
    assert.equal(1, #d.tasks)
  end)

  it("ends with a BPMN error that its boundary event catches", function()
    local d = driver.new { graphs.make("p", { a = "user", u = "user",
      b = { kind = "boundary", attached = "a", event = { kind = "error", code = "no",
        code_variable = "code", message_variable = "text" } } },
      { "s -> a -> e", "b -> u -> e2" }) }
    local id = d:start("p")
    local row = d.tasks[1]
    d:command { kind = "throw", instance = row.instance, token = row.token, activity = "a",
      code = "no", message = "closed", variables = { by = "mary" } }
    assert.equal("u", d:at(id))
    assert.same({ by = "mary", code = "no", text = "closed" }, d:variables(id))
  end)

  -- Beside another one; the driver finds rows that nothing waits for.
  local function beside(listeners)
    return driver.new { graphs.make("p", { f = "parallel", b = "user",
      a = { kind = "user", listeners = listeners } }, { "s -> f -> a -> e", "f -> b -> e2" }) }
  end

  it("goes with a BPMN error that nothing catches, and its branch ends", function()
    local d = beside()
    local id = d:start("p")
    local row = d.tasks[1]
    d:command { kind = "throw", instance = row.instance, token = row.token, activity = "a",
      code = "no" }
    assert.same({ "b", 1 }, { d:at(id), d:history(id).a })
    d:complete("b")
    assert.equal("completed", d:ended(id))
  end)

  it("goes with an error of its own listener that nothing catches", function()
    local d = beside { complete = { { call = function(job)
      job:throw("x")
    end } } }
    local id = d:start("p")
    d:complete("a")
    assert.same({ "b", 1, 1 }, { d:at(id), #d.tasks, d:history(id).a })
  end)
end)
