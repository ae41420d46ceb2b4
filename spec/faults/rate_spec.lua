-- A rate, checked from outside by the machine's uptime, which nobody sets, in every window. Each
-- run logs when it had begun at the latest; looks into the store tell when it had not yet. Two
-- executors busy with other jobs, of which one is killed and started again; a wall clock that is
-- set.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local library = "/usr/lib/" .. io.popen("gcc -print-multiarch"):read("l")
  .. "/faketime/libfaketime.so.1"

-- A sanitizer wants to be the first library itself.
local sanitized = process.run("ldd " .. process.command() .. " | grep -q 'lib[at]san'") == 0

local STARTS, WINDOW = 5, 1 -- 5/PT1S
local WORKERS = 2

local BEGUN = [[
SELECT count(*) FROM (SELECT stream FROM ended UNION ALL
  SELECT j.stream FROM locked l JOIN job j ON j.id=l.id) r
JOIN stream s ON s.id=r.stream JOIN definition d ON d.id=s.definition WHERE d.name='paced']]

local handlers = {
  ["handlers/paced.lua"] = [[
return { rate = "5/PT1S", run = function(job)
  local now = io.open("/proc/uptime"):read("n")
  local file = assert(io.open(os.getenv("RUNS"), "a"))
  file:write(("%d %.2f\n"):format(job.id, now))
  file:close()
end }]],
  ["handlers/many.lua"] = [[
return { rate = "200/PT1S", run = function(job)
  local now = io.open("/proc/uptime"):read("n")
  local file = assert(io.open(os.getenv("RUNS"), "a"))
  file:write(("%d %.2f\n"):format(job.id, now))
  file:close()
end }]],
  ["handlers/busy.lua"] = [[
return function() os.execute("sleep 0.03") end]],
}

describe("a rate", function()
  local place, dir, environment, looks, lost

  before_each(function()
    looks, lost = {}, 0
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
    return place.start("log", "run", dir, "--workers", tostring(WORKERS), "--queue", "8")
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

  -- Notes how many starts there have been at most, of which a killed executor may have taken some
  -- along.
  local function look()
    local now = io.open("/proc/uptime"):read("n")
    looks[#looks + 1] = { at = now, count = tonumber(place.sql(BEGUN)[1]) + lost }
  end

  local function await_starts(count)
    process.await(count .. " starts", 30, function()
      look()
      return #starts() >= count
    end)
  end

  -- When the start of this number had certainly not been yet.
  local function not_before(number)
    local latest = 0
    for _, one in ipairs(looks) do
      latest = one.count < number and math.max(latest, one.at) or latest
    end
    return latest
  end

  -- The shortest span that holds one start more than are allowed, at its longest; uptime counts
  -- hundredths.
  local function shortest()
    local list, least = starts(), math.huge
    for i = STARTS + 1, #list do
      least = math.min(least, list[i] - not_before(i - STARTS))
    end
    return least + 0.01
  end

  it("holds over two executors, whoever dies, and lets every job start", function()
    enqueue("paced", "--count", "30")
    enqueue("busy", "--count", "800")
    start()
    local victim = start()
    await_starts(12)
    process.kill(victim, "KILL")
    lost = WORKERS
    process.await_end(victim, 5)
    start()
    await_starts(30)
    assert.is_true(shortest() >= WINDOW, shortest())
  end)

  -- The shortest span that holds `count` starts and one more, as their handlers have seen it.
  local function shortest_of(count)
    local list, least = starts(), math.huge
    for i = count + 1, #list do
      least = math.min(least, list[i] - list[i - count])
    end
    return least
  end

  -- A start counts from up to a tenth of a second later on: a handler that is held up for half of
  -- that is still within its window.
  it("holds for short jobs, which are locked many at a time, whoever dies", function()
    enqueue("many", "--count", "500")
    start()
    local victim = start()
    process.await("some starts", 30, function() return #starts() >= 50 end)
    process.kill(victim, "KILL")
    process.await_end(victim, 5)
    start()
    process.await("all to have run", 30, function()
      return place.sql("SELECT count(*) FROM ended")[1] == "500"
    end)
    assert.is_true(#starts() >= 500)
    assert.is_true(shortest_of(200) >= WINDOW - 0.05, shortest_of(200))
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
