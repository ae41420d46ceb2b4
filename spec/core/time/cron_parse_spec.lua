local rules = require("moonshift.core").rules

local function refusal(text)
  local value, message = rules.cycle(text)
  assert.is_nil(value)
  return message
end

-- The same dates: the two texts say the same.
local function same(one, other)
  local after = rules.time "2026-01-01"
  assert.same(assert(rules.dates(one, nil, after, 50)), assert(rules.dates(other, nil, after, 50)))
end

local FIELDS = "expected 5 fields, 6 with the seconds first or 7 with the year last, not %d"
  .. " (position %d)"

local SPREAD = '(write one value, and jitter = "PT1H" beside the cycle) '
local RANDOM = "a random value is no date of a cycle " .. SPREAD
local JENKINS = "H is of Jenkins, a value for each job " .. SPREAD

describe("a cron text", function()
  it("has five fields, or six with the seconds first", function()
    same("30 8 * * *", "0 30 8 * * *")
  end)

  it("may be @reboot, which has no date", function()
    assert.same({}, (rules.dates("@reboot", nil, rules.time "2026-01-01", 9)))
  end)

  it("may have years behind them", function()
    same("30 8 * * *", "0 30 8 * * * *")
    local dates = assert(rules.dates("0 0 0 1 6 ? 2027,2030/20", nil, rules.time "2026-01-01", 9))
    local years = {}
    for i, date in ipairs(dates) do
      years[i] = os.date("!%Y", date // 1000)
    end
    assert.same({ "2027", "2030", "2050", "2070", "2090" }, years)
  end)

  it("may be indented and spaced with blanks and tabs", function()
    same("30 8 * * *", "  30\t8  * *   * ")
  end)

  it("has names of months and weekdays in any case", function()
    same("0 0 * JAN,mar-May Mon", "0 0 * 1,3-5 1")
    same("0 0 * Dec fri-SUN", "0 0 * 12 5-7")
  end)

  it("counts Sunday as 0 and as 7", function()
    same("0 0 * * 0", "0 0 * * 7")
    same("0 0 * * SUN", "0 0 * * 7")
    same("0 0 * * 5-0", "0 0 * * 0,5,6")
    same("0 0 * * 6-7", "0 0 * * SAT,SUN")
    same("0 0 * * 7L", "0 0 * * SUNL")
    same("0 0 * * 7#2", "0 0 * * sun#2")
  end)

  it("takes ? for *", function()
    same("0 0 12 ? * MON", "0 0 12 * * MON")
    same("0 12 1 * ?", "0 12 1 * *")
  end)

  it("has steps from the field's beginning, from a value, and within a range", function()
    same("*/20 * * * *", "0,20,40 * * * *")
    same("5/20 * * * *", "5,25,45 * * * *")
    same("0 8-18/4 * * *", "0 8,12,16 * * *")
    same("0 0 * * 1/2", "0 0 * * 1,3,5,7")
    same("0 0 */10 * *", "0 0 1,11,21,31 * *")
  end)

  it("has names for common ones", function()
    same("@yearly", "0 0 1 1 *")
    same("@annually", "0 0 1 1 *")
    same("@monthly", "0 0 1 * *")
    same("@weekly", "0 0 * * 0")
    same("@daily", "0 0 * * *")
    same("@Midnight ", "0 0 * * *")
    same("@hourly", "0 * * * *")
  end)

  for text, problem in pairs {
    [""] = FIELDS:format(0, 1),
    ["  "] = FIELDS:format(0, 3),
    ["* * * *"] = FIELDS:format(4, 8),
    ["0 0 0 * * * 2100"] = "year 2100 is not in 1970-2099 (position 13)",
    ["0 0 0 * * * * *"] = FIELDS:format(8, 15),
    ["0 0 0 30 2 * *"] = "there is no such date (position 7)",
    ["0 0 0 29 2 * 2027"] = "there is no such date (position 7)",
    ["60 * * * *"] = "minute 60 is not in 0-59 (position 1)",
    ["60 0 * * * *"] = "second 60 is not in 0-59 (position 1)",
    ["0 24 * * *"] = "hour 24 is not in 0-23 (position 3)",
    ["0 0 0 * *"] = "day 0 is not in 1-31 (position 5)",
    ["0 0 32 * *"] = "day 32 is not in 1-31 (position 5)",
    ["0 0 * 13 *"] = "month 13 is not in 1-12 (position 7)",
    ["0 0 * * 8"] = "weekday 8 is not in 0-7 (position 9)",
    ["0 0 * * 99999999999999999999999"] =
      "weekday 99999999999999999999 is not in 0-7 (position 9)",
    ["x * * * *"] = "expected a minute (0-59) (position 1)",
    ["-1 * * * *"] = "expected a minute (0-59) (position 1)",
    ["0, * * * *"] = "expected a minute (0-59) (position 3)",
    ["0 a * * *"] = "expected an hour (0-23) (position 3)",
    ["x 0 0 * * *"] = "expected a second (0-59) (position 1)",
    ["0 0 MON * *"] = "expected a day (1-31, L, L-3, 15W or LW) (position 5)",
    ["0 0 * MON *"] = "expected a month (1-12 or JAN-DEC) (position 7)",
    ["0 0 * * L"] = "expected a weekday (0-7 or SUN-SAT, FRIL, FRI#2) (position 9)",
    ["0 0 * * MO"] = "expected a weekday (0-7 or SUN-SAT, FRIL, FRI#2) (position 9)",
    ["0 0 * MARCH *"] = "names have three letters (write MAR for MARCH) (position 7)",
    ["0 9 * * monday-friday"] = "names have three letters (write MON for monday) (position 9)",
    ["0 9 1 Sept *"] = "names have three letters (write SEP for Sept) (position 7)",
    ["0 0 * MARX *"] = "expected a comma or the end of the month (position 10)",
    ["~ 3 * * *"] = RANDOM .. "(position 1)",
    ["0~59 3 * * *"] = RANDOM .. "(position 2)",
    ["H/15 * * * *"] = JENKINS .. "(position 1)",
    ["0 H * * *"] = JENKINS .. "(position 3)",
    ["H(0-29)/10 * * * *"] = JENKINS .. "(position 1)",
    ["TZ=Asia/Tokyo 0 3 * * *"] = 'the zone stands beside the cycle (write zone = "Asia/Tokyo",'
      .. " on the command line --zone Asia/Tokyo) (position 1)",
    ["CRON_TZ=UTC 0 3 * * *"] = 'the zone stands beside the cycle (write zone = "UTC",'
      .. " on the command line --zone UTC) (position 1)",
    ["@every 1h30m"] = 'a span is a cycle of its own (write "R/1h30m") (position 1)',
    ["@every"] = 'a span is a cycle of its own (write "R/5m") (position 1)',
    ["0 0 * * MON#1-2"] = "expected a comma or the end of the weekday (position 14)",
    ["5L * * * *"] = "expected a comma or the end of the minute (position 2)",
    ["0 15W * * *"] = "expected a comma or the end of the hour (position 5)",
    ["0 0 L-3W * *"] = "expected a comma or the end of the day (position 8)",
    ["0 0 1#1 * *"] = "expected a comma or the end of the day (position 6)",
    ["**/2 * * * *"] = "expected a comma or the end of the minute (position 2)",
    ["* * * * *\n"] = "expected a comma or the end of the weekday (position 10)",
    ["*/0 * * * *"] = "minute step 0 is not in 1-59 (position 3)",
    ["*/60 * * * *"] = "minute step 60 is not in 1-59 (position 3)",
    ["*/ * * * *"] = "expected a number (minute step 1-59) (position 3)",
    ["0 */24 * * *"] = "hour step 24 is not in 1-23 (position 5)",
    ["0 0 * * FRI#6"] = "weekday number 6 is not in 1-5 (position 13)",
    ["0 0 * * FRI#"] = "expected a number (weekday number 1-5) (position 13)",
    ["0 0 L-0 * *"] = "days before the last 0 is not in 1-30 (position 7)",
    ["0 22-2 * * *"] = "hour range 22-2 runs backwards (write 22-23,0-2) (position 3)",
    ["0 5-0 * * *"] = "hour range 5-0 runs backwards (write 5-23,0) (position 3)",
    ["0 0 * NOV-FEB *"] = "month range NOV-FEB runs backwards (write NOV-DEC,JAN-FEB) (position 7)",
    ["0 0 * * FRI-MON"] = "weekday range FRI-MON runs backwards (write FRI-SAT,SUN-MON) "
      .. "(position 9)",
    ["0 0 * * 5-mon"] = "weekday range 5-mon runs backwards (write 5-6,0-1) (position 9)",
    ["0 0 30 2 *"] = "there is no such date (position 5)",
    ["0 0 0 31 4,6 ?"] = "there is no such date (position 7)",
    ["0 0 0 1-7 * MON#2"] = "there is no such date (position 7)",
    ["@rebooted"] = "expected @yearly, @monthly, @weekly, @daily, @hourly or fields (position 1)",
    ["@daily 1"] = "expected @yearly, @monthly, @weekly, @daily, @hourly or fields (position 1)",
  } do
    it(("is not %q"):format(text), function()
      assert.equal(('cron "%s": %s'):format(text, problem), refusal(text))
    end)
  end
end)
