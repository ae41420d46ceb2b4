-- Traces of processes that wait for people, messages, timers and runs that failed: recorded one job
-- at a time, and driven again by executors. SPEC_TRACES sets how often, SPEC_SEED draws other jobs
-- and inputs.
local process = require "spec.support.process"
local process_traces = require "spec.support.process_traces"

local TRACES = tonumber(os.getenv("SPEC_TRACES") or "1")
local SEED = tonumber(os.getenv("SPEC_SEED") or "29")

-- What differs if something is done to the records each time that executors have run.
local function problems(between)
  math.randomseed(SEED)
  return table.concat(process_traces.run({ workers = 2, executors = 1, only = "tasks",
    between = between }), "\n")
end

describe("the comparison of traces", function()
  it("sees a call too many", function()
    assert.matches("calls\n  tasks/s2: 2, expected 1", problems(function(_, log)
      local file <close> = assert(io.open(log, "a"))
      file:write "tasks s2\n"
    end))
  end)

  it("sees a history that lacks something", function()
    assert.matches("history\n", problems(function(place)
      process.change(place.store, "DELETE FROM trail")
    end))
  end)
end)

describe("traces of processes, seed " .. SEED, function()
  it("are the same one job at a time and by executors with several workers", function()
    math.randomseed(SEED)
    for _ = 1, TRACES do
      local how = { workers = math.random(2, 4), executors = math.random(2) }
      assert.equal("", table.concat(process_traces.run(how), "\n"))
    end
  end)
end)
