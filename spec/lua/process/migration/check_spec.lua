require "spec.support.scripts"
local check = require "moonshift.process.migration.check"
local compile = require "moonshift.process.compile"
local equal = require "moonshift.process.migration.equal"
local graphs = require "spec.lua.process.graphs"
require "moonshift.process.commands"

local function boundary(host, kind, more)
  local event = { kind = kind, name = "go",
    timer = kind == "timer" and { kind = "duration", text = "PT1H" } or nil }
  local node = { kind = "boundary", attached = host, event = event }
  for name, value in pairs(more or {}) do
    node[name] = value
  end
  return node
end

local function catch(kind)
  return { kind = "catch", event = { kind = kind, name = "go", when = "${x > 1}",
    timer = kind == "timer" and { kind = "duration", text = "PT1H" } or nil } }
end

local function multi(parallel, more)
  local node = { kind = "user", multi = { count = 3, parallel = parallel } }
  for name, value in pairs(more or {}) do
    node[name] = value
  end
  return node
end

local function plan(nodes, flows)
  return compile.plan(graphs.make("p", nodes, flows))
end

-- One of each kind that pairs may have.
local function shop()
  return plan({ a = "user", b = "user", r = { kind = "receive" }, c = "service",
    t = boundary("a", "timer"), m = boundary("b", "message"), one = catch "message",
    two = catch "timer", three = catch "conditional", sub = "subprocess",
    s2 = { kind = "start", scope = "sub" }, x = { kind = "user", scope = "sub" },
    e2 = { kind = "end", scope = "sub" }, par = multi(true), seq = multi(false),
    f = "parallel", j = "parallel", j2 = "parallel" },
    { "s -> a -> b -> r -> c -> one -> two -> three -> sub -> par -> seq -> f -> j -> e",
      "s2 -> x -> e2", "f -> j", "f -> j2 -> e", "t -> e", "m -> e" })
end

-- All that is wrong with "a=b c=d!", as texts.
local function troubles(words, to)
  local list = {}
  for from, name, update in words:gmatch "([^= ]+)=([^! ]+)(!?)" do
    list[#list + 1] = { from = from, to = name, update = update == "!" or nil,
      what = from .. "=" .. name }
  end
  return check.texts(select(2, check.troubles(shop(), to or shop(), list)))
end

describe("a plan of a migration", function()
  local refused = {
    ["a=zz"] = 'a=zz: the process p has no activity zz',
    ["aa=a"] = 'aa=a: the process p has no activity aa (did you mean "a"?)',
    ["a=a#multiInstanceBody"] = 'a=a#multiInstanceBody: the process p has no activity '
      .. 'a#multiInstanceBody (did you mean "par#multiInstanceBody"?)',
    ["a=r"] = "a=r: a is a user task, and r a receive task (expected a user task, such as a)",
    ["a=c"] = "a=c: a is a user task, and c a service task (expected a user task, such as a)",
    ["a=b t=m"] = "t=m: t waits for a timer, and m for a message (expected the same)",
    ["t=t"] = "t=t: t belongs to a, and t to a (expected the pair a=a)",
    ["a=b t=t"] = "t=t: t belongs to a, and t to a (expected the pair a=a)",
    ["one=two"] = "one=two: one waits for a message, and two for a timer (expected the same)",
    ["three=three"] = "three=three: three waits for a condition (expected update = true)",
    ["a=a!"] = "a=a: a waits for no event that could be updated (expected no update)",
    ["par=par"] = "par=par: par lies in the body par#multiInstanceBody, which no pair leads to "
      .. "(a migration makes no body)",
    ["par#multiInstanceBody=par#multiInstanceBody"] = "par#multiInstanceBody=par"
      .. "#multiInstanceBody: a body goes with its turns (expected the pair par=par beside it)",
    ["par#multiInstanceBody=seq#multiInstanceBody par=seq"] = "par#multiInstanceBody=seq"
      .. "#multiInstanceBody: par#multiInstanceBody is a parallel body, and seq#multiInstanceBody "
      .. "a sequential body (expected a parallel body, such as par#multiInstanceBody)",
    ["j=j2"] = "j=j2: j has 2 flows into it, and j2 only 1 (expected at least 2)",
    ["j=j j2=j"] = { "j=j: 2 pairs lead to the join j (expected one)",
      "j2=j: 2 pairs lead to the join j (expected one)" },
    ["a=a a=b"] = { "a=a: a is in 2 pairs (expected one)", "a=b: a is in 2 pairs (expected one)" },
    ["sub=sub x=a"] = "x=a: x lies in sub, which becomes sub, and a does not lie in that",
  }
  for words, wanted in pairs(refused) do
    it("is refused as " .. words, function()
      assert.same(type(wanted) == "table" and wanted or { wanted }, troubles(words))
    end)
  end

  it("is fine where kinds, events, scopes and bodies agree", function()
    for _, words in ipairs { "a=b", "a=b b=a", "a=a t=t", "x=a", "a=x", "sub=sub x=x",
      "three=three!", "one=one!",
      "par=a", "par#multiInstanceBody=par#multiInstanceBody par=par", "j2=j", "" } do
      assert.same({}, troubles(words))
    end
  end)
end)

describe("a plan of equal activities", function()
  local function words(from, to, update)
    local list = {}
    for i, pair in ipairs(equal.pairs(from, to, update)) do
      list[i] = pair.what .. (pair.update and "!" or "")
    end
    table.sort(list)
    return table.concat(list, " ")
  end

  it("has what instances wait at, in scopes that are paired", function()
    assert.equal("a=a b=b f=f j2=j2 j=j m=m one=one"
      .. " par#multiInstanceBody=par#multiInstanceBody par=par r=r"
      .. " seq#multiInstanceBody=seq#multiInstanceBody seq=seq sub=sub t=t two=two x=x",
      words(shop(), shop()))
    assert.matches("one=one! .* t=t! three=three! two=two!", words(shop(), shop(), true))
  end)

  it("has nothing at which no instance waits, and nothing in scopes that are not", function()
    local function small(scope)
      local nodes = { a = { kind = "user", scope = scope }, u = { kind = "user",
        compensates = true }, cb = { kind = "boundary", attached = "a", handler = "u",
          event = { kind = "compensation" } }, c = catch "link", l = { kind = "throw",
          event = { kind = "link", name = "go" } } }
      for name, kind in pairs { s2 = "start", e2 = "end" } do
        nodes[name] = scope and { kind = kind, scope = scope }
      end
      nodes[scope or "none"] = "subprocess"
      nodes.cb.scope, nodes.u.scope = scope, scope
      return plan(nodes, { scope and "s -> " .. scope .. " -> l" or "s -> a -> none -> l",
        scope and "s2 -> a -> e2", "c -> e" })
    end
    assert.equal("a=a cb=cb sub=sub", words(small "sub", small "sub"))
    assert.equal("", words(small "sub", small "sub2"))
    local deeper = plan({ a = { kind = "user", scope = "sub" }, sub = { kind = "subprocess",
      scope = "sub2" }, sub2 = "subprocess", s2 = { kind = "start", scope = "sub" },
      e2 = { kind = "end", scope = "sub" }, s3 = { kind = "start", scope = "sub2" } },
      { "s -> sub2 -> e", "s3 -> sub", "s2 -> a -> e2" })
    assert.equal("", words(small "sub", deeper))
  end)

  it("is added to pairs as far as it fits with them", function()
    local list = { { from = "a", to = "b", what = "a=b" }, { from = "sub", to = "sub",
      what = "sub=sub" } }
    equal.add(shop(), shop(), list)
    local told = {}
    for i, pair in ipairs(list) do
      told[i] = pair.what
    end
    assert.equal("a=b sub=sub b=b", table.concat(told, " ", 1, 3))
    assert.not_matches("t=t", table.concat(told, " "))
    assert.matches("x=x", table.concat(told, " "))
    assert.same({}, select(2, check.troubles(shop(), shop(), list)))
  end)

  it("leaves out what cannot be paired, and what lies in that", function()
    local to = plan({ a = "user", b = "service", t = boundary("b", "timer"), x = "user",
      sub = "subprocess", s2 = { kind = "start", scope = "sub" }, par = "user",
      e2 = { kind = "end", scope = "sub" } }, { "s -> a -> b -> x -> sub -> par -> e",
      "s2 -> e2", "t -> e" })
    assert.equal("a=a sub=sub", words(shop(), to))
  end)
end)
