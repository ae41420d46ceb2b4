-- One call that reaches many instances (a message to all, conditions, a restart of several) while
-- two executors run their jobs and a backlog. Each handler is called as often as the rules allow,
-- which is counted on disk.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local MANY, MORE = 60, 120 -- receivers that one unit reaches, and those that jobs reach
local BACKLOG = 200

local WORDS = [[
local process = require "moonshift.process"
local step, task, choose, parallel = process.words()
local function work(name)
  return step(name) { run = "tell", async = true }
end
]]

-- A process that an event starts.
local function begins(event, steps)
  return WORDS .. ("return { process.start 's' { %s }, %s }"):format(event, steps)
end

local FILES = {
  ["moonshift.lua"] = "return { failed_job_wait = 'PT0S', patience = 'PT1M' }\n",
  ["handlers/plain.lua"] = "return function() end",
  -- A line for each call, in one write.
  ["handlers/tell.lua"] = [[
    return function(job)
      local file <close> = assert(io.open(os.getenv("RUNS"), "a"))
      file:setvbuf("full")
      file:write(("%d %s %s\n"):format(job.instance, job.activity, job.variables.n or "-"))
    end]],
  -- What waits for a message, beside a branch whose jobs keep its lane busy.
  ["processes/waits.lua"] = WORDS .. [[
    return { parallel {
      { work "one", work "two", work "three" },
      { process.wait "w" { message = "M", key = "${key}" }, work "got" },
      { task "stays" { on_message = { "M", key = "${key}", interrupting = false,
        work "beside" } } },
    } }]],
  ["processes/begins.lua"] = begins('message = "M"', 'work "begun"'),
  ["processes/low.lua"] = begins('when = "${n < 5}"', 'work "low", work "behind"'),
  ["processes/none.lua"] = begins('when = "${n == 0}"', 'work "none"'),
  ["processes/held.lua"] = begins('when = "${n < 9}"', 'work "held"'),
  ["processes/ends.lua"] = WORDS .. 'return { work "one", work "two", work "three" }',
  ["processes/stands.lua"] = WORDS .. 'return { work "one", task "stays" {}, work "two" }',
}

describe("many instances beside executors:", function()
  local place, engine

  before_each(function()
    place = executors.place(FILES)
    process.environment = "RUNS=" .. process.quote(place.path .. "/runs")
    engine = assert(moonshift.open { store = place.url, scripts = place.path })
    place.enqueue("plain", BACKLOG)
  end)

  after_each(function()
    engine:close()
    place.remove()
    process.environment = ""
  end)

  local function begin()
    place.executor("--workers", "4")
    place.executor("--workers", "4")
  end

  local function all_done()
    process.await("the end of all jobs", 60, function()
      return engine:jobs({ suspended = false }):count() == 0
    end)
    assert.equal(0, engine:jobs({ no_retries_left = true }):count())
    local status, output, errors = process.moonshift("check", "--store", place.url)
    assert.equal(0, status, output .. errors)
    assert.equal(BACKLOG, engine:log({ handler = "plain", outcome = "successful" }):count())
  end

  -- { [instance] = { [activity] = how often its handler was called } }
  local function calls()
    local found = {}
    for id, activity in place.log("runs"):gmatch("(%d+) (%w+) %S+\n") do
      id = tonumber(id)
      found[id] = found[id] or {}
      found[id][activity] = (found[id][activity] or 0) + 1
    end
    return found
  end

  -- How often the handlers of these activities were called, whatever the instance.
  local function sums()
    local found = {}
    for activity in place.log("runs"):gmatch("%d+ (%w+)") do
      found[activity] = (found[activity] or 0) + 1
    end
    return found
  end

  local function start(key, count, given)
    local list = {}
    for i = 1, count do
      list[i] = { key, given }
    end
    return assert(engine:start(list))
  end

  local function each_called(ids, wanted)
    local found = calls()
    for _, id in ipairs(ids) do
      assert.same(wanted, found[id], "instance " .. id)
    end
  end

  describe("a message to all", function()
    local WORK = { one = 1, two = 1, three = 1 }

    local function with(more)
      local wanted = {}
      for _, part in ipairs { WORK, more } do
        for name, count in pairs(part) do
          wanted[name] = count
        end
      end
      return wanted
    end

    -- Programs that give it at the same time.
    local function give(count, key)
      local list = {}
      for i = 1, count do
        list[i] = { "message", "M", "--all", "--key", key }
      end
      place.race(list)
    end

    for _, count in ipairs { MANY, MORE } do
      it(("reaches each of %d that wait once, and begins"):format(count), function()
        local ids = start("waits", count, { variables = { key = "a" } })
        local others = start("waits", 10, { variables = { key = "b" } })
        local held = start("waits", 10, { variables = { key = "a" } })
        for _, id in ipairs(held) do
          assert(engine:suspend_instance(id))
        end
        begin()
        give(3, "a")
        all_done()
        each_called(ids, with { got = 1, beside = 3 })
        each_called(others, WORK)
        assert.same({}, { calls()[held[1]], calls()[held[10]] })
        assert.equal(3, sums().begun)
        for _, id in ipairs(held) do
          assert(engine:activate_instance(id))
        end
        give(1, "a")
        all_done()
        each_called(ids, with { got = 1, beside = 4 })
        each_called(held, with { got = 1, beside = 1 })
        each_called(others, WORK)
      end)
    end
  end)

  it("conditions start each process whose condition holds, as often as they are given", function()
    assert(engine:suspend_process("held"))
    begin()
    local list = {}
    for n = 0, 9 do
      list[n + 1] = { "conditions", "n=" .. n }
    end
    for _ = 1, 3 do
      place.race(list)
    end
    for n = 0, 9 do
      assert.equal(n == 0 and 2 or n < 5 and 1 or 0, #assert(engine:conditions { n = n }))
    end
    all_done()
    assert.same({ low = 20, behind = 20, none = 4 }, sums())
    for id, found in pairs(calls()) do
      assert.same(engine:instance(id).process == "low" and { low = 1, behind = 1 } or { none = 1 },
        found)
    end
  end)

  describe("a restart of several", function()
    local AT_TWO = { { start_before = "two" } }

    it("begins each of them once, in each of the programs that ask", function()
      local ids = start("ends", MANY)
      begin()
      all_done()
      start("ends", MANY)
      local again = assert(engine:restart_instance(ids, AT_TWO))
      local words = { "instance", "restart", table.unpack(ids) }
      table.move({ "--start-before", "three" }, 1, 2, #words + 1, words)
      assert.same({ ["N instances restarted\n"] = 2 }, place.race { words, words })
      all_done()
      each_called(again, { two = 1, three = 1 })
      assert.same({ one = 2 * MANY, two = 3 * MANY, three = 5 * MANY }, sums())
      assert.equal(5 * MANY, engine:past_instances({ process = "ends", how = "completed" }):count())
    end)

    it("begins none where one has not ended", function()
      local ids = start("ends", MANY)
      begin()
      all_done()
      local standing = start("stands", 1)
      table.insert(ids, standing[1])
      local done, message = engine:restart_instance(ids, AT_TWO)
      assert.is_nil(done)
      assert.matches(("instance %d has not ended"):format(standing[1]), message)
      all_done()
      assert.same({ one = MANY + 1, two = MANY, three = MANY }, sums())
    end)
  end)
end)
