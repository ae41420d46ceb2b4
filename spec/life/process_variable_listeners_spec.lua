-- Listeners of variables: who hears of which writing, in which order, and what comes of failures.
local engines = require "spec.support.engines"
local executors = require "spec.support.executors"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = 'local process = require "moonshift.process"\nreturn '
local ALL = 'on_variable_create = "heard", on_variable_update = "heard", '
  .. 'on_variable_delete = "heard", '

local files = {
  ["processes/all.lua"] = WORDS .. "{ " .. ALL .. [[
    process.step "work" { run = "work", result = "made" },
    process.task "wait" { on_start = "mark" } }]],
  ["processes/scopes.lua"] = WORDS .. "{ " .. ALL .. [[
    process.sub "pack" { input = { box = "big" }, ]] .. ALL .. [[
      process.step "fill" { run = "fill", input = { size = "${box}" }, ]] .. ALL .. [[},
      process.task "wait" {} } }]],
  ["processes/chain.lua"] = WORDS .. [[{
    on_variable_update = { expression = "${execution.setVariable('b', 2)}" },
    on_variable_create = { function(job)
      if job.variable.name == "b" then job.variables.c = 3 end
    end },
    process.task "wait" { on_when = { "${c == 3}", process.task "seen" {} } } }]],
  ["processes/circle.lua"] = WORDS .. [[{
    on_variable_update = function(job) job.variables.a = job.variable.value + 1 end,
    process.task "wait" {} }]],
  ["processes/strict.lua"] = WORDS .. [[{
    process.sub "inner" { input = { a = "first" }, on_variable_update = { "heard", "strict" },
      process.wait "wait" { message = "go" }, process.task "on" {} } }]],
  ["processes/model.bpmn"] = [[<definitions targetNamespace="x"
    xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:c="http://camunda.org/schema/1.0/bpmn"><process id="model" isExecutable="true">
    <extensionElements><c:variableListener class="heard"/>
      <c:variableListener event="delete" expression="${execution.setVariable('gone', true)}"/>
    </extensionElements>
    <startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="wait"/>
    <userTask id="wait"/><sequenceFlow id="b" sourceRef="wait" targetRef="t"/>
    <serviceTask id="t" c:expression="${execution.removeVariable('a')}"/>
    <sequenceFlow id="c" sourceRef="t" targetRef="last"/><userTask id="last"/>
    </process></definitions>]],
  ["handlers/heard.lua"] = [[return function(job)
    local variable, list = job.variable, job.variables.heard
    if variable.name ~= "heard" and variable.name ~= "gone" then
      list = list or require("moonshift").array {}
      list[#list + 1] = ("%s %s %s=%s"):format(job.activity or "-", job.event:match "_(%a+)$",
        variable.name, type(variable.value) == "table" and variable.value[1] or variable.value)
      job.variables.heard = list
    end
    assert(job.task == nil)
  end]],
  ["handlers/work.lua"] = [[return function(job)
    local variables = job.variables
    variables.x = 1
    variables.x = { 2 }
    variables.x = nil
    variables.none = nil
    return "good"
  end]],
  ["handlers/fill.lua"] = [[return function(job)
    job:set_local("size", "small")
    job.variables.box = "full"
    job.variables.order = 1
  end]],
  ["handlers/mark.lua"] = [[return function(job) job.variables.marked = job.variables.heard end]],
  ["handlers/strict.lua"] = [[return function(job)
    if job.variable.value == "thrown" then
      job:throw("no")
    elseif job.variable.value == "failed" then
      error("no answer", 0)
    end
  end]],
}

describe("a listener of variables", function()
  local engine, folder, id

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function start(key, variables)
    id = assert(engine:start(key, { variables = variables }))
  end

  -- What was heard before the task began.
  local function marked()
    return table.concat(engine:instance(id).variables.marked, ", ")
  end

  local function heard()
    return table.concat(engine:instance(id).variables.heard or {}, ", ")
  end

  it("hears of each writing once, in its order, before the walk goes on", function()
    start("all", { b = 2, a = 1 })
    assert.equal(" create a=1,  create b=2, start create x=1, start update x=2, "
      .. "start delete x=nil, start create made=good", marked())
  end)

  it("hears of what is written in its scope and in those in it, the inner ones first", function()
    start "scopes"
    assert.equal("pack create box=big, start create box=big, fill create size=big, "
      .. "pack create size=big, start create size=big, fill update size=small, "
      .. "pack update size=small, start update size=small, pack update box=full, "
      .. "start update box=full, start create order=1", heard())
  end)

  it("may write variables, of which others hear, and conditions see them", function()
    start("chain", { a = 1 })
    assert.equal("wait", engine:at(id)[1])
    assert(engine:set_variables(id, { a = 2 }))
    assert.same({ a = 2, b = 2, c = 3 }, engine:instance(id).variables)
    assert.equal("seen", engine:at(id)[1])
  end)

  it("fails with the unit where it hears of itself without an end", function()
    start("circle", { a = 1 })
    local fine, message = engine:set_variables(id, { a = 2 })
    assert.is_nil(fine)
    assert.matches("circle/variable_update 1: process circle: more than 10000 activities and calls",
      message, 1, true)
    assert.same({ a = 1 }, engine:instance(id).variables)
  end)

  it("undoes the writing where it fails, and is named by its place", function()
    start "strict"
    local function go(value)
      return engine:correlate("go", { variables = { a = value } })
    end
    assert.equal("inner/variable_update 2: no answer", select(2, go "failed"))
    assert.matches("inner/variable_update 2: BPMN error no is thrown where a variable is written",
      select(2, go "thrown"), 1, true)
    assert.same({ "wait", "" }, { engine:at(id)[1], heard() })
    assert(go "fine")
    assert.same({ "on", "inner update a=fine" }, { engine:at(id)[1], heard() })
  end)

  it("is written in a model", function()
    start("model", { a = 1 })
    assert(engine:set_variables(id, { a = 2 }))
    assert.is_nil(engine:instance(id).variables.gone)
    assert(engine:complete(engine:tasks():one().id))
    assert.equal(" create a=1,  update a=2,  delete a=nil", heard())
    assert.is_true(engine:instance(id).variables.gone)
  end)
end)

describe("listeners of variables and executors", function()
  it("are called once for each writing, beside many others and commands", function()
    local place = executors.place {}
    place.write("processes/order.lua", WORDS .. [[{
      on_variable_create = "count", on_variable_update = "count",
      process.each "item" { times = 3, parallel = true, on_variable_create = "count",
        process.step "work" { run = "work", async = true } },
      process.task "wait" {} }]])
    place.write("handlers/work.lua", [[return function(job)
      job:set_local("mine", job.loop.index)
      job.variables["made" .. job.loop.index] = true
    end]])
    place.write("handlers/count.lua", ([[return function(job)
      local file <close> = assert(io.open(%q, "a"))
      file:write(job.variable.name:match "^%%a+", " ", job.event, "\n")
    end]]):format(place.path .. "/called"))
    place.executor("--workers", "4")
    for _ = 1, 8 do
      place.moonshift("process", "start", "order", "given=1", "-C", place.path)
    end
    local tasks
    process.await("tasks", 60, function()
      tasks = {}
      for task in place.moonshift("task", "list", "--json"):gmatch('"id":(%d+)') do
        tasks[#tasks + 1] = task
      end
      return #tasks == 8
    end)
    for _, task in ipairs(tasks) do
      place.moonshift("task", "complete", task, "given=2")
    end
    process.await("ends", 60, function()
      return not place.moonshift("instance", "list", "--json"):find '"id"'
    end)
    local counts = {}
    for line in place.log("called"):gmatch "[^\n]+" do
      counts[line] = (counts[line] or 0) + 1
    end
    assert.same({ ["given variable_create"] = 8, ["given variable_update"] = 8,
      ["made variable_create"] = 24, ["mine variable_create"] = 48,
      ["loopCounter variable_create"] = 48, ["nrOfInstances variable_create"] = 8,
      ["nrOfActiveInstances variable_create"] = 8, ["nrOfActiveInstances variable_update"] = 24,
      ["nrOfCompletedInstances variable_create"] = 8,
      ["nrOfCompletedInstances variable_update"] = 24 }, counts)
    place.moonshift("check", "--store", "-C", place.path)
    place.remove()
  end)
end)
