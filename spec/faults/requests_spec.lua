-- Runs that wait for a server which never answers: what ends a run ends its request with it. The
-- runs may take an hour, so one that is not cut off is one that the spec waits for in vain.
local answers = require "spec.support.answers"
local engines = require "spec.support.engines"
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local RUNS = 20

local ASK = [[
return { timeout = "PT1H", run = function()
  local file <close> = assert(io.open(os.getenv("BEGUN"), "a"))
  file:write("x")
  file:flush()
  http.request { url = os.getenv("SILENT"), timeout = "PT1H" }
  file:write("an answer")
end }
]]

describe("runs that wait for an answer", function()
  local server, place

  setup(function()
    server = answers.start()
  end)

  teardown(function()
    server.stop()
  end)

  before_each(function()
    place = executors.place { ["handlers/ask.lua"] = ASK }
    process.environment = ("BEGUN=%s/begun SILENT=%s"):format(place.path,
      server.url("hang") .. "/")
  end)

  after_each(function()
    process.environment = ""
    place.remove()
  end)

  local function begun()
    return #process.read(place.path .. "/begun")
  end

  -- An executor on which all runs wait, and the connections that it has to the server.
  local function waiting(...)
    place.enqueue("ask", RUNS)
    local pid = place.executor("--workers", tostring(RUNS), ...)
    process.await("the runs", 10, function()
      return begun() == RUNS
    end)
    return pid
  end

  local function connections(pid)
    local port = (":%04X"):format(server.ports.hang)
    local sockets, count = {}, 0
    for line in process.read(("/proc/%d/net/tcp"):format(pid)):gmatch("[^\n]+") do
      local remote, inode = line:match("^%s*%d+: %S+ (%S+) 01 %S+ %S+ %S+%s+%d+%s+%d+ (%d+)")
      if remote and remote:sub(-5) == port then
        sockets["socket:[" .. inode .. "]"] = true
      end
    end
    local _, output = process.run(("readlink /proc/%d/fd/*"):format(pid))
    for line in output:gmatch("[^\n]+") do
      count = count + (sockets[line] and 1 or 0)
    end
    return count
  end

  local function closed(pid)
    process.await("the connections to close", 5, function()
      return connections(pid) == 0
    end)
    assert.equal(RUNS, begun())
  end

  local function connected(pid)
    process.await("the connections", 5, function()
      return connections(pid) == RUNS
    end)
  end

  it("end when their jobs are cancelled", function()
    local pid = waiting()
    connected(pid)
    place.moonshift("job", "cancel", "--handler", "ask", "--yes")
    closed(pid)
    assert.equal("[]", (place.moonshift("job", "list", "--json"):gsub("%s", "")))
    place.stop(pid)
  end)

  it("end when their handler is suspended, and begin again when it is not", function()
    local pid = waiting()
    connected(pid)
    place.moonshift("definition", "suspend", "ask", "--include-jobs")
    closed(pid)
    place.moonshift("definition", "activate", "ask", "--include-jobs")
    process.await("the runs to begin again", 10, function()
      return begun() == 2 * RUNS
    end)
    place.kill()
  end)

  it("end with their executor, and no retry is lost", function()
    local pid = waiting("--shutdown-wait", "0")
    connected(pid)
    place.stop(pid)
    local rows = place.moonshift("job", "list", "--json", "--limit", "100", "--columns",
      "retries,state,attempt")
    local _, count = rows:gsub('"retries":3', "")
    assert.equal(RUNS, count, rows)
  end)

  it("end when another executor has taken their locks", function()
    local pid = waiting("--lock-time", "PT1S")
    connected(pid)
    process.freeze(pid, place.store)
    place.executor("--workers", tostring(RUNS))
    process.await("the runs of the other one", 10, function()
      return begun() == 2 * RUNS
    end)
    process.kill(pid, "CONT")
    process.await("the connections of the first to close", 5, function()
      return connections(pid) == 0
    end)
    assert.equal(2 * RUNS, begun())
    place.kill()
  end)

  it("end by their timeout, which is a failure", function()
    place.write("handlers/ask.lua", (ASK:gsub('timeout = "PT1H", run',
      'retries = 1, timeout = "PT1S", run')))
    local pid = waiting()
    closed(pid)
    process.await("the failures", 10, function()
      local rows = place.moonshift("job", "list", "--json", "--limit", "100", "--columns",
        "state,message")
      return select(2, rows:gsub("ran longer than its timeout of PT1S", "")) == RUNS
    end)
    place.stop(pid)
  end)

  describe("in a program of somebody else, which takes no signal,", function()
    local PORT = [[local PORT, BEGUN = %d, %q
]]
    local HOST = ASK:gsub('os.getenv%("BEGUN"%)', "BEGUN"):gsub('os.getenv%("SILENT"%)',
      '"http://127.0.0.1:" .. PORT')
    local engine, executor

    before_each(function()
      engine = engines.durable({ ["handlers/ask.lua"] = PORT:format(server.ports.hang,
        place.path .. "/begun") .. HOST })
      for _ = 1, RUNS do
        engine:enqueue("ask")
      end
      executor = moonshift.executor { engines = { engine }, workers = RUNS,
        shutdown_wait = "PT0S" }
      assert(executor:start())
      process.await("the runs", 10, function()
        return begun() == RUNS
      end)
    end)

    after_each(function()
      executor:stop()
      engine:close()
      engines.clean()
    end)

    it("end when their jobs are cancelled", function()
      engine:cancel(engine:jobs())
      process.await("the end of the runs", 5, function()
        return executor:status().running == 0
      end)
      assert.equal(0, engine:jobs():count())
    end)

    it("end with their executor", function()
      executor:stop()
      assert.equal(RUNS, engine:jobs({ retries_left = true }):count())
      assert.equal(RUNS, begun())
    end)
  end)
end)
