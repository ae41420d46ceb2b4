-- Counters of what was done, and what waits: engine:stats().
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

describe("metrics", function()
  local engine

  before_each(function()
    engine = testing.engine {
      failed_job_wait = "PT0S",
      handlers = {
        fine = function() end,
        fail = function()
          error("no luck", 0)
        end,
        lost = function(job)
          engine:suspend(job.id)
        end,
        again = function(job)
          job:snooze(60)
        end,
      },
    }
  end)

  after_each(engines.clean)

  -- The counters of a definition, or of all.
  local function metrics(name)
    local stats = engine:stats()
    for _, definition in ipairs(stats.definitions) do
      if definition.name == name then
        return definition.metrics
      end
    end
    return stats.metrics
  end

  it("count successes and failures, by definition and in total", function()
    engine:enqueue("fine")
    engine:enqueue("fail")
    engine:drain()
    assert.same({ 1, 0 }, { metrics("fine").successful, metrics("fine").failed })
    assert.same({ 0, 3 }, { metrics("fail").successful, metrics("fail").failed })
    assert.same({ 1, 3, 4 },
      { metrics().successful, metrics().failed, metrics().acquired })
    assert.equal(3, metrics("fail").acquired)
  end)

  it("count looks for work, also those in vain #looks", function()
    engine:drain()
    engine:enqueue("fine")
    engine:drain()
    assert.is_true(metrics().acquisitions >= 2)
    assert.equal(1, metrics().acquired)
  end)

  it("count commits that were refused, which are neither success nor failure", function()
    engine:enqueue("lost")
    engine:drain()
    local counted = metrics("lost")
    assert.same({ 1, 0, 0 }, { counted.stale_commits, counted.successful, counted.failed })
  end)

  it("count a snooze as nothing but an acquisition", function()
    engine:enqueue("again")
    engine:drain()
    local counted = metrics("again")
    assert.same({ 1, 0, 0, 0 },
      { counted.acquired, counted.successful, counted.failed, counted.rejected })
  end)

  it("tell how long the oldest job that could run has waited", function()
    assert.is_nil(engine:stats().oldest_ready_age)
    engine:advance(60)
    engine:enqueue("fine", nil, { after = 10 })
    engine:enqueue("fine")
    engine:advance(30)
    assert.equal(30.0, engine:stats().oldest_ready_age)
    assert.equal("2026-01-01T00:01:00.000Z", engine:stats().oldest_ready)
  end)

  it("of a running executor reach the store within about a second", function()
    local dir = engines.folder { ["handlers/fine.lua"] = "return function() end" }
    local where = { "-C", dir, "--store", "sqlite:" .. dir .. "/jobs.db" }
    process.moonshift("enqueue", "fine", "--count", "20", table.unpack(where))
    local pid = process.start(dir .. "/log", "run", table.unpack(where))
    process.await("the counters", 10, function()
      return select(2, process.moonshift("stats", "--json", table.unpack(where)))
        :find('"successful":20', 1, true)
    end)
    process.kill(pid, "TERM")
    process.await_end(pid, 5)
    local _, output = process.moonshift("stats", "--json", table.unpack(where))
    assert.truthy(output:find('"rejected":0', 1, true))
  end)
end)
