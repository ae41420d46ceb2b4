local core = require "moonshift.core"

describe("clock", function()
  local clock

  before_each(function()
    clock = core.virtual_clock("2026-01-01T00:00:00Z")
  end)

  it("stands where it was set", function()
    assert.equal("2026-01-01T00:00:00.000Z", clock:now())
    assert.equal("2026-01-01T00:00:00.000Z", clock:now())
  end)

  it("stands at the present if no time is given", function()
    local before, now, after = core.system_clock():now(), core.virtual_clock():now(),
      core.system_clock():now()
    assert.is_true(before <= now and now <= after)
  end)

  it("advances by ISO durations, calendar months included", function()
    assert.equal("2026-01-01T00:05:00.000Z", clock:advance("PT5M"))
    assert.equal("2026-02-01T00:05:00.000Z", clock:advance("P1M"))
  end)

  it("advances by seconds, fractions included", function()
    assert.equal("2026-01-01T00:00:01.500Z", clock:advance(1.5))
  end)

  it("can be set to any instant", function()
    assert.equal("2030-06-01T12:00:00.000Z", clock:set("2030-06-01T12:00:00Z"))
  end)

  it("raises for text that is no duration", function()
    local ok, message = pcall(clock.advance, clock, "5 minutes")
    assert.is_false(ok)
    assert.matches('duration "5 minutes"', message, 1, true)
  end)

  it("raises for text that is no instant", function()
    local ok, message = pcall(core.virtual_clock, "yesterday")
    assert.is_false(ok)
    assert.matches('time "yesterday"', message, 1, true)
  end)

  it("is virtual or the system's, which cannot be moved", function()
    assert.is_true(clock:is_virtual())
    local system = core.system_clock()
    assert.is_false(system:is_virtual())
    assert.error_matches(function()
      system:advance(1)
    end, "the system's clock cannot be moved", 1, true)
  end)
end)
