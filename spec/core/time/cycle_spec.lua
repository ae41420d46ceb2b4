local rules = require("moonshift.core").rules

-- The first dates of a cycle created at `origin` (after which they come, unless told), as texts
-- without what is zero anyway.
local function dates(cycle, origin, count, zone, after)
  local created = rules.time(origin)
  local list = assert(rules.dates(cycle, zone, rules.time(after or origin), count, created))
  for i, ms in ipairs(list) do
    list[i] = rules.format_time(ms):gsub(":00%.000Z$", ""):gsub("T00:00$", "")
  end
  return list
end

local function refusal(text)
  local value, message = rules.cycle(text)
  assert.is_nil(value)
  return message
end

describe("a repetition", function()
  it("begins a period after its origin", function()
    assert.same({ "2026-01-01T01:00", "2026-01-01T02:00", "2026-01-01T03:00" },
      dates("R3/PT1H", "2026-01-01", 9))
  end)

  it("with a start begins there", function()
    assert.same({ "2026-01-05", "2026-01-05T01:00", "2026-01-05T02:00" },
      dates("R3/2026-01-05T00:00:00Z/PT1H", "2026-01-01", 9))
  end)

  it("with a start in the past goes on along its grid", function()
    assert.same({ "2026-01-05T10:10", "2026-01-05T10:15" },
      dates("R/2026-01-01T00:00:00Z/PT5M", "2026-01-05T10:07:03Z", 2))
  end)

  it("counts what was missed as done", function()
    assert.same({ "2026-01-01T03:00" }, dates("R3/PT1H", "2026-01-01", 9, nil,
      "2026-01-01T02:30:00Z"))
    assert.same({}, dates("R3/PT1H", "2026-01-01", 9, nil, "2026-01-01T03:00:00Z"))
  end)

  it("with an end begins at its origin and runs at the end at the latest", function()
    assert.same({ "2026-01-01T01:00", "2026-01-01T02:00" },
      dates("R/PT1H/2026-01-01T02:00:00Z", "2026-01-01", 9))
    assert.same({ "2026-01-01T01:00" }, dates("R5/PT1H/2026-01-01T01:59:00Z", "2026-01-01", 9))
    assert.same({ "2026-01-01T01:00" }, dates("R1/PT1H/2026-01-02", "2026-01-01", 9))
    assert.same({}, dates("R/PT1H/2025-01-01", "2026-01-01", 9))
  end)

  it("of two instants has the time between them as its period", function()
    assert.same({ "2026-01-01", "2026-01-01T12:00", "2026-01-02" },
      dates("R3/2026-01-01/2026-01-01T12:00", "2025-12-01", 9))
  end)

  it("of a millisecond since 1970 is found at once", function()
    assert.same({ "2026-01-01T00:00:00.001Z", "2026-01-01T00:00:00.002Z" },
      dates("R/PT0.001S", "1970-01-01", 2, nil, "2026-01-01"))
  end)

  it("comes after the instant, never at it", function()
    assert.same({ "2026-01-01T02:00" }, dates("R/PT1H", "2026-01-01", 1, nil, "2026-01-01T01:00"))
    assert.same({ "2026-01-01T01:00" },
      dates("R/PT1H", "2026-01-01", 1, nil, "2026-01-01T00:59:59.999Z"))
  end)

  it("ends with the year 9999", function()
    assert.same({ "9999-12-31T12:00" }, dates("R/PT12H", "9999-12-31", 9))
    assert.same({}, dates("R/P1M", "9999-12-31", 9, "Europe/Berlin"))
    assert.same({}, dates("R/P9999Y", "2026-01-01", 9))
  end)
end)

describe("a repetition of months", function()
  it("does not drift from the day it began with", function()
    assert.same({ "2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31" },
      dates("R/P1M", "2026-01-31", 4))
    assert.same({ "2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29" },
      dates("R/2024-02-29/P1Y", "2024-01-01", 5))
  end)

  it("is found far away", function()
    assert.same({ "3026-01-31", "3026-02-28" }, dates("R/P1M", "1970-01-31", 2, nil, "3026-01-30"))
    assert.same({ "3026-01-01", "3027-01-01" }, dates("R/P1Y", "1970-01-01", 2, nil, "3025-01-01"))
  end)

  it("may have days and a time besides", function()
    assert.same({ "2026-03-01T01:00", "2026-04-02T02:00", "2026-05-03T03:00" },
      dates("R/P1M1DT1H", "2026-01-31", 3))
  end)
end)

describe("a repetition in a zone", function()
  it("of days keeps the time on the wall", function()
    assert.same({ "2026-03-28T08:00", "2026-03-29T07:00", "2026-03-30T07:00" },
      dates("R/P1D", "2026-03-27T08:00:00Z", 3, "Europe/Berlin"))
  end)

  it("of hours is elapsed time", function()
    assert.same({ "2026-03-28T08:00", "2026-03-29T08:00", "2026-03-30T08:00" },
      dates("R/PT24H", "2026-03-27T08:00:00Z", 3, "Europe/Berlin"))
  end)

  it("of days that meets a gap comes right after it, that day only", function()
    assert.same({ "2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30" },
      dates("R/2026-03-28T02:30/P1D", "2026-03-01", 3, "Europe/Berlin"))
  end)

  it("of days that meets a skipped day comes once at its end", function()
    assert.same({ "2011-12-29T10:00", "2011-12-30T10:00", "2011-12-31T10:00" },
      dates("R/2011-12-29/P1D", "2011-12-28T12:00:00Z", 3, "Pacific/Apia", "2011-12-29"))
  end)

  it("reads a start and an end without zone as times on the wall", function()
    assert.same({ "2026-06-30T22:00", "2026-06-30T23:00", "2026-07-01" },
      dates("R/2026-07-01/PT1H", "2026-01-01", 3, "Europe/Berlin"))
    assert.same({ "2026-06-30T22:00", "2026-06-30T23:00" },
      dates("R/PT1H/2026-07-01T01:00", "2026-06-30T21:00:00Z", 9, "Europe/Berlin"))
  end)

  it("reads others as they say", function()
    assert.same({ "2026-07-01", "2026-07-01T01:00" },
      dates("R/2026-07-01T00:00Z/PT1H", "2026-01-01", 2, "Europe/Berlin"))
    assert.same({ "2026-07-01T05:00" },
      dates("R1/2026-07-01T00:00-05:00/PT1H", "2026-01-01", 2, "Europe/Berlin"))
  end)
end)

describe("a cycle", function()
  it("may be a cron expression", function()
    assert.is_true(rules.cycle("0 8 * * MON-FRI", "Europe/Berlin"))
    assert.same({ "2026-01-02", "2026-01-03" }, dates("@daily", "2026-01-01", 2))
  end)

  local missing = "expected a duration such as 5m or PT5M, or an instant such as 2026-12-24T18:00 "
  for text, problem in pairs {
    ["PT5M"] = 'does not repeat (write "R/PT5M", or use after for one run)',
    ["2026-01-01"] = "does not repeat (use at for one run)",
    ["r3/pt1h"] = 'expected capitals (write "R3/PT1H")',
    ["r/5m"] = 'expected capitals (write "R/5m")',
    ["R"] = 'expected / and a duration, as in "R3/PT1H" (position 2)',
    ["RPT1H"] = 'expected / and a duration, as in "R3/PT1H" (position 2)',
    ["R-1/PT1H"] = 'expected / and a duration, as in "R3/PT1H" (position 2)',
    ["R3"] = 'expected / and a duration, as in "R3/PT1H" (position 3)',
    ["R0/PT1H"] = "expected at least one firing (position 2)",
    ["R2147483647/PT1H"] = "expected at most 2147483646 firings (position 2)",
    ["R99999999999999999999/PT1H"] = "expected at most 2147483646 firings (position 2)",
    ["R/"] = missing .. "(position 3)",
    ["R//PT1H"] = missing .. "(position 3)",
    ["R/PT1H/"] = missing .. "(position 8)",
    ["R/2026-01-01/PT1H/2027-01-01"] = "expected the end (position 18)",
    ["R/pt5m"] = "expected a duration such as 5m or PT5M, or an instant such as "
      .. "2026-12-24T18:00 (position 3)",
    ["R/5M"] = 'duration "5M": M may mean months: expected m for minutes, or P1M for months '
      .. '(position 2), as in "1h30m" or "PT1H30M"',
    ["R/PT5X"] = 'duration "PT5X": expected H, M or S (position 4), as in "1h30m" or "PT1H30M"',
    ["R/PT0S"] = "expected a period longer than zero (position 3)",
    ["R/2026-01-01/P0M"] = "expected a period longer than zero (position 14)",
    ["R/2026-02-30/PT1H"] = 'time "2026-02-30": day 30 is not in month 02 (position 9), '
      .. 'as in "2026-12-24T18:00:00+01:00"',
    ["R/2026-01-01"] = "expected / and a duration after the start (position 13)",
    ["R/PT1H/PT2H"] = "expected an instant, the end (position 8)",
    ["R/2026-01-02/2026-01-01"] = "expected an end after the start (position 14)",
    ["R/" .. ("P"):rep(64)] = "duration or instant is too long (position 3)",
  } do
    it(("is not %q"):format(text), function()
      assert.equal(('cycle "%s": %s'):format(text, problem), refusal(text))
    end)
  end

  it("is taken for cron if it is nothing else", function()
    assert.equal('cron "every day": expected 5 fields, 6 with the seconds first or '
      .. '7 with the year last, not 2 '
      .. "(position 10)", refusal "every day")
  end)
end)
