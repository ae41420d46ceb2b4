-- Commands to processes whose programs reach the server through a pool that hands out connections
-- by the transaction: a lane is held by a row, so it does not matter which connection wrote it.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

local INSTANCES, PROGRAMS = 10, 4
local LONG = 5 -- commands that stay; the pool has four connections

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
  ["processes/stays.lua"] = [[
    local p = require "moonshift.process"
    return { p.task "first" {}, p.step "stay" { run = "stay" }, p.task "last" {} }]],
  ["handlers/book.lua"] = [[
    return function(job)
      local file <close> = assert(io.open(job.variables.place .. "/called", "a"))
      file:write(job.instance .. "\n")
    end]],
  -- Stays until the file `go` is there.
  ["handlers/stay.lua"] = [[
    return function(job)
      local place = job.variables.place
      assert(io.open(place .. "/begun" .. job.instance, "w")):close()
      os.execute(("while [ ! -e %s/go ]; do sleep 0.02; done"):format(place))
    end]],
  ["handlers/plain.lua"] = "return function() end",
}

describe("commands behind a pool in transaction mode", function()
  if not (postgres.programs() and postgres.pooler()) then
    it("complete a task once", function()
      return pending("no pgbouncer, or no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server, port, place, engine
  local stores = 0

  setup(function()
    server = postgres.start()
    port = postgres.pool(server, "transaction")
  end)

  teardown(function()
    postgres.stop(server)
  end)

  before_each(function()
    stores = stores + 1
    place = executors.place(files)
    place.url = ("%s&port=%d&pool=transaction"):format(postgres.url(server, "pool" .. stores), port)
    engine = assert(moonshift.open { store = place.url, scripts = place.path })
    process.environment = "MOONSHIFT_PATIENCE=PT1M"
  end)

  after_each(function()
    process.environment = ""
    engine:close()
    place.remove()
  end)

  local function start(name, key)
    return assert(engine:start(name, { key = key, variables = { place = place.path } }))
  end

  local function task_of(id)
    return tostring(engine:tasks({ instance = id }):one().id)
  end

  -- How often the handler was called for each instance.
  local function calls()
    local counts = {}
    for id in place.log("called"):gmatch("%d+") do
      counts[tonumber(id)] = (counts[tonumber(id)] or 0) + 1
    end
    return counts
  end

  -- Each of these instances gets the command of several programs at the same time.
  local function once(name, done, gone, words)
    local said, wanted = {}, {}
    place.write("called", "")
    for i = 1, INSTANCES do
      local id, list = start(name, "k" .. i), {}
      for n = 1, PROGRAMS do
        list[n] = words(id, "k" .. i)
      end
      wanted[id] = 1
      for text, times in pairs(place.race(list)) do
        said[text] = (said[text] or 0) + times
      end
    end
    assert.same({ [done .. "\n"] = INSTANCES,
      ["moonshift: " .. gone .. "\n"] = INSTANCES * (PROGRAMS - 1) }, said)
    assert.same(wanted, calls())
    assert.same({}, postgres.rows(server, "pool" .. stores, "SELECT id FROM lane"))
  end

  it("complete a task once, and call what is behind it once", function()
    once("two", "task completed; instance N goes on", "no task N that is open", function(id)
      return { "task", "complete", task_of(id), "--now" }
    end)
  end)

  it("give a message to its receiver once", function()
    once("waits", "instance N has the message", 'message "paid": nothing waits for it',
      function(_, key)
        return { "message", "paid", "--key", key, "--now" }
      end)
  end)

  it("trigger a receive task once", function()
    once("triggered", "instance N goes on", "instance N: nothing waits to be triggered",
      function(id)
        return { "instance", "trigger", tostring(id), "--now" }
      end)
  end)

  -- More of them than the pool has connections: none has a transaction open meanwhile.
  it("hold no job up while their handlers run, and no connection", function()
    local pids, ids = {}, {}
    for i = 1, LONG do
      ids[i] = start "stays"
      pids[i] = place.command("out" .. i, "task", "complete", task_of(ids[i]), "--now")
    end
    for i = 1, LONG do
      place.there("begun" .. ids[i])
    end
    local executor = place.executor("--workers", "2", "--wait", "PT0.1S", "--max-wait", "PT0.1S")
    for _ = 1, 20 do
      assert(engine:enqueue "plain")
    end
    process.await("the plain jobs", 20, function()
      return engine:jobs({ handler = "plain" }):count() == 0
    end)
    assert.equal(LONG, #postgres.rows(server, "pool" .. stores, "SELECT id FROM lane"))
    place.write("go", "")
    for i, pid in ipairs(pids) do
      process.await_end(pid, 20)
      assert.equal(("task completed; instance %d goes on\n"):format(ids[i]), place.log("out" .. i))
    end
    place.stop(executor)
    assert.same({}, postgres.rows(server, "pool" .. stores, "SELECT id FROM lane"))
  end)
end)
