-- How many jobs of one definition run at once: `limit` of a handler.
local engines = require "spec.support.engines"
local testing = require "moonshift.testing"

describe("a limit", function()
  after_each(engines.clean)

  local function engine(limit, extra)
    local files = { ["handlers/free.lua"] = "return function() end" }
    files["handlers/tight.lua"] = ("return { limit = %s, run = function() end }"):format(limit)
    for path, text in pairs(extra or {}) do
      files[path] = text
    end
    return engines.private(files)
  end

  local function enqueue(at, handler, count, options)
    for _ = 1, count do
      assert(at:enqueue(handler, nil, options))
    end
  end

  it("is what is locked at most in one acquisition", function()
    local at = engine("2")
    enqueue(at, "tight", 5)
    assert.equal(2, at:turn().acquired)
    assert.equal(2, at:turn().acquired)
    assert.equal(1, at:turn().acquired)
  end)

  it("holds for all streams of a definition together", function()
    local at = engine("3")
    enqueue(at, "tight", 2, { category = "a" })
    enqueue(at, "tight", 2, { at = "2025-01-01T00:00:00Z" })
    enqueue(at, "tight", 2)
    assert.equal(3, at:turn().acquired)
  end)

  it("holds up no other definition", function()
    local at = engine("1")
    enqueue(at, "tight", 3, { priority = 100 })
    enqueue(at, "free", 4)
    assert.equal(5, at:turn().acquired)
  end)

  it("ends: all jobs run in one drain", function()
    local at = engine("{ cluster = 2 }")
    enqueue(at, "tight", 25)
    assert.equal(25, at:drain().done)
  end)

  it("may be set by a listener, and is shown", function()
    local at = engine("nil", {
      ["listeners/l.lua"] =
        'return function(d) if d.name == "tight" then d.limit = { cluster = 3 } end end',
    })
    assert.same({ cluster = 3 }, at:definition("tight").limit)
    enqueue(at, "tight", 4)
    assert.equal(3, at:turn().acquired)
  end)

  it("counts a lane's jobs one by one", function()
    local at = engine("2")
    enqueue(at, "tight", 5, { lane = "a" })
    assert.equal(2, at:turn().acquired)
    assert.equal(3, at:drain().done)
  end)

  it("counts what is run by hand, and does not refuse it", function()
    local at = engine("1")
    enqueue(at, "tight", 1)
    local id = at:enqueue("tight")
    assert.equal(nil, (select(2, at:execute(id))))
    assert.equal(1, at:drain().done)
  end)

  it("lets a follow-up run only while it is not full", function()
    local at = engines.private {
      ["handlers/tight.lua"] = [[
        return { limit = 1, run = function(job)
          for _ = 1, job.payload.n or 0 do
            job:enqueue("tight", {}, { lane = "a" })
          end
        end }]],
    }
    at:enqueue("tight", { n = 3 }, { lane = "a" })
    local turn = at:turn()
    assert.same({ 1, 2 }, { turn.acquired, turn.done })
    assert.equal(2, at:drain().done)
  end)

  -- How many the second of two executors acquires while the first has locked what it may.
  local function acquired_beside(limit)
    local acquired
    local folder = engines.folder {
      ["handlers/tight.lua"] = ("return { limit = %s, run = function() end }"):format(limit),
    }
    local given = { store = "sqlite:" .. folder .. "/jobs.db", scripts = folder, name = "second" }
    local second = testing.engine(given)
    given.name = "first"
    given.handlers = {
      look = function()
        acquired = second:turn().acquired
      end,
    }
    local first = testing.engine(given)
    enqueue(first, "tight", 3)
    enqueue(first, "look", 1, { priority = 2 })
    first:turn()
    first:close()
    second:close()
    return acquired
  end

  it("is each executor's own", function()
    assert.equal(1, acquired_beside "1")
  end)

  it("is that of all executors together with cluster", function()
    assert.equal(0, acquired_beside "{ cluster = 1 }")
  end)

  -- The first of two executors runs a job, to which an operator does `verb` meanwhile. How many
  -- jobs the second acquires before the run has ended, and after it.
  local function acquired_around(verb)
    local before
    local folder = engines.folder {
      ["handlers/tight.lua"] = "return { limit = { cluster = 1 }, run = function() end }",
    }
    local given = { store = "sqlite:" .. folder .. "/jobs.db", scripts = folder, name = "second" }
    local second = testing.engine(given)
    given.name = "first"
    given.handlers = {
      look = function()
        assert(second[verb](second, second:jobs { handler = "tight", locked = true }:one().id))
        before = second:turn().acquired
      end,
    }
    local first = testing.engine(given)
    enqueue(first, "tight", 3)
    enqueue(first, "look", 1, { priority = 2 })
    first:turn()
    local after = second:turn().acquired
    first:close()
    second:close()
    return { before, after }
  end

  it("counts a run that was cancelled until it has ended", function()
    assert.same({ 0, 1 }, acquired_around "cancel")
  end)

  it("counts a run that was suspended until it has ended", function()
    assert.same({ 0, 1 }, acquired_around "suspend")
  end)
end)
