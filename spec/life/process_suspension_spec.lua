-- Suspension of process instances with those that they called, and of a process with many
-- instances.
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local files = {
  ["processes/top.lua"] = [[local process = require "moonshift.process"
    return { process.parallel {
      { process.call "middle" {} },
      { process.step "work" { run = "work", async = true } },
    } }]],
  ["processes/middle.lua"] = [[local process = require "moonshift.process"
    return { process.call "low" {} }]],
  ["processes/low.lua"] = [[local process = require "moonshift.process"
    return { process.parallel {
      { process.step "work" { run = "work", async = true } },
      { process.task "look" {} },
    } }]],
  ["processes/one.lua"] = [[local process = require "moonshift.process"
    return { process.task "look" {} }]],
  ["processes/many.lua"] = [[local process = require "moonshift.process"
    return { process.step "work" { run = "work", async = true } }]],
  ["processes/calls.lua"] = [[local process = require "moonshift.process"
    return { process.call "one" {}, process.step "note" { run = "note" } }]],
  ["processes/jobs.lua"] = [[local process = require "moonshift.process"
    return { process.call "many" {} }]],
  ["processes/outer.lua"] = [[local process = require "moonshift.process"
    return { process.call "jobs" {} }]],
  ["processes/turns.lua"] = [[local process = require "moonshift.process"
    return { process.each "turn" { times = 3, parallel = true, process.call "many" {} } }]],
  ["processes/throws.lua"] = [[local process = require "moonshift.process"
    return { process.step "throw" { run = "throw", async = true } }]],
  ["processes/catches.lua"] = [[local process = require "moonshift.process"
    return { process.call "throws" { on_error = { "E", process.step "note" { run = "note" } } } }]],
  ["handlers/throw.lua"] = "return function(job) job:throw 'E' end",
  ["handlers/note.lua"] = "return function(job) job.variables.went_on = 'yes' end",
  ["handlers/work.lua"] = "return function() end",
}

describe("suspension", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder, who = "ada" }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function child(id)
    return engine:instances({ parent = id }):one().id
  end

  local function states(list)
    local found = {}
    for i, id in ipairs(list) do
      found[i] = engine:instance(id).state
    end
    return table.concat(found, " ")
  end

  describe("of a caller", function()
    local function successes(name)
      return engine:log({ handler = "process/" .. name, outcome = "successful" }):count()
    end

    local function callees(id)
      return engine:instances({ parent = id }):ids()
    end

    it("refuses the task that would end a called instance, and calls nothing", function()
      local top = assert(engine:start "calls")
      local task = engine:tasks({ instance = callees(top)[1] }):one().id
      engine:suspend_instance(top)
      assert.same({ ("instance %d, which has called, is suspended"):format(top), "conflict" },
        { select(2, engine:complete(task)) })
      assert.same({ 1, 0 }, { #callees(top), #engine:log({ handler = "note" }):list() })
      engine:activate_instance(top)
      assert(engine:complete(task))
      assert.equal("completed", engine:instance(top).how)
      assert.equal("yes", engine:instance(top).variables.went_on)
    end)

    it("keeps the job that would end a called instance waiting, with its retries", function()
      local one = assert(engine:start "jobs")
      engine:suspend_instance(one)
      engine:drain()
      local job = engine:jobs({ instance = tostring(callees(one)[1]) }):one()
      assert.same({ 3, { "caller" }, 1 }, { job.retries, job.suspended_by, #callees(one) })
      assert.truthy(engine:why(job.id):find("by the instance that called its own", 1, true))
      assert.equal(0, engine:incidents():count())
      engine:advance "P1D"
      assert.equal(0, successes "many/work")
      engine:activate_instance(one)
      engine:drain()
      assert.equal("completed", engine:instance(one).how)
      assert.equal(1, successes "many/work")
    end)

    it("holds each turn of a multi-instance call", function()
      local top = assert(engine:start "turns")
      engine:suspend_instance(top)
      engine:drain()
      assert.same({ 3, 3 }, { #callees(top), engine:jobs({ suspended = true }):count() })
      for _, job in ipairs(engine:jobs():list()) do
        assert.same({ 3, { "caller" } }, { job.retries, job.suspended_by })
      end
      engine:activate_instance(top)
      engine:drain()
      assert.equal("completed", engine:instance(top).how)
    end)

    it("reaches up through instances that are not suspended themselves", function()
      local root = assert(engine:start "outer")
      engine:suspend_instance(root)
      engine:drain()
      assert.equal(1, engine:jobs({ suspended = true }):count())
      engine:activate_instance(root)
      engine:drain()
      assert.equal("completed", engine:instance(root).how)
    end)

    it("counts as well if its process is suspended with its instances", function()
      local one = assert(engine:start "jobs")
      engine:suspend_process("jobs", { include_instances = true })
      engine:drain()
      assert.equal(1, engine:jobs({ suspended = true }):count())
      engine:activate_process("jobs", { include_instances = true })
      engine:drain()
      assert.equal("completed", engine:instance(one).how)
    end)

    it("does not catch an error that a called instance throws", function()
      local one = assert(engine:start "catches")
      engine:suspend_instance(one)
      engine:drain()
      assert.same({ { "caller" }, nil }, { engine:jobs():one().suspended_by,
        engine:instance(one).variables.caught })
      engine:activate_instance(one)
      engine:drain()
      assert.equal("completed", engine:instance(one).how)
    end)

    it("lets the called instance be cancelled", function()
      local top = assert(engine:start "calls")
      engine:suspend_instance(top)
      assert(engine:cancel_instance(callees(top)[1]))
      assert.equal(0, engine:instances():count())
      local turns = assert(engine:start "turns")
      engine:suspend_instance(turns)
      assert.equal("conflict", (select(3, engine:cancel_instance(callees(turns)[1]))))
      assert(engine:cancel_instance(turns))
    end)
  end)

  describe("of an instance", function()
    local top, middle, low

    before_each(function()
      top = assert(engine:start "top")
      middle = child(top)
      low = child(middle)
    end)

    it("leaves those that it called alone", function()
      assert.equal(1, engine:suspend_instance(top))
      assert.equal("suspended active active", states { top, middle, low })
      engine:drain()
      assert.equal(0, #engine:log({ handler = "process/top/work", outcome = "successful" }):list())
      assert.equal(1, #engine:log({ handler = "process/low/work", outcome = "successful" }):list())
    end)

    it("refuses the task that would complete it, and lets it be cancelled", function()
      local id = assert(engine:start "one")
      local task = engine:tasks({ instance = id }):one().id
      engine:suspend_instance(id)
      assert.same({ ("instance %d is suspended"):format(id), "conflict" },
        { select(2, engine:complete(task)) })
      assert.equal("suspended", engine:instance(id).state)
      assert(engine:cancel_instance(id))
      assert.equal("cancelled", engine:instance(id).how)
    end)

    it("lets its variables be set", function()
      engine:suspend_instance(top)
      assert(engine:set_variables(top, { days = 3 }))
      local found = engine:instance(top)
      assert.same({ 3, "suspended" }, { found.variables.days, found.state })
    end)

    it("takes all that it called with it, if the hierarchy is meant", function()
      assert.equal(2, engine:suspend_instance(top, { hierarchy = true, dry_run = true }))
      assert.equal(2, engine:suspend_instance(top, { hierarchy = true }))
      assert.equal("suspended suspended suspended", states { top, middle, low })
      assert.same({ done = 0, failed = 0 }, engine:drain())
      assert.same({ ("instance %d is suspended"):format(low), "conflict" },
        { select(2, engine:complete(engine:tasks():one().id)) })
      assert.equal(1, engine:activate_instance(middle, { hierarchy = true }))
      assert.equal("suspended active active", states { top, middle, low })
      assert.equal(1, engine:activate_instance(top, { hierarchy = true }))
      engine:drain()
      assert(engine:complete(engine:tasks():one().id))
      assert.equal("completed", engine:instance(top).how)
    end)

    it("is refused for what is no process instance that runs", function()
      assert.same({ 'no instance "order-7" of a process that runs', "not_found" },
        { select(2, engine:suspend_instance("order-7", { hierarchy = true })) })
    end)
  end)

  describe("of a process", function()
    it("takes its instances with it, their tasks and commands too, if they are meant", function()
      local id = assert(engine:start "low")
      assert.equal(0, engine:suspend_process "low")
      assert.equal("active", engine:instance(id).state)
      assert.same({ "the process is suspended", "conflict" }, { select(2, engine:start "low") })
      assert.equal(1, engine:suspend_process("low", { include_instances = true }))
      assert.equal("suspended", engine:instance(id).state)
      assert.matches(("^instance %d is suspended with its process\n"):format(id),
        (engine:why_instance(id)))
      assert.equal(1, engine:tasks({ suspended = true }):count())
      assert.same({ ("instance %d is suspended"):format(id), "conflict" },
        { select(2, engine:complete(engine:tasks():one().id)) })
      assert.equal(1, engine:activate_process("low", { include_instances = true }))
      assert(engine:complete(engine:tasks():one().id))
      engine:drain()
      assert.equal("completed", engine:instance(id).how)
    end)

    it("may come later, and only be counted", function()
      assert(engine:start "low")
      assert.equal(1, engine:suspend_process("low", { include_instances = true, dry_run = true }))
      local at = engine.clock:now():gsub("T%d%d", "T23")
      local touched, job = engine:suspend_process("low", { at = at })
      assert.same({ 0, "scheduled" }, { touched, engine:job(job).state })
      assert(engine:start "low")
      engine:advance "P1D"
      engine:drain()
      assert.same({ "the process is suspended", "conflict" }, { select(2, engine:start "low") })
    end)

    it("has steps of a thousand jobs, and one entry in the log of operations", function()
      for _ = 1, 1100 do
        assert(engine:start "many")
      end
      assert.equal(1100, engine:suspend_process("many",
        { version = 1, include_instances = true, dry_run = true }))
      assert.equal(1100, engine:suspend_process("many", { include_instances = true }))
      assert.same({ done = 0, failed = 0 }, engine:drain())
      local entry = engine:operations({ verb = "suspend_process" }):one()
      assert.same({ 1100, "ada", 'process "many"' }, { entry.count, entry.who, entry.entity })
      assert.equal(1100, engine:activate_process("many", { include_instances = true }))
      assert.equal(1100, engine:drain().done)
    end)
  end)

  it("of a task is no matter: it is claimed, given and let go", function()
    assert(engine:start "low")
    local task = engine:tasks():one().id
    local function assignee()
      return engine:tasks():one().assignee
    end
    assert.equal(1, engine:claim(task, "eve"))
    assert.same({ ('task %d is claimed by "eve"'):format(task), "conflict" },
      { select(2, engine:claim(task)) })
    assert.equal(1, engine:assign(task, "bob"))
    assert.equal("bob", assignee())
    assert.equal(1, engine:assign(task))
    assert.is_nil(assignee())
    assert.equal(1, engine:claim(task))
    assert.equal("ada", assignee())
  end)
end)
