-- Counts of jobs by state and handler: counters say the same as the rows.
local engines = require "spec.support.engines"
local program = require "spec.support.program"
local testing = require "moonshift.testing"

local STATES = { "ready", "scheduled", "locked", "waiting", "suspended", "dead" }

describe("a count of jobs", function()
  local engine

  before_each(function()
    local function fine() end
    engine = testing.engine { handlers = { one = fine, two = fine, bad = { retry = "R1/PT0S",
      run = function() error "no" end } } }
  end)

  after_each(engines.clean)

  -- The filters with one that every job fits, which no counter knows.
  local function by_rows(filters)
    local more = { min_priority = -100 }
    for name, value in pairs(filters) do
      more[name] = value
    end
    return engine:jobs(more):count()
  end

  local function check()
    local all = { {}, { state = { "ready", "scheduled" } }, { state = STATES },
      { handler = { "one", "bad", "nobody" } }, { handler = "nobody" } }
    for _, state in ipairs(STATES) do
      all[#all + 1] = { state = state }
      for _, handler in ipairs { "one", "two", "bad", "topic/ocr" } do
        all[#all + 1] = { handler = handler }
        all[#all + 1] = { state = state, handler = handler }
      end
    end
    for _, filters in ipairs(all) do
      assert.equal(by_rows(filters), engine:jobs(filters):count(),
        ("%s %s"):format(filters.state, filters.handler))
    end
  end

  it("says what the rows say, wherever they are", function()
    check()
    for n = 1, 4 do
      engine:enqueue("one", {}, { lane = "l" .. n % 2 })
      engine:enqueue("two", {}, { after = "PT1H" })
      engine:enqueue("two", {}, { after = "PT1H", lane = "later" })
      engine:enqueue("topic/ocr", {}, { lane = "ocr" })
      engine:enqueue("bad")
    end
    check()
    local jobs = assert(engine:fetch { worker = "w", topics = { "ocr" }, max = 2, lock = "PT2H" })
    check() -- one is locked, those of its lane wait
    assert.equal(3, engine:jobs({ state = "waiting" }):count())
    engine:suspend(engine:jobs({ handler = "one" }):list()[1].id)
    engine:suspend(jobs[1].id)
    check()
    engine:advance "PT1H" -- what is due is ready before anybody has promoted it
    check()
    assert.equal(4, engine:jobs({ handler = "two", state = "ready", lane = "later" }):count())
    engine:drain()
    check()
    assert.equal(4, engine:jobs({ state = "dead" }):count())
  end)

  it("refuses what is no state, and names it", function()
    local count, message = engine:jobs({ state = "runing" }):count()
    assert.is_nil(count)
    assert.matches('"runing"', message)
  end)
end)

describe("a list of one state", function()
  local MANY = 100001 -- more than are listed one by one

  -- The first ids of a state, where many jobs of another one stand before.
  local function first(state, before, behind)
    local place = program.place { ["handlers/work.lua"] = "return function() end" }
    local file = assert(io.open(place.path .. "/jobs.jsonl", "w"))
    file:write((before .. "\n"):rep(10001), (behind .. "\n"):rep(MANY))
    file:close()
    assert.equal(0, (place.run("enqueue", "--from", "jobs.jsonl")))
    local _, output = place.run("job", "list", "--state", state, "--limit", "2", "--json")
    place.clean()
    local ids = {}
    for id in output:gmatch('"id":(%d+)') do
      ids[#ids + 1] = id
    end
    return table.concat(ids, " ")
  end

  local READY, LATER = '{"handler":"work"}', '{"handler":"work","after":"P1D"}'

  it("begins with the first of them, wherever that is", function()
    assert.equal("10002 10003", first("scheduled", READY, LATER))
    assert.equal("10002 10003", first("ready", LATER, READY))
    assert.equal("1 2", first("scheduled", LATER, READY))
  end)
end)
