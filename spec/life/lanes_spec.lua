-- Lanes: exclusive jobs one after another, follow-ups, by hand, after failures, by hierarchy.
local engines = require "spec.support.engines"
local testing = require "moonshift.testing"

describe("a lane", function()
  local engine, seen, handlers

  before_each(function()
    seen, handlers = {}, {}
    function handlers.note(job)
      seen[#seen + 1] = job.payload.n
    end
    -- Creates what its payload lists, then is noted itself.
    function handlers.make(job)
      for _, one in ipairs(job.payload.jobs or {}) do
        job:enqueue(one.handler or "note", one.payload or { n = one.n }, one.options)
      end
      seen[#seen + 1] = job.payload.n
    end
    engine = testing.engine { handlers = handlers }
  end)

  after_each(engines.clean)

  local function open(settings)
    engine:close()
    settings = settings or {}
    settings.handlers = handlers
    engine = testing.engine(settings)
  end

  local function note(n, options)
    return assert(engine:enqueue("note", { n = n }, options))
  end

  local function make(n, jobs, options)
    return assert(engine:enqueue("make", { n = n, jobs = jobs }, options))
  end

  local function metric(name)
    return engine:stats().metrics[name] or 0
  end

  it("is one work item, in acquisition order", function()
    note(1, { lane = "a", priority = 1 })
    note(2, { lane = "b", priority = 2 })
    note(3, { lane = "a", priority = 3 })
    assert.equal(3, engine:turn().acquired)
    assert.same({ 3, 1, 2 }, seen)
  end)

  it("is the instance unless one is given", function()
    assert.equal("order-7", engine:job(note(1, { instance = "order-7" })).lane)
    assert.equal("x", engine:job(note(1, { instance = "order-7", lane = "x" })).lane)
  end)

  it("does not hold a member that is not exclusive", function()
    local other
    handlers.look = function()
      other = engine:job(other).state
    end
    open { queue = 1, page = 1 }
    local id = assert(engine:enqueue("look", nil, { lane = "a" }))
    other = note(1, { lane = "a", exclusive = false })
    assert.is_true(engine:job(id).exclusive)
    engine:drain()
    assert.equal("ready", other)
  end)

  it("needs a key: exclusive alone is kept as it was said, and groups nothing", function()
    local id = note(1, { exclusive = true })
    assert.same({ true, nil }, { engine:job(id).exclusive, engine:job(id).lane })
    note(2, { exclusive = true })
    assert.equal(2, engine:drain().done)
    assert.is_false(engine:job(note(3)).exclusive)
  end)

  it("is left by a job that waits for its retry", function()
    handlers.fail = function()
      seen[#seen + 1] = "failed"
      error "not now"
    end
    open { failed_job_wait = "PT10S" }
    assert(engine:enqueue("fail", nil, { lane = "a", priority = 1 }))
    note(2, { lane = "a" })
    engine:drain()
    assert.same({ "failed", 2 }, seen)
  end)

  it("refuses a run by hand while another job of it runs, unless forced", function()
    local second, _, message, code
    engine:close()
    local folder = engines.folder {}
    local given = { store = "sqlite:" .. folder .. "/jobs.db", handlers = handlers }
    local other = testing.engine(given)
    given.handlers = {
      hold = function()
        _, message, code = other:execute(second)
        other:execute(second, { force = true })
      end,
      note = handlers.note,
    }
    engine = testing.engine(given)
    local first = assert(engine:enqueue("hold", nil, { lane = "a", priority = 1 }))
    second = note(2, { lane = "a" })
    engine:drain()
    assert.same({ ("job %d: job %d of its lane is running"):format(second, first), "conflict" },
      { message, code })
    assert.same({ 2 }, seen)
    other:close()
  end)

  describe("follow-up", function()
    it("runs next: after its item, before everybody else, without an acquisition", function()
      make(1, { { n = "follows", options = { lane = "a" } } }, { lane = "a", priority = 9 })
      note(2, { lane = "a", priority = 8 })
      note(3, { priority = 7 })
      engine:drain()
      assert.same({ 1, 2, "follows", 3 }, seen)
      assert.equal(1, metric "acquisitions")
      assert.equal(3, metric "acquired")
      assert.equal(1, metric "locked_exclusive")
    end)

    it("keeps the order of creation", function()
      make(1, { { n = 2, options = { lane = "a" } },
        { n = 3, options = { lane = "a", priority = 50 } } }, { lane = "a" })
      engine:turn()
      assert.same({ 1, 2, 3 }, seen)
    end)

    local function waits(title, options, settings)
      it(title, function()
        open(settings)
        make(1, { { n = 2, options = options } }, { lane = "a", category = "y" })
        engine:turn()
        assert.same({ 1 }, seen)
        assert.equal(0, metric "locked_exclusive")
      end)
    end

    waits("is not of another lane", { lane = "b", priority = -1 })
    waits("is not without exclusiveness", { lane = "a", exclusive = false })
    waits("is not for later", { lane = "a", after = "PT1S" })
    waits("is not out of range", { lane = "a", priority = 5 }, { priority_range = { 0, 4 } })
    waits("is not of a foreign category", { lane = "a", category = "x" }, { categories = { "y" } })

    it("is not of a suspended definition", function()
      make(1, { { n = 2, options = { lane = "a" } } }, { lane = "a" })
      engine:definition("note"):suspend()
      engine:drain()
      assert.same({ 1 }, seen)
      assert.equal("suspended", engine:jobs():one().state)
    end)

    it("is not of a suspended instance", function()
      make(1, { { n = 2, options = { lane = "a", instance = "i" } } }, { lane = "a" })
      engine:suspend_instance("i")
      engine:drain()
      assert.same({ 1 }, seen)
      assert.equal("suspended", engine:jobs():one().state)
    end)

    it("is not of a run that failed", function()
      handlers.broken = function(job)
        job:enqueue("note", { n = 2 }, { lane = "a" })
        error "no"
      end
      open()
      assert(engine:enqueue("broken", nil, { lane = "a", retries = 1 }))
      engine:drain()
      assert.same({}, seen)
    end)

    it("lets the others have their turn after a hundred in a row", function()
      handlers.chain = function(job)
        seen[#seen + 1] = job.payload.n
        if job.payload.n < 150 then
          job:enqueue("chain", { n = job.payload.n + 1 }, { lane = "a" })
        end
      end
      open()
      assert(engine:enqueue("chain", { n = 0 }, { lane = "a", priority = 1 }))
      note("other")
      engine:drain()
      assert.equal("other", seen[102])
      assert.equal(150, seen[152])
    end)

    it("comes before what is parked in the lane", function()
      open { lane_run = 1 }
      make(1, { { n = "follows", options = { lane = "a" } } }, { lane = "a", priority = 9 })
      note(2, { lane = "a", priority = 8 })
      engine:drain()
      assert.same({ 1, "follows", 2 }, seen)
    end)
  end)

  describe("of the root", function()
    before_each(function()
      open { lane_scope = "root" }
    end)

    it("takes in every job of the hierarchy", function()
      make(1, {
        { n = 2, options = { instance = "child" } },
        { n = 3 },
        { n = 4, options = { after = "PT1M" } },
      }, { instance = "top" })
      engine:drain()
      assert.same({ 1, 2, 3 }, seen)
      assert.equal(2, metric "locked_exclusive")
      assert.equal("top", engine:jobs():one().lane)
    end)

    it("leaves out who says so", function()
      make(1, { { n = 2, options = { exclusive = false } } }, { instance = "top" })
      engine:turn()
      assert.same({ 1 }, seen)
    end)
  end)
end)

describe("a job created where there is room", function()
  local engine, seen, handlers

  before_each(function()
    seen, handlers = {}, {}
    function handlers.note(job)
      seen[#seen + 1] = job.payload.n
    end
    function handlers.make(job)
      for _, one in ipairs(job.payload.jobs) do
        job:enqueue("note", { n = one.n }, one.options)
      end
    end
  end)

  local function drain(jobs, settings, prepare)
    settings = settings or {}
    settings.handlers = handlers
    engine = testing.engine(settings)
    assert(engine:enqueue("make", { jobs = jobs }, { priority = 100 }))
    if prepare then
      prepare()
    end
    engine:drain()
    return engine:stats().metrics.acquired or 0
  end

  it("runs without an acquisition", function()
    assert.equal(1, drain { { n = 1 }, { n = 2, options = { priority = 5 } } })
    assert.same({ 2, 1 }, seen)
  end)

  it("is acquired where it does not stand before what was left behind", function()
    drain({ { n = "worse" }, { n = "best", options = { priority = 9 } } }, { page = 1 }, function()
      for i = 1, 3 do
        engine:enqueue("note", { n = i }, { priority = 1 })
      end
    end)
    assert.same({ "best", 1, 2, 3, "worse" }, seen)
  end)

  it("is acquired where there is no room for all", function()
    assert.equal(4, drain({ { n = 1 }, { n = 2 }, { n = 3, options = { priority = 1 } } },
      { queue = 2 }))
    assert.same({ 3, 1, 2 }, seen)
  end)

  it("is acquired for a due date that has passed meanwhile", function()
    assert.equal(1, drain { { n = 1, options = { after = "PT1S" } } })
    engine:advance(1)
    engine:drain()
    assert.same({ 1 }, seen)
    assert.equal(2, engine:stats().metrics.acquired)
  end)

  it("is left to others where it is foreign", function()
    assert.equal(1, drain({ { n = 1, options = { priority = 500 } } },
      { priority_range = { 0, 100 } }))
    assert.same({}, seen)
    assert.equal("ready", engine:jobs():one().state)
  end)

  it("takes a free lane, and waits for a held one", function()
    local lane = { lane = "a" }
    assert.equal(2, drain { { n = 1, options = lane }, { n = 2, options = lane } })
    assert.same({ 1, 2 }, seen)
  end)
end)
