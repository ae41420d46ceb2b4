-- Lists of commands to processes: what is written together, in which order, and what is refused.
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = "local process = require 'moonshift.process'\n"
  .. "local step, task, receive, parallel = process.step, process.task, process.receive, "
  .. "process.parallel\n"

local KEY = 'key = "${instance.key}"'

local files = {
  ["processes/wait.lua"] = WORDS .. [[return {
    step "book" { run = "book" },
    receive "paid" { message = "paid", ]] .. KEY .. [[ },
    task "look" {} }]],
  ["processes/meet.lua"] = WORDS .. [[return {
    parallel { { receive "left" { message = "left", ]] .. KEY .. [[ } },
      { receive "right" { message = "right", ]] .. KEY .. [[ } } },
    task "look" {} }]],
  ["processes/stand.lua"] = WORDS .. [[return { receive "sent" {}, task "look" {} }]],
  ["processes/many.lua"] = WORDS .. [[return { step "begin" { run = "begin" } }]],
  ["processes/beside.lua"] = WORDS .. [[return {
    receive "go" { message = "go", ]] .. KEY .. [[ },
    step "beside" { run = "beside" },
    task "look" {} }]],
  ["handlers/book.lua"] = [[return function(job)
    if job.variables.bad then
      error("no room", 0)
    end
  end]],
  ["handlers/begin.lua"] = [[return function(job)
    job.variables.made = job:start {
      { "wait", { key = "x-1" } }, { "wait", { key = "x-2", variables = { n = 2 } } } }
    job:correlate { { "paid", { key = "a", variables = { n = 1 } } }, { "paid", { key = "b" } } }
  end]],
}

describe("a list of commands to processes", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder, missing = function() end }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function begin(...)
    local list = {}
    for i, key in ipairs { ... } do
      list[i] = { "wait", { key = key, variables = { n = i } } }
    end
    return assert(engine:start(list))
  end

  it("starts its instances in their order, each with its entry in the log of operations", function()
    local ids = begin("a", "b", "c")
    assert.equal(3, #ids)
    for i, id in ipairs(ids) do
      local row = engine:instance(id)
      assert.same({ ("abc"):sub(i, i), i }, { row.key, row.variables.n })
      assert.same({ "paid" }, engine:at(id))
      assert.equal(1, engine:operations({ instance = id }):count())
    end
  end)

  local function tasks()
    local list = {}
    for i, task in ipairs(engine:tasks():list()) do
      list[i] = task.id
    end
    table.sort(list)
    return list
  end

  local function stand()
    return assert(engine:start { { "stand" }, { "stand" } })
  end

  it("completes tasks, each with its variables", function()
    local ids = stand()
    assert.same(ids, engine:trigger { { ids[1], { activity = "sent" } },
      { ids[2], { variables = { n = 2 } } } })
    assert.equal(2, engine:instance(ids[2]).variables.n)
    local open = tasks()
    local function instance_of(task)
      return engine:tasks({ id = task }):one().instance
    end
    local first, second = instance_of(open[1]), instance_of(open[2])
    assert.same({ second, first }, engine:complete {
      { open[2], { variables = { fine = true } } }, { open[1] } })
    assert.same({ fine = true }, { fine = engine:instance(second).variables.fine })
    assert.equal(0, engine:instances():count())
    assert.equal(2, engine:operations({ verb = "complete" }):count())
  end)

  it("completes all of its tasks, or none", function()
    local ids = stand()
    assert(engine:trigger { { ids[1] }, { ids[2] } })
    local open = tasks()
    assert.same({ nil, ("entry 2 of the list: no task %d that is open"):format(open[2] + 1000),
      "not_found" }, { engine:complete { { open[1] }, { open[2] + 1000 } } })
    assert.same(open, tasks())
    assert.same({ nil, ("entry 2 of the list: instance %d has ended with a command before it in "
      .. "the list"):format(engine:tasks({ id = open[1] }):one().instance), "not_found" },
      { engine:complete { { open[1] }, { open[1] } } })
    assert.same(open, tasks())
  end)

  it("sets variables of instances, and ends them", function()
    local ids = stand()
    assert.same(ids, engine:set_variables { { ids[1], { variables = { n = 1 } } },
      { ids[2], { variables = { n = 2 } } } })
    assert.equal(2, engine:instance(ids[2]).variables.n)
    assert.same(ids, engine:cancel_instance { { ids[1] }, { ids[2], { reason = "late" } } })
    assert.equal("late", engine:past_instances({ id = ids[2] }):one().reason)
    assert.equal(0, engine:instances():count())
  end)

  it("gives its messages to the instances that wait for them", function()
    local ids = begin("a", "b")
    assert.same({ ids[2], ids[1] }, engine:correlate {
      { "paid", { key = "b" } }, { "paid", { key = "a", variables = { n = 7 } } } })
    assert.same({ "look" }, engine:at(ids[2]))
    assert.equal(7, engine:instance(ids[1]).variables.n)
  end)

  it("finds the receiver of each message by all that the message says", function()
    local ids = begin("a", "b", "c", "d")
    assert.same({ ids[2], ids[1], ids[3] }, engine:correlate {
      { "paid", { key = "b", business_key = "b" } }, { "paid", { key = "a", instance = ids[1] } },
      { "paid", { key = "c" } } })
    for _, wrong in ipairs { { key = "d", business_key = "a" }, { key = "d", instance = ids[3] },
      { business_key = "d" } } do
      assert.same({ 'entry 1 of the list: message "paid": nothing waits for it', "not_found" },
        { select(2, engine:correlate { { "paid", wrong }, { "paid", { key = "d" } } }) })
    end
    assert.same({ "paid" }, engine:at(ids[4]))
  end)

  it("is written as a whole, or not at all", function()
    assert.same({ "entry 2 of the list: no room", "failed" }, { select(2, engine:start {
      { "wait", {} }, { "wait", { variables = { bad = true } } }, { "wait", {} } }) })
    assert.equal(0, engine:instances():count())
    local ids = begin("a", "b")
    assert.same({ 'entry 2 of the list: message "paid": nothing waits for it', "not_found" },
      { select(2, engine:correlate { { "paid", { key = "a" } }, { "paid", { key = "z" } } }) })
    assert.same({ "paid" }, engine:at(ids[1]))
  end)

  it("finds an instance as the commands before have left it", function()
    local id = assert(engine:start("meet", { key = "a" }))
    assert.same({ id, id }, engine:correlate {
      { "left", { key = "a", variables = { l = 1 } } },
      { "right", { key = "a", variables = { r = 2 } } } })
    assert.same({ "look" }, engine:at(id))
    assert.same({ l = 1, r = 2 }, engine:instance(id).variables)
    assert.equal(1, engine:tasks():count())
  end)

  it("is refused if two of its messages are for one that waits once", function()
    local id = begin("a")[1]
    local message, code = select(2, engine:correlate {
      { "paid", { key = "a" } }, { "paid", { key = "a" } } })
    assert.matches("^entry 2 of the list: instance %d+: the subscription %d+ waits no longer",
      message)
    assert.equal("failed", code)
    assert.same({ "paid" }, engine:at(id))
  end)

  it("keeps a message that comes too early", function()
    local id = begin("a")[1]
    assert.same({ 0, id }, engine:correlate {
      { "paid", { key = "b", keep = "PT1H" } }, { "paid", { key = "a" } } })
    local late = assert(engine:start("wait", { key = "b" }))
    engine:drain()
    assert.same({ "look" }, engine:at(late))
  end)

  it("is done in a handler with the handler's unit", function()
    begin("a", "b")
    assert(engine:start("many"))
    engine:drain()
    local made = engine:past_instances({ process = "many" }):one().variables.made
    assert.equal(2, #made)
    assert.equal(2, engine:instance(math.tointeger(made[2])).variables.n)
    local looks = {}
    engine:tasks():each(function(row)
      looks[#looks + 1] = engine:instance(row.instance).key
    end)
    table.sort(looks)
    assert.same({ "a", "b" }, looks)
  end)

  it("has the lanes of its instances while it walks: another change is refused", function()
    local place, calls, second, said = "sqlite:" .. folder .. "/jobs.db", 0, nil, nil
    local first = testing.engine { scripts = folder, store = place, missing = function(_, job)
      calls = calls + 1
      if calls == 1 then
        said = { second:set_variables(math.tointeger(job.instance) + 1, { by = "second" }) }
      end
    end }
    second = testing.engine { scripts = folder, store = place, patience = "PT0S",
      missing = function() end }
    local ids = assert(first:start { { "beside", { key = "a" } }, { "beside", { key = "b" } } })
    assert.same(ids, first:correlate { { "go", { key = "a" } }, { "go", { key = "b" } } })
    assert.equal(2, calls)
    assert.same({ nil, ("instance %d: another command has its lane (waited PT0S, as patience "
      .. "says)"):format(ids[2]), "conflict" }, said)
    assert.equal(ids[2], second:set_variables(ids[2], { by = "second" }))
    assert.same({ "look" }, first:at(ids[1]))
    assert.same({ "look" }, first:at(ids[2]))
  end)

  local function refuses(message, ...)
    local ok, raised = pcall(...)
    assert.same({ false, message }, { ok, (tostring(raised):gsub("^[^ ]+:%d+: ", "")) })
  end

  it("has at most a thousand entries", function()
    local list = {}
    for i = 1, 1001 do
      list[i] = { "wait" }
    end
    refuses("a list of 1001 (expected at most 1000)", engine.start, engine, list)
    assert.same({}, engine:start {})
    assert.same({}, engine:correlate {})
  end)

  it("names the entry that is misused", function()
    refuses("entry 2: process is 5 (expected a name)", engine.start, engine,
      { { "wait" }, { 5 } })
    refuses('entry 1: correlate: unknown key "kye" (did you mean "key"?)',
      engine.correlate, engine, { { "paid", { kye = "a" } } })
    refuses('entry 1: task is the string "a" (expected the number of one)',
      engine.complete, engine, { { "a" } })
    refuses("options beside a list: a table (expected them in its entries)",
      engine.set_variables, engine, { { 1 } }, { n = 1 })
    refuses("entry 1 is 7 (expected { name, options })", engine.start, engine, { 7 })
    refuses("a table without entries (expected a name, or a list of { name, options })",
      engine.start, engine, { key = "a" })
  end)
end)
