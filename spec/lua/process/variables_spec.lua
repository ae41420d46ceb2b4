local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"
local rules = require "moonshift.rules"
local kept_as = require "moonshift.process.variables"

-- Runs a function as the handler of a process; gives what its variables are then.
local function after(fn, variables)
  local d = driver.new { graphs.make("p", { a = { kind = "service", behaviour = { call = fn } } },
    { "s -> a -> e" }) }
  return d:variables(d:start("p", variables))
end

local function refusal(fn, variables)
  local ok, message = pcall(after, fn, variables)
  assert.is_false(ok)
  return message
end

describe("variables", function()
  it("are set where the name exists, else in the instance", function()
    local d = driver.new { graphs.make("p", { sub = "subprocess", s2 = { kind = "start",
      scope = "sub" }, a = { kind = "service", scope = "sub", behaviour = { call = function(job)
        job:set_local("here", 1)
        job.variables.here = 2
        job.variables.there = 3
        job.variables.new = 4
      end } }, u = { kind = "user", scope = "sub" }, e2 = { kind = "end", scope = "sub" } },
      { "s -> sub -> e", "s2 -> a -> u -> e2" }) }
    local id = d:start("p", { there = 0 })
    assert.same({ there = 3, new = 4 }, d:variables(id))
    assert.same({ here = 2 }, d:frame(id).scopes[2][4])
    d:complete("u")
    assert.same({ there = 3, new = 4 }, d:variables(id))
  end)

  it("are gone when nil is assigned", function()
    assert.same({}, after(function(job)
      job.variables.x = nil
    end, { x = 1 }))
  end)

  it("keep false, null and lists", function()
    local found = after(function(job)
      assert(job.variables.a == false and job.variables.b == rules.null)
      job.variables.c = job.variables.c
    end, { a = false, b = rules.null, c = rules.array {} })
    assert.is_false(found.a)
    assert.equal(rules.null, found.b)
    assert.equal("[]", rules.encode(found.c))
  end)

  it("are all seen by pairs", function()
    local seen = {}
    after(function(job)
      for name, value in pairs(job.variables) do
        seen[name] = value
      end
    end, { a = 1, b = false })
    assert.same({ a = 1, b = false }, seen)
  end)

  it("give each call its own copy of a table", function()
    assert.same({ o = { n = 2 } }, after(function(job)
      local o = job.variables.o
      o.n = 2
      job.variables.o = o
    end, { o = { n = 1 } }))
  end)

  it("are what can be changed of a job, which itself cannot, read before or not", function()
    for _, name in ipairs { "key", "payload" } do
      assert.truthy(refusal(function(job)
        local _ = job.key
        job[name] = "x"
      end):find(("job.%s: a job is not changed (set a variable: job.variables.%s = …)"):format(name,
        name), 1, true))
    end
  end)

  it("refuse a table that is changed and not assigned", function()
    assert.equal("a: the table in the variable o was changed, but not assigned "
      .. "(after changing it, write: variables.o = …)", refusal(function(job)
        job.variables.o.n = 2
      end, { o = { n = 1 } }))
  end)

  it("give beans copies, too", function()
    local d = driver.new { graphs.make("p", { a = { kind = "service", result = "y",
      behaviour = { expression = "${shop.spoil(o)}" } } }, { "s -> a", { "a -> e",
        when = "${shop.spoil(o) > 0}" } }) }
    d.beans.shop = { spoil = function(_, o)
      local n = o.n
      o.n = d.spoils and 0 or n
      return n
    end }
    assert.same({ o = { n = 1 }, y = 1 }, d:variables(d:start("p", { o = { n = 1 } })))
    d.spoils = true
    local ok, message = pcall(d.start, d, "p", { o = { n = 1 } })
    assert.is_false(ok)
    assert.truthy(message:find("a: the table in the variable o was changed", 1, true))
  end)

  it("keep no metatable but the mark of lists", function()
    local found = after(function(job)
      job.variables.a = setmetatable({ n = 1 }, { __index = print })
      job.variables.b = rules.array {}
      job.variables.all = job.variables
    end)
    assert.is_nil(getmetatable(found.a))
    assert.equal("[]", rules.encode(found.b))
    assert.equal(1, found.all.a.n)
  end)

  it("refuse what is no data, and name it", function()
    assert.equal("p.lua: a: the variable x: cannot keep a function "
      .. "(expected nil, boolean, number, text or table)",
      refusal(function(job)
        job.variables.x = { print }
      end))
  end)

  it("refuse a name that is too long", function()
    assert.truthy(refusal(function(job)
      job.variables[("n"):rep(256)] = 1
    end):find("expected a text of 1 to 255 bytes", 1, true))
  end)

  it("cannot be assigned in a condition", function()
    local d = driver.new { graphs.make("p", { x = "exclusive" }, { "s -> x", { "x -> e",
      when = function(v)
        v.y = 1
      end } }) }
    local _, message = pcall(d.start, d, "p")
    assert.truthy(message:find('the variable the string "y" is assigned in a condition or mapping',
      1, true))
  end)

  it("are asked by the functions of a Lua form", function()
    local d = driver.new { graphs.make("p", { x = "exclusive" }, { "s -> x", { "x -> e1",
      when = function(v)
        return v.n > 1
      end }, { "x -> e2", default = true } }) }
    assert.equal(1, d:history(d:start("p", { n = 2 })).e1)
    assert.equal(1, d:history(d:start("p", { n = 1 })).e2)
  end)
end)

describe("the type of a variable", function()
  local function new()
    return driver.new { graphs.make("p", { u = "user", a = { kind = "service", behaviour = {
      call = function(job)
        job.variables.b = 3
      end } }, v = "user" }, { "s -> u -> a -> v -> e" }) }
  end

  it("is kept until the variable is set without one", function()
    local d = new()
    local id = d:start("p", { a = 1, b = "x" }, { types = { a = "Long", b = "Date" } })
    local scope = d:frame(id).scopes[1]
    assert.same({ rules.null, rules.null, { a = "Long", b = "Date" } }, { scope[5], scope[6],
      scope[7] })
    d:complete("u", { c = 1 })
    assert.same({ a = "Long" }, d:frame(id).scopes[1][7])
    d:command { kind = "set", instance = id, variables = { a = 2 } }
    assert.is_nil(d:frame(id).scopes[1][7])
    d:command { kind = "set", instance = id, variables = { a = 2 }, types = { a = "Short" } }
    assert.same({ a = "Short" }, d:frame(id).scopes[1][7])
  end)

  it("is a text of a variable that comes with it", function()
    local d = new()
    for _, case in ipairs {
      { { a = 5 }, "types: a is 5 (expected a text of 1 to 255 bytes)" },
      { { z = "Date" }, "types: z is not among the variables" },
    } do
      local _, message = pcall(d.start, d, "p", { a = 1 }, { types = case[1] })
      assert.equal(case[2], message)
    end
  end)
end)

describe("a transient variable", function()
  -- start -> first -> wait -> last -> end
  local function new(first, last)
    return driver.new { graphs.make("p", { wait = "user",
      first = { kind = "service", behaviour = { call = first } },
      last = { kind = "service", behaviour = { call = last or function() end } },
      done = "user" }, { "s -> first -> wait -> last -> done -> e" }) }
  end

  it("is seen in its unit, and written nowhere", function()
    local seen
    local d = new(function(job)
      seen = job.variables.secret
      job.variables.shown = 1
      job:set_transient("more", { 1, 2 })
      job.variables.more = { 3 }
    end, function(job)
      seen = seen .. " " .. tostring(job.variables.secret or job.variables.more)
    end)
    local id = d:start("p", {}, { transient = { secret = "abc" } })
    assert.same({ shown = 1 }, d:variables(id))
    d:complete("wait")
    assert.equal("abc nil", seen)
    local said = rules.encode(d.trail) .. rules.encode(d.instances)
    assert.is_nil(said:find("secret", 1, true) or said:find("more", 1, true))
  end)

  it("comes with what lets an instance go on", function()
    local seen
    local d = new(function() end, function(job)
      seen = job.variables.secret
    end)
    local id = d:start("p", {})
    d:complete("wait", { shown = 2 }, { transient = { secret = "abc" } })
    assert.equal("abc", seen)
    assert.same({ shown = 2 }, d:variables(id))
  end)

  it("may be large, and is not in what has ended", function()
    local d = driver.new { graphs.make("p", {}, { "s -> e" }) }
    d:start("p", { kept = 1 }, { transient = { big = ("x"):rep(5000) } })
    assert.same({ kept = 1 }, d.past[1].variables)
    assert.same({}, d.values)
  end)

  it("is not a name that is kept already", function()
    local d = new(function(job)
      job:set_transient("kept", 2)
    end)
    local _, message = pcall(d.start, d, "p", { kept = 1 })
    assert.equal("the variable kept is kept already (expected another name for a transient one)",
      message)
  end)

  it("may be what a call returns", function()
    local seen
    local d = driver.new { graphs.make("p", { wait = "user",
      first = { kind = "service", result = "sum", result_in = "transient", behaviour = {
        call = function() return 3 end } },
      last = { kind = "service", behaviour = { call = function(job)
        seen = job.variables.sum
      end } } }, { "s -> first -> last -> wait -> e" }) }
    assert.same({}, d:variables(d:start("p", {})))
    assert.equal(3, seen)
  end)

  it("is set again when the unit is walked again", function()
    local calls = 0
    local d = driver.new { graphs.make("p", { g = "parallel", u = "user",
      first = { kind = "service", before = true, behaviour = { call = function(job)
        calls = calls + 1
        job:set_transient("boss", "ann")
      end } }, v = { kind = "user", assignee = "${boss}" } },
      { "s -> g -> first -> v -> e", "g -> u -> e" }) }
    local id = d:start("p", {})
    local cause = d:take(d.jobs[1])
    local unit = d:walk(cause)
    d:command { kind = "set", instance = id, variables = { other = 1 } }
    cause.kept = rules.decode(rules.encode(unit.kept))
    assert.is_true(d:write(d:walk(cause), cause))
    assert.same({ 1, { other = 1 }, "ann" }, { calls, d:variables(id), d.tasks[2].assignee })
  end)
end)

describe("variables", function()
  it("are all seen from inside, the inner before the outer", function()
    local seen
    local d = driver.new { graphs.make("p", { a = { kind = "service",
      input = { { name = "x", value = "inner" } }, behaviour = { call = function(job)
        seen = {}
        for name, value in pairs(job.variables) do
          seen[name] = value
        end
      end } } }, { "s -> a -> e" }) }
    d:start("p", { x = "outer", y = 1 })
    assert.same({ x = "inner", y = 1 }, seen)
  end)

  it("are equal only where both have the same names", function()
    assert.is_true(kept_as.equal({ a = { 1 } }, { a = { 1 } }))
    assert.is_false(kept_as.equal({ a = 1 }, { a = 1, b = 2 }))
    assert.is_false(kept_as.equal({ a = 1, b = 2 }, { a = 1 }))
  end)

  it("are found by their value, which null and data are not", function()
    local graph = graphs.make("p", { u = "user" }, { "s -> u -> e" })
    graph.search = { "a", "b", "c" }
    local d = driver.new { graph }
    local unit = d:walk { kind = "start", version = 1, variables = { a = rules.null, b = { 1 },
      c = 5 } }
    local found = {}
    for _, one in ipairs(unit.searched) do
      found[#found + 1] = one.name .. "=" .. tostring(one.value)
    end
    table.sort(found)
    assert.same({ "a=nil", "b=nil", "c=5" }, found)
  end)
end)
