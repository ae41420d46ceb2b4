-- Which priorities an executor takes: `priority_range`, both ends included.
local moonshift = require "moonshift"
local testing = require "moonshift.testing"

describe("a priority range", function()
  local engine, seen

  before_each(function()
    seen = {}
    engine = testing.engine {
      handlers = {
        note = function(job)
          seen[#seen + 1] = job.priority
        end,
      },
    }
  end)

  -- What an executor with these settings runs of these priorities, in its order.
  local function taken(settings, priorities)
    for _, priority in ipairs(priorities or { -10, -5, 0, 5, 10 }) do
      engine:enqueue("note", nil, { priority = priority })
    end
    settings.engines = { engine }
    local executor = assert(moonshift.executor(settings))
    repeat until executor:turn().done == 0
    return seen
  end

  it("includes both of its ends", function()
    assert.same({ 5, 0, -5 }, taken { priority_range = { -5, 5 } })
  end)

  it("may be open above", function()
    assert.same({ 10, 5, 0 }, taken { priority_range = { 0, nil } })
  end)

  it("may be open below, and negative", function()
    assert.same({ -5, -10 }, taken { priority_range = { nil, -1 } })
  end)

  it("may be a single priority", function()
    assert.same({ 5, 5 }, taken({ priority_range = { 5, 5 } }, { 4, 5, 6, 5 }))
  end)

  it("reaches to the ends of 64 bits", function()
    local ends = { math.mininteger, math.maxinteger }
    assert.same({ ends[2], ends[1] }, taken({ priority_range = ends }, ends))
  end)

  it("holds without by_priority", function()
    assert.same({ 0, 5, 10 }, taken { priority_range = { 0, nil }, by_priority = false })
  end)

  it("is one of plain priorities, without what age adds", function()
    engine:enqueue("note", nil, { priority = 0 })
    engine:advance("PT1H")
    assert.same({ 9 }, taken({ priority_range = { 1, nil }, aging = "PT1S" }, { 9 }))
  end)

  it("lets go of a job that is moved out of it, and takes one that is moved in", function()
    local out = engine:enqueue("note", nil, { priority = 50 })
    local into = engine:enqueue("note", nil, { priority = 1 })
    engine:set_priority(out, 2)
    engine:set_priority(into, 60)
    assert.same({ 60 }, taken({ priority_range = { 50, nil } }, {}))
  end)

  it("keeps what a handler creates outside of it for others", function()
    engine = testing.engine {
      handlers = {
        parent = function(job)
          job:enqueue("child", {}, { lane = job.lane, priority = -1 })
        end,
        child = function() end,
      },
    }
    engine:enqueue("parent", nil, { lane = "a" })
    taken({ priority_range = { 0, nil } }, {})
    assert.equal("ready", engine:jobs({ handler = "child" }):one().state)
  end)

  it("is refused with its minimum above its maximum", function()
    local executor, message = moonshift.executor { engines = { engine }, priority_range = { 5, 4 } }
    assert.is_nil(executor)
    assert.equal("priority_range: min 5 is above max 4", message)
  end)
end)
