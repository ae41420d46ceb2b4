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

  it("tells once of a retry that cannot be read", function()
    place = program.place { ["processes/a.bpmn"] = models.line([[<task id="x" c:asyncBefore="true">
      <extensionElements><c:failedJobRetryTimeCycle>R5/soon</c:failedJobRetryTimeCycle>
      </extensionElements></task>]]) }
    local _, _, errors = place.run("process", "check")
    assert.matches('^processes/a.bpmn:%d+:%d+: "x": its retry "R5/soon"[^\n]+\n'
      .. "moonshift: .: 1 problem\n$", errors)
  end)

  it("says file by file what is wrong and doubtful, and what is wrong last", function()
    local doubtful = models.line '<task id="x"/><task id="y"/>'
    place = program.place { ["processes/a.bpmn"] = SERVICE .. "<!-- -->",
      ["processes/b.bpmn"] = doubtful:gsub('process id="p"', 'process id="b"') }
    local _, _, errors = place.run("process", "check")
    assert.matches("^processes/b.bpmn:[^\n]+ warning: [^\n]+\nprocesses/a.bpmn:[^\n]+\n"
      .. "moonshift: .: 1 problem\n$", errors)
  end)

  it("names a file whose name is no text", function()
    place = program.place { ["processes/m\xfcll.bpmn"] = SERVICE }
    local status, _, errors = place.run("process", "check")
    assert.equal(1, status)
    assert.equal("processes/m\\xfcll.bpmn:1: a name must be UTF-8 text without control characters\n"
      .. "moonshift: .: 1 problem\n", errors)
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
    for _, verb in ipairs { "check", "show" } do
      status, _, errors = place.run("process", verb, "gone.bpmn")
      assert.same({ 78, 'moonshift: file "gone.bpmn": No such file or directory\n' },
        { status, errors })
    end
    status, _, errors = place.run("process", "show", "b.bpmn", "--lua")
    assert.same({ 1, "b.bpmn:1:14: no element found\nmoonshift: b.bpmn: 1 problem\n" },
      { status, errors })
  end)
end)

describe("process show", function()
  local place

  local WORDS = "local step, task = require 'moonshift.process'.words()\n"
  local FIRST = WORDS .. [[return { name = "Orders",
    task "look" {},
    task "approve" { assignee = "eve", within = { "P1D", stop = "late" } },
    step "charge" { run = "charge", async = true, retry = "R1/PT1S" },
  }]]
  local SECOND = FIRST:gsub('task "look" {},', "")

  before_each(function()
    place = program.place {
      ["processes/order.lua"] = FIRST,
      ["handlers/charge.lua"] = "return function() error('no money', 0) end",
    }
  end)

  after_each(function()
    place.clean()
  end)

  local function shown()
    local status, output, errors = place.run("process", "show", "order")
    assert.equal(0, status, errors)
    return (output:gsub(" +\n", "\n"):gsub("([%w)])   +", "%1  "))
  end

  it("draws a process that is not deployed, and one of a file, without counts", function()
    local tree = "ACTIVITY  WHAT\n├ start  start\n├ look  user task\n"
      .. "├ approve  user task eve\n│ └ approve.within  after P1D\n│   └ late  end terminate\n"
      .. "├ charge  step charge, async\n└ end  end\n"
    assert.equal("order, Orders, processes/order.lua: not deployed\n" .. tree, shown())
    local _, output = place.run("process", "show", place.path .. "/processes/order.lua")
    assert.truthy(output:find("^order, Orders, %S+/processes/order.lua\nACTIVITY "))
  end)

  it("counts what stands where, what has failed, what only earlier versions have", function()
    for _ = 1, 3 do
      place.run("process", "start", "order")
    end
    local _, tasks = place.run("task", "list", "--json", "--columns", "id,instance")
    local ids = rules.decode(tasks)
    place.run("task", "complete", tostring(ids[1].id))
    place.run("task", "complete", tostring(ids[2].id))
    local _, after = place.run("task", "list", "--json", "--activity", "approve")
    place.run("task", "complete", tostring(rules.decode(after)[1].id))
    place.run("run", "--drain", "--log-level", "error")
    place.run("instance", "suspend", tostring(ids[3].instance))
    local picture = shown()
    assert.truthy(picture:find("^order, Orders, processes/order.lua: version 1, 3 instances, "
      .. "1 suspended\nACTIVITY  WAITING  INCIDENTS  WHAT\n"))
    assert.truthy(picture:find("\n├ look  1 (user task)  user task\n", 1, true), picture)
    assert.truthy(picture:find("\n├ approve  1 (user task)  user task eve\n", 1, true), picture)
    assert.truthy(picture:find("\n├ charge  1 (job)  1  step charge, async\n", 1, true), picture)
    place.write("processes/order.lua", SECOND)
    place.run("deploy")
    picture = shown()
    assert.truthy(picture:find(": version 2, 3 instances, ", 1, true), picture)
    assert.truthy(picture:find("\nlook  1 (user task)  of an earlier version\n", 1, true), picture)
  end)

  it("gives machines a document", function()
    place.run("process", "start", "order")
    local _, output = place.run("process", "show", "order", "--json")
    local row = rules.decode(output)[1]
    assert.same({ "order", 1, 1, 0 }, { row.key, row.version, row.instances, row.suspended })
    assert.is_nil(row.lua)
    assert.same({ id = "look", kind = "user", text = "user task", tree = "├ ",
      at = { { state = "task", count = 1 } } }, row.picture[2])
  end)

  it("knows what is not there", function()
    local status, _, errors = place.run("process", "show", "ordre")
    assert.same({ 4, 'moonshift: no process "ordre" in the script folder\n' }, { status, errors })
  end)
end)
