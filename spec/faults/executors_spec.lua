-- Several executors on one store, started, stopped and killed as processes of their own.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local handlers = {
  ["handlers/work.lua"] = [[
return function(job)
  local file = assert(io.open(os.getenv("RUNS"), "a"))
  file:write("run ", job.id, "\n")
  file:close()
end
]],
  ["handlers/slow.lua"] = [[
return function(job)
  local file = assert(io.open(os.getenv("RUNS"), "a"))
  file:write("run ", job.id, "\n")
  file:close()
  os.execute("sleep 30")
end
]],
  ["handlers/crash.lua"] = [[
return function()
  local pid = io.open("/proc/self/stat"):read("n")
  os.execute("kill -9 " .. pid)
end
]],
  ["handlers/gated.lua"] = [[
return function()
  os.execute("echo >>$RUNS.held")
  os.execute("until [ -e $RUNS.gate ] || [ ! -e ${RUNS%/*} ]; do sleep 0.02; done")
end
]],
  ["handlers/programs.lua"] = [[
return function()
  os.execute("sleep 600 & echo $! >$RUNS.kept; true")
  local pipe = io.popen("sleep 600 & echo $! >>$RUNS.pids; echo $$; wait")
  os.execute("echo " .. pipe:read("l") .. " >>$RUNS.pids")
  os.execute("sleep 600 & echo $! >>$RUNS.pids; echo $$ >>$RUNS.pids; wait")
end
]],
  ["handlers/wait.lua"] = [[
return function()
  os.execute("sleep 0.2")
end
]],
}

describe("executors", function()
  local place, dir, store, runs

  before_each(function()
    place = executors.place(handlers)
    dir, store = place.path, place.url
    runs = dir .. "/runs"
    process.environment = "RUNS=" .. runs
  end)

  after_each(function()
    place.remove()
  end)

  local function start(...)
    return place.start("log", "run", dir, ...)
  end

  local function enqueue(handler, count, ...)
    return place.enqueue(handler, count, ...)
  end

  local function count_runs()
    local counts, total = {}, 0
    for id in process.read(runs):gmatch("run (%d+)\n") do
      counts[id] = (counts[id] or 0) + 1
      total = total + 1
    end
    return counts, total
  end

  local function rows(question)
    return place.sql(question)
  end

  -- Waits until so many runs have begun that end when the gate opens.
  local function held(count)
    process.await("runs that are held", 10, function()
      return #process.read(runs .. ".held") == count
    end)
  end

  local function open_gate()
    os.execute("touch " .. runs .. ".gate")
  end

  it("run every job once when two share a store", function()
    local ids = enqueue("work", 2000)
    start("--workers", "2")
    start("--workers", "2")
    process.await("an empty store", 30, function()
      return rows("SELECT count(*) FROM live")[1] == "0"
    end)
    local counts, total = count_runs()
    assert.equal(2000, total)
    for _, id in ipairs(ids) do
      assert.equal(1, counts[id])
    end
  end)

  it("take over the jobs of a killed one long before its locks end", function()
    enqueue("slow", 1)
    local first = start("--workers", "1")
    process.await("the first run", 5, function()
      return select(2, count_runs()) == 1
    end)
    process.kill(first, "KILL")
    process.await_end(first, 5)
    start("--workers", "1")
    process.await("the second run", 5, function()
      return select(2, count_runs()) == 2
    end)
  end)

  it("take over from a killed peer that ran beside them long before its locks end", function()
    enqueue("slow", 1)
    local first = start("--workers", "1")
    process.await("the first run", 5, function()
      return select(2, count_runs()) == 1
    end)
    start("--workers", "1")
    place.logged("event=started", 2)
    process.kill(first, "KILL")
    process.await("the second run", 5, function()
      return select(2, count_runs()) == 2
    end)
  end)

  local function pids(name)
    local list = {}
    local file = io.open(runs .. name)
    for line in file and file:lines() or function() end do
      list[#list + 1] = tonumber(line)
    end
    return list, file and file:close()
  end

  it("take the programs of their jobs with them when they are killed, but what was left", function()
    local first = start()
    enqueue("programs", 1)
    process.await("the programs", 30, function()
      return #pids(".pids") == 4
    end)
    local kept = pids(".kept")[1]
    process.kill(first, "KILL")
    for _, pid in ipairs(pids(".pids")) do
      process.await("the end of a program", 30, function()
        return not process.alive(pid)
      end)
    end
    assert.truthy(process.alive(kept))
    os.execute("kill " .. kept)
  end)

  it("make an incident of a job that kills its process three times, and of none beside", function()
    enqueue("crash", 1, "--priority", "5")
    enqueue("wait", 20)
    for _ = 1, 3 do
      local pid = start("--workers", "2")
      process.await_end(pid, 10)
    end
    local status, _, errors = process.moonshift("run", dir, "--store", store, "--drain")
    assert.equal(0, status, errors)
    assert.same({ "workerDied" }, rows("SELECT type FROM incident WHERE ended IS NULL"))
    assert.same({ "0|3" }, rows("SELECT retries, crashes FROM live"))
    assert.same({ "20" }, rows("SELECT count(*) FROM ended WHERE outcome=1"))
    assert.same({ "1" }, rows("SELECT count(*) FROM incident"))
  end)

  it("leave nothing locked after TERM and end with 0", function()
    enqueue("wait", 200)
    local pid = start("--workers", "2")
    process.await("the first success", 5, function()
      return tonumber(rows("SELECT count(*) FROM ended")[1] or "0") > 0
    end)
    process.kill(pid, "TERM")
    process.await_end(pid, 5)
    assert.same({ "0" }, rows("SELECT count(*) FROM locked"))
    assert.same({ "0" }, rows("SELECT count(*) FROM attempt"))
    local left = tonumber(rows("SELECT count(*) FROM live")[1])
    local done = tonumber(rows("SELECT count(*) FROM ended")[1])
    assert.equal(200, left + done)
  end)

  it("refuse the late commit of one that was stopped beyond its lock", function()
    enqueue("gated", 1)
    local first = start("--workers", "1", "--lock-time", "PT1S")
    held(1)
    process.freeze(first, place.store)
    start("--workers", "1")
    held(2)
    open_gate()
    process.await("the other executor's success", 9, function()
      return rows("SELECT count(*) FROM ended WHERE outcome=1")[1] == "1"
    end)
    process.kill(first, "CONT")
    place.logged("stale")
    assert.same({ "1" }, rows("SELECT count(*) FROM ended"))
  end)

  it("begin nothing of what one held that was stopped beyond its lock", function()
    enqueue("gated", 1, "--priority", "5")
    local ids = enqueue("work", 60) -- a millisecond each, and no more than a tenth of a second
    local first = start("--workers", "1", "--lock-time", "PT1S")
    process.await("the locks", 5, function()
      return rows("SELECT count(*) FROM locked")[1] == "61"
    end)
    held(1) -- a job that has not begun is given back without a word
    process.freeze(first, place.store)
    start("--workers", "2")
    process.await("the other executor's runs", 9, function()
      return select(2, count_runs()) == #ids
    end)
    open_gate() -- its run ends as soon as it goes on
    process.kill(first, "CONT")
    place.logged("stale")
    process.await("every job's end", 9, function()
      return rows("SELECT count(*) FROM live")[1] == "0"
    end)
    process.kill(first, "TERM")
    process.await_end(first, 5)
    assert.equal(#ids, (select(2, count_runs())))
  end)

  it("start a job enqueued by another process, though they look for none by themselves", function()
    enqueue("work", 1)
    start("--workers", "1", "--max-wait", "PT1H")
    process.await("its first look to be over", 5, function()
      return rows("SELECT count(*) FROM ended")[1] == "1"
    end)
    enqueue("work", 1)
    process.await("the run", 5, function()
      return select(2, count_runs()) == 2
    end)
  end)
end)
