-- Commands to one instance at the same time, from several programs. Each takes the lane of the
-- instance before it walks: one does what is to be done, and the others find it done.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local TASKS, PROGRAMS = 10, 4

local files = {
  ["processes/two.lua"] = [[
    local p = require "moonshift.process"
    return { p.task "first" {}, p.step "book" { run = "book" }, p.task "last" {} }]],
  ["processes/waits.lua"] = [[
    local p = require "moonshift.process"
    return { p.receive "paid" { message = "paid", key = "${instance.key}" },
      p.step "book" { run = "book" }, p.task "last" {} }]],
  ["processes/triggered.lua"] = [[
    local p = require "moonshift.process"
    return { p.receive "go" {}, p.step "book" { run = "book" }, p.task "last" {} }]],
  ["processes/listens.lua"] = [[
    local p = require "moonshift.process"
    return { p.task "first" { on_end = "book" } }]],
  ["processes/stays.lua"] = [[
    local p = require "moonshift.process"
    return { p.parallel {
      { p.task "first" {}, p.step "stay" { run = "stay" } },
      { p.receive "go" {}, p.step "later" { run = "book", async = true } } }, p.task "last" {} }]],
  ["processes/at_once.lua"] = [[
    local p = require "moonshift.process"
    return { p.step "book" { run = "book" }, p.task "last" {} }]],
  ["processes/busy.lua"] = [[
    local p = require "moonshift.process"
    return { p.parallel { { p.step "busy" { run = "stay", async = true } },
      { p.task "first" {}, p.step "stay" { run = "stay" } } }, p.task "last" {} }]],
  ["processes/receives.lua"] = [[
    local p = require "moonshift.process"
    return { p.parallel { { p.step "busy" { run = "stay", async = true } },
      { p.wait "w" { signal = "S" }, p.step "next" { run = "book" }, p.task "last" {} } } }]],
  ["processes/throws.lua"] = [[
    local p = require "moonshift.process"
    return { p.task "first" {}, p.throw "s" { signal = "S" }, p.task "last" {} }]],
  ["handlers/book.lua"] = [[
    return function(job)
      local file <close> = assert(io.open(job.variables.place .. "/called", "a"))
      file:write(job.instance .. "\n")
    end]],
  -- Stays until the file `go` is there.
  ["handlers/stay.lua"] = [[
    return function(job)
      local place = job.variables.place
      assert(io.open(place .. "/begun", "w")):close()
      os.execute(("while [ ! -e %s/go ]; do sleep 0.02; done"):format(place))
    end]],
  ["handlers/plain.lua"] = "return function() end",
}

describe("commands to one instance at the same time", function()
  local place, engine

  before_each(function()
    place = executors.place(files)
    engine = assert(moonshift.open { store = place.url, scripts = place.path })
  end)

  after_each(function()
    engine:close()
    place.remove()
  end)

  -- Runs as many programs with these words at once as there are; how many said what.
  local function race(...)
    local list = {}
    for i = 1, PROGRAMS do
      list[i] = { ... }
    end
    return place.race(list)
  end

  local function calls()
    local file = io.open(place.path .. "/called")
    local text = file and file:read "a" or ""
    return select(2, text:gsub("\n", ""))
  end

  local function free()
    assert.same({}, place.sql "SELECT id FROM lane")
  end

  -- One of the programs has said that it is done, and the others why not.
  local function once(done, gone, said)
    assert.same({ [done .. "\n"] = 1, ["moonshift: " .. gone .. "\n"] = PROGRAMS - 1 }, said)
    free()
  end

  it("complete a task once, and call what is behind it once", function()
    for n = 1, TASKS do
      local id = assert(engine:start("two", { variables = { place = place.path } }))
      local task = tostring(engine:tasks({ instance = id }):one().id)
      once("task completed; instance N goes on", "no task N that is open",
        race("task", "complete", task, "--now"))
      assert.equal(n, calls())
    end
  end)

  -- Four of them for each task, all started before the first one has ended.
  it("complete ten tasks once where forty programs begin together", function()
    local list = {}
    process.environment = "MOONSHIFT_PATIENCE=PT1M"
    for _ = 1, TASKS do
      assert(engine:start("two", { variables = { place = place.path } }))
    end
    for _ = 1, PROGRAMS do
      for _, task in ipairs(engine:tasks():ids()) do
        list[#list + 1] = { "task", "complete", tostring(task), "--now" }
      end
    end
    local said = place.race(list)
    process.environment = ""
    assert.same({ ["task completed; instance N goes on\n"] = TASKS,
      ["moonshift: no task N that is open\n"] = TASKS * (PROGRAMS - 1) }, said)
    local called = {}
    for id in place.log("called"):gmatch("%d+") do
      assert.is_nil(called[id])
      called[id] = true
    end
    assert.equal(TASKS, calls())
    free()
  end)

  it("give a message to its receiver once", function()
    local id = assert(engine:start("waits", { key = "k", variables = { place = place.path } }))
    once("instance N has the message", 'message "paid": nothing waits for it',
      race("message", "paid", "--key", "k", "--now"))
    assert.equal(1, calls())
    assert.equal("last", engine:tasks({ instance = id }):one().activity)
  end)

  it("trigger a receive task once", function()
    local id = assert(engine:start("triggered", { variables = { place = place.path } }))
    once("instance N goes on", "instance N: nothing waits to be triggered",
      race("instance", "trigger", tostring(id), "--now"))
    assert.equal(1, calls())
  end)

  it("cancel an instance once, and call its end listener once", function()
    local id = assert(engine:start("listens", { variables = { place = place.path } }))
    once("instance N cancelled", "no instance N that runs",
      race("instance", "cancel", tostring(id), "--now"))
    assert.equal(1, calls())
  end)

  local function await_stay()
    place.there "begun"
    os.remove(place.path .. "/begun")
  end

  -- A command to the instance whose handler stays.
  local function complete(id)
    local task = tostring(engine:tasks({ instance = id }):one().id)
    local pid = process.start(place.path .. "/out", "task", "complete", task, "--now", "-C",
      place.path, "--store", place.url)
    place.pids[#place.pids + 1] = pid
    await_stay()
    return pid
  end

  -- An instance to which a command is done whose handler stays.
  local function hold()
    local id = assert(engine:start("stays", { variables = { place = place.path } }))
    return id, complete(id)
  end

  local function go()
    place.write("go", "")
  end

  it("hold nobody up but the instance, while a handler runs", function()
    process.environment = "MOONSHIFT_PATIENCE=PT10S" -- held for five seconds at a time
    local id, pid = hold()
    process.environment = ""
    place.executor("--workers", "2")
    local other = assert(engine:start("two", { variables = { place = place.path } }))
    assert(engine:complete(engine:tasks({ instance = other }):one().id))
    for _ = 1, 20 do
      assert(engine:enqueue "plain")
    end
    process.await("the plain jobs", 20, function()
      return engine:jobs({ handler = "plain" }):count() == 0
    end)
    engine:close()
    engine = assert(moonshift.open { store = place.url, scripts = place.path, patience = "PT6S" })
    -- Longer than the hold was made for: it was moved on.
    assert.same({ ("instance %d: another command has its lane (waited PT6S, as patience says)")
      :format(id), "conflict" }, { select(2, engine:set_variables(id, { x = 1 })) })
    go()
    process.await_end(pid, 20)
    assert(engine:set_variables(id, { x = 2 }))
    assert.equal(2, engine:instance(id).variables.x)
    free()
  end)

  it("leave the lane within `patience` where one of them is killed", function()
    process.environment = "MOONSHIFT_PATIENCE=PT2S"
    local id, pid = hold()
    process.environment = ""
    process.kill(pid, "KILL")
    process.await_end(pid, 20)
    assert.equal(1, #place.sql "SELECT id FROM lane")
    assert(engine:set_variables(id, { x = 1 }))
    free()
  end)

  -- The time is read first: what comes between makes the rest of it shorter.
  it("hold the lane for half of `patience` at a time", function()
    process.environment = "MOONSHIFT_PATIENCE=PT2H"
    local now, _, pid = os.time(), hold()
    process.environment = ""
    local span = place.sql "SELECT until FROM lane"[1] / 1000 - now
    assert.is_true(span > 1800 and span < 5400, span)
    go()
    process.await_end(pid, 20)
  end)

  it("take the lane that an executor has left which was killed", function()
    local id = assert(engine:start("busy", { variables = { place = place.path } }))
    local executor = place.executor("--workers", "1")
    await_stay()
    process.kill(executor, "KILL")
    process.await_end(executor, 20)
    local pid = complete(id)
    assert.same({ "0" }, place.sql "SELECT owner FROM lane")
    go()
    process.await_end(pid, 20)
  end)

  -- The handler of one receiver stays; another receiver is free.
  it("throw a signal without waiting for a busy receiver, which gets it by a job", function()
    local thrower = assert(engine:start "throws")
    local ids = {}
    for i = 1, 2 do
      ids[i] = assert(engine:start("receives", { variables = { place = place.path .. "/" .. i } }))
      place.write(i .. "/there", "")
    end
    place.write("2/go", "")
    place.executor("--workers", "2")
    place.there "1/begun"
    process.await("the free one", 60, function()
      return not table.concat(engine:at(ids[2]), " "):find "busy "
    end)
    assert(engine:complete(engine:tasks({ instance = thrower }):one().id))
    assert.same({ "last" }, engine:at(thrower))
    assert.same({ "busy.parallel.join", "last" }, engine:at(ids[2]))
    assert.same({ "busy", "w" }, engine:at(ids[1]))
    place.write("1/go", "")
    process.await("its job", 60, function()
      return engine:jobs():count() == 0
    end)
    assert.same({ "busy.parallel.join", "last" }, engine:at(ids[1]))
    assert.same({ ids[1] .. "\n", ids[2] .. "\n" },
      { place.log "1/called", place.log "2/called" })
    assert.equal(0, engine:incidents():count())
  end)

  -- What is refused, before a handler is called.
  local function refused(why, done, message, code)
    assert.same({ nil, why, "conflict" }, { done, message, code })
    assert.equal(0, calls())
  end

  it("are refused before the first handler where the instance is suspended", function()
    local id = assert(engine:start("two", { variables = { place = place.path } }))
    local waiting = assert(engine:start("waits", { key = "k", variables = { place = place.path } }))
    for _, one in ipairs { id, waiting } do
      assert(engine:suspend_instance(one))
    end
    local why = "instance %d is suspended"
    refused(why:format(id), engine:complete(engine:tasks({ instance = id }):one().id))
    refused(why:format(waiting), engine:correlate("paid", { key = "k" }))
  end)

  it("are refused before the first handler where the process is suspended", function()
    assert(engine:suspend_process "at_once")
    refused("the process is suspended", engine:start("at_once",
      { variables = { place = place.path } }))
  end)
end)
