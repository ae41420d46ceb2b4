-- Instances, past instances and tasks by variables that their process names in `search`.
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local MODEL = [[
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="shop"
    xmlns:camunda="http://camunda.org/schema/1.0/bpmn">
  <process id="model">
    <extensionElements><camunda:properties>
      <camunda:property name="search" value="weight, customer"/>
    </camunda:properties></extensionElements>
    <startEvent id="begin"/>
    <sequenceFlow id="f1" sourceRef="begin" targetRef="look"/>
    <userTask id="look"/>
  </process>
</definitions>]]

local files = {
  ["processes/sale.lua"] = [[
    local process = require "moonshift.process"
    return {
      search = { "customer", "amount", "vip", "lines" },
      process.task "check" {},
      process.sub "part" {
        process.step "hide" { async = true, run = function(job)
          job:set_local("amount", 7)
          job.variables.customer = "dan"
        end },
        process.task "pay" {},
      },
    }]],
  ["processes/other.lua"] = [[
    local process = require "moonshift.process"
    return { process.task "check" {} }]],
  ["processes/model.bpmn"] = MODEL,
}

describe("a search for variables", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function start(given, key)
    return assert(engine:start(key or "sale", { variables = given }))
  end

  local function found(given, kind)
    local ids = {}
    for _, row in ipairs(assert(engine[kind or "instances"](engine, { variables = given })
      :sort("id"):list())) do
      ids[#ids + 1] = row.id
    end
    return ids
  end

  it("compares numbers, whole or not", function()
    local a, b, c = start { amount = 99 }, start { amount = 99.5 }, start { amount = 100 }
    start { amount = "100" }
    for _, case in ipairs {
      { 99, { a } }, { 99.5, { b } }, { 100.0, { c } }, { { 99, 100 }, { a, c } },
      { { ">", 99 }, { b, c } }, { { ">=", 99.2 }, { b, c } }, { { "<", 99.7 }, { a, b } },
      { { "<=", 99 }, { a } }, { { ">", 99, "<", 100 }, { b } }, { { "<>", 99.5 }, { a, c } },
      { { ">", 1e300 }, {} },
    } do
      assert.same(case[2], found { amount = case[1] })
    end
  end)

  -- Lua compares whole numbers and others as they are, not as the nearest double.
  it("compares numbers that a double cannot hold", function()
    local holds = {
      ["="] = function(a, b) return a == b end, ["<>"] = function(a, b) return a ~= b end,
      ["<"] = function(a, b) return a < b end, ["<="] = function(a, b) return a <= b end,
      [">"] = function(a, b) return a > b end, [">="] = function(a, b) return a >= b end,
    }
    local numbers = { 2 ^ 53, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, 2 ^ 53 + 2, (1 << 53) + 3,
      -2.0 ^ 53, -(1 << 53) - 1, 0, -0.5, 2 ^ 62, (1 << 62) + 1, math.maxinteger, 2 ^ 63, 1e300,
      math.mininteger, math.mininteger + 1, -2.0 ^ 63, -1e300 }
    local ids = {}
    for i, number in ipairs(numbers) do
      ids[i] = start { amount = number }
    end
    for name, holds_for in pairs(holds) do
      for _, number in ipairs(numbers) do
        local wanted = {}
        for i, stored in ipairs(numbers) do
          wanted[#wanted + 1] = holds_for(stored, number) and ids[i] or nil
        end
        assert.same(wanted, found { amount = { name, number } }, name .. " " .. number)
      end
    end
  end)

  it("compares texts, and true and false", function()
    local a, b, c = start { customer = "ann", vip = true }, start { customer = "bob" }, start {}
    assert.same({ a }, found { customer = "ann" })
    assert.same({ b }, found { customer = { ">", "ann" } })
    assert.same({ a }, found { customer = { "ann", "bob" }, vip = true })
    assert.same({ b, c }, found { vip = require "moonshift".null })
  end)

  it("finds what is there now, in the instance itself", function()
    local id = start { amount = 1, customer = "ann" }
    assert(engine:set_variables(id, { amount = 2 }))
    assert.same({ {}, { id } }, { found { amount = 1 }, found { amount = 2 } })
    assert(engine:complete(engine:tasks():one().id))
    engine:drain()
    assert.same({ {}, { id } }, { found { amount = 7 }, found { customer = "dan" } })
    assert(engine:set_variables(id, { amount = { 1, 2 } }))
    assert.same({}, found { amount = { ">", 0 } })
  end)

  it("finds tasks by the variables of their instances", function()
    start { amount = 1 }
    start({ amount = 1 }, "other")
    assert.equal(1, #found({ amount = 1 }, "tasks"))
    assert.equal(0, #found({ amount = 2 }, "tasks"))
  end)

  it("finds what has ended, as long as the history has it", function()
    local id = start { amount = 1 }
    assert(engine:cancel_instance(id))
    assert.same({ {}, { id } }, { found { amount = 1 }, found({ amount = 1 }, "past_instances") })
  end)

  it("shows what is searched in the rows of instances", function()
    start { amount = 1.5, customer = "ann", note = "hidden", vip = false, lines = { 1 } }
    assert.same({ amount = 1.5, customer = "ann", vip = "false" },
      engine:instances():one().variables)
    start({ note = "x" }, "other")
    assert.same({}, engine:instances({ process = "other" }):one().variables)
  end)

  it("is named in a model by an extension property", function()
    local id = start({ weight = 3 }, "model")
    assert.same({ id }, found { weight = 3 })
  end)

  it("leaves out texts beyond 1 KiB", function()
    local id = start { customer = ("x"):rep(1024) }
    assert.same({ id }, found { customer = ("x"):rep(1024) })
    assert(engine:set_variables(id, { customer = ("x"):rep(1025) }))
    assert.same({}, found { customer = ("x"):rep(1025) })
  end)

  it("refuses what no process searches, and what cannot be compared", function()
    local function message(given)
      return (select(2, engine:instances({ variables = given }):list()))
    end
    assert.equal('filter "variables": no process searches "custmer" '
      .. "(known: amount, customer, lines, vip, weight)", message { custmer = "ann" })
    local expected = 'filter "variables": amount: expected a text, a number, true or false, a list '
      .. 'of them, or comparisons such as [">", 100]'
    assert.equal(expected, message { amount = { { 1 } } })
    assert.equal(expected, message { amount = { ">", 1, "!", 2 } })
  end)

  it("is made on the command line, too", function()
    local function run(...)
      local status, output, errors = process.moonshift(...)
      return output, errors, status
    end
    for i = 1, 3 do
      run("process", "start", "sale", "amount=" .. i * 100, "customer=c" .. i, "-C", folder)
    end
    local function rows(...)
      return (run("instance", "list", "--json", "--columns", "variables", "-C", folder, ...))
    end
    assert.equal('[{"variables":{"amount":200,"customer":"c2"}}]\n',
      rows("--variable", "amount>100", "--variable", "amount<300"))
    assert.equal('[{"variables":{"amount":300,"customer":"c3"}}]\n',
      rows("--variable", "customer=c3"))
    assert.equal("ACTIVITY\ncheck\n", (run("task", "list", "--variable", "amount>=300", "--columns",
      "activity", "-C", folder)))
    local _, errors, status = run("instance", "list", "--variable", "amount", "-C", folder)
    assert.same({ 2, 'moonshift: --variable "amount": expected a comparison such as amount>100\n' },
      { status, errors })
  end)
end)
