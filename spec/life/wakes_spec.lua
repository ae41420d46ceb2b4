-- Whoever ends or creates something tells the loop of the executor, which acts at once. Each
-- hand-over happens several times here: a loop that nobody wakes looks once a second, so most of
-- them would take about a second. On the busiest machine most are quicker than half of that.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local TIMES = 16
local QUICK = 500 -- milliseconds

local FILES = {
  ["handlers/chain.lua"] = [[
return function(job)
  if job.payload.left > 0 then
    job:enqueue("chain", { left = job.payload.left - 1 })
  end
end
]],
  ["handlers/plain.lua"] = "return function() end\n",
  ["handlers/fails.lua"] = [[
return { retry = "R20/PT0S", run = function(job)
  if job.retries > 4 then
    error "again"
  end
end }
]],
  ["processes/steps.lua"] = [[
local p = require "moonshift.process"
local list = {}
for i = 1, 17 do
  list[i] = p.step("s" .. i) { run = "plain", async = true }
end
return list
]],
}

describe("an executor goes on at once", function()
  local place

  before_each(function()
    place = executors.place(FILES)
  end)

  after_each(function()
    place.remove()
  end)

  -- When each run began and ended, in their order.
  local function runs()
    local list = {}
    for i, row in ipairs(place.sql("SELECT started || ' ' || at FROM (SELECT started, at FROM ended"
      .. " UNION ALL SELECT started, at FROM attempt) x ORDER BY started, at")) do
      local started, at = row:match("^(%d+) (%d+)$")
      list[i] = { started = tonumber(started), at = tonumber(at) }
    end
    return list
  end

  -- Runs all that is there by two workers.
  local function drained(...)
    place.moonshift("run", "-C", place.path, "--drain", "--log-level", "error", "--workers", "2",
      ...)
    return runs()
  end

  local function median(list)
    table.sort(list)
    return list[(#list + 1) // 2]
  end

  -- How long it usually took from the end of one of these runs to the begin of the next one.
  local function gap(list, count)
    local gaps = {}
    assert.equal(count, #list)
    for i = 2, count do
      gaps[i - 1] = list[i].started - list[i - 1].at
    end
    return median(gaps)
  end

  it("behind a job that creates the next one", function()
    place.enqueue("chain", 1, ('{"left":%d}'):format(TIMES))
    assert.is_true(gap(drained(), TIMES + 1) < QUICK)
  end)

  it("behind a job of a lane", function()
    place.enqueue("plain", TIMES, "--lane", "a")
    assert.is_true(gap(drained("--lane-run", "1"), TIMES) < QUICK)
  end)

  it("behind a run that has failed", function()
    place.enqueue("fails", 1)
    assert.is_true(gap(drained(), TIMES + 1) < QUICK)
  end)

  it("behind a step of a process", function()
    place.moonshift("process", "start", "steps", "-C", place.path)
    assert.is_true(gap(drained(), TIMES + 1) < QUICK)
  end)

  it("when another process creates a job", function()
    local waits = {}
    place.executor("--workers", "1")
    for i = 1, TIMES // 2 do
      place.enqueue("plain", 1)
      process.await("a run", 60, function()
        return #runs() == i
      end)
      waits[i] = tonumber(place.sql(
        "SELECT started-created FROM ended ORDER BY seq DESC LIMIT 1")[1])
    end
    assert.is_true(median(waits) < QUICK)
  end)
end)
