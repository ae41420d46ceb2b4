-- Which job runs first: priority, age, lanes.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local testing = require "moonshift.testing"

describe("the order of jobs", function()
  local engine, seen

  before_each(function()
    seen = {}
    engine = testing.engine {
      handlers = {
        note = function(job)
          seen[#seen + 1] = job.payload.n
        end,
      },
    }
  end)

  after_each(engines.clean)

  local function note(n, options)
    return assert(engine:enqueue("note", { n = n }, options))
  end

  it("is by priority, highest first", function()
    note(1, { priority = 5 })
    note(2, { priority = -3 })
    note(3, { priority = 50 })
    note(4)
    engine:drain()
    assert.same({ 3, 1, 4, 2 }, seen)
  end)

  it("is by age within a priority", function()
    note(1)
    engine:advance(1)
    note(2, { at = "2025-06-01T00:00:00Z" })
    note(3)
    engine:drain()
    assert.same({ 2, 1, 3 }, seen)
  end)

  it("lets a due timer run among the others", function()
    note(1, { after = "PT1M" })
    engine:drain()
    assert.same({}, seen)
    engine:advance("PT59.999S")
    engine:drain()
    assert.same({}, seen)
    engine:advance(0.001)
    engine:drain()
    assert.same({ 1 }, seen)
  end)

  it("follows set_priority", function()
    note(1)
    local id = note(2)
    engine:set_priority(id, 9)
    engine:drain()
    assert.same({ 2, 1 }, seen)
  end)

  it("asks a priority function at creation", function()
    local private = engines.private {
      ["handlers/pay.lua"] = 'return { priority = "by_amount", run = function() end }',
      ["priorities/by_amount.lua"] =
        "return function(job) return math.min(80, 20 + (job.payload.amount or 0) // 100) end",
    }
    assert.equal(21, private:job(private:enqueue("pay", { amount = 120 })).priority)
    assert.equal(80, private:job(private:enqueue("pay", { amount = 10 ^ 6 })).priority)
    assert.equal(5, private:job(private:enqueue("pay", {}, { priority = 5 })).priority)
  end)

  it("reads a priority from an expression", function()
    local function priority_of(text, payload, settings)
      local private = engines.private({
        ["handlers/pay.lua"] = ("return { priority = %q, run = print }"):format(text),
      }, settings)
      local id, message = private:enqueue("pay", payload)
      return id and private:job(id).priority, message, private
    end
    assert.equal(50, (priority_of("${50}")))
    assert.equal(-7, (priority_of(" #{ -7.0 } ")))
    assert.equal(3, (priority_of("${payload.rank}", { rank = 3 })))
    assert.equal(3, (priority_of("#{rank}", { rank = 3.0 })))
    assert.equal(9, (priority_of("${order.rank}", { order = { rank = 9 } })))
    assert.equal(3, (priority_of("${job.retries}")))
    assert.equal(8, (priority_of("${payload}", 8)))
    assert.equal(90, (priority_of("${vip ? 90 : 10}", { vip = true })))
    assert.equal(10, (priority_of("${vip ? 90 : 10}", {})))
    assert.equal(12, (priority_of("${2 * (rank + 1)}", { rank = 5 })))
    assert.equal(4, (priority_of("${rank}", {}, { priority = 4 })))
    assert.equal(4, (priority_of("${nil}", {}, { priority = 4 })))
    for _, value in ipairs { "7", 0.5, true, { 1 }, "${7}", 1e300 } do
      local priority, message, private = priority_of("${rank}", { rank = value })
      assert.is_nil(priority)
      assert.matches('priority of "pay": the expression ${rank} ', message, 1, true)
      assert.equal(0, private:jobs():count())
    end
  end)

  it("refuses an expression of a priority that is none, or a program", function()
    local refused = {
      ["${1 + }"] = 'unexpected "}" (position 7)',
      ["${'7'}"] = 'got the string "7" (expected a whole number)',
      ["${0.5}"] = "got 0.5 (expected a whole number)",
      ["${rank"] = "it ends too early (expected }) (position 7)",
    }
    for text, message in pairs(refused) do
      local folder = engines.folder {
        ["handlers/pay.lua"] = ("return {\n priority = %q, run = print }"):format(text),
      }
      local _, got = moonshift.open { store = "sqlite::memory:", scripts = folder }
      assert.equal(('handlers/pay.lua:2: priority "%s": %s'):format(text, message), got)
    end
  end)

  it("asks the next rule where a priority function has no opinion", function()
    local files = {
      ["handlers/pay.lua"] = "return { priority = function() end, run = print }",
      ["handlers/make.lua"] = "return function(job) job:enqueue('pay') end",
    }
    local private = engines.private(files, { priority = 6 })
    assert.equal(6, private:job(private:enqueue("pay")).priority)
    assert.equal(2, private:job(private:enqueue("pay", nil, { priority = 2 })).priority)
    private:definition("pay"):override_priority(40)
    assert.equal(40, private:job(private:enqueue("pay")).priority)
    private:definition("pay"):clear_override()
    private:delete(private:jobs())
    private:enqueue("make")
    private:turn()
    assert.equal(6, private:jobs({ handler = "pay" }):one().priority)
  end)

  it("refuses a priority that is no integer, and writes nothing", function()
    local private = engines.private {
      ["handlers/pay.lua"] = "return { priority = function() return 0.5 end, run = print }",
    }
    local id, message = private:enqueue("pay")
    assert.is_nil(id)
    assert.matches("0.5", message, 1, true)
    assert.equal(0, private:jobs():count())
  end)

  it("ignores every priority when produce_priorities is off", function()
    local private = engines.private({
      ["handlers/pay.lua"] = "return { priority = 7, run = print }",
    }, { produce_priorities = false })
    assert.equal(0, private:job(private:enqueue("pay", {}, { priority = 9 })).priority)
  end)

  it("ignores priorities when by_priority is off", function()
    engine = testing.engine {
      by_priority = false,
      handlers = {
        note = function(job)
          seen[#seen + 1] = job.payload.n
        end,
      },
    }
    note(1)
    note(2, { priority = 9 })
    engine:drain()
    assert.same({ 1, 2 }, seen)
  end)

  it("has a level for each setting that is on, in a fixed precedence", function()
    local function order(settings)
      settings.handlers = { note = function(job) seen[#seen + 1] = job.payload.n end }
      engine, seen = testing.engine(settings), {}
      note("first")
      note("timer", { at = "2026-01-01T00:00:10Z" })
      note("high", { priority = 5 })
      note("high timer", { priority = 5, at = "2026-01-01T00:00:05Z" })
      engine:advance("PT1M")
      engine:drain()
      return seen
    end
    assert.same({ "high", "high timer", "first", "timer" }, order {})
    assert.same({ "high timer", "high", "timer", "first" }, order { prefer_timers = true })
    assert.same({ "first", "high", "high timer", "timer" }, order { by_priority = false })
    assert.same({ "high timer", "timer", "first", "high" },
      order { by_priority = false, prefer_timers = true })
    assert.same({ "first", "timer", "high", "high timer" },
      order { by_priority = false, by_due_date = false })
  end)

  it("counts as timers what was created with a date, not what waits for a retry", function()
    engine = testing.engine {
      prefer_timers = true,
      retry = "PT1S",
      handlers = {
        note = function(job)
          if job.payload.n == "retried" and job.attempt == 1 then error("not yet") end
          seen[#seen + 1] = job.payload.n
        end,
      },
    }
    note("retried")
    engine:drain()
    note("timer", { after = "PT5S" })
    engine:advance("PT10S")
    engine:drain()
    assert.same({ "timer", "retried" }, seen)
  end)

  it("ages waiting jobs when told to", function()
    engine = testing.engine {
      aging = "PT10S",
      handlers = {
        note = function(job)
          seen[#seen + 1] = job.payload.n
        end,
      },
    }
    note(1, { priority = 0 })
    engine:advance("PT100S")
    note(2, { priority = 9 })
    note(3, { priority = 11 })
    engine:drain()
    assert.same({ 3, 1, 2 }, seen)
  end)

  it("keeps the jobs of a lane in order, and one at a time", function()
    for i = 1, 40 do
      note(i, { lane = "customer-9" })
    end
    engine:drain()
    for i = 1, 40 do
      assert.equal(i, seen[i])
    end
  end)

  it("lets the next of a lane run when one fails and waits", function()
    engine = testing.engine {
      retry = "R2/PT1M",
      handlers = {
        note = function(job)
          seen[#seen + 1] = job.payload.n
          assert(job.payload.n ~= 1 or job.attempt > 1)
        end,
      },
    }
    note(1, { lane = "a" })
    note(2, { lane = "a" })
    engine:drain()
    engine:advance("PT1M")
    engine:drain()
    assert.same({ 1, 2, 1 }, seen)
    assert.equal(0, engine:jobs():count())
  end)

  it("runs every job of many lanes and priorities", function()
    local count = 0
    for i = 1, 300 do
      note(i, { lane = "l" .. i % 7, priority = i % 3, exclusive = i % 5 ~= 0 })
      count = count + 1
    end
    assert.same({ done = count, failed = 0 }, engine:drain())
    assert.equal(0, engine:jobs():count())
  end)
end)
