-- Listeners of user tasks: what each event sees and may change, the order of them, their timers,
-- and where their errors go.
local engines = require "spec.support.engines"
local executors = require "spec.support.executors"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = 'local process = require "moonshift.process"\nreturn '
local ALL = [[on_create = "heard", on_assignment = "heard", on_update = "heard",
  on_complete = "heard", on_delete = "heard"]]

local files = {
  ["processes/approval.lua"] = WORDS .. [[{
    process.task "approve" { name = "Look at ${id}", assignee = "ann", task_priority = 3, ]]
    .. ALL .. [[,
      on_timeout = { { every = "R3/PT10M", run = "heard", id = "nag" },
        { after = "PT1H", run = "late" } },
      on_message = { "stop", process.step "stopped" { run = "heard" } } } }]],
  ["processes/strict.lua"] = WORDS .. [[{
    process.task "approve" { on_assignment = "strict", on_delete = "heard",
      on_error = { "no", process.task "again" {} } } }]],
  ["processes/loose.lua"] = WORDS .. [[{
    process.task "approve" { on_update = "strict", on_delete = "heard", on_end = "heard" },
    process.task "more" {} }]],
  ["processes/sore.lua"] = WORDS .. [[{
    process.task "approve" { on_delete = "strict", on_message = { "stop" } } }]],
  ["processes/model.bpmn"] = [[<definitions targetNamespace="x"
    xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:c="http://camunda.org/schema/1.0/bpmn"><process id="model" isExecutable="true">
    <startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="approve"/>
    <userTask id="approve" c:assignee="ann"><extensionElements>
      <c:taskListener event="all" class="heard"/>
      <c:taskListener event="timeout" id="nag" class="heard"><timerEventDefinition>
        <timeDuration>PT1H</timeDuration></timerEventDefinition></c:taskListener>
    </extensionElements></userTask></process></definitions>]],
  ["processes/broken.lua"] = WORDS .. [[{
    on_end = "broken",
    process.task "approve" { on_create = "heard", on_complete = { "heard", "broken" },
      on_timeout = { after = "PT1H", run = "broken", id = "nag" } },
    process.choose "way" {
      { otherwise = true, listeners = "broken", process.pass "done" {} } } }]],
  ["handlers/broken.lua"] = [[return function(job)
    local how = job.variables.how
    if how == "table" then
      error { message = "no answer", permanent = true }
    elseif how == "copy" then
      job.variables.order.total = 2
    elseif how == job.event then
      local function inside()
        error("no answer", 0)
      end
      inside()
    end
  end]],
  ["handlers/heard.lua"] = [[return function(job)
    local list, task = job.variables.heard or require("moonshift").array {}, job.task or {}
    list[#list + 1] = ("%s %s %s %s"):format(job.event or job.activity, task.assignee or "-",
      task.name or "-", task.priority or "-")
    job.variables.heard = list
  end]],
  ["handlers/late.lua"] = [[return function(job)
    job.task.assignee, job.task.priority, job.task.due = "boss", 9, "P1D"
  end]],
  ["handlers/strict.lua"] = [[return function(job)
    if job.event == "delete" or job.task.assignee == "eve" then
      job:throw("no")
    end
  end]],
}

describe("a listener of a user task", function()
  local engine, folder, id, task

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function start(key)
    id = assert(engine:start(key, { variables = { id = 7 } }))
    task = engine:tasks({ instance = id }):one().id
  end

  -- What was heard since the last time, each event with what the task was.
  local read
  local function heard()
    local list = engine:instance(id).variables.heard or {}
    local text = table.concat(list, ", ", (read or 0) + 1)
    read = #list
    return text
  end

  before_each(function()
    read = nil
  end)

  it("hears of the task as it begins, goes to others, and is completed", function()
    start "approval"
    assert.equal("create ann Look at 7 3, assignment ann Look at 7 3", heard())
    assert.equal(1, engine:assign(task, "bob"))
    assert.equal("update bob Look at 7 3, assignment bob Look at 7 3", heard())
    assert.equal(1, engine:assign(task, "bob"))
    assert.equal("update bob Look at 7 3", heard())
    assert.equal(1, engine:assign(task))
    assert.equal("update - Look at 7 3, assignment - Look at 7 3", heard())
    assert.equal(1, engine:claim(task, "eve"))
    assert.equal("update eve Look at 7 3, assignment eve Look at 7 3", heard())
    assert.equal("eve", engine:tasks():one().assignee)
    assert.equal(id, engine:complete(task))
    assert.equal("complete eve Look at 7 3", heard())
    local log = engine:operations({ verb = "set_assignee" }):list()
    assert.same({ "ann -> bob", "bob -> bob", "bob -> nil", "nil -> eve" }, (function()
      local said = {}
      for i, one in ipairs(log) do
        said[i] = ("%s -> %s"):format(one.old, one.new)
      end
      table.sort(said)
      return said
    end)())
  end)

  it("hears nothing of a claim that is refused", function()
    start "approval"
    heard()
    assert.same({ nil, ('task %d is claimed by "ann"'):format(task), "conflict" },
      { engine:claim(task, "eve") })
    assert.equal("", heard())
    assert.equal("ann", engine:tasks():one().assignee)
  end)

  it("hears of the task as it goes", function()
    start "approval"
    heard()
    assert(engine:correlate("stop"))
    assert.equal("delete ann Look at 7 3, stopped - - -", heard())
  end)

  it("is called by its timer, and may change the task, which waits on", function()
    start "approval"
    heard()
    engine:advance "PT10M"
    engine:drain()
    assert.equal("timeout ann Look at 7 3", heard())
    assert.equal("approve", engine:at(id)[1])
    engine:advance "PT50M"
    engine:drain()
    local row = engine:tasks():one()
    assert.same({ "boss", 9, "2026-01-02T01:00:00.000Z" }, { row.assignee, row.priority, row.due })
    assert.equal(id, engine:complete(task))
    assert.equal(0, engine:jobs():count())
  end)

  it("is written in a model as Camunda has it", function()
    start "model"
    engine:advance "PT1H"
    engine:drain()
    assert(engine:complete(task))
    assert.equal("create ann - 0, assignment ann - 0, timeout ann - 0, complete ann - 0", heard())
  end)

  it("throws a BPMN error that goes on from the task", function()
    start "strict"
    assert.equal(1, engine:assign(task, "eve"))
    assert.equal("again", engine:at(id)[1])
    assert.equal("delete eve - 0", heard())
  end)

  it("ends its branch by an error that nothing catches, as the task goes", function()
    start "loose"
    assert.equal(1, engine:assign(task, "eve"))
    assert.equal("completed", engine:instance(id).state)
    assert.equal(0, engine:tasks():count())
    assert.equal("delete eve - 0, end - - -", heard())
  end)

  it("lets the command fail by an error as the task goes", function()
    start "sore"
    local fine, message = engine:correlate("stop")
    assert.is_nil(fine)
    assert.matches("approve/delete 1: BPMN error no is thrown where the task goes", message, 1,
      true)
    assert.equal("approve", engine:at(id)[1])
  end)

  local function failure_of(how)
    id = assert(engine:start("broken", { variables = { how = how, order = { total = 1 } } }))
    return select(2, engine:complete(engine:tasks({ instance = id }):one().id))
  end

  it("is named by its place where it fails", function()
    assert.equal("approve/complete 2: no answer", failure_of "complete")
    assert.equal("broken/end 1: no answer", failure_of "end")
    assert.matches("^[^/]+/take 1: no answer$", failure_of "take")
    assert.equal("approve/complete 2: no answer", failure_of "table")
    assert.matches("^approve/complete 2: the table in the variable order was changed",
      failure_of "copy")
  end)

  it("is named by its place in its job and incident, with its own stack", function()
    for how, retries in pairs { timeout = 2, table = 0 } do
      id = assert(engine:start("broken", { variables = { how = how } }))
      engine:advance "PT1H"
      engine:drain()
      local job = engine:job(engine:jobs({ instance = tostring(id) }):one().id)
      assert.same({ "approve/timeout nag: no answer", retries }, { job.message, job.retries })
      assert.matches("handlers/broken.lua", job.stack, 1, true)
      assert.matches("approve/timeout nag: no answer", engine:why(job.id), 1, true)
    end
    assert.equal("approve/timeout nag: no answer", engine:incidents():one().message)
  end)

  it("has timers that the instance names beside what may come instead", function()
    start "approval"
    assert.equal(('"approve" waits for its user task %d (ann), or for message "stop", '
      .. 'its timeout "nag" comes at 2026-01-01T00:10:00.000Z, '
      .. 'its timeout "timeout2" comes at 2026-01-01T01:00:00.000Z'):format(task),
      (engine:why_instance(id)))
  end)
end)

describe("listeners of tasks and executors", function()
  it("are named by their places where they fail", function()
    local place = executors.place { retry = "R1/PT0S" }
    place.write("processes/order.lua", WORDS .. [[{
      process.each "item" { times = 6, parallel = true,
        process.task "look" { on_timeout = { after = "PT0S", run = "bad", id = "nag" } } } }]])
    place.write("handlers/bad.lua", [[return function() error("no answer", 0) end]])
    place.executor("--workers", "4")
    for _ = 1, 5 do
      place.moonshift("process", "start", "order", "-C", place.path)
    end
    process.await("incidents", 60, function()
      local _, count = place.moonshift("incident", "list", "--json"):gsub(
        '"message":"look/timeout nag: no answer"', "")
      return count == 30
    end)
    local instance = place.moonshift("instance", "list", "--json"):match '"id":(%d+)'
    local why = place.moonshift("instance", "why", instance)
    assert.matches('its timeout "nag" comes at ', why, 1, true)
    place.remove()
  end)

  it("are called once by commands, timers and people beside each other", function()
    local place = executors.place {}
    place.write("processes/order.lua", WORDS .. [[{
      process.each "item" { times = 6, parallel = true,
        process.task "look" { on_create = "note", on_assignment = "note", on_update = "note",
          on_complete = "note", on_timeout = { after = "PT0S", run = "note" } } } }]])
    place.write("handlers/note.lua", ([[return function(job)
      local file <close> = assert(io.open(%q, "a"))
      file:write(job.event, "\n")
    end]]):format(place.path .. "/called"))
    place.executor("--workers", "4")
    for _ = 1, 5 do
      place.moonshift("process", "start", "order", "-C", place.path)
    end
    local ids = {}
    process.await("tasks", 60, function()
      ids = {}
      for task in place.moonshift("task", "list", "--json"):gmatch('"id":(%d+)') do
        ids[#ids + 1] = task
      end
      return #ids == 30
    end)
    for _, task in ipairs(ids) do
      place.moonshift("task", "claim", task, "--as", "ann")
    end
    process.await("claims", 60, function()
      local _, count = place.moonshift("task", "list", "--json"):gsub('"assignee":"ann"', "")
      return count == 30
    end)
    for _, task in ipairs(ids) do
      place.moonshift("task", "complete", task)
    end
    local counts
    process.await("ends", 60, function()
      counts = {}
      for event in place.log("called"):gmatch "%a+" do
        counts[event] = (counts[event] or 0) + 1
      end
      return counts.complete == 30 and counts.timeout == 30
        and not place.moonshift("instance", "list", "--json"):find '"id"'
    end)
    assert.same({ create = 30, update = 30, assignment = 30, timeout = 30, complete = 30 }, counts)
    place.moonshift("check", "--store", "-C", place.path)
    place.remove()
  end)
end)
