-- Schedules while several executors load one folder, reload it, and die.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

describe("a schedule of several executors", function()
  local place, pids

  before_each(function()
    place = executors.place {
      ["handlers/tick.lua"] = "return function() end\n",
      ["schedules/a.lua"] = "return { handler = 'tick', cycle = 'R/PT0.1S', misfire = 'all',\n"
        .. "  overlap = 'queue' }\n",
    }
    pids = place.pids
  end)

  after_each(function()
    place.remove()
  end)

  local function start(name)
    return place.start("log", "run", place.path, "--name", name)
  end

  local function runs()
    return tonumber(place.sql("SELECT count(*) FROM ended")[1]) or 0
  end

  local function more(count)
    local wanted = runs() + count
    assert.is_true(process.await("more runs", 30, function()
      return runs() >= wanted
    end))
  end

  it("is one, and each of its dates is run once, whoever is killed", function()
    for i = 1, 3 do
      start("node-" .. i)
    end
    process.await("a store", 30, function()
      return runs() > 0
    end)
    for i = 1, 2 do
      more(5)
      process.kill(pids[3], "HUP")
      process.kill(pids[i], "KILL")
    end
    process.await("the others are buried", 30, function()
      return place.sql("SELECT count(*) FROM executor WHERE state<>0")[1] == "1"
    end)
    more(5)
    process.kill(pids[3], "INT")
    process.await_end(pids[3], 30)
    -- One waits for its date; one that was locked as the end came may have been given back.
    assert.same({ "1|1|0" }, place.sql("SELECT count(*), (SELECT count(*) FROM schedule),"
      .. " (SELECT count(*) FROM locked) FROM live WHERE repeat_done IS NULL"))
    -- From the first date to the last, none is missing and none is twice.
    assert.same({ "0|100" }, place.sql("SELECT count(*)-count(DISTINCT due),"
      .. " (max(due)-min(due))/(count(*)-1) FROM ended"))
    place.moonshift("check")
  end)
end)
