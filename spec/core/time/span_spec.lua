local rules = require("moonshift.core").rules

local function refusal(read, text)
  local value, message = read(text)
  assert.is_nil(value)
  return message
end

describe("an instant", function()
  local function read(text)
    return rules.format_time(assert(rules.time(text)))
  end

  it("is written in UTC with milliseconds", function()
    assert.equal("1970-01-01T00:00:00.000Z", rules.format_time(0))
    assert.equal("1969-12-31T23:59:59.999Z", rules.format_time(-1))
  end)

  it("without a time is midnight, without a zone UTC", function()
    assert.equal("2026-01-01T00:00:00.000Z", read "2026-01-01")
    assert.equal("2026-01-01T12:30:00.000Z", read "2026-01-01 12:30")
  end)

  it("may have a zone", function()
    assert.equal("2026-01-01T11:00:00.000Z", read "2026-01-01T12:30:00+01:30")
    assert.equal("2026-01-01T17:30:00.000Z", read "2026-01-01T12:30-0500")
    assert.equal("2026-01-01T11:30:00.000Z", read "2026-01-01T12:30:00+01")
  end)

  it("loses what is finer than a millisecond", function()
    assert.equal("2026-01-01T12:30:15.123Z", read "2026-01-01T12:30:15.1239Z")
  end)

  it("at hour 24 is the next midnight", function()
    assert.equal("2024-03-01T00:00:00.000Z", read "2024-02-29T24:00:00Z")
  end)

  it("goes from year 0 to 9999", function()
    assert.equal("0000-01-01T00:00:00.000Z", read "0000-01-01")
    assert.equal("9999-12-31T23:59:59.999Z", read "9999-12-31T23:59:59.999Z")
    assert.equal('time "0000-01-01T00:00+01": is not in the years 0000-9999 (UTC) (position 1), '
      .. 'as in "2026-12-24T18:00:00+01:00"', refusal(rules.time, "0000-01-01T00:00+01"))
  end)

  it("beyond all calendars is written as the last one", function()
    assert.equal("9999-12-31T23:59:59.999Z", rules.format_time(math.maxinteger))
    assert.equal("", rules.format_time(math.mininteger))
  end)

  for text, problem in pairs {
    ["2026-02-30"] = "day 30 is not in month 02 (position 9)",
    ["2025-02-29"] = "day 29 is not in month 02 (position 9)",
    ["1900-02-29"] = "day 29 is not in month 02 (position 9)",
    ["2026-13-01"] = "month 13 is not in 01-12 (position 6)",
    ["2026-1-1"] = "expected month (2 digits) (position 7)",
    ["2026-01-01T24:00:01"] = "hour 24 is only in 24:00:00 (position 12)",
    ["2026-01-01T12:60"] = "minute 60 is not in 00-59 (position 15)",
    ["2026-01-01T12:30:15."] = "expected a digit after the decimal sign (position 21)",
    ["2026-01-01T12:30x"] = "expected Z, a zone such as +01:00, or the end (position 17)",
    ["2026-01-01x"] = "expected T or the end after the date (position 11)",
    ["next week"] = "expected year (4 digits) (position 1)",
    [""] = "expected year (4 digits) (position 1)",
  } do
    it(('is not "%s"'):format(text), function()
      assert.equal(('time "%s": %s, as in "2026-12-24T18:00:00+01:00"'):format(text, problem),
        refusal(rules.time, text))
    end)
  end
end)

describe("a duration", function()
  it("is read as milliseconds", function()
    assert.equal(300000, rules.duration "PT5M")
    assert.equal(5400000, rules.duration "PT1.5H")
    assert.equal(11 * 86400000 + 1, rules.duration "P1W4DT0.001S")
  end)

  for text, ms in pairs { ["5m"] = 300000, ["1h30m"] = 5400000, ["1h 30m"] = 5400000,
    ["2d"] = 172800000, ["1w"] = 604800000, ["1.5h"] = 5400000, ["0s"] = 0, ["500ms"] = 500,
    ["1w2d3h4m5s6ms"] = 788645006, ["2.5s"] = 2500 } do
    it(("may be written as people do: %s"):format(text), function()
      assert.equal(ms, rules.duration(text))
    end)
  end

  it("of days as people write it is a step of the calendar, too", function()
    local from = rules.time "2026-01-31"
    for short, iso in pairs { ["1d"] = "P1D", ["2w1h"] = "P2WT1H", ["36h"] = "PT36H" } do
      assert.equal(rules.add_duration(from, iso), rules.add_duration(from, short))
    end
  end)

  it("is a number of seconds, too", function()
    assert.equal(1500, rules.duration(1.5))
    assert.equal('duration -1: expected seconds, or a duration such as "5m" or "PT5M"',
      refusal(rules.duration, -1))
  end)

  it("of months has no fixed length", function()
    assert.equal('duration "P1M": months have no fixed length here (use days, as in "30d")',
      refusal(rules.duration, "P1M"))
  end)

  it("of months ends on the last day that the month has", function()
    local from = rules.time "2024-01-31T10:00:00Z"
    assert.equal("2024-02-29T10:00:00.000Z", rules.format_time(rules.add_duration(from, "P1M")))
    assert.equal("2025-02-28T10:00:00.000Z", rules.format_time(rules.add_duration(from, "P1Y1M")))
  end)

  it("adds months, then days, then time", function()
    local from = rules.time "2026-01-31"
    assert.equal("2026-03-01T01:00:00.000Z",
      rules.format_time(rules.add_duration(from, "P1M1DT1H")))
  end)

  it("ends with the year 9999", function()
    local from = rules.time "9999-12-31"
    assert.equal("9999-12-31T23:59:59.999Z", rules.format_time(rules.add_duration(from, "P2D")))
  end)

  for text, problem in pairs {
    ["P"] = "expected a number (position 2)",
    ["PT"] = "expected a number (position 3)",
    ["P1DT"] = "expected a number (position 5)",
    ["PT5X"] = "expected H, M or S (position 4)",
    ["P5S"] = "expected Y, M, W or D (position 3)",
    ["PT1M1H"] = "unit is out of order (position 6)",
    ["PT1.5H3M"] = "only the last of H, M or S may have a fraction (position 3)",
    ["P1.5D"] = "only the last of H, M or S may have a fraction (position 2)",
    ["PT9999999999999H"] = "duration is too large (position 3)",
    ["PT99999999999999999999S"] = "number is too large (position 3)",
    ["P3652425DT0.001S"] = "is longer than 10000 years (position 1)",
    ["P9999999D"] = "is longer than 10000 years (position 1)",
    ["P-1D"] = "expected a number (position 2)",
    ["pt5m"] = "expected a number with its unit, or P (ISO 8601) (position 1)",
    ["5M"] = "M may mean months: expected m for minutes, or P1M for months (position 2)",
    ["5"] = "expected a unit: w, d, h, m, s or ms (position 2)",
    ["5x"] = "expected a unit: w, d, h, m, s or ms (position 2)",
    ["5H"] = "expected a unit: w, d, h, m, s or ms (position 2)",
    ["30m1h"] = "unit is out of order (position 5)",
    ["1h1h"] = "unit is out of order (position 4)",
    ["1h  5m"] = "expected a number (position 3)",
    ["1h "] = "expected a number (position 3)",
    [" 1h"] = "expected a number with its unit, or P (ISO 8601) (position 1)",
    ["-5m"] = "expected a number with its unit, or P (ISO 8601) (position 1)",
    ["1.5h5m"] = "only the last of h, m or s may have a fraction (position 1)",
    ["1.5d"] = "only the last of h, m or s may have a fraction (position 1)",
    ["9999999999999h"] = "duration is too large (position 1)",
    ["99999999999999999999s"] = "number is too large (position 1)",
    ["9999999d"] = "is longer than 10000 years (position 1)",
  } do
    it(('is not "%s"'):format(text), function()
      assert.equal(('duration "%s": %s, as in "1h30m" or "PT1H30M"'):format(text, problem),
        refusal(rules.duration, text))
    end)
  end
end)
