local rules = require("moonshift.core").rules

-- The dates after an instant, in UTC, without what is zero anyway.
local function dates(cron, after, zone, count)
  local list = assert(rules.dates(cron, zone, rules.time(after), count or 4))
  for i, ms in ipairs(list) do
    list[i] = rules.format_time(ms):gsub("%.000Z$", ""):gsub("(T%d%d:%d%d):00$", "%1")
    list[i] = list[i]:gsub("T00:00$", "")
  end
  return list
end

local function texts(words)
  local list = {}
  for word in words:gmatch "%S+" do
    list[#list + 1] = word
  end
  return list
end

describe("a cron date", function()
  for _, case in ipairs {
    { "comes after the instant, never at it", "0 12 * * *", "2026-01-01T12:00",
      "2026-01-02T12:00 2026-01-03T12:00" },
    { "comes a millisecond later if it may", "0 12 * * *", "2026-01-01T11:59:59.999",
      "2026-01-01T12:00 2026-01-02T12:00" },
    { "of six fields has seconds", "*/30 59 23 * * *", "2026-12-31T23:59:10",
      "2026-12-31T23:59:30 2027-01-01T23:59" },
    { "of the last day", "0 0 L * *", "2028-01-31", "2028-02-29 2028-03-31 2028-04-30" },
    { "of days before the last", "0 0 L-1 * *", "2026-01-31", "2026-02-27 2026-03-30" },
    { "of L-30 is in long months only", "0 0 L-30 * *", "2026-01-02", "2026-03-01 2026-05-01" },
    { "of day 31 is in long months only", "0 0 31 * *", "2026-01-31", "2026-03-31 2026-05-31" },
    { "of the last workday", "0 0 LW * *", "2026-01-01", "2026-01-30 2026-02-27 2026-03-31" },
    { "of the workday nearest to the 1st stays in its month", "0 0 1W * *", "2026-01-31",
      "2026-02-02 2026-03-02 2026-04-01" },
    { "of the workday nearest to a Saturday is the Friday", "0 0 15W * *", "2026-08-01",
      "2026-08-14 2026-09-15" },
    { "of the workday nearest to a Sunday is the Monday", "0 0 15W * *", "2026-11-01",
      "2026-11-16 2026-12-15" },
    { "of the workday nearest to the 31st stays in its month", "0 0 31W * *", "2026-05-01",
      "2026-05-29 2026-07-31" },
    { "of the second Friday", "0 0 * * FRI#2", "2026-01-01", "2026-01-09 2026-02-13" },
    { "of the fifth Friday is in months that have one", "0 0 * * 5#5", "2026-01-31",
      "2026-05-29 2026-07-31" },
    { "of the last Friday", "0 0 * * FRIL", "2026-01-01", "2026-01-30 2026-02-27" },
    { "of a list with L and W", "0 0 5W,L * *", "2026-07-01", "2026-07-06 2026-07-31 2026-08-05" },
    { "of five fields matches either day", "0 0 13 * FRI", "2026-02-01",
      "2026-02-06 2026-02-13 2026-02-20 2026-02-27" },
    { "of five fields with one day free matches the other", "0 0 * * FRI", "2026-02-01",
      "2026-02-06 2026-02-13 2026-02-20 2026-02-27" },
    { "whose day begins with a star matches both days", "0 0 */2 * 1", "2026-08-01",
      "2026-08-03 2026-08-17 2026-08-31" },
    { "whose weekday begins with a star matches both days", "0 0 1-7 * */7", "2026-08-01",
      "2026-08-02 2026-09-06 2026-10-04" },
    { "with a star behind another item matches either day", "0 0 31,*/30 * MON", "2026-08-25",
      "2026-08-31 2026-09-01 2026-09-07" },
    { "of six fields matches both days", "0 0 0 13 * FRI", "2026-01-01",
      "2026-02-13 2026-03-13 2026-11-13" },
    { "of 29 February", "0 0 29 2 *", "2096-01-01", "2096-02-29 2104-02-29 2108-02-29" },
    { "of 29 February on a Monday", "0 0 0 29 2 MON", "2026-01-01",
      "2044-02-29 2072-02-29 2112-02-29" },
    { "of 29 February or of a Monday", "0 0 29 2 1", "2028-02-21",
      "2028-02-28 2028-02-29 2029-02-05" },
  } do
    local name, cron, after, expected = table.unpack(case)
    it(name, function()
      local list = texts(expected)
      assert.same(list, dates(cron, after, nil, #list))
    end)
  end

  it("ends with the year 9999", function()
    assert.same({ "9999-12-30", "9999-12-31" }, dates("0 0 * * *", "9999-12-29", nil, 9))
    assert.same({}, dates("0 0 29 2 *", "9996-03-01"))
  end)
end)

describe("a cron date in a zone", function()
  for _, case in ipairs {
    { "that is skipped comes right after the gap", "Europe/Berlin", "30 2 * * *",
      "2026-03-28", "2026-03-28T01:30 2026-03-29T01:00 2026-03-30T00:30" },
    { "comes once for all that a gap skips", "Europe/Berlin", "0,20,40 2 * * *",
      "2026-03-28T01:30", "2026-03-28T01:40 2026-03-29T01:00 2026-03-30" },
    { "that is frequent is not made up for after a gap", "Europe/Berlin", "*/20 2 * * *",
      "2026-03-28T01:30", "2026-03-28T01:40 2026-03-30 2026-03-30T00:20" },
    { "of every hour has its minute kept over a gap", "Europe/Berlin", "30 * * * *",
      "2026-03-28T23:40", "2026-03-29T00:30 2026-03-29T01:30 2026-03-29T02:30" },
    { "of every half hour goes on over a gap", "Europe/Berlin", "*/30 * * * *",
      "2026-03-29T00:10", "2026-03-29T00:30 2026-03-29T01:00 2026-03-29T01:30" },
    { "that comes twice counts the first time", "Europe/Berlin", "30 2 * * *",
      "2026-10-24", "2026-10-24T00:30 2026-10-25T00:30 2026-10-26T01:30" },
    { "of every half hour goes on while an hour is repeated", "Europe/Berlin", "*/30 * * * *",
      "2026-10-25T00:10", "2026-10-25T00:30 2026-10-25T01:00 2026-10-25T01:30 2026-10-25T02:00" },
    { "of every second goes on while an hour is repeated", "Europe/Berlin", "* 59 2 25 * *",
      "2026-10-25T00:59:58", "2026-10-25T00:59:59 2026-10-25T01:59 2026-10-25T01:59:01" },
    { "in an hour that is repeated comes twice if its minutes are any", "Europe/Berlin",
      "*/30 2 * * SUN", "2026-10-25T00:40", "2026-10-25T01:00 2026-10-25T01:30 2026-11-01T01:00" },
    { "may come last in the repeated hour", "Europe/Berlin", "0 */30 2 25 10 * 2026",
      "2026-10-25T00:40", "2026-10-25T01:00 2026-10-25T01:30" },
    { "with fixed hours pauses while one is repeated", "Europe/Berlin", "0,30 0-23 * * *",
      "2026-10-25T00:10", "2026-10-25T00:30 2026-10-25T02:00 2026-10-25T02:30" },
    { "asked for in the repeated hour is a later one", "Europe/Berlin", "0,30 0-23 * * *",
      "2026-10-25T01:10", "2026-10-25T02:00" },
    { "stays at its hour", "America/New_York", "0 9 * * MON-FRI",
      "2026-03-05T20:00", "2026-03-06T14:00 2026-03-09T13:00" },
    { "where the clock moves by half an hour forward", "Australia/Lord_Howe", "15 2 * * *",
      "2026-10-02T18:00", "2026-10-03T15:30 2026-10-04T15:15" },
    { "where the clock moves by half an hour back", "Australia/Lord_Howe", "45 1 * * *",
      "2026-04-03T18:00", "2026-04-04T14:45 2026-04-05T15:15" },
    { "where midnight is skipped", "America/Sao_Paulo", "0 0 * * *",
      "2018-11-02T04:00", "2018-11-03T03:00 2018-11-04T03:00 2018-11-05T02:00" },
    { "where midnight is skipped today", "Africa/Cairo", "0 0 * * *",
      "2026-04-22T22:30", "2026-04-23T22:00 2026-04-24T21:00" },
    { "where midnight comes twice", "Asia/Beirut", "30 23 * * *",
      "2026-10-23T21:00", "2026-10-24T20:30 2026-10-25T21:30" },
    { "where a day is skipped", "Pacific/Apia", "0 12 * * *",
      "2011-12-28T23:00", "2011-12-29T22:00 2011-12-30T10:00 2011-12-30T22:00" },
    { "where a day is skipped comes once at its end", "Pacific/Apia", "0 0-23 30,31 12 *",
      "2011-12-29T12:00", "2011-12-30T10:00 2011-12-30T11:00" },
    { "where a day is skipped has none on it if it is frequent", "Pacific/Apia", "0 */9 30,31 12 *",
      "2011-12-29T12:00", "2011-12-30T10:00 2011-12-30T19:00" },
    { "where a day comes twice", "Pacific/Kwajalein", "0 12 * * *",
      "1969-09-30", "1969-09-30T01:00 1969-10-02 1969-10-03" },
    { "east by half an hour", "Asia/Kolkata", "0 9 * * *", "2026-01-01", "2026-01-01T03:30" },
    { "beyond the table of the zone", "Europe/Berlin", "30 2 * * *",
      "2350-03-25", "2350-03-25T01:30 2350-03-26T01:00 2350-03-27T00:30" },
  } do
    local name, zone, cron, after, expected = table.unpack(case)
    it(name, function()
      local list = texts(expected)
      assert.same(list, dates(cron, after, zone, #list))
    end)
  end
end)

-- Random expressions, against a second implementation that knows how to add a minute only.
describe("cron dates", function()
  local seed = tonumber(os.getenv("SPEC_SEED")) or 1
  local lua = os.getenv("SPEC_LUA") or "lua5.4"

  local function pick(random, list)
    return list[random(#list)]
  end

  local function field(random, min, max)
    local low, high = random(min, max), random(min, max)
    low, high = math.min(low, high), math.max(low, high)
    return pick(random, { "*", "*", tostring(low), ("%d,%d"):format(high, low),
      ("%d-%d"):format(low, high), ("%d-%d/%d"):format(low, high, random(1, 7)),
      ("*/%d"):format(random(1, math.max(max // 2, 2))), ("%d/%d"):format(low, random(1, max)) })
  end

  local function expression(random)
    local day = pick(random, { "*", "?", "*", field(random, 1, 31), "L", "LW", "1W,15",
      ("L-%d"):format(random(1, 28)), ("%dW"):format(random(1, 28)) })
    local weekday = pick(random, { "*", "?", "*", field(random, 0, 7), "MON-FRI", "FRI-SUN", "sat",
      ("%dL"):format(random(0, 7)), ("TUE#%d"):format(random(1, 4)) })
    local month = pick(random, { "*", "*", "*", "*", field(random, 1, 12), "mar-MAY,SEP-dec" })
    local hour = pick(random, { "*", "0", "1", "2", "1-3", "23,0", field(random, 0, 23) })
    local minute = pick(random, { "0", "30", "*/20", "45,15", tostring(random(0, 59)),
      ("%d/25"):format(random(0, 59)), ("%d-59/13"):format(random(0, 59)) })
    local second = pick(random, { "", "", "", "0 ", "*/30 ", "59 " })
    return second .. table.concat({ minute, hour, day, month, weekday }, " ")
  end

  -- Expressions that exist: 30 February and the like are left out.
  local function expressions(random, count)
    local list = { "30 2 * * *", "*/30 * * * *", "0 0 * * *", "15 1 L * ?" }
    while #list < count do
      local cron = expression(random)
      if rules.cycle(cron) then
        list[#list + 1] = cron
      end
    end
    return list
  end

  local function ask(zone, from, days, crons)
    local words = { ("TZ=%s %s spec/support/minutes.lua %d %d"):format(zone, lua, from, days) }
    for i, cron in ipairs(crons) do
      words[i + 1] = ("'%s'"):format(cron)
    end
    return io.popen(table.concat(words, " "))
  end

  -- Ours of the same stretch of time, as a line of seconds.
  local function line(cron, zone, from, days)
    local list, after, last = {}, from * 1000 - 1, (from + days * 86400) * 1000
    repeat
      local found = assert(rules.dates(cron, zone, after, 1000))
      for _, ms in ipairs(found) do
        after = ms
        if ms < last then
          list[#list + 1] = ms // 1000
        end
      end
    until #found == 0 or after >= last
    return table.concat(list, " ")
  end

  for i, case in ipairs {
    { "Europe/Berlin", 2026, 2034 }, { "America/New_York", 2004, 2036 },
    { "Australia/Lord_Howe", 2010, 2036 }, { "Pacific/Apia", 2011, 2011 },
    { "Africa/Cairo", 2008, 2030 }, { "America/Sao_Paulo", 2008, 2018 },
    { "Asia/Kolkata", 2000, 2036 }, { "UTC", 2000, 2036 },
  } do
    local zone, low, high = table.unpack(case)
    local random = function(...) return math.random(...) end
    it(("in %s are those found minute by minute (SPEC_SEED=%d)"):format(zone, seed), function()
      math.randomseed(seed, i)
      local year = random(low, high)
      local from, days = rules.time(("%d-01-01T12:00:00Z"):format(year)) // 1000, 370
      local crons = expressions(random, 24)
      local pipe = ask(zone, from, days, crons)
      for _, cron in ipairs(crons) do
        assert.equal(pipe:read("l"), line(cron, zone, from, days), cron .. " in " .. year)
      end
      assert(pipe:close())
    end)
  end
end)
