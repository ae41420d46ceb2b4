local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"
local rules = require "moonshift.rules"

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
