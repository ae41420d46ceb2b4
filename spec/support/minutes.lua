-- A second opinion on cron dates, for a process of its own: TZ=Zone lua minutes.lua FROM DAYS CRON…
--
-- It can do two things only: add a minute, and ask the C library what the clock on the wall shows.
-- FROM is seconds since 1970. Prints for each expression a line of instants, in seconds.
local from, days = tonumber(arg[1]), tonumber(arg[2])

local names = { JAN = 1, FEB = 2, MAR = 3, APR = 4, MAY = 5, JUN = 6, JUL = 7, AUG = 8, SEP = 9,
  OCT = 10, NOV = 11, DEC = 12, SUN = 0, MON = 1, TUE = 2, WED = 3, THU = 4, FRI = 5, SAT = 6 }

local function number(text)
  return tonumber(text) or names[text:upper()]
end

local function any(field, test)
  for item in field:gmatch "[^,]+" do
    if test(item) then
      return true
    end
  end
  return false
end

-- Whether a value is in "*", "5", "1-5", "*/2", "5/2" or "1-5/2" of a field from `min` to `max`.
local function within(item, value, min, max)
  local range, step = item:match "^(.-)/(%d+)$"
  local low, high = (range or item):match "^(%w+)%-(%w+)$"
  if item:find "^[*?]" then
    low, high = min, max
  elseif low then
    low, high = number(low), number(high)
  else
    low = number(range or item)
    high = range and max or low
  end
  if low and high == 0 and low > 0 then
    high = 7 -- Sunday
  end
  return low and value >= low and value <= high and (value - low) % (tonumber(step) or 1) == 0
end

local function month_length(year, month)
  local leap = year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
  return ({ 31, leap and 29 or 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 })[month]
end

-- Whether a day is the workday nearest to day `wanted` of its month.
local function near(day, weekday, last, wanted)
  if weekday == 0 or weekday == 6 or wanted > last then
    return false
  end
  return day == wanted or (weekday == 5 and day + 1 == wanted)
    or (weekday == 1 and day - 1 == wanted)
    or (weekday == 1 and day == 3 and wanted == 1)
    or (weekday == 5 and day + 2 == last and wanted == last)
end

local function day_matches(item, wall, last)
  local weekday = wall.wday - 1
  if item == "L" then
    return wall.day == last
  elseif item == "LW" then
    return weekday > 0 and weekday < 6
      and (wall.day == last or (weekday == 5 and wall.day + 2 >= last))
  elseif item:find "^L%-" then
    return wall.day == last - number(item:sub(3))
  elseif item:find "W$" then
    return near(wall.day, weekday, last, number(item:sub(1, -2)))
  end
  return within(item, wall.day, 1, 31)
end

local function weekday_matches(item, wall, last)
  local weekday = wall.wday - 1
  local name, nth = item:match "^(%w+)#(%d)$"
  if name then
    return number(name) % 7 == weekday and (wall.day + 6) // 7 == number(nth)
  elseif item:find "^%w+L$" then
    return number(item:sub(1, -2)) % 7 == weekday and wall.day + 7 > last
  end
  return within(item, weekday, 0, 7) or (weekday == 0 and within(item, 7, 0, 7))
end

local function split(text)
  local fields = {}
  for field in text:gmatch "%S+" do
    fields[#fields + 1] = field
  end
  local six = #fields == 6
  local second, minute, hour, day, month, weekday = table.unpack(fields, six and 1 or 0)
  local all = { ["*"] = true, ["?"] = true, ["*/1"] = true }
  local free = all[day] or all[weekday]
  local frequent = (minute .. " " .. hour):find "^[*?]" or hour:find "^[*?]"
    or six and second:find "^[*?]"
  return { second = six and second or "0", minute = minute, hour = hour, day = day, month = month,
    weekday = weekday, both = six or free, frequent = frequent, dates = {} }
end

local function date_matches(cron, wall)
  local last = month_length(wall.year, wall.month)
  if not any(cron.month, function(item) return within(item, wall.month, 1, 12) end) then
    return false
  end
  local day = any(cron.day, function(item) return day_matches(item, wall, last) end)
  local weekday = any(cron.weekday, function(item) return weekday_matches(item, wall, last) end)
  if cron.both then
    return day and weekday
  end
  return day or weekday
end

-- The values of a field that it holds, as a set.
local function members(field, max)
  local set = {}
  for value = 0, max do
    set[value] = any(field, function(item) return within(item, value, 0, max) end)
  end
  return set
end

local crons = {}
for i = 3, #arg do
  crons[#crons + 1] = split(arg[i])
  local cron = crons[#crons]
  cron.seconds, cron.minutes = members(cron.second, 59), members(cron.minute, 59)
  cron.hours = members(cron.hour, 23)
end

-- The expressions that may match in the hour on the wall, asked once an hour.
local hour_known, candidates

local function matching(wall)
  local hour = ((wall.year * 12 + wall.month) * 31 + wall.day) * 24 + wall.hour
  if hour ~= hour_known then
    hour_known, candidates = hour, {}
    for _, cron in ipairs(crons) do
      if cron.hours[wall.hour] and date_matches(cron, wall) then
        candidates[#candidates + 1] = cron
      end
    end
  end
  return candidates
end

local function note(cron, at)
  if cron.dates[#cron.dates] ~= at then
    cron.dates[#cron.dates + 1] = at
  end
end

-- A minute of the wall that begins at instant `at`. A skipped one runs there at once, and one that
-- is repeated not at all; but for a frequent expression only what the wall shows counts.
local function visit(wall, at, skipped, repeated)
  for _, cron in ipairs(matching(wall)) do
    local counts = not repeated
    if cron.frequent then
      counts = not skipped
    end
    if cron.minutes[wall.min] and counts then
      for second = 0, 59 do
        if cron.seconds[second] then
          note(cron, skipped and at or at + second)
        end
      end
    end
  end
end

-- Minutes of the wall, counted as if it were that of UTC.
local function count(wall, at)
  local utc = os.date("!*t", at)
  local days_apart = wall.year ~= utc.year and (wall.year > utc.year and 1 or -1)
    or wall.yday - utc.yday
  return at // 60 + (days_apart * 24 + wall.hour - utc.hour) * 60 + wall.min - utc.min
end

local latest       -- minute that was on the wall
local now, of_day  -- the one that is on it
for at = from, from + days * 86400 - 60, 60 do
  local wall = os.date("*t", at)
  local before = of_day
  of_day = wall.hour * 60 + wall.min
  if before and of_day == before + 1 then
    now = now + 1
  else
    now = count(wall, at)
  end
  for minute = (latest or now) + 1, now - 1 do
    visit(os.date("!*t", minute * 60), at, true)
  end
  local repeated = latest and now <= latest
  visit(wall, at, false, repeated)
  latest = repeated and latest or now
end

for _, cron in ipairs(crons) do
  print(table.concat(cron.dates, " "))
end
