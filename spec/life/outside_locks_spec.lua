-- The locks of workers outside: how long they last, what follows where one is lost, and the lanes
-- of their jobs.
local engines = require "spec.support.engines"
local outsiders = require "spec.support.outsiders"
local testing = require "moonshift.testing"

describe("the lock of a worker outside", function()
  local engine, ran

  before_each(function()
    ran = {}
    engine = testing.engine { handlers = { note = function(job)
      ran[#ran + 1] = job.payload.n
    end } }
  end)

  after_each(engines.clean)

  local worker = outsiders.new(function()
    return engine
  end)
  local make, fetch, numbers, hand = worker.make, worker.fetch, worker.numbers, worker.hand

  it("counts beyond its end if nobody has taken over, else the worker is refused", function()
    make(1)
    local late = fetch("w1")[1]
    engine:advance "PT2M"
    engine:turn()
    assert.is_nil(hand(late, "complete"))
    make(2)
    late = fetch("w1")[1]
    engine:advance "PT2M"
    local taken = fetch("w2")[1]
    assert.same({ 2, 1 }, { taken.payload.n, taken.crashes })
    for _, outcome in ipairs { "complete", "fail", "release" } do
      local code, message = hand(late, outcome)
      assert.equal("conflict", code)
      assert.match("its lock is lost", message)
    end
    assert.equal("conflict", (hand(late, "extend", { lock = "PT1H" })))
    assert.is_nil(hand(taken, "complete"))
  end)

  it("is named by its own worker alone", function()
    make(1)
    local job = fetch("w1")[1]
    local settled = assert(engine:settle { worker = "w2", outcomes = {
      { id = job.id, token = job.token, outcome = "complete" } } })
    assert.equal("conflict", settled.outcomes[1].code)
    assert.equal("locked", engine:job(job.id).state)
  end)

  it("that ends too often leaves a dead job, and others with crashes run", function()
    local id, other = make(1), make(2)
    for _ = 1, 2 do
      assert.equal(2, #fetch("w1"))
      engine:advance "PT2M"
    end
    assert.equal(2, #fetch("w1")) -- at once, though both have crashed before
    engine:advance "PT2M"
    assert.same({}, fetch("w1"))
    for _, one in ipairs { id, other } do
      local job = engine:job(one)
      assert.same({ "dead", "the worker was gone 3 times before this job was done" },
        { job.state, job.message })
      assert.equal("workerDied", engine:incidents({ job = one }):one().type)
    end
  end)

  it("that has ended holds up no job of an executor that has crashed", function()
    make(1)
    fetch("w1")
    engine:advance "PT2M"
    local job = fetch("w1")[1]
    assert.equal(1, job.crashes)
    local id = engine:enqueue("note", { n = 9 })
    engine.core:command({ verb = "retry", ids = { id } })
    engine:drain()
    assert.same({ 9 }, ran)
  end)

  it("holds a lane until its job is handed back, or it is over and another job waits", function()
    make(1, { lane = "a" })
    engine:enqueue("note", { n = 2 }, { lane = "a" })
    make(3, { lane = "a" })
    local job = fetch("w1")[1]
    assert.equal(1, job.payload.n)
    engine:drain()
    assert.same({}, ran)
    engine:advance "PT2M"
    engine:drain()
    assert.same({ 2 }, ran)
    assert.equal("conflict", (hand(job, "complete")))
    job = fetch("w1")[1]
    assert.same({ 1, 1 }, { job.payload.n, job.crashes })
    assert.same({}, fetch("w2"))
    assert.is_nil(hand(job, "complete"))
    assert.same({ 3 }, numbers(fetch("w2")))
  end)

  it("ends in the millisecond that was said, not before", function()
    make(1)
    assert.equal("2026-01-01T00:01:00.000Z", fetch("w1")[1].lock_expiration)
    engine:advance "PT59.999S"
    assert.same({}, fetch("w2"))
    engine:advance "PT0.001S"
    assert.same({ 1 }, numbers(fetch("w2")))
  end)

  it("keeps a lane beyond its end while no job waits for that", function()
    make(1, { lane = "a" })
    local job = fetch("w1")[1]
    engine:advance "PT2M"
    engine:drain()
    assert.is_nil(hand(job, "complete"))
  end)

  it("has an end though two hundred come with one fetch", function()
    for n = 1, 200 do
      make(n)
    end
    assert.equal(200, #fetch("w1", 200))
    for _, job in ipairs(engine:jobs({ locked = true }):list()) do
      assert.equal("2026-01-01T00:01:00.000Z", job.lock_expiration)
    end
    engine:advance "PT2M"
    assert.equal(200, #fetch("w2", 200))
    assert.equal(0, engine:jobs({ owner = "w1" }):count())
  end)
end)
