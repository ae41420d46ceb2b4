local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"
local compile = require "moonshift.process.compile"

local function on(kind, when, more)
  local node = { kind = kind, event = { kind = "conditional", when = when } }
  for key, value in pairs(more or {}) do
    if key == "attached" or key == "scope" then
      node[key] = value
    else
      node.event[key] = value
    end
  end
  return node
end

local function set(d, id, values, place)
  d:command { kind = "set", instance = id, place = place, variables = values }
end

describe("a condition that is waited for", function()
  it("may be true at once, or with a change of any variable", function()
    local d = driver.new { graphs.make("p", { c = on("catch", "${x > 1}"), a = "user" },
      { "s -> c -> a -> e" }) }
    assert.equal("a", d:at(d:start("p", { x = 5 })))
    local id = d:start("p", { x = 0 })
    set(d, id, { x = 1 })
    set(d, id, { y = 1 })
    assert.equal("c", d:at(id))
    set(d, id, { x = 2 })
    assert.equal("a", d:at(id))
  end)

  it("is false where it reads a variable that is not there", function()
    local d = driver.new { graphs.make("p", { c = on("catch", "${x < 1}"), a = "user" },
      { "s -> c -> a -> e" }) }
    local id = d:start("p")
    assert.equal("c", d:at(id))
    set(d, id, { x = 0 })
    assert.equal("a", d:at(id))
  end)

  it("must be true or false", function()
    local d = driver.new { graphs.make("p", { c = on("catch", "${x}") }, { "s -> c -> e" }) }
    local _, message = pcall(d.start, d, "p", { x = 5 })
    assert.equal("c: the condition ${x} gives 5 (expected true or false)", message)
  end)

  it("may be a function, and a way out of an event-based gateway", function()
    local d = driver.new { graphs.make("p", { g = "event_gateway", c = on("catch", function(v)
      return v.x == 1
    end), c2 = on("catch", "${x == 2}"), a = "user", b = "user" },
      { "s -> g -> c -> a -> e", "g -> c2 -> b -> e2" }) }
    local id, other = d:start("p"), d:start("p", { x = 1 })
    set(d, id, { x = 2 })
    assert.same({ "b", "a" }, { d:at(id), d:at(other) })
  end)
end)

describe("a condition at an activity", function()
  local function boundaries(handlers, host)
    return driver.new({ graphs.make("p", { a = host or "user", b = on("boundary", "${x > 1}",
      { attached = "a" }), n = on("boundary", "${x > 0}", { attached = "a", interrupting = false }),
      u = "user", c = "user" }, { "s -> a -> e", "b -> u -> e2", "n -> c -> e3" }) },
      { handlers = handlers or {} })
  end

  it("comes beside it with each change, and interrupts it", function()
    local d = boundaries()
    local id = d:start("p", { x = 0 })
    set(d, id, { x = 1 })
    assert.equal("a c", d:at(id))
    set(d, id, { x = 1 })
    assert.equal("a c c", d:at(id))
    set(d, id, { x = 2 })
    assert.equal("c c c u", d:at(id))
    local ended, cancelled = d:history(id)
    assert.same({ 1, 3, 1 }, { cancelled.a, ended.n, ended.b })
  end)

  it("interrupts a task that is being completed", function()
    local d = boundaries()
    local id = d:start("p", { x = 0 })
    d:complete("a", { x = 2 })
    assert.equal("c u", d:at(id))
    assert.equal(1, select(2, d:history(id)).a)
  end)

  it("is looked at before what it interrupts begins", function()
    local called = 0
    local d = boundaries({ call = function()
      called = called + 1
    end }, { kind = "service", behaviour = { run = "call" } })
    local id = d:start("p", { x = 2 })
    assert.equal("c u", d:at(id))
    assert.equal(0, called)
  end)

  it("interrupts a call before the called process begins", function()
    local begun = 0
    local d = driver.new({ graphs.make("p", { c = { kind = "call", call = { process = "q",
      mapping = { run = "set" } } }, b = on("boundary", "${x == 1}",
      { attached = "c" }), u = "user" }, { "s -> c -> e", "b -> u -> e2" }), graphs.make("q",
      { t = { kind = "service", behaviour = { run = "begin" } } }, { "s -> t -> e" }) },
      { handlers = { set = function(job)
        job.variables.x = 1
      end, begin = function()
        begun = begun + 1
      end } })
    local id = d:start("p", { x = 0 })
    assert.equal("u", d:at(id))
    assert.same({ 0, "terminated" }, { begun, d:ended(2) })
  end)

  it("interrupts what a handler has just done", function()
    local d = boundaries({ call = function(job)
      job.variables.x = 2
    end }, { kind = "service", behaviour = { run = "call" } })
    local id = d:start("p")
    assert.equal("c u", d:at(id))
    assert.is_nil(d:history(id).a)
  end)

  it("sees the inputs of its activity, which no scope around it sees", function()
    local d = driver.new { graphs.make("p", { a = { kind = "user", input = { { name = "x",
      value = 1 } } }, b = on("boundary", "${x == 1}", { attached = "a" }), u = "user",
      sub = "event_subprocess", s2 = on("start", "${x == 1}", { scope = "sub" }),
      v = { kind = "user", scope = "sub" }, e4 = { kind = "end", scope = "sub" } },
      { "s -> a -> e", "b -> u -> e2", "s2 -> v -> e4" }) }
    local id = d:start("p", { x = 0 })
    assert.equal("u", d:at(id))
    assert.equal(1, select(2, d:history(id)).a)
  end)

  it("may look at one variable, and at some of its changes", function()
    local function filtered(changes)
      return on("boundary", "${x > 0}", { attached = "a", interrupting = false, variable = "x",
        changes = changes })
    end
    local d = driver.new { graphs.make("p", { a = "user", b = filtered { "create" },
      b2 = filtered { "update", "delete" }, c = "user", c2 = "user" },
      { "s -> a -> e", "b -> c -> e2", "b2 -> c2 -> e3" }) }
    local id = d:start("p")
    set(d, id, { y = 1 })
    assert.equal("a", d:at(id))
    set(d, id, { x = 1 })
    assert.equal("a c", d:at(id))
    set(d, id, { x = 2 })
    assert.equal("a c c2", d:at(id))
    set(d, id, { y = 2 })
    assert.equal("a c c2", d:at(id))
  end)
end)

describe("a condition of an event sub-process", function()
  it("is looked at with what is written in its scope and outside of it", function()
    local nodes = { sub = "subprocess", s2 = { kind = "start", scope = "sub" },
      a = { kind = "user", scope = "sub" }, e2 = { kind = "end", scope = "sub" } }
    for name, scope in pairs { i = "sub", o = false } do
      nodes["h" .. name] = { kind = "event_subprocess", scope = scope or nil }
      nodes["t" .. name] = on("start", "${v > 0}", { scope = "h" .. name, interrupting = false })
      nodes["u" .. name] = { kind = "user", scope = "h" .. name }
      nodes["z" .. name] = { kind = "end", scope = "h" .. name }
    end
    nodes.ti.kind, nodes.to.kind = "start", "start"
    local d = driver.new { graphs.make("p", nodes, { "s -> sub -> e", "s2 -> a -> e2",
      "ti -> ui -> zi", "to -> uo -> zo" }) }
    local id = d:start("p", { v = 0 })
    set(d, id, { v = 1 }, "sub")
    assert.equal("a ui", d:at(id))
    set(d, id, { v = 3 })
    assert.equal("a ui ui uo", d:at(id))
  end)

  it("ends what stands in its scope before that begins", function()
    local d = driver.new { graphs.make("p", { a = "user", h = "event_subprocess",
      t = on("start", "${v}", { scope = "h" }), u = { kind = "user", scope = "h" },
      z = { kind = "end", scope = "h" } }, { "s -> a -> e", "t -> u -> z" }) }
    local id = d:start("p", { v = true })
    assert.equal("u", d:at(id))
    assert.is_nil(d:history(id).s)
  end)

  it("is looked at once more for each variable that the instance begins with", function()
    local function store(more)
      more.scope, more.interrupting = "h", false
      return driver.new { graphs.make("p", { a = "user", h = "event_subprocess",
        t = on("start", "${x == 2}", more), u = { kind = "user", scope = "h" },
        z = { kind = "end", scope = "h" } }, { "s -> a -> e", "t -> u -> z" }) }
    end
    local d = store {}
    assert.equal("a u u u", d:at(d:start("p", { x = 2, y = 1 })))
    assert.equal("a", d:at(d:start("p", { y = 1 })))
    d = store { variable = "y" }
    assert.equal("a u u", d:at(d:start("p", { x = 2, y = 1, z = 1 })))
  end)
end)

describe("a condition of a scope that an operator opens", function()
  -- Those at the sub-process and in it; that at its task is looked at as the task begins.
  local function store()
    local function inside(kind)
      return { kind = kind, scope = "sub" }
    end
    return driver.new { graphs.make("p", { v = "user", sub = "subprocess", s2 = inside "start",
      a = inside "user", e2 = inside "end", h = inside "event_subprocess",
      t = on("start", "${x == 2}", { scope = "h", interrupting = false }),
      u = { kind = "user", scope = "h" }, z = { kind = "end", scope = "h" },
      b = on("boundary", "${x == 2}", { attached = "sub", interrupting = false }), w = "user" },
      { "s -> v -> sub -> e", "s2 -> a -> e2", "t -> u -> z", "b -> w -> e" }) }
  end

  local function modify(d, id, operations)
    d:command { kind = "modify", instance = id, operations = operations }
  end

  it("is looked at with what is written later", function()
    local d = store()
    local id = d:start("p", { x = 2 })
    modify(d, id, { { start_before = "a" } })
    assert.equal("a v", d:at(id))
    set(d, id, { x = 2 })
    assert.equal("a u v w", d:at(id))
  end)

  it("is looked at with what the operation writes, and where it begins by itself", function()
    local d = store()
    local id = d:start("p", { x = 1 })
    modify(d, id, { { start_before = "a", variables = { x = 2 } } })
    assert.equal("a u v w", d:at(id))
    id = d:start("p", { x = 2 })
    modify(d, id, { { start_before = "sub" } })
    assert.equal("a u v w", d:at(id))
  end)
end)

describe("a condition that starts a process", function()
  local function store(...)
    local list = { graphs.make("p", { s = on("start", "${x > 1}"), a = "user" }, { "s -> a -> e" }),
      graphs.make("q", { s = on("start", "${x > 1 and y > 1}", { variable = "y" }), b = "user" },
      { "s -> b -> e" }), ... }
    return driver.new(list)
  end

  local function begun(d, variables, more)
    local cause = { kind = "conditions", variables = variables }
    for name, value in pairs(more or {}) do
      cause[name] = value
    end
    local found = {}
    for i, id in ipairs(d:command(cause).result) do
      found[i] = d.instances[id].version
    end
    table.sort(found)
    return table.concat(found, " ")
  end

  it("is looked at with the variables that are given", function()
    local d = store()
    assert.same({ "1", "1 2", "", "" }, { begun(d, { x = 2 }), begun(d, { x = 2, y = 2 }),
      begun(d, { x = 0 }), begun(d, {}) })
    assert.equal("2", begun(d, { x = 2, y = 2 }, { process = "q" }))
    assert.equal("a b a b", table.concat({ d.tasks[1].activity, d.tasks[2].activity,
      d.tasks[3].activity, d.tasks[4].activity }, " "))
  end)

  it("is looked at before the first process is started", function()
    local seen = {}
    local d = driver.new { graphs.make("p", { s = on("start", function(v)
      seen[#seen + 1] = "p"
      return v.x == 1
    end), t = { kind = "service", behaviour = { call = function()
      seen[#seen + 1] = "t"
    end } } }, { "s -> t -> e" }), graphs.make("q", { s = on("start", function()
      seen[#seen + 1] = "q"
      return false
    end) }, { "s -> e" }) }
    d:command { kind = "conditions", variables = { x = 1 } }
    assert.equal("t", table.remove(seen))
    table.sort(seen)
    assert.same({ "p", "q" }, seen)
  end)

  it("raises what is no truth", function()
    local d = driver.new { graphs.make("p", { s = on("start", "${x}") }, { "s -> e" }) }
    local ok, message = pcall(d.walk, d, { kind = "conditions", variables = { x = 5 } })
    assert.is_false(ok)
    assert.truthy(message:find("the condition ${x} gives 5 (expected true or false)", 1, true))
  end)

  it("costs the instance nothing", function()
    local d = driver.new { graphs.make("p", { s = on("start", "${x > 1}"), a = "user" },
      { "s -> a -> e" }) }
    local id = d:start("p", { x = 5 })
    set(d, id, { x = 7 })
    assert.equal("a", d:at(id))
    assert.falsy(compile.plan(d.graphs[1]).conditions)
  end)
end)
