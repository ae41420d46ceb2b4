-- What never runs together: jobs of one lane, and more than a limit allows, on two executors of
-- which one is killed and started again. What does: a lane's follow-ups, on one worker.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local RUN = [[
  function(job)
    local file = assert(io.open(os.getenv("RUNS"), "a"))
    file:setvbuf("no")
    local who = io.open("/proc/self/stat"):read("n")
    file:write(("begin %s %d %d\n"):format(job.lane or job.handler, job.id, who))
    os.execute("sleep 0.02")
    file:write(("end %s %d %d\n"):format(job.lane or job.handler, job.id, who))
    file:close()
  end
]]

describe("two executors", function()
  local place, dir

  before_each(function()
    place = executors.place {
      ["handlers/lane.lua"] = "return " .. RUN,
      ["handlers/chain.lua"] = [[
        local worker = {} -- one for each worker's state
        return function(job)
          local file = assert(io.open(os.getenv("RUNS"), "a"))
          file:write(("%s %d %s\n"):format(job.lane, job.payload.n, tostring(worker)))
          file:close()
          if job.payload.n < 30 then
            job:enqueue("chain", { n = job.payload.n + 1 }, { lane = job.lane })
          end
        end]],
      ["handlers/pair.lua"] = "return { limit = { cluster = 2 }, run = " .. RUN .. " }",
    }
    dir = place.path
    process.environment = "RUNS=" .. dir .. "/runs"
  end)

  after_each(function()
    place.remove()
  end)

  local function start()
    return place.start("log", "run", dir, "--workers", "4")
  end

  local function enqueue(...)
    place.moonshift("enqueue", "-C", dir, ...)
  end

  local function left()
    return tonumber(place.sql("SELECT count(*) FROM live")[1])
  end

  local function drain_with_a_kill(jobs)
    start()
    local victim = start()
    process.await("half of the jobs", 20, function()
      return left() < jobs / 2
    end)
    process.freeze(victim, place.store) -- nobody takes over before it is written down
    local file = assert(io.open(dir .. "/runs", "a"))
    file:write("killed ", victim, "\n")
    file:close()
    process.kill(victim, "KILL")
    process.await_end(victim, 5)
    start()
    process.await("all jobs", 30, function()
      return left() == 0
    end)
  end

  -- The most runs that were under way at once, by key. What a killed one had begun has ended.
  local function most()
    local open, count, peak = {}, {}, {}
    local function finish(id, run)
      count[run.key], open[id] = count[run.key] - 1, nil
    end
    for line in process.read(dir .. "/runs"):gmatch("[^\n]+") do
      local what, key, id, who = line:match("^(%a+) (%S+) ?(%d*) ?(%d*)$")
      if what == "begin" then
        open[id] = { key = key, who = who }
        count[key] = (count[key] or 0) + 1
        peak[key] = math.max(peak[key] or 0, count[key])
      elseif what == "end" then
        finish(id, open[id])
      else
        for job, run in pairs(open) do
          if run.who == key then
            finish(job, run)
          end
        end
      end
    end
    return peak
  end

  -- Runs one chain of thirty jobs in each lane; the workers that ran them, as a set.
  local function run_chains(lanes)
    for _, lane in ipairs(lanes) do
      enqueue("chain", '{"n":1}', "--lane", lane)
    end
    start()
    process.await("all jobs", 20, function()
      return left() == 0
    end)
    local workers, runs = {}, 0
    for worker in process.read(dir .. "/runs"):gmatch("%w %d+ ([^\n]+)\n") do
      workers[worker] = true
      runs = runs + 1
    end
    assert.equal(30 * #lanes, runs)
    return workers
  end

  it("run what follows in a lane without another acquisition", function()
    run_chains { "a", "b", "c" }
    process.await("the metrics", 5, function()
      return process.sql(dir .. "/jobs.db",
        "SELECT sum(value) FROM metric WHERE definition=0 AND name=6")[1] == "87"
    end)
  end)

  it("run what follows in a lane on one worker while nothing else waits", function()
    local workers = run_chains { "a" }
    local first = next(workers)
    assert.same({ [first] = true }, workers)
  end)

  it("never run two jobs of one lane at once, whoever dies", function()
    for _, lane in ipairs { "a", "b", "c" } do
      enqueue("lane", "--count", "40", "--lane", lane)
    end
    drain_with_a_kill(120)
    assert.same({ a = 1, b = 1, c = 1 }, most())
  end)

  it("never run more at once than a limit of the cluster, whoever dies", function()
    enqueue("pair", "--count", "80")
    drain_with_a_kill(80)
    assert.same({ pair = 2 }, most())
  end)
end)
