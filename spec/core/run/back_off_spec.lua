local back_off = require("moonshift.core").back_off

describe("back_off.idle_wait", function()
  it("is nothing while there is work", function()
    assert.equal(0, back_off.idle_wait({}, 0))
  end)

  it("doubles from five seconds to a minute", function()
    local waits = {}
    for level = 1, 6 do
      waits[level] = back_off.idle_wait({}, level)
    end
    assert.same({ 5000, 10000, 20000, 40000, 60000, 60000 }, waits)
  end)

  it("stays at its maximum at any level", function()
    assert.equal(60000, back_off.idle_wait({}, 1000000000))
  end)

  it("grows by the factor of the settings", function()
    assert.equal(9, back_off.idle_wait({ wait = 1, wait_factor = 3, max_wait = 100 }, 3))
  end)

  it("never grows with the factor 1", function()
    assert.equal(5, back_off.idle_wait({ wait = 5, wait_factor = 1, max_wait = 100 }, 1000))
  end)
end)

describe("back_off.failure_wait", function()
  local settings = { backoff = 100, max_backoff = 1000 }

  it("is off by default", function()
    assert.equal(0, back_off.failure_wait({}, 5))
  end)

  it("is off without a maximum", function()
    assert.equal(0, back_off.failure_wait({ backoff = 100 }, 5))
  end)

  it("doubles with each level up to its maximum", function()
    local waits = {}
    for level = 0, 5 do
      waits[#waits + 1] = back_off.failure_wait(settings, level)
    end
    assert.same({ 0, 100, 200, 400, 800, 1000 }, waits)
  end)

  it("adds up to a half by jitter", function()
    assert.equal(250, back_off.failure_wait(settings, 2, 0.5))
    assert.equal(1499, back_off.failure_wait(settings, 9, 0.999))
  end)
end)

describe("back_off.full_wait", function()
  it("is a tenth of a second while the queue has no room", function()
    assert.equal(100, back_off.full_wait({}, 0))
    assert.equal(7, back_off.full_wait({ queue_full_wait = 7 }, 0))
  end)

  it("is nothing while it has", function()
    assert.equal(0, back_off.full_wait({}, 1))
  end)
end)

describe("back_off.page", function()
  it("asks for no more than there is room for", function()
    assert.equal(300, back_off.page({}, 0, 300))
    assert.equal(2000, back_off.page({}, 0, 4096))
    assert.equal(128, back_off.page({ page = 128 }, 0, 300))
    assert.equal(17, back_off.page({}, 0, 17))
    assert.equal(0, back_off.page({}, 0, 0))
  end)

  it("doubles with each level of lock failures", function()
    assert.equal(40, back_off.page({ page = 10 }, 2, 300))
    assert.equal(300, back_off.page({ page = 10 }, 9, 300))
  end)

  it("does not overflow", function()
    assert.equal(2147483647, back_off.page({ page = 2147483647 }, 1000, 2147483647))
  end)
end)

describe("back_off.retry_wait", function()
  it("doubles from a tenth of a second to five seconds", function()
    assert.equal(0.1 * 1000, back_off.retry_wait(1))
    assert.equal(400, back_off.retry_wait(3))
    assert.equal(5000, back_off.retry_wait(100))
  end)
end)

describe("back_off.away_wait", function()
  it("doubles from 20 ms to half a second", function()
    assert.equal(20, back_off.away_wait(1))
    assert.equal(80, back_off.away_wait(3))
    assert.equal(500, back_off.away_wait(100))
  end)
end)

describe("back_off.after", function()
  local function after(levels, asked, got, lock_failures)
    return back_off.after({ backoff_decrease_threshold = 2 }, levels, asked, got, lock_failures)
  end

  it("counts cycles that found nothing", function()
    assert.equal(3, after({ idle_level = 2 }, 10, 0).idle_level)
  end)

  it("forgets them when work is found", function()
    assert.equal(0, after({ idle_level = 2 }, 10, 1).idle_level)
  end)

  it("learns nothing from a cycle that asked for nothing", function()
    assert.same(
      { idle_level = 2, failure_level = 1, clean_cycles = 1 },
      after({ idle_level = 2, failure_level = 1, clean_cycles = 1 }, 0, 0)
    )
  end)

  it("goes up one level with each cycle that met lock failures", function()
    assert.equal(2, after({ failure_level = 1 }, 10, 9, 1).failure_level)
  end)

  it("comes down one level after enough clean cycles", function()
    local first = after({ failure_level = 2 }, 10, 10)
    assert.same({ 2, 1 }, { first.failure_level, first.clean_cycles })
    local second = after(first, 10, 10)
    assert.same({ 1, 0 }, { second.failure_level, second.clean_cycles })
  end)
end)

describe("back_off.file", function()
  it("doubles the step while it is short, up to 4000 jobs", function()
    assert.equal(2000, back_off.file(1000, 5, 0))
    assert.equal(4000, back_off.file(4000, 1, 0))
  end)

  it("halves the step that took long, down to 50 jobs", function()
    assert.equal(500, back_off.file(1000, 6, 0))
    assert.equal(50, back_off.file(60, 1000, 0))
  end)

  it("leaves out what a commit takes", function()
    assert.equal(2000, back_off.file(1000, 20, 16))
    assert.equal(500, back_off.file(1000, 20, 14))
  end)
end)

describe("back_off.gather", function()
  it("is short where a commit is cheap", function()
    assert.same({ 8, 16 }, { back_off.gather(0) })
    assert.same({ 8, 16 }, { back_off.gather(1) })
  end)

  it("grows to ten times what a commit takes, and to 50 ms at most", function()
    assert.same({ 20, 1000 }, { back_off.gather(2) })
    assert.same({ 50, 1000 }, { back_off.gather(5) })
    assert.same({ 50, 1000 }, { back_off.gather(60000) })
  end)
end)
