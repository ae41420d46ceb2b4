local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"

local function throws(code, text)
  return { kind = "service", behaviour = { call = function(job)
    job:throw(code, text)
  end } }
end

local function in_scope(scope, node)
  node.scope = scope
  return node
end

local function catch(host, code, more)
  local event = { kind = "error", code = code }
  for name, value in pairs(more or {}) do
    event[name] = value
  end
  return { kind = "boundary", attached = host, event = event }
end

describe("a BPMN error", function()
  it("is caught at the activity that throws it", function()
    local d = driver.new { graphs.make("p", { a = throws("sold_out", "no seats"),
      b = catch("a", "sold_out", { code_variable = "code", message_variable = "text" }),
      u = "user" }, { "s -> a -> e", "b -> u -> e2" }) }
    local id = d:start("p")
    assert.equal("u", d:at(id))
    assert.same({ code = "sold_out", text = "no seats" }, d:variables(id))
    assert.equal(1, select(2, d:history(id)).a)
  end)

  it("goes to the code that fits before the one that takes all", function()
    local d = driver.new { graphs.make("p", { a = throws("x"), all = catch("a"),
      b = catch("a", "x"), c = catch("a", "y") },
      { "s -> a -> e", "all -> e1", "b -> e2", "c -> e3" }) }
    assert.equal(1, d:history(d:start("p")).e2)
  end)

  it("goes outwards through the scopes, and ends what it leaves", function()
    local d = driver.new { graphs.make("p", { sub = "subprocess",
      s2 = { kind = "start", scope = "sub" }, f = in_scope("sub", { kind = "parallel" }),
      u = in_scope("sub", { kind = "user" }), w = in_scope("sub", { kind = "user" }),
      e2 = in_scope("sub", { kind = "end", event = { kind = "error", code = "x" } }),
      b = catch("sub", "x"), v = "user" },
      { "s -> sub -> e", "s2 -> f -> u -> e2", "f -> w", "b -> v -> e3" }) }
    local id = d:start("p")
    d:complete("u")
    assert.equal("v", d:at(id))
    local ended, cancelled = d:history(id)
    assert.equal(1, ended.b)
    assert.equal(1, cancelled.w)
    assert.equal(1, cancelled.sub)
  end)

  it("begins an event sub-process, which does not catch its own", function()
    local d = driver.new { graphs.make("p", { a = throws("x"), es = "event_subprocess",
      s2 = { kind = "start", scope = "es", event = { kind = "error", code = "x" } },
      b = in_scope("es", throws("x")), e2 = { kind = "end", scope = "es" } },
      { "s -> a -> e", "s2 -> b -> e2" }) }
    local id = d:start("p")
    assert.equal("completed", d:ended(id))
    assert.equal(1, d:history(id).s2)
  end)

  it("goes on to the caller, with the variables of the called instance", function()
    local d = driver.new {
      graphs.make("p", { c = { kind = "call", call = { process = "q",
        back = { { from = "x", to = "y" } } } }, b = catch("c", "bad"), v = "user" },
        { "s -> c -> e", "b -> v -> e2" }),
      graphs.make("q", { u = "user", a = { kind = "service", behaviour = { call = function(job)
        job.variables.x = 5
        job:throw("bad")
      end } } }, { "s -> u -> a -> e" }),
    }
    local id = d:start("p")
    d:complete("u")
    assert.equal("v", d:at(id))
    assert.same({ y = 5 }, d:variables(id))
    assert.equal("terminated", d:ended(2))
  end)

  it("ends its token with a warning if nothing takes it", function()
    local d = driver.new { graphs.make("p", { a = throws("x", "no"), f = "parallel", u = "user" },
      { "s -> f -> a -> e", "f -> u -> e" }) }
    local id = d:start("p")
    assert.equal("u", d:at(id))
    local warned
    for _, event in ipairs(d.trail[1].events) do
      warned = event[1] == "w" and event[3] or warned
    end
    assert.equal("BPMN error x: no at a is caught by nothing", warned)
  end)

  it("that nothing takes ends what waits for its token: scope, turn, process", function()
    local function scope(name, node)
      node.scope = name
      return node
    end
    local d = driver.new { graphs.make("p", { sub = "subprocess",
      s2 = { kind = "start", scope = "sub" }, a = scope("sub", throws("x")),
      e2 = { kind = "end", scope = "sub" },
      b = { kind = "service", behaviour = throws("y").behaviour, multi = { parallel = true,
        count = 3 } }, u = "user", c = throws("z") },
      { "s -> sub -> b -> u -> c -> e", "s2 -> a -> e2" }) }
    local id = d:start("p")
    assert.equal("u", d:at(id))
    local ended = d:history(id)
    assert.same({ 1, 3, 1 }, { ended.sub, ended.b, ended["b#multiInstanceBody"] })
    d:complete("u")
    assert.equal("completed", d:ended(id))
    assert.is_nil(d:history(id).e)
  end)

  it("fails the unit if nothing takes it and the setting says so", function()
    local d = driver.new { graphs.make("p", { a = throws("x") }, { "s -> a -> e" }) }
    d.settings.unhandled_errors = "fail"
    local _, message = pcall(d.start, d, "p")
    assert.equal("BPMN error x at a is caught by nothing", message)
  end)

  it("is the reason of an instance whose own listener threw it", function()
    local graph = graphs.make("p", { u = "user" }, { "s -> u -> e" })
    graph.listeners = { start = { throws("x").behaviour } }
    local d = driver.new { graph }
    local id = d:start("p")
    assert.equal("completed", d:ended(id))
    assert.truthy(d.past[1].reason:find("BPMN error x at", 1, true))
  end)

  it("is no failure of a handler", function()
    local d = driver.new { graphs.make("p", { a = { kind = "service", behaviour = {
      call = function()
        error("broken", 0)
      end } }, b = catch("a") }, { "s -> a -> e", "b -> e2" }) }
    local _, message = pcall(d.start, d, "p")
    assert.equal("broken", message)
  end)

  it("may come from a listener and from a turn of many", function()
    local d = driver.new { graphs.make("p", { a = { kind = "task", multi = { parallel = true,
      count = 3 }, listeners = { start = { { call = function(job)
        if job.loop.index == 1 then
          job:throw("x")
        end
      end } } } }, b = catch("a", "x"), v = "user" }, { "s -> a -> e", "b -> v -> e2" }) }
    local id = d:start("p")
    assert.equal("v", d:at(id))
  end)

  it("needs a code that is a text", function()
    local d = driver.new { graphs.make("p", { a = throws(5) }, { "s -> a -> e" }) }
    local _, message = pcall(d.start, d, "p")
    assert.truthy(message:find("job:throw: the code is 5 (expected a text)", 1, true))
  end)
end)
