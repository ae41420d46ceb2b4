-- How many jobs of one definition start in any window: `rate` of a handler.
local engines = require "spec.support.engines"

describe("a rate", function()
  after_each(engines.clean)

  local function engine(rate, extra)
    local files = { ["handlers/free.lua"] = "return function() end" }
    files["handlers/slow.lua"] = ("return { rate = %q, run = function() end }"):format(rate)
    for path, text in pairs(extra or {}) do
      files[path] = text
    end
    return engines.private(files)
  end

  local function enqueue(at, handler, count, options)
    local id
    for _ = 1, count do
      id = assert(at:enqueue(handler, nil, options))
    end
    return id
  end

  it("is what starts in one window", function()
    local at = engine "3/PT1M"
    enqueue(at, "slow", 5)
    assert.equal(3, at:turn().acquired)
    assert.equal(0, at:turn().acquired)
    at:advance "PT59.999S"
    assert.equal(0, at:turn().acquired)
    at:advance(0.001)
    assert.equal(2, at:turn().acquired)
  end)

  it("slides: each start makes room a window later", function()
    local at = engine "2/PT1M"
    enqueue(at, "slow", 1)
    at:turn()
    at:advance "PT40S"
    enqueue(at, "slow", 4)
    assert.equal(1, at:turn().acquired)
    at:advance "PT20S"
    assert.equal(1, at:turn().acquired)
    at:advance "PT20S"
    assert.equal(0, at:turn().acquired)
    at:advance "PT20S"
    assert.equal(1, at:turn().acquired)
  end)

  it("says when the next turn is worth while", function()
    local at = engine "1/PT1M"
    enqueue(at, "slow", 2)
    at:turn()
    at:advance "PT15S"
    assert.equal(45, at:turn().wait)
  end)

  it("holds up no other definition", function()
    local at = engine "1/PT1M"
    enqueue(at, "slow", 3, { priority = 100 })
    enqueue(at, "free", 4)
    assert.equal(5, at:turn().acquired)
    enqueue(at, "free", 4)
    assert.equal(4, at:drain().done)
  end)

  it("holds for all streams of a definition together", function()
    local at = engine "3/PT1M"
    enqueue(at, "slow", 2, { category = "a" })
    enqueue(at, "slow", 2, { at = "2025-01-01T00:00:00Z" })
    enqueue(at, "slow", 2, { lane = "b" })
    assert.equal(3, at:turn().acquired)
  end)

  it("costs no retry", function()
    local at = engine "1/PT1M"
    local id = enqueue(at, "slow", 2)
    at:drain()
    local job = at:job(id)
    assert.same({ "ready", 3, 1 }, { job.state, job.retries, job.attempt })
  end)

  it("counts a retry as a start", function()
    local at = engine("2/PT1M", {
      ["handlers/slow.lua"] = 'return { rate = "2/PT1M", retry = "R3/PT0S",\n'
        .. 'run = function() error("no") end }',
    })
    local id = enqueue(at, "slow", 1)
    assert.equal(2, at:drain().failed)
    assert.equal(1, at:job(id).retries)
    at:advance "PT1M"
    assert.equal(1, at:drain().failed)
    assert.equal("dead", at:job(id).state)
  end)

  it("counts what is run by hand, and does not hold it up", function()
    local at = engine "1/PT1M"
    enqueue(at, "slow", 1)
    local id = enqueue(at, "slow", 1)
    at:drain()
    at:advance "PT30S"
    assert.equal(nil, (select(2, at:execute(id))))
    enqueue(at, "slow", 1)
    at:advance "PT30S"
    assert.equal(0, at:drain().done)
    at:advance "PT30S"
    assert.equal(1, at:drain().done)
  end)

  it("lets no job run in a lane behind another before it may", function()
    local at = engine "1/PT1M"
    enqueue(at, "slow", 2, { lane = "a", priority = 1 })
    enqueue(at, "free", 2, { lane = "a" })
    assert.equal(3, at:drain().done)
    at:advance "PT1M"
    assert.equal(1, at:drain().done)
  end)

  it("may be set by a listener, and is shown", function()
    local at = engine("5/PT1M", {
      ["listeners/l.lua"] =
        'return function(d) if d.name == "free" then d.rate = "1/PT1H" end end',
    })
    assert.same({ "1/PT1H", "5/PT1M" }, { at:definition("free").rate, at:definition("slow").rate })
    enqueue(at, "free", 2)
    assert.equal(1, at:turn().acquired)
  end)

  it("is named by why, with the instant at which it lets the next one start", function()
    local at = engine "1/PT1M"
    local id = enqueue(at, "slow", 2)
    at:turn()
    local text, facts = at:why(id)
    assert.matches('"slow" has a rate of 1/PT1M: the next may start at 2026%-01%-01T00:01:00%.000Z',
      text)
    assert.same({ "rate", "1/PT1M", "2026-01-01T00:01:00.000Z" },
      { facts.reason, facts.rate, facts.when })
  end)

  it("is refused if it is none", function()
    local function refusal(rate)
      return select(2, pcall(engine, rate))
    end
    assert.matches('rate "10": expected a number of starts and a duration, such as "10/1m" or '
      .. '"10/PT1M"',
      refusal "10", 1, true)
    assert.matches('rate "0/PT1M": expected 1 to 10000 starts', refusal "0/PT1M", 1, true)
    assert.matches('rate "5/P1M": duration "P1M": months have no fixed length here',
      refusal "5/P1M", 1, true)
    assert.matches('rate "5/PT0S": expected a duration of at least PT0.1S', refusal "5/PT0S", 1,
      true)
  end)
end)
