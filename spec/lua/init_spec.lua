local moonshift = require "moonshift"

describe("moonshift", function()
  it("has a version", function()
    assert.matches("^%d+%.%d+%.%d+$", moonshift.version)
  end)

  it("turns instants into milliseconds", function()
    assert.equal(1767225600000, moonshift.time("2026-01-01T00:00:00Z"))
  end)

  it("names what is wrong with an instant", function()
    local ms, message, code = moonshift.time("2026-02-30")
    assert.is_nil(ms)
    assert.equal('time "2026-02-30": day 30 is not in month 02 (position 9), '
      .. 'as in "2026-12-24T18:00:00+01:00"', message)
    assert.equal("invalid", code)
  end)

  it("raises for an instant that is no text", function()
    assert.has_error(function()
      moonshift.time(7)
    end, "time is a number (expected text)")
  end)

  it("loads testing when it is asked for", function()
    assert.equal(require "moonshift.testing", moonshift.testing)
    assert.is_nil(moonshift.nothing)
  end)
end)
