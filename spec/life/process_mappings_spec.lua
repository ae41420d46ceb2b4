-- Variables of called processes that code maps: what it sees, what becomes of what it gives, and
-- where its errors go.
local engines = require "spec.support.engines"
local executors = require "spec.support.executors"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = 'local process = require "moonshift.process"\nreturn '

local files = {
  ["processes/order.lua"] = WORDS .. [[{
    process.call "book" { with = { "amount" }, back = { "booking" }, mapping = "map_order",
      on_error = { "none", process.task "ask" {} } },
    process.task "look" {} }]],
  ["processes/book.lua"] = WORDS .. [[{
    process.step "sum" { async = true, run = function(job)
      job.variables.booking = job.variables.amount * (job.variables.factor or 1)
    end } }]],
  ["processes/model.bpmn"] = [[<definitions targetNamespace="x"
    xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:c="http://camunda.org/schema/1.0/bpmn"><process id="model" isExecutable="true">
    <startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="b"/>
    <callActivity id="b" calledElement="book" c:variableMappingDelegateExpression="${mapOrder}"/>
    <sequenceFlow id="c" sourceRef="b" targetRef="u"/><userTask id="u"/></process></definitions>]],
  ["handlers/map_order.lua"] = [[return function(job)
    local v, called = job.variables, job.called
    if v.wrong == job.event then
      return 5
    elseif v.fails == job.event then
      job:throw("none")
    elseif job.event == "input" then
      return { amount = (called.amount or v.amount) + 1, factor = 10 }
    end
    v.seen = called.factor
    return { total = called.booking, back = v.booking }
  end]],
}

describe("a mapping by code", function()
  local engine, folder

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function run(key, more)
    local variables = { amount = 4 }
    for name, value in pairs(more or {}) do
      variables[name] = value
    end
    local id = assert(engine:start(key, { variables = variables }))
    engine:drain()
    return engine:instance(id), id
  end

  it("adds to what goes in and what comes back", function()
    local row = run "order"
    assert.same({ amount = 4, booking = 50, total = 50, back = 50, seen = 10 }, row.variables)
    assert.equal("look", row.at[1].activity)
  end)

  it("is what a model names as Camunda does", function()
    assert.same({ amount = 4, total = 50, seen = 10 }, run("model").variables)
  end)

  it("throws an error that goes on from the call, before it and behind it", function()
    for _, event in ipairs { "input", "output" } do
      local row = run("order", { fails = event })
      assert.equal("ask", row.at[1].activity)
    end
    assert.equal(0, engine:instances({ process = "book" }):count())
  end)

  it("fails the unit where it gives no table", function()
    local fine, message = engine:start("order", { variables = { amount = 4, wrong = "input" } })
    assert.is_nil(fine)
    assert.matches("book: the mapping of its variables gives 5 (expected a table by names)",
      message, 1, true)
    local _, id = run("order", { wrong = "output" })
    assert.equal("book", engine:at(id)[1])
    assert.matches("gives 5", engine:jobs():one().message, 1, true)
  end)
end)

describe("mappings by code and executors", function()
  it("are called once a call, beside each other", function()
    local place = executors.place {}
    for path, text in pairs(files) do
      place.write(path, text)
    end
    place.write("handlers/map_order.lua", ([[return function(job)
      local file <close> = assert(io.open(%q, "a"))
      file:write(job.event, "\n")
      return job.event == "input" and { factor = 2 } or { total = job.called.booking }
    end]]):format(place.path .. "/called"))
    local lines = {}
    for i = 1, 60 do
      lines[i] = ('{"variables":{"amount":%d}}'):format(i)
    end
    place.write("starts", table.concat(lines, "\n") .. "\n")
    place.moonshift("process", "start", "order", "--from", place.path .. "/starts", "-C",
      place.path)
    place.moonshift("run", place.path, "--drain", "--workers", "4")
    local counts = {}
    for event in place.log("called"):gmatch "%a+" do
      counts[event] = (counts[event] or 0) + 1
    end
    assert.same({ input = 60, output = 60 }, counts)
    local tasks = place.moonshift("task", "list", "--limit", "100", "--json")
    assert.equal(60, select(2, tasks:gsub('"activity":"look"', "")))
    place.moonshift("check", "--store", "-C", place.path)
    place.remove()
  end)
end)
