-- A limit over two executors, one of which is killed while it runs short jobs that share places.
-- Each run appends to one file as it begins and as it ends.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local LIMIT, JOBS = 2, 1500

local handlers = {
  ["handlers/tight.lua"] = [[
local process = io.open("/proc/self/stat"):read("n")
local function note(sign)
  local file = assert(io.open(os.getenv("RUNS"), "a"))
  file:write(sign, " ", process, "\n")
  file:close()
end
return { limit = { cluster = 2 }, run = function()
  note "+"
  for _ = 1, 3000 do end
  note "-"
end }]],
}

describe("a limit", function()
  local place, dir

  before_each(function()
    place = executors.place(handlers)
    dir = place.path
    process.environment = "RUNS=" .. dir .. "/runs"
  end)

  after_each(function()
    process.environment = ""
    place.remove()
  end)

  -- The signs in their order, and the number of the last line of each process.
  local function runs()
    local list, last = {}, {}
    for sign, pid in process.read(dir .. "/runs"):gmatch("([+-]) (%d+)\n") do
      list[#list + 1] = { sign = sign, pid = pid }
      last[pid] = #list
    end
    return list, last
  end

  -- The most runs that were on at once. What a process has not ended has ended with its last line:
  -- it was killed behind that one.
  local function most()
    local list, last = runs()
    local on, all, highest = {}, 0, 0
    for i, run in ipairs(list) do
      local change = run.sign == "+" and 1 or -1
      on[run.pid] = (on[run.pid] or 0) + change
      all = all + change
      highest = math.max(highest, all)
      if last[run.pid] == i then
        all = all - on[run.pid]
      end
    end
    return highest
  end

  local function start()
    return place.start("log", "run", dir, "--workers", "3")
  end

  it("holds over two executors, whoever dies, and lets every job run", function()
    place.moonshift("enqueue", "-C", dir, "tight", "--count", tostring(JOBS))
    local victim = start()
    process.await("some runs", 30, function() return #runs() > 200 end)
    start()
    process.await("more runs", 30, function() return #runs() > 400 end)
    process.kill(victim, "KILL")
    process.await_end(victim, 5)
    start()
    process.await("all to have run", 60, function()
      return place.sql("SELECT count(*) FROM ended")[1] == tostring(JOBS)
    end)
    assert.is_true(most() <= LIMIT, most())
    process.await("no place to be held", 10, function()
      return place.sql("SELECT count(*) FROM limited")[1] == "0"
    end)
  end)
end)
