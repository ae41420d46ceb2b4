local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"
local rules = require "moonshift.rules"

local LONG = ("x"):rep(3000)

describe("a large variable", function()
  -- A process of user tasks, and a service task "act" between the first and the second.
  local function new(fn, settings)
    return driver.new({ graphs.make("p", { u = "user", v = "user", w = "user",
      act = { kind = "service", behaviour = { call = fn or function() end } } },
      { "s -> u -> act -> v -> w -> e" }) }, { settings = settings or {} })
  end

  local function rows(d)
    local list = {}
    for key, data in pairs(d.values) do
      list[#list + 1] = ("%s %d"):format(key, #data)
    end
    table.sort(list)
    return list
  end

  it("stands in a row of its own, and the frame has the number of that", function()
    local d = new()
    local id = d:start("p", { big = LONG, small = 1, list = { LONG } })
    assert.same({ "1:3 3002", "1:4 3004" }, rows(d))
    local scope = d:frame(id).scopes[1]
    assert.same({ small = 1 }, scope[4])
    assert.same({ [3] = true, [4] = true }, { [scope[6].big] = true, [scope[6].list] = true })
    assert.is_true(#d.instances[id].frame < 200)
  end)

  it("is told in the trail by its size, and others by their values", function()
    local d = new()
    local id = d:start("p", { big = LONG })
    d:command { kind = "set", instance = id, variables = { n = 5, big = LONG .. "y", t = "a" } }
    local told = {}
    for _, event in ipairs(d.trail[#d.trail].events) do
      told[event[3]] = event[1] .. " " .. tostring(event[4])
    end
    assert.same({ n = "v 5", big = "l 3003", t = "v a" }, told)
    d:start("p", { n = 5 })
    assert.same({ "v", 1, "n", 5 }, d.trail[#d.trail].events[1])
  end)

  it("is read once, and only if something asks for it", function()
    local seen
    local d = new(function(job)
      seen = #job.variables.big + #job.variables.big
    end)
    d:start("p", { big = LONG, other = LONG })
    d:complete("u")
    assert.same({ 6000, 1 }, { seen, d.reads })
    d:complete("v")
    assert.equal(1, d.reads)
    assert.equal(2, #rows(d))
  end)

  it("gets another row when it is set, and none when it is small or gone", function()
    local values = { ("y"):rep(4000), 1, LONG, nil }
    local d = new()
    local id = d:start("p", { big = LONG })
    local sizes = {}
    for i = 1, 4 do
      d:command { kind = "set", instance = id, variables = { big = values[i] } }
      sizes[i] = rows(d)[1] or ""
      if i == 3 then
        d:command { kind = "set", instance = id, variables = { big = 2 } }
      end
    end
    assert.same({ "1:4 4002", "", "1:5 3002", "" }, sizes)
  end)

  it("of a token goes with the token", function()
    local d = new(function(job)
      job:set_local("big", LONG)
    end)
    d.graphs[1] = graphs.make("p", { sub = "subprocess", s2 = { kind = "start", scope = "sub" },
      a = { kind = "service", scope = "sub", behaviour = { call = function(job)
        job:set_local("big", LONG)
      end } }, u = { kind = "user", scope = "sub" }, e2 = { kind = "end", scope = "sub" },
      v = "user" }, { "s -> sub -> v -> e", "s2 -> a -> u -> e2" })
    local id = d:start("p", {})
    assert.equal(1, #rows(d))
    d:complete("u")
    assert.same({}, rows(d))
    assert.is_nil(d:frame(id).scopes[1][6])
  end)

  it("stays with what has ended, which has the small ones", function()
    local d = new(function(job)
      job.variables.late = LONG
    end)
    local id = d:start("p", { big = LONG, small = 1 })
    d:complete("u")
    d:command { kind = "cancel", instance = id }
    assert.same({ small = 1 }, d.past[1].variables)
    assert.equal(2, #rows(d))
  end)

  it("has its size in the trail", function()
    local d = new()
    d:start("p", { big = LONG })
    assert.same({ "l", 1, "big", 3002 }, d.trail[1].events[1])
  end)

  it("is found by its length also where no trail is kept", function()
    local d = new(nil, { trail = "none" })
    d:start("p", { big = LONG, list = { LONG }, short = ("x"):rep(2000), none = { 1 } })
    assert.equal(2, #rows(d))
  end)

  it("is refused beyond a limit, with its name and its size", function()
    for _, trail in ipairs { "full", "none" } do
      local d = new(nil, { value_max = 1000, inline_max = 100, trail = trail })
      local _, message = pcall(d.start, d, "p", { big = ("x"):rep(1500) })
      assert.equal("the variable big of instance 1 has 1502 bytes (expected at most 1000)", message)
    end
  end)

  it("is not counted where the small ones are too large for the frame", function()
    local d = new(nil, { frame_max = 4000 })
    local given = { big = LONG }
    for i = 1, 3 do
      given["v" .. i] = ("x"):rep(1900 + i)
    end
    local _, message = pcall(d.start, d, "p", given)
    assert.truthy(message:find("the largest variables: v3 (1905 bytes), v2 (1904 bytes), "
      .. "v1 (1903 bytes)", 1, true), message)
  end)

  it("that was read and set again is as any other variable", function()
    local d = new(function(job)
      local list = job.variables.list
      list[#list + 1] = "more"
      job.variables.list = list
    end)
    local id = d:start("p", { list = { LONG } })
    d:complete("u")
    assert.same({ "1:4 3011" }, rows(d))
    assert.equal(rules.null, d:variables(id))
  end)
end)
