-- What is refused before a handler is called: commands to what is suspended, has ended, or is not
-- there, and instances of suspended processes, by whatever they are begun.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local files = {
  ["processes/begun.lua"] = [[local p = require "moonshift.process"
    return { p.step "book" { run = "book" }, p.task "last" {} }]],
  ["processes/asked.lua"] = [[local p = require "moonshift.process"
    return { p.start "came" { message = "begin" }, p.step "book" { run = "book" },
      p.task "last" {} }]],
  ["processes/task.lua"] = [[local p = require "moonshift.process"
    return { p.task "first" {}, p.step "book" { run = "book" }, p.task "last" {} }]],
  ["processes/message.lua"] = [[local p = require "moonshift.process"
    return { p.receive "paid" { message = "paid", key = "${instance.key}" },
      p.step "book" { run = "book" }, p.task "last" {} }]],
  ["processes/same.lua"] = [[local p = require "moonshift.process"
    return { p.receive "paid" { message = "paid", key = "${instance.key}" }, p.task "last" {} }]],
  ["processes/trigger.lua"] = [[local p = require "moonshift.process"
    return { p.receive "go" {}, p.step "book" { run = "book" }, p.task "last" {} }]],
  ["processes/starts.lua"] = [[local p = require "moonshift.process"
    return { p.task "first" {}, p.step "order" { run = "order" }, p.task "last" {} }]],
  ["processes/calls.lua"] = [[local p = require "moonshift.process"
    return { p.task "first" {}, p.call "begun" {}, p.task "last" {} }]],
  ["processes/starts_by_job.lua"] = [[local p = require "moonshift.process"
    return { p.step "order" { run = "order", async = true }, p.task "last" {} }]],
  ["processes/calls_by_job.lua"] = [[local p = require "moonshift.process"
    return { p.receive "go" { async = true }, p.call "begun" { async = true }, p.task "last" {} }]],
  ["handlers/book.lua"] = [[
    return function(job)
      local file <close> = assert(io.open("called", "a"))
      file:write(job.instance .. "\n")
    end]],
  ["handlers/order.lua"] = "return function(job) job:start 'begun' end",
}

describe("refused before a handler is called:", function()
  local place, engine

  before_each(function()
    place = executors.place {}
    for name, text in pairs(files) do
      place.write(name, (text:gsub('"called"', ("%q"):format(place.path .. "/called"))))
    end
    engine = assert(moonshift.open { store = place.url, scripts = place.path })
  end)

  after_each(function()
    engine:close()
    place.remove()
  end)

  local function calls()
    local file = io.open(place.path .. "/called")
    local text = file and file:read "a" or ""
    return select(2, text:gsub("\n", ""))
  end

  local function refused(code, why, done, message, said)
    assert.same({ nil, why, code }, { done, message, said })
    assert.equal(0, calls())
  end

  local function start(key, given)
    return assert(engine:start(key, given))
  end

  local function task_of(id)
    return engine:tasks({ instance = id }):one().id
  end

  -- Gives every command to these three instances; each is refused with `why` of its instance.
  local function refused_all(one, code, why)
    refused(code, why:format(one.task), engine:complete(one.open))
    refused(code, why:format(one.message), engine:correlate("paid", { key = "k" }))
    refused(code, why:format(one.message), engine:correlate("paid", { key = "k", keep = "PT1H" }))
    refused(code, "entry 2 of the list: " .. why:format(one.message),
      engine:correlate { { "paid", { key = "other" } }, { "paid", { key = "k" } } })
    refused(code, why:format(one.trigger), engine:trigger(one.trigger))
    refused(code, why:format(one.trigger), engine:trigger(one.trigger, "go"))
  end

  local function three()
    start("same", { key = "other" })
    local one = { task = start "task", message = start("message", { key = "k" }),
      trigger = start "trigger" }
    one.open = task_of(one.task)
    return one
  end

  it("commands to a suspended instance, which may be changed and cancelled", function()
    local one = three()
    for _, key in ipairs { "task", "message", "trigger" } do
      assert(engine:suspend_instance(one[key]))
    end
    refused_all(one, "conflict", "instance %d is suspended")
    assert(engine:set_variables(one.task, { x = 1 }))
    assert(engine:cancel_instance(one.task))
    assert.equal(0, calls())
  end)

  it("commands to instances of a process that is suspended with them", function()
    local one = three()
    for _, key in ipairs { "task", "message", "trigger" } do
      assert(engine:suspend_process(key, { include_instances = true }))
    end
    refused_all(one, "conflict", "instance %d is suspended")
  end)

  it("commands to an instance that has ended, and to what is not there", function()
    local one = three()
    for _, key in ipairs { "task", "message", "trigger" } do
      assert(engine:cancel_instance(one[key]))
    end
    refused("not_found", ("no task %d that is open"):format(one.open), engine:complete(one.open))
    refused("not_found", 'message "paid": nothing waits for it',
      engine:correlate("paid", { key = "k" }))
    refused("not_found", ("instance %d: nothing waits to be triggered"):format(one.trigger),
      engine:trigger(one.trigger))
    local gone = ("no instance %d that runs"):format(one.task)
    refused("not_found", gone, engine:cancel_instance(one.task))
    refused("not_found", gone, engine:set_variables(one.task, { x = 1 }))
  end)

  -- As in Camunda: an assignee says who does it, and not who may.
  it("a claim of a task that another one has; anybody may complete it", function()
    local task = task_of(start "task")
    assert(engine:claim(task, "ann"))
    refused("conflict", ('task %d is claimed by "ann"'):format(task), engine:claim(task, "bob"))
    assert(engine:complete(task))
    assert.equal(1, calls())
  end)

  it("names that are empty", function()
    for _, command in ipairs { "signal", "correlate", "start" } do
      local fine, message = pcall(engine[command], engine, "")
      assert.False(fine, command .. " took it")
      assert.matches('is the string "" %(expected a name%)', message)
    end
  end)

  it("starts of a version, a tag or a process that is not there", function()
    local none = 'process "begun" has no version 9'
    refused("not_found", none, engine:start("begun", { version = 9 }))
    refused("not_found", 'process "begun" has no version tagged "v9"',
      engine:start("begun", { tag = "v9" }))
    refused("not_found", "entry 2 of the list: " .. none,
      engine:start { { "begun" }, { "begun", { version = 9 } } })
    refused("not_found", 'no process "other" is deployed', engine:start "other")
  end)

  it("starts of a suspended process or version, also in a list and by a message", function()
    local why = "the process is suspended"
    for _, given in ipairs { {}, { version = 1 } } do
      assert(engine:suspend_process("begun", given))
      assert(engine:suspend_process("asked", given))
      refused("conflict", why, engine:start "begun")
      refused("conflict", why, engine:start("begun", { version = 1 }))
      refused("conflict", "entry 2 of the list: " .. why, engine:start { { "task" }, { "begun" } })
      refused("conflict", why, engine:correlate "begin")
      assert(engine:activate_process("begun", given))
      assert(engine:activate_process("asked", given))
    end
  end)

  it("what a walk would start or call of a suspended process", function()
    local starts, called = start "starts", start "calls"
    assert(engine:suspend_process "begun")
    refused("failed", 'the process "begun" is suspended', engine:complete(task_of(starts)))
    refused("failed", 'begun: the process "begun" is suspended', engine:complete(task_of(called)))
    assert(engine:activate_process "begun")
    assert(engine:complete(task_of(starts)))
    assert(engine:complete(task_of(called)))
    assert.equal(2, calls())
  end)

  it("what a job would start or call of a suspended process: the job fails", function()
    local started, called = start "starts_by_job", start "calls_by_job"
    assert(engine:suspend_process "begun")
    engine:drain()
    assert(engine:trigger(called))
    engine:drain()
    local failed = {}
    for _, id in ipairs { started, called } do
      local job = engine:jobs({ instance = tostring(id) }):one()
      failed[#failed + 1] = ("%s %d"):format(job.message, job.retries)
    end
    local why = 'the process "begun" is suspended 2'
    assert.same({ why, "begun: " .. why }, failed)
    assert.equal(0, calls())
  end)

  -- A command from where the folder is not is a job.
  local function by_job(...)
    local words = { ... }
    words[#words + 1] = "--store"
    words[#words + 1] = place.url
    local status, output, errors = process.moonshift(table.unpack(words))
    assert(status == 0, errors)
    return output
  end

  it("the job of a start, when its process is suspended before it runs", function()
    by_job("process", "start", "begun")
    assert(engine:suspend_process "begun")
    engine:drain()
    local job = engine:jobs():one()
    assert.same({ 0, "suspended", 3 }, { calls(), job.state, job.retries })
    assert(engine:activate_process "begun")
    engine:drain()
    assert.equal(1, calls())
  end)

  it("the job of a command, when instance or process are suspended before it runs", function()
    local one = three()
    by_job("task", "complete", tostring(one.open))
    by_job("instance", "trigger", tostring(one.trigger))
    assert(engine:suspend_instance(one.task))
    assert(engine:suspend_process("trigger", { include_instances = true }))
    engine:drain()
    assert.same({ 0, 2 }, { calls(), engine:jobs({ suspended = true }):count() })
    assert(engine:activate_instance(one.task))
    assert(engine:activate_process("trigger", { include_instances = true }))
    engine:drain()
    assert.equal(2, calls())
  end)
end)
