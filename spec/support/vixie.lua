-- A slow model of the cron of Debian (Vixie's, 3.0pl1): it wakes up each minute, looks at the clock
-- of the zone and asks every line. It shares nothing with what it judges: offsets are those that
-- zdump prints.
local vixie = {}

local NAMES = {
  month = { jan = 1, feb = 2, mar = 3, apr = 4, may = 5, jun = 6, jul = 7, aug = 8, sep = 9,
    oct = 10, nov = 11, dec = 12 },
  weekday = { sun = 0, mon = 1, tue = 2, wed = 3, thu = 4, fri = 5, sat = 6 },
}
local FIELDS = { { "minute", 0, 59 }, { "hour", 0, 23 }, { "day", 1, 31 }, { "month", 1, 12 },
  { "weekday", 0, 7 } }
local MACROS = { ["@yearly"] = "0 0 1 1 *", ["@annually"] = "0 0 1 1 *",
  ["@monthly"] = "0 0 1 * *", ["@weekly"] = "0 0 * * 0", ["@daily"] = "0 0 * * *",
  ["@midnight"] = "0 0 * * *", ["@hourly"] = "0 * * * *" }

-- ---- the clock of a zone ----

local MONTHS = { Jan = 1, Feb = 2, Mar = 3, Apr = 4, May = 5, Jun = 6, Jul = 7, Aug = 8, Sep = 9,
  Oct = 10, Nov = 11, Dec = 12 }

-- Days since 1970 of a civil date.
function vixie.days(year, month, day)
  local y = month <= 2 and year - 1 or year
  local era = y // 400
  local of_era = y - era * 400
  local of_year = (153 * (month + (month > 2 and -3 or 9)) + 2) // 5 + day - 1
  return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
end

-- A function: the offset in seconds at an instant in seconds.
function vixie.offsets(zone, year)
  local changes = {}
  local pipe = io.popen(("zdump -v -c 1900,%d '%s'"):format(year + 2, zone))
  for line in pipe:lines() do
    local month, day, h, m, s, y, offset = line:match(
      "%a+ (%a+) +(%d+) (%d+):(%d+):(%d+) (%d+) UTC? = .*gmtoff=(%-?%d+)")
    if month then
      changes[#changes + 1] = { at = vixie.days(tonumber(y), MONTHS[month], tonumber(day)) * 86400
        + h * 3600 + m * 60 + s, offset = tonumber(offset) }
    end
  end
  pipe:close()
  table.sort(changes, function(a, b) return a.at < b.at end)
  return function(at)
    local offset = changes[1] and changes[1].offset or 0
    for _, change in ipairs(changes) do
      offset = change.at <= at and change.offset or offset
    end
    return offset
  end
end

-- ---- a line ----

local function bits_of(text, field)
  local name, low, high = field[1], field[2], field[3]
  local names, bits = NAMES[name] or {}, {}
  local function number(word)
    return names[word:lower()] or tonumber(word)
  end
  for item in text:gmatch("[^,]+") do
    local range, step = item:match("^(.-)/(%d+)$")
    range, step = range or item, tonumber(step or 1)
    local first, last = range:match("^(%w+)%-(%w+)$")
    first, last = number(first or range) or low, number(last or range) or high
    for value = first, last, step do
      bits[name == "weekday" and value % 7 or value] = true
    end
  end
  return bits
end

local function line_of(fields, name, zone)
  local line, n = { name = name, zone = zone }, 0
  for text in fields:gmatch("%S+") do
    n = n + 1
    line[FIELDS[n][1]] = bits_of(text, FIELDS[n])
    line[FIELDS[n][1] .. "_star"] = text:sub(1, 1) == "*"
  end
  line.wild = line.minute_star or line.hour_star
  return line
end

-- The lines of a crontab that run at times; name_of(number) is that of a line.
function vixie.read(text, zone, name_of)
  local lines, number = {}, 0
  for line in text:gmatch("[^\n]*") do
    number = number + 1
    local fields = MACROS[line:match("^@%l+") or ""]
      or line:match("^[%d*]%S*%s+%S+%s+%S+%s+%S+%s+%S+")
    zone = line:match("^CRON_TZ=(.+)$") or zone
    if fields then
      lines[#lines + 1] = line_of(fields, name_of(number), zone)
    end
  end
  return lines
end

-- ---- a run ----

-- Of minutes since 1970 as the zone's clock shows them.
local function civil(minutes)
  local days = minutes // 1440
  local z = days + 719468
  local era = z // 146097
  local of_era = z - era * 146097
  local year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
  local of_year = of_era - (365 * year + year // 4 - year // 100)
  local m = (5 * of_year + 2) // 153
  return { minute = minutes % 60, hour = minutes // 60 % 24, day = of_year - (153 * m + 2) // 5 + 1,
    month = m < 10 and m + 3 or m - 9, weekday = (days + 4) % 7 }
end

local function matches(line, now)
  if not (line.minute[now.minute] and line.hour[now.hour] and line.month[now.month]) then
    return false
  end
  local day, weekday = line.day[now.day], line.weekday[now.weekday]
  if line.day_star or line.weekday_star then
    return day and weekday
  end
  return day or weekday
end

-- starts(lines, from, to) -> a set of "name seconds": each run that begins in the seconds behind
-- `from`, up to `to`. Lines that were passed by when the clock jumped start at once, unless they
-- begin with a star; when it was set back, only these go on.
function vixie.starts(lines, from, to)
  local found, zones = {}, {}
  for _, line in ipairs(lines) do
    zones[line.zone] = zones[line.zone] or { offset = vixie.offsets(line.zone,
      1970 + from // 31556952) }
    table.insert(zones[line.zone], line)
  end
  for _, zone in pairs(zones) do
    local function find(minute, at, wild, fixed)
      local now = civil(minute)
      for _, line in ipairs(zone) do
        if (line.wild and wild or not line.wild and fixed) and matches(line, now) then
          found[line.name .. " " .. at] = true
        end
      end
    end
    local virtual = (from + zone.offset(from)) // 60
    for at = from + 60, to, 60 do
      local running = (at + zone.offset(at)) // 60
      if running - virtual == 1 then
        virtual = running
        find(virtual, at, true, true)
      else
        find(running, at, true, false)
        while virtual < running do
          virtual = virtual + 1
          find(virtual, at, false, true)
        end
      end
    end
  end
  return found
end

return vixie
