local moonshift = require "moonshift"

local function refusal(...)
  local dates, message, code = moonshift.dates(...)
  assert.is_nil(dates)
  assert.equal("invalid", code)
  return message
end

describe("dates", function()
  it("are those of a cycle after an instant, in UTC", function()
    assert.same({ "2026-01-01T07:00:00.000Z", "2026-01-02T07:00:00.000Z" },
      moonshift.dates("0 8 * * *", { zone = "Europe/Berlin", after = "2026-01-01", count = 2 }))
  end)

  it("are five, from now on, unless told", function()
    local dates = moonshift.dates "@hourly"
    assert.equal(5, #dates)
    assert.is_true(dates[1] > moonshift.clock.system():now())
  end)

  it("are fewer if the cycle ends", function()
    assert.same({ "2026-01-01T01:00:00.000Z" },
      moonshift.dates("R1/PT1H", { after = "2026-01-01" }))
  end)

  it("lie on the grid of the origin", function()
    assert.same({ "2026-03-31T00:00:00.000Z" },
      moonshift.dates("R/P1M", { origin = "2026-01-31", after = "2026-03-01", count = 1 }))
  end)

  it("are not given for bad input", function()
    assert.equal('cron "x": expected 5 fields, 6 with the seconds first or '
      .. '7 with the year last, not 1 (position 2)',
      refusal "x")
    assert.equal('zone "Europe/Berln": unknown (did you mean "Europe/Berlin"?)',
      refusal("@daily", { zone = "Europe/Berln" }))
    assert.equal('time "soon": expected year (4 digits) (position 1), '
      .. 'as in "2026-12-24T18:00:00+01:00"',
      refusal("@daily", { after = "soon" }))
    assert.equal('time "soon": expected year (4 digits) (position 1), '
      .. 'as in "2026-12-24T18:00:00+01:00"',
      refusal("@daily", { origin = "soon" }))
  end)

  it("are 10000 at most", function()
    assert.equal(10000, #moonshift.dates("R/PT1S", { count = 10000 }))
    assert.equal("count 10001: expected a whole number from 1 to 10000",
      refusal("@daily", { count = 10001 }))
    assert.equal("count 0: expected a whole number from 1 to 10000",
      refusal("@daily", { count = 0 }))
  end)

  it("raise for misuse", function()
    assert.has_error(function() moonshift.dates(5) end, "cycle is 5 (expected a text)")
    assert.has_error(function() moonshift.dates() end, "cycle is nothing (expected a text)")
    assert.has_error(function() moonshift.dates("@daily", { zone = 5 }) end,
      "dates: zone is 5 (expected a name)")
    assert.has_error(function() moonshift.dates("@daily", "UTC") end,
      'dates is the string "UTC" (expected a table)')
    assert.has_error(function() moonshift.dates("@daily", { count = "many" }) end,
      'dates: count is the string "many" (expected an integer)')
    assert.has_error(function() moonshift.dates("@daily", { zon = "UTC" }) end,
      'dates: unknown key "zon" (did you mean "zone"?)')
  end)
end)
