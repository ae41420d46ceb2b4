local models = require "spec.support.models"
local program = require "spec.support.program"
local rules = require("moonshift.core").rules

local SERVICE = models.line('\n<serviceTask id="x" name="Charge" c:class="org.shop.Charge"/>')

describe("process check", function()
  local place

  after_each(function()
    place.clean()
  end)

  it("shows every process, and says nothing of a sound one", function()
    place = program.place {
      ["processes/order.bpmn"] = SERVICE,
      ["processes/other.bpmn20.xml"] = SERVICE:gsub('id="p"', 'id="q"'),
      ["handlers/charge.lua"] = "return function() end",
    }
    local status, output, errors = place.run("process", "check")
    assert.equal(0, status, errors)
    assert.equal("", errors)
    assert.truthy(output:find("\np +3 +processes/order%.bpmn\n"), output)
    assert.truthy(output:find("\nq +3 +processes/other%.bpmn20%.xml\n"), output)
  end)

  it("names every problem with file, line and column and answers 1", function()
    place = program.place {
      ["processes/a.bpmn"] = SERVICE,
      ["processes/b.bpmn"] = "<definitions>",
    }
    local status, _, errors = place.run("process", "check")
    assert.equal(1, status)
    assert.equal('processes/a.bpmn:6:1: "x": there is no handler for its class "org.shop.Charge" '
      .. "(looked for activities/p/x.lua, handlers/org/shop/Charge.lua, handlers/Charge.lua, "
      .. "handlers/charge.lua)\n"
      .. "processes/b.bpmn:1:14: no element found\n"
      .. "moonshift: .: 2 problems\n", errors)
  end)

  it("makes problems of warnings where it is asked to", function()
    place = program.place { ["processes/a.bpmn"] = models.line '<task id="x"/><task id="y"/>' }
    local warning = 'processes/a.bpmn:5:102: warning: "y": nothing leads to it\n'
    local status, _, errors = place.run("process", "check")
    assert.equal(0, status)
    assert.equal(warning, errors)
    local strict, _, refusal = place.run("process", "check", "--strict")
    assert.equal(1, strict)
    assert.equal(warning .. "moonshift: .: 1 warning\n", refusal)
  end)

  it("reads one file by itself, without its handlers", function()
    place = program.place { ["a file.xml"] = SERVICE }
    local status, output, errors = place.run("process", "check", "a file.xml")
    assert.equal(0, status, errors)
    assert.truthy(output:find("\np +3 +a file%.xml\n"), output)
    place.write("b.bpmn", "<definitions>")
    local _, _, wrong = place.run("process", "check", "./b.bpmn")
    assert.equal("./b.bpmn:1:14: no element found\nmoonshift: ./b.bpmn: 1 problem\n",
      wrong)
    local gone, _, refusal = place.run("process", "check", "gone.bpmn")
    assert.equal(78, gone)
    assert.truthy(refusal:find("gone.bpmn", 1, true), refusal)
  end)

  it("has one document for programs", function()
    place = program.place { ["processes/a.bpmn"] = SERVICE }
    local _, output = place.run("process", "check", "--json")
    local told = rules.decode(output)
    local process, problem = told.processes[1], told.problems[1]
    assert.equal("p 3 processes/a.bpmn", ("%s %d %s"):format(process.key, process.activities,
      process.file))
    assert.equal("processes/a.bpmn 6 1 x", ("%s %d %d %s"):format(problem.file, problem.line,
      problem.column, problem.id))
    assert.same({}, told.warnings)
  end)
end)


describe("process show --lua", function()
  local place

  after_each(function()
    place.clean()
  end)

  it("writes a model of the folder, which reads as the same graph", function()
    place = program.place {
      ["processes/order.bpmn"] = SERVICE,
      ["handlers/charge.lua"] = "return function() end",
    }
    local _, before = place.run("process", "check", "--json")
    local status, output, errors = place.run("process", "show", "p", "--lua")
    assert.equal(0, status, errors)
    assert.truthy(output:find('step "x" { class = "org.shop.Charge", name = "Charge"', 1, true))
    place.clean()
    place = program.place {
      ["processes/order.lua"] = output,
      ["handlers/charge.lua"] = "return function() end",
    }
    local _, after = place.run("process", "check", "--json")
    assert.equal(rules.decode(before).processes[1].hash, rules.decode(after).processes[1].hash)
  end)

  it("shows a process in Lua as it stands in its file", function()
    local text = "return { require 'moonshift.process'.task 'a' { due = function() end } }\n"
    place = program.place { ["processes/order.lua"] = text }
    local status, output = place.run("process", "show", "order", "--lua")
    assert.same({ 0, text }, { status, output })
  end)

  it("writes a file by itself", function()
    place = program.place { ["a.bpmn"] = SERVICE }
    local status, output, errors = place.run("process", "show", "a.bpmn", "--lua")
    assert.equal(0, status, errors)
    assert.truthy(output:find('key = "p"', 1, true))
    local _, json = place.run("process", "show", "a.bpmn", "--lua", "--json")
    assert.same({ "p", output }, { rules.decode(json)[1].key, rules.decode(json)[1].lua })
  end)

  it("is not kept from it by another file that is wrong", function()
    place = program.place { ["processes/a.lua"] = "return {}",
      ["processes/b.lua"] = "return { require 'moonshift.process'.task 'a' {} }" }
    local status, output = place.run("process", "show", "b", "--lua")
    assert.same({ 0, "return { require 'moonshift.process'.task 'a' {} }" }, { status, output })
    local wrong, _, errors = place.run("process", "show", "a", "--lua")
    assert.equal(1, wrong)
    assert.truthy(errors:find("processes/a.lua:1: has nothing in it", 1, true), errors)
  end)

  it("names what is wrong, and what is not there", function()
    place = program.place { ["processes/a.bpmn"] = SERVICE,
      ["handlers/charge.lua"] = "return print",
      ["b.bpmn"] = "<definitions>" }
    local status, _, errors = place.run("process", "show", "q", "--lua")
    assert.same({ 4, 'moonshift: no process "q" in the script folder\n' }, { status, errors })
    status, _, errors = place.run("process", "show", "b.bpmn", "--lua")
    assert.same({ 1, "processes/b.bpmn:1:14: no element found\nmoonshift: b.bpmn: 1 problem\n" },
      { status, errors })
    status, _, errors = place.run("process", "show", "p")
    assert.same({ 2, "moonshift: process show: expected --lua\n" }, { status, errors })
  end)
end)
