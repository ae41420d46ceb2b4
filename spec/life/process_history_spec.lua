-- Ended instances of processes and their trail leave the history in their time.
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local files = {
  ["processes/short.lua"] = [[local process = require "moonshift.process"
    return { history_time_to_live = "P1D", process.task "look" {}, process.pass "done" {} }]],
  ["processes/long.lua"] = [[local process = require "moonshift.process"
    return { process.task "look" {} }]],
}

describe("the history of instances", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder, history_ttl = "P7D",
      history_cleanup_batch_size = 10 }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  -- Runs so many instances to their end.
  local function run(key, count)
    for _ = 1, count do
      assert(engine:start(key))
      assert(engine:complete(engine:tasks():one().id))
    end
  end

  local function clean()
    engine:clean_history()
    engine:drain()
  end

  it("goes with the trail, by the time to live of the process or else by that of jobs", function()
    run("short", 7)
    run("long", 2)
    local waits = assert(engine:start "short")
    engine:advance "P1D"
    assert.equal(7, engine:history().removable.instances)
    clean()
    assert.same({ 2, 0 }, { engine:past_instances():count(), engine:history().removable.instances })
    assert.equal(7, engine:stats().metrics.removed_instances)
    assert.equal(5, engine:trail():count())
    assert.equal("active", engine:instance(waits).state)
    engine:advance "P6D"
    clean()
    assert.same({ 0, 1 }, { engine:past_instances():count(), engine:trail():count() })
    assert.equal(9, engine:stats().metrics.removed_instances)
  end)

  it("goes in steps of the configured number of rows, each a run of the cleaning job", function()
    run("short", 25)
    engine:advance "P1D"
    clean()
    assert.equal(0, engine:past_instances():count())
    local runs, removed = 0, 0
    for _, entry in ipairs(engine:log({ handler = "moonshift/history_cleanup",
      outcome = "successful" }):list()) do
      for _, line in ipairs(entry.lines or {}) do
        local count = line:match "removed (%d+) instances"
        runs, removed = runs + 1, removed + count
        assert.truthy(tonumber(count) <= 10)
      end
    end
    assert.equal(25, removed)
    assert.truthy(runs >= 3)
  end)
end)
