local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"
local rules = require "moonshift.rules"

local function caller(call, more)
  call.process = call.process or "q"
  local nodes = { c = { kind = "call", call = call } }
  for name, node in pairs(more or {}) do
    nodes[name] = node
  end
  return graphs.make("p", nodes, { "s -> c -> e" })
end

local function called()
  return graphs.make("q", { u = "user" }, { "s -> u -> e" })
end

describe("a called process", function()
  it("is an instance with its parent and root; its end resumes the caller", function()
    local d = driver.new { caller { process = "${which}" }, graphs.make("q", { c2 = { kind = "call",
      call = { process = "r" } } }, { "s -> c2 -> e" }),
      graphs.make("r", { u = "user" }, { "s -> u -> e" }) }
    local id = d:start("p", { which = "q" })
    assert.equal("c", d:at(id))
    local first, second = d.instances[2], d.instances[3]
    assert.same({ id, id }, { first.parent, first.root })
    assert.same({ 2, id }, { second.parent, second.root })
    assert.equal(id, d:frame(3).root)
    d:complete("u")
    assert.same({ "completed", "completed", "completed" }, { d:ended(1), d:ended(2), d:ended(3) })
    assert.equal(2, d.units)
  end)

  it("has the root of its caller also when that has waited before", function()
    local d = driver.new { caller {}, graphs.make("q", { u = "user", c2 = { kind = "call",
      call = { process = "r" } } }, { "s -> u -> c2 -> e" }),
      graphs.make("r", { v = "user" }, { "s -> v -> e" }) }
    local id = d:start("p")
    for _, row in pairs(d.instances) do
      row.root = nil -- it stands in the frame
    end
    d:complete("u")
    assert.equal(id, d:frame(d.tasks[1].instance).root)
  end)

  it("may begin and end in one unit", function()
    local d = driver.new { caller {}, graphs.make("q", {}, { "s -> a -> e" }) }
    local id = d:start("p")
    assert.equal("completed", d:ended(id))
    assert.equal(1, d.units)
  end)

  it("gets the variables that are mapped, and gives them back", function()
    local d = driver.new { caller { key = "${k}", into = { { from = "a", to = "b" },
      { value = "${a * 2}", to = "c" } }, back = { { from = "x", to = "y" },
      { from = "x", to = "inner", ["local"] = true } } }, called() }
    local id = d:start("p", { a = 3, k = "key7", secret = 1 })
    assert.same({ b = 3, c = 6 }, d:variables(2))
    assert.equal("key7", d.instances[2].key)
    d:complete("u", { x = 9 })
    assert.same({ a = 3, k = "key7", secret = 1, y = 9 }, d:variables(id))
  end)

  it("gets and gives all variables where the mapping says so", function()
    local d = driver.new { caller { into = { { all = true } }, back = { { all = true } } },
      called() }
    local id = d:start("p", { a = 3 })
    assert.same({ a = 3 }, d:variables(2))
    d:complete("u", { x = 9 })
    assert.same({ a = 3, x = 9 }, d:variables(id))
  end)

  it("ends with its caller", function()
    local d = driver.new { caller({}, { b = { kind = "boundary", attached = "c", event = {
      kind = "timer", timer = { kind = "duration", text = "PT1M" } } } }), called() }
    d:start("p")
    d:advance(60000)
    assert.equal("terminated", d:ended(2))
    assert.same({}, d.tasks)
    assert.equal(1, select(2, d:history(2)).u)
  end)

  it("takes its caller's activity with it when it is cancelled", function()
    local d = driver.new { caller {}, called() }
    local id = d:start("p")
    d:command { kind = "cancel", instance = 2, reason = "wrong" }
    assert.equal("cancelled", d:ended(2))
    assert.equal("terminated", d:ended(id))
    assert.equal(1, select(2, d:history(id)).c)
  end)

  it("is no turn that has ended when it is cancelled", function()
    local g = caller {}
    g.nodes.c.multi = { parallel = true, count = 2 }
    local d = driver.new { g, called() }
    local id = d:start("p")
    d:command { kind = "cancel", instance = 2 }
    assert.equal("c", d:at(id))
    d:command { kind = "cancel", instance = 3 }
    assert.equal("terminated", d:ended(id))
    assert.equal(2, select(2, d:history(id)).c)
  end)

  it("resumes its caller also when a listener at its end throws what nothing takes", function()
    local d = driver.new { caller {}, graphs.make("q", {}, { "s -> a -> e" }, { listeners = {
      ["end"] = { { call = function(job)
        job:throw("late")
      end } } } }) }
    local id = d:start("p")
    assert.equal("completed", d:ended(id))
    assert.equal("completed", d:ended(2))
    assert.equal(1, d:history(id).c)
  end)

  it("must be there", function()
    local d = driver.new { caller {} }
    local _, message = pcall(d.start, d, "p")
    assert.equal("c: there is no process q to call", message)
  end)

  it("gets the tenant, and all variables but those that last for a walk", function()
    local d = driver.new { caller { into = { { all = true } } }, called() }
    d:start("p", { a = 1 }, { tenant = "north", transient = { secret = 2 } })
    assert.equal("north", d.instances[2].tenant)
    assert.same({ a = 1 }, d:variables(2))
  end)

  it("gets of two variables with one name the inner one", function()
    local d = driver.new { graphs.make("p", { c = { kind = "call", input = { { name = "x",
      value = "inner" } }, call = { process = "q", into = { { all = true } } } } },
      { "s -> c -> e" }), called() }
    d:start("p", { x = "outer" })
    assert.same({ x = "inner" }, d:variables(2))
  end)

  it("gets null for what is not there, and gives back to the call's own variables", function()
    local d = driver.new { caller { into = { { from = "none", to = "b" } },
      back = { { all = true, ["local"] = true }, { from = "none", to = "c" } } }, called() }
    local id = d:start("p", { a = 3 })
    assert.same({ b = rules.null }, d:variables(2))
    d:complete("u", { x = 9 })
    assert.same({ a = 3, c = rules.null }, d:variables(id))
  end)

  it("keeps its variables whatever a mapping does with them, which may give nothing", function()
    local d = driver.new { caller { into = { { all = true } }, mapping = { call = function(job)
      job.called.list[1] = "changed"
      return rules.null
    end } }, called() }
    local id = d:start("p", { list = rules.array { "as it was" } })
    assert.same({ list = { "as it was" } }, d:variables(2))
    d:complete("u")
    assert.same({ "completed", "completed" }, { d:ended(2), d:ended(id) })
    assert.same({ list = { "as it was" } }, d:variables(2))
  end)

  it("has a key that is a text", function()
    local d = driver.new { caller { process = "${key}" }, called() }
    local _, message = pcall(d.start, d, "p", { key = 7 })
    assert.equal("c: the called process is 7 (expected its key)", message)
  end)

  it("resumes the turn that has called it", function()
    local g = caller { back = { { from = "x", to = "x", ["local"] = true } } }
    g.nodes.c.multi = { parallel = true, count = 3 }
    g.nodes.c.output = { { name = "last", value = "${loopCounter}" } }
    local d = driver.new { g, called() }
    local id = d:start("p")
    local tasks = { table.unpack(d.tasks) }
    for _, turn in ipairs { 2, 0, 1 } do
      local task = tasks[turn + 1]
      d:command { kind = "complete", instance = task.instance, token = task.token }
      assert.equal(turn, d:variables(id).last)
    end
    assert.equal("completed", d:ended(id))
  end)

  it("does not end while its caller is suspended", function()
    local d = driver.new { caller {}, called() }
    local id = d:start("p")
    d.instances[id].held = true
    local fine, message = pcall(d.complete, d, "u")
    assert.is_false(fine)
    assert.equal("instance 1, which has called, is suspended", message)
    d.instances[id].held = nil
    d:complete("u")
    assert.equal("completed", d:ended(id))
  end)

  it("leaves nothing of the call behind in its caller", function()
    local g = graphs.make("p", { c = { kind = "call", call = { process = "q" } }, v = "user",
      g = "parallel", b = { kind = "boundary", attached = "c", event = { kind = "timer",
        timer = { kind = "duration", text = "PT1M" } } } },
      { "s -> g -> c -> e", "g -> v -> e", "b -> e" })
    local d = driver.new { g, called() }
    local id = d:start("p")
    assert.equal(1, #d.jobs)
    d:command { kind = "cancel", instance = 2 }
    assert.same({ 0, "v" }, { #d.jobs, d:at(id) })
    assert.equal(1, select(2, d:history(id)).c)
  end)

  it("goes with its caller as the command says", function()
    local heard = 0
    local q = graphs.make("q", { u = "user" }, { "s -> u -> e" }, { listeners = { ["end"] = { {
      call = function()
        heard = heard + 1
      end } } } })
    for how, given in pairs { cancelled = { kind = "cancel", reason = "enough" },
      terminated = { kind = "cancel" } } do
      local d = driver.new { caller {}, q }
      given.instance = d:start("p")
      d:command(given)
      assert.equal(how, d:ended(2))
    end
    assert.equal(2, heard)
    local d = driver.new { caller {}, q }
    d:command { kind = "modify", instance = d:start("p"), operations = { { cancel = "c" } } }
    assert.equal("cancelled", d:ended(2))
    d = driver.new { caller {}, q }
    d:command { kind = "cancel", instance = d:start("p"), skip_called = true }
    assert.same({ 3, "u" }, { heard, d:at(2) })
  end)
end)
