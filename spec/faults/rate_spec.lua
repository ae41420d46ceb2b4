-- A rate, checked from outside: each start is logged with the machine's uptime, which nobody sets,
-- and every window is looked at. Two executors busy with other jobs, of which one is killed and
-- started again; a wall clock that is set.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local library = "/usr/lib/" .. io.popen("gcc -print-multiarch"):read("l")
  .. "/faketime/libfaketime.so.1"

-- A sanitizer wants to be the first library itself.
local sanitized = process.run("ldd " .. process.command() .. " | grep -q 'lib[at]san'") == 0

local STARTS, WINDOW = 5, 1 -- 5/PT1S
local PREEMPTED = 0.3       -- a busy machine may run the handler so much later than the start

local handlers = {
  ["handlers/paced.lua"] = [[
return { rate = "5/PT1S", run = function(job)
  local now = io.open("/proc/uptime"):read("n")
  local file = assert(io.open(os.getenv("RUNS"), "a"))
  file:write(("%d %.2f\n"):format(job.id, now))
  file:close()
end }]],
  ["handlers/busy.lua"] = [[
return function() os.execute("sleep 0.03") end]],
}

describe("a rate", function()
  local place, dir, environment

  before_each(function()
    place = executors.place(handlers)
    dir = place.path
    environment = "RUNS=" .. dir .. "/runs"
    process.environment = environment
  end)

  after_each(function()
    process.environment = ""
    place.remove()
  end)

  local function start()
    return place.start("log", "run", dir, "--workers", "2", "--queue", "8")
  end

  local function enqueue(...)
    place.moonshift("enqueue", "-C", dir, ...)
  end

  local function starts()
    local list = {}
    for at in process.read(dir .. "/runs"):gmatch("%d+ ([%d.]+)\n") do
      list[#list + 1] = tonumber(at)
    end
    table.sort(list)
    return list
  end

  local function await_starts(count)
    process.await(count .. " starts", 30, function()
      return #starts() >= count
    end)
  end

  -- The shortest span that holds one start more than are allowed; uptime counts hundredths.
  local function shortest()
    local list, least = starts(), math.huge
    for i = STARTS + 1, #list do
      least = math.min(least, list[i] - list[i - STARTS])
    end
    return least + 0.01 + PREEMPTED
  end

  it("holds over two executors, whoever dies, and lets every job start", function()
    enqueue("paced", "--count", "30")
    enqueue("busy", "--count", "800")
    start()
    local victim = start()
    await_starts(12)
    process.kill(victim, "KILL")
    process.await_end(victim, 5)
    start()
    await_starts(30)
    assert.is_true(shortest() >= WINDOW, shortest())
  end)

  local function holds_when_the_clock_is_set(offset)
    local function set(to)
      local file = assert(io.open(dir .. "/offset", "w"))
      file:write(to, "\n")
      file:close()
    end
    set "+0"
    process.environment = ("%s LD_PRELOAD=%s FAKETIME_TIMESTAMP_FILE=%s/offset FAKETIME_NO_CACHE=1"
      .. " FAKETIME_DONT_FAKE_MONOTONIC=1"):format(environment, library, dir)
    enqueue("paced", "--count", "20")
    start()
    await_starts(7)
    set(offset)
    await_starts(20)
    assert.is_true(shortest() >= WINDOW, shortest())
  end

  if sanitized then
    pending "holds while the wall clock is set"
  else
    it("holds while the wall clock is set an hour ahead", function()
      holds_when_the_clock_is_set "+3600"
    end)

    it("holds, and goes on, while the wall clock is set back by an hour", function()
      holds_when_the_clock_is_set "-3600"
    end)
  end
end)
