-- kill -9 while instances of a process run on two executors. The handlers append to a file of their
-- own; what the database says is read with its own tool. Each kill hits a handler that runs: one
-- instance of a round stands in an activity until its executor has died.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local ROUNDS, INSTANCES = 8, 10
local ACTIVITIES = { "one", "two", "branch1", "branch2", "branch3", "branch4", "last" }

local PROCESS = [[
local process = require "moonshift.process"
local step, parallel, wait = process.step, process.parallel, process.wait
local branches = {}
for i = 1, 4 do
  branches[i] = { step("branch" .. i) { run = "count", async = true, exclusive = false } }
end
return {
  step "one" { run = "mark", async = true },
  step "two" { run = "mark", async = true },
  parallel(branches),
  wait "nap" { after = "PT0.01S" },
  step "last" { run = "mark", async = true },
}
]]

-- Tells the file and, where the instance asks for it, stays until the file `go` of it is there.
local TELL = [[
local function there(path)
  local file = io.open(path)
  return file and file:close()
end

local function tell(job)
  local file = assert(io.open(os.getenv("RUNS"), "a"))
  file:setvbuf("full")
  local pid = io.open("/proc/self/stat"):read("n")
  file:write(("%s %s %d\n"):format(job.instance, job.activity, pid))
  file:close()
  while job.variables.hold == job.activity and not there(os.getenv("RUNS") .. job.variables.go) do
    os.execute("sleep 0.01")
  end
end
]]

local MARK = TELL .. [[
return function(job)
  tell(job)
  job.variables.seen = (job.variables.seen or "") .. job.activity .. " "
end
]]

local COUNT = TELL .. [[
return function(job)
  tell(job)
  job.variables.n = (job.variables.n or 0) + 1
end
]]

describe("kill -9 while instances run on two executors", function()
  local place, engine, runs, started, killed

  before_each(function()
    math.randomseed(20261122)
    place = executors.place { ["processes/walk.lua"] = PROCESS, ["handlers/mark.lua"] = MARK,
      ["handlers/count.lua"] = COUNT,
      ["moonshift.lua"] = "return { crash_limit = 1000, failed_job_wait = 'PT0S' }\n" }
    runs, started, killed = place.path .. "/runs", {}, {}
    process.environment = "RUNS=" .. process.quote(runs)
    engine = assert(moonshift.open { store = place.url, scripts = place.path })
  end)

  after_each(function()
    engine:close()
    place.remove()
    process.environment = ""
  end)

  local function start(variables)
    local id = assert(engine:start("walk", { variables = variables }))
    started[#started + 1] = id
    return id
  end

  -- The processes in which an activity of an instance began, in their order.
  local function pids_of(text, id, activity)
    local pids = {}
    for pid in text:gmatch("%f[^\n\0]" .. id .. " " .. activity .. " (%d+)\n") do
      pids[#pids + 1] = tonumber(pid)
    end
    return pids
  end

  local function round(number)
    local hold, go = ACTIVITIES[math.random(#ACTIVITIES)], "-go" .. number
    local held
    for i = 1, INSTANCES do
      local id = start(i == INSTANCES // 2 and { hold = hold, go = go } or nil)
      held = i == INSTANCES // 2 and id or held
    end
    local pid = process.await(hold .. " of " .. held, 10, function()
      return pids_of("\n" .. process.read(runs), held, hold)[1]
    end)
    process.kill(pid, "KILL")
    process.await_end(pid, 5)
    killed[pid] = true
    place.write("runs" .. go, "")
    place.executor("--workers", "2")
  end

  -- By instance: how often each activity began and ended, and the values of n that were written.
  local function trails()
    local list = {}
    for _, row in ipairs(place.sql("SELECT instance, events FROM trail ORDER BY seq")) do
      local id, events = row:match("^(%d+)|(.*)$")
      local trail = list[tonumber(id)] or { s = {}, e = {}, n = {} }
      list[tonumber(id)] = trail
      for kind, at in events:gmatch('%["([se])",%d+,"([^"]+)",') do
        trail[kind][at] = (trail[kind][at] or 0) + 1
      end
      for n in events:gmatch('%["v",1,"n",(%d+)%]') do
        trail.n[#trail.n + 1] = tonumber(n)
      end
    end
    return list
  end

  local WHOLE = { start = 1, one = 1, two = 1, ["branch1.parallel"] = 1, branch1 = 1, branch2 = 1,
    branch3 = 1, branch4 = 1, ["branch1.parallel.join"] = 4, nap = 1, last = 1, ["end"] = 1 }

  -- A handler that sets nothing beside others is called again only if its process has died.
  local function check_runs(text, id)
    for _, activity in ipairs(ACTIVITIES) do
      local pids = pids_of(text, id, activity)
      assert.is_true(#pids > 0, activity .. " of " .. id .. " never ran")
      for i = 1, activity:find("^branch") and 0 or #pids - 1 do
        assert.is_true(killed[pids[i]], ("%s of %d ran again"):format(activity, id))
      end
    end
  end

  it("loses no token, doubles none, and commits each unit once", function()
    place.executor("--workers", "2")
    place.executor("--workers", "2")
    for number = 1, ROUNDS do
      round(number)
    end
    process.await("the end of all instances", 30, function()
      return place.sql("SELECT count(*) FROM past")[1] == tostring(#started)
    end)
    place.kill()
    local text, trail = "\n" .. process.read(runs), trails()
    for i, row in ipairs(place.sql("SELECT id, how, json_extract(variables, '$.n'),"
      .. " json_extract(variables, '$.seen') FROM past ORDER BY id")) do
      local id = started[i]
      assert.equal(id .. "|completed|4|one two last ", row)
      assert.same({ s = WHOLE, e = WHOLE, n = { 1, 2, 3, 4 } }, trail[id])
      check_runs(text, id)
    end
    assert.same({ "0|0|0|0|0" }, place.sql("SELECT (SELECT count(*) FROM instance),"
      .. " (SELECT count(*) FROM live), (SELECT count(*) FROM locked),"
      .. " (SELECT count(*) FROM subscription), (SELECT count(*) FROM incident)"))
    assert.truthy(place.moonshift("check"):find("nothing is wrong", 1, true))
  end)
end)
