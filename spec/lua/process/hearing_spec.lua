local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"
local rules = require "moonshift.rules"

-- What `fn` is called with as the variables of a process are written.
local function hears(fn, nodes, flows, settings)
  return driver.new({ graphs.make("p", nodes, flows, { listeners = {
    variable_create = { { call = fn } }, variable_update = { { call = fn } } } }) },
    { settings = settings or {} })
end

describe("a listener of variables", function()
  it("that writes what it hears of ends with the steps of a unit", function()
    local calls = 0
    local d = hears(function(job)
      calls = calls + 1
      job.variables.a = job.variable.value + 1
    end, { u = "user" }, { "s -> u -> e" }, { unit_steps = 20 })
    local id = d:start "p"
    local ok, text = pcall(d.command, d, { kind = "set", instance = id, variables = { a = 1 } })
    assert.is_false(ok)
    assert.matches("more than 20 activities and calls without a wait state", text)
    assert.equal(20, calls)
  end)

  it("hears of each value once, though its unit walks again on a newer frame", function()
    local heard = {}
    local function count(job)
      job.variables.n = job.variables.n + 1
    end
    local d = hears(function(job)
      heard[#heard + 1] = job.variable.value
    end, { f = "parallel", a = { kind = "service", before = true, exclusive = false,
      behaviour = { call = count } }, b = { kind = "service", before = true, exclusive = false,
      behaviour = { call = count } } }, { "s -> f -> a -> e", "f -> b -> e2" })
    local id = d:start("p", { n = 0 })
    heard = {}
    local cause = d:take(d.jobs[1])
    local unit = d:walk(cause)
    d:run(d.jobs[1])
    assert.is_false(d:write(unit, cause))
    cause.kept = rules.decode(rules.encode(unit.kept))
    assert.is_true(d:write(d:walk(cause), cause))
    assert.same({ 1, 1, 2 }, heard)
    assert.equal("completed", d:ended(id))
  end)
end)
