-- Commands to instances whose jobs run on an executor at the same time: which of them waits, which
-- goes first, and that nothing is lost.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local BRANCHES, ROUNDS = 100, 20

local files = {
  ["processes/slow.lua"] = [[
    local process = require "moonshift.process"
    return { process.step "slow" { run = "slow", async = true }, process.task "look" {} }]],
  ["processes/count.lua"] = ([[
    local process = require "moonshift.process"
    local list = {}
    for i = 1, %d do
      list[i] = { process.step("count" .. i) { run = "count", async = true, exclusive = false } }
    end
    return { process.task "begin" {}, process.parallel(list), process.task "look" {} }]])
    :format(BRANCHES),
  ["processes/stubborn.lua"] = [[
    local process = require "moonshift.process"
    return { process.task "begin" {}, process.step "beside" { run = "beside" },
      process.task "look" {} }]],
  ["processes/killed.lua"] = [[
    local process = require "moonshift.process"
    return { process.parallel {
      { process.task "begin" {}, process.step "beside" { run = "beside" } },
      { process.step "work" { run = "work", async = true } },
    } }]],
  ["processes/listens.lua"] = [[
    local process = require "moonshift.process"
    return { process.parallel {
      { process.task "begin" { on_end = "hang" } },
      { process.step "slow" { run = "slow", async = true },
        process.step "behind" { run = "behind" } } } }]],
  ["processes/both.lua"] = [[
    local process = require "moonshift.process"
    return { process.parallel {
      { process.task "begin" {}, process.step "note" { run = "note" } },
      { process.step "behind" { run = "behind", async = true } } }, process.task "look" {} }]],
  ["processes/staying.lua"] = [[
    local process = require "moonshift.process"
    return { process.parallel {
      { process.task "begin" {}, process.step "slow" { run = "slow" } },
      { process.step "behind" { run = "behind", async = true } } }, process.task "look" {} }]],
  ["handlers/note.lua"] = [[
    return function(job)
      local file <close> = assert(io.open(job.variables.place .. "/notes", "a"))
      file:write(job.instance .. "\n")
    end]],
  ["handlers/hang.lua"] = [[
    return function(job)
      local place = job.variables.place
      local file <close> = assert(io.open(place .. "/notes", "a"))
      file:write(job.instance .. "\n")
      file:flush()
      os.execute(("while [ ! -e %s/on ]; do sleep 0.02; done"):format(place))
    end]],
  ["handlers/behind.lua"] = [[
    return function(job)
      local file <close> = assert(io.open(job.variables.place .. "/behind", "a"))
      file:write(job.instance .. "\n")
    end]],
  -- A plain job that stays until the file `go` is there.
  ["handlers/first.lua"] = [[
    return function(job)
      assert(io.open(job.payload .. "/first", "w")):close()
      while not os.rename(job.payload .. "/go", job.payload .. "/go") do
        os.execute("sleep 0.01")
      end
    end]],
  ["handlers/plain.lua"] = "return function() end",
  ["handlers/work.lua"] = "return function(job) job.variables.worked = true end",
  -- Stays until the file `go` is there.
  ["handlers/slow.lua"] = [[
    local function there(path)
      local file = io.open(path)
      return file and file:close()
    end
    return function(job)
      assert(io.open(job.variables.place .. "/begun", "w")):close()
      while not there(job.variables.place .. "/go") do
        os.execute("sleep 0.01")
      end
      job.variables.slow = true
    end]],
  ["handlers/count.lua"] = "return function(job) job.variables.n = job.variables.n + 1 end",
  -- Each call changes the variable in another process, between reading and setting it.
  ["handlers/beside.lua"] = [[
    return function(job)
      local n = job.variables.n
      os.execute(job.variables.command)
      job.variables.n = n + 1
    end]],
}

describe("a command beside the jobs of its instance", function()
  local place, engine

  before_each(function()
    place = executors.place(files)
  end)

  after_each(function()
    if engine then
      engine:close()
      engine = nil
    end
    place.remove()
  end)

  local function open(patience)
    engine = assert(moonshift.open { store = place.url, scripts = place.path,
      patience = patience })
  end

  -- An instance whose handler has begun and stays.
  local function hold()
    local id = assert(engine:start("slow", { variables = { place = place.path } }))
    place.executor("--workers", "2")
    place.there "begun"
    return id
  end

  local function go()
    place.write("go", "")
  end

  -- How many calls a file of the place tells of.
  local function calls(name)
    local file = io.open(place.path .. "/" .. name)
    return select(2, (file and file:read "a" or ""):gsub("\n", ""))
  end

  it("waits for a run that has begun, as long as it has patience", function()
    open "PT2S" -- so that it looks more often than its pauses grow
    local id = hold()
    local job = engine:jobs():one().id
    assert.same({ ('instance %d: job %d is running at "slow" (waited PT2S, as patience says)')
      :format(id, job), "conflict" }, { select(2, engine:set_variables(id, { by = "me" })) })
    engine:close()
    open "PT10M"
    local out = place.path .. "/out"
    process.environment = "MOONSHIFT_PATIENCE=PT10M"
    local pid = process.start(out, "instance", "set", tostring(id), "by=you", "-C", place.path,
      "--store", place.url)
    process.environment = ""
    place.pids[#place.pids + 1] = pid
    go()
    process.await_end(pid, 60)
    assert.equal(("instance %d changed\n"):format(id), process.read(out))
    assert.same({ place = place.path, slow = true, by = "you" }, engine:instance(id).variables)
    assert.equal(1, engine:log({ job = job, outcome = "successful" }):count())
  end)

  it("that ends the instance does not wait: the run loses its lock", function()
    open "PT0S"
    local id = hold()
    assert.equal(id, engine:cancel_instance(id))
    go()
    assert.same({ "cancelled", false },
      { engine:instance(id).how, engine:instance(id).variables.slow ~= nil })
  end)

  local function outcomes(job)
    local list = {}
    for i, row in ipairs(engine:log({ job = job }):list()) do
      list[i] = row.outcome
    end
    table.sort(list)
    return list
  end

  -- The run goes on meanwhile: nothing of it is written, and nothing behind it is called.
  it("that ends the instance calls an end listener once, and nothing behind the run", function()
    open "PT10M"
    local id = assert(engine:start("listens", { variables = { place = place.path } }))
    local pid = place.executor("--workers", "2")
    place.there "begun"
    local first = place.command("first", "instance", "cancel", tostring(id), "--now")
    process.await("the listener", 20, function()
      return calls "notes" == 1
    end)
    engine:close()
    open "PT0S"
    local lane = "instance %d: another command has its lane (waited PT0S, as patience says)"
    assert.same({ lane:format(id), "conflict" }, { select(2, engine:cancel_instance(id)) })
    assert.equal("conflict", select(3, engine:set_variables(id, { x = 1 })))
    place.write("on", "")
    process.await_end(first, 20)
    assert.equal(("instance %d cancelled\n"):format(id), place.log "first")
    go()
    place.stop(pid)
    assert.same({ 1, 0 }, { calls "notes", calls "behind" })
    assert.same({ "cancelled", 0, 0 }, { engine:instance(id).how,
      engine:log({ outcome = "successful" }):count(), engine:jobs():count() })
    assert.same({}, place.sql "SELECT id FROM lane")
  end)

  it("that is a job and ends the instance does so once, too, beside a run", function()
    open "PT0S"
    local id = assert(engine:start("listens", { variables = { place = place.path } }))
    local pid = place.executor("--workers", "4")
    place.there "begun"
    local cancels = {}
    for i = 1, 2 do
      cancels[i] = place.moonshift("instance", "cancel", tostring(id)):match "^job (%d+)"
    end
    process.await("the listener", 20, function()
      return calls "notes" > 0
    end)
    assert(engine:enqueue("plain"))
    process.await("a plain job", 20, function()
      return engine:jobs({ handler = "plain" }):count() == 0 -- the executor has looked
    end)
    assert.equal(1, calls "notes")
    assert.equal("conflict", select(3, engine:cancel_instance(id)))
    assert.equal("conflict", select(3, engine:set_variables(id, { x = 1 })))
    place.write("on", "")
    process.await("the end", 20, function()
      return engine:instance(id).how == "cancelled"
    end)
    go()
    for _, job in ipairs(cancels) do
      process.moonshift("job", "wait", job, "--store", place.url)
    end
    place.stop(pid)
    assert.equal(1, calls "notes")
    assert.same({}, place.sql "SELECT id FROM lane")
  end)

  it("waits for a job of its lane that is locked and has not begun", function()
    open "PT10M"
    local id = assert(engine:start("both", { variables = { place = place.path } }))
    local task = tostring(engine:tasks({ instance = id }):one().id)
    assert(engine:enqueue("first", place.path, { priority = 1 }))
    local executor = place.executor("--workers", "1")
    place.there "first"
    process.await("the lane", 10, function()
      return #place.sql "SELECT id FROM lane" == 1
    end)
    process.environment = "MOONSHIFT_PATIENCE=PT1S"
    local pid = place.command("out", "task", "complete", task, "--now")
    process.await_end(pid, 20)
    assert.truthy(place.log("out"):find("waited PT1S, as patience says", 1, true))
    process.environment = "MOONSHIFT_PATIENCE=PT10M"
    pid = place.command("out", "task", "complete", task, "--now")
    process.environment = ""
    go()
    process.await_end(pid, 20)
    assert.equal(("task completed; instance %d goes on\n"):format(id), place.log "out")
    assert.same({ 1, 1, "look" }, { calls "notes", calls "behind",
      engine:tasks({ instance = id }):one().activity })
    place.stop(executor)
    assert.same({}, place.sql "SELECT id FROM lane")
  end)

  it("has its lane: a job of it is put back unrun and uncounted", function()
    open "PT10M"
    local id = assert(engine:start("staying", { variables = { place = place.path } }))
    local task = tostring(engine:tasks({ instance = id }):one().id)
    local job = engine:jobs({ instance = tostring(id) }):one().id
    local pid = place.command("out", "task", "complete", task, "--now")
    place.there "begun"
    place.executor("--workers", "2")
    assert(engine:enqueue("first", place.path))
    place.there "first" -- the executor has looked
    assert.equal(('job %d waits for its lane "%d": a command holds it'):format(job, id),
      (engine:why(job)))
    assert.same({ 0, 3, { "created" } }, { calls "behind", engine:job(job).retries, outcomes(job) })
    go()
    process.await_end(pid, 20)
    process.await("the job", 20, function()
      return engine:tasks({ instance = id, activity = "look" }):count() == 1
    end)
    assert.same({ 1, { "created", "successful" } }, { calls "behind", outcomes(job) })
  end)

  it("in the moment in which a job begins calls each handler once", function()
    open "PT10M"
    place.executor("--workers", "2")
    for n = 1, ROUNDS do
      local id = assert(engine:start("both", { variables = { place = place.path } }))
      assert(engine:complete(engine:tasks({ instance = id }):one().id))
      process.await("the join", 20, function()
        return engine:tasks({ instance = id, activity = "look" }):count() == 1
      end)
      assert.same({ n, n }, { calls "notes", calls "behind" })
    end
    assert.same({ ROUNDS, 0 }, { engine:log({ outcome = "successful" }):count(),
      engine:log({ outcome = "failed" }):count() })
    assert.same({}, place.sql "SELECT id FROM lane")
  end)

  it("is not lost, and loses nothing, beside a hundred branches that count", function()
    open "PT10M"
    local id = assert(engine:start("count", { variables = { n = 0 } }))
    place.executor("--workers", "4")
    assert(engine:complete(engine:tasks():one().id))
    local set, want = 0, {}
    process.await("the end of the branches", 60, function()
      set = set + 1
      want["set" .. set] = set
      assert(engine:set_variables(id, { ["set" .. set] = set }))
      return engine:tasks({ activity = "look" }):count() == 1
    end)
    want.n = BRANCHES
    assert.same(want, engine:instance(id).variables)
    assert.equal(0, engine:log({ outcome = "failed" }):count())
    assert.equal(BRANCHES, engine:log({ outcome = "successful" }):count())
    assert.same({}, place.sql "SELECT id FROM lane")
  end)

  it("has its lane: what its handlers command to the instance is refused", function()
    open "PT10M"
    local id = assert(engine:start "stubborn")
    local command = ("cd %s; MOONSHIFT_PATIENCE=PT0S %s >>out 2>&1"):format(place.path,
      process.command("instance", "set", tostring(id), "by=me", "-C", place.path, "--store",
        place.url))
    assert(engine:complete(engine:tasks():one().id, { n = 0, command = command }))
    assert.same({ command = command, n = 1 }, engine:instance(id).variables)
    assert.equal(("moonshift: instance %d: another command has its lane (waited PT0S, as "
      .. "patience says)\n"):format(id), place.log "out")
    assert.same({}, place.sql "SELECT id FROM lane")
    assert.same({}, place.sql "SELECT id FROM executor")
  end)

  it("that dies with the lane leaves it to the next executor", function()
    open "PT10M"
    local id = assert(engine:start("killed", { variables = { n = 0 } }))
    local task = tostring(engine:tasks():one().id)
    local status = process.run("MOONSHIFT_PATIENCE=PT2S " .. process.command("task", "complete",
      task, "command=kill -KILL $PPID", "-C", place.path, "--store", place.url))
    assert.equal(128 + 9, status)
    assert.equal(1, #place.sql "SELECT id FROM lane")
    local job = engine:jobs({ handler = "process/killed/work" }):one().id
    assert.equal(('job %d waits for its lane "%d": a command holds it'):format(job, id),
      (engine:why(job)))
    place.executor()
    process.await("the job behind the lane", 10, function()
      return engine:instance(id).variables.worked
    end)
    assert.same({}, place.sql "SELECT id FROM lane")
    assert.equal("begin", engine:tasks():one().activity)
  end)
end)
