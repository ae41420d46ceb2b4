-- The processes that a bench measures have the shapes that it runs in other engines, too.
require "spec.support.scripts"
local testing = require "moonshift.testing"

-- Of one instance: jobs, calls of a handler before its message, and calls in all.
local shapes = {
  async1 = { jobs = 1, before = 1, calls = 1 },
  five = { jobs = 5, before = 5, calls = 5 },
  fork = { jobs = 2, before = 2, calls = 2 },
  timer = { jobs = 1, before = 1, calls = 1 },
  ten = { jobs = 10, before = 10, calls = 10 },
  message = { jobs = 0, before = 2, calls = 5 },
}

local function kinds()
  return dofile "core/bench/processes.lua"
end

-- Runs one instance of a kind to its end, and returns its shape.
local function shape_of(kind)
  local shape, jobs = { jobs = 0, calls = 0 }, {}
  local engine <close> = testing.engine { scripts = "core/bench", handlers = {
    noop = function()
      shape.calls = shape.calls + 1
    end,
  } }
  assert(engine:start(kind.process, { key = "o-1" }))
  engine:drain()
  shape.before = shape.calls
  if kind.commands == 2 then
    assert(engine:correlate("paid", { key = "o-1" }))
    engine:drain()
  end
  assert.equal(0, engine:instances():count(), kind.kind)
  engine:log():each(function(row)
    shape.jobs = shape.jobs + (jobs[row.job] and 0 or 1)
    jobs[row.job] = true
  end)
  return shape
end

describe("processes of a bench", function()
  it("have the tasks, waits and jobs of the same process in other engines", function()
    for _, kind in ipairs(kinds()) do
      assert.same(shapes[kind.process], shape_of(kind), kind.kind)
    end
  end)

  it("say how many jobs an instance has", function()
    for _, kind in ipairs(kinds()) do
      assert.equal(shapes[kind.process].jobs, kind.jobs, kind.kind)
    end
  end)
end)
