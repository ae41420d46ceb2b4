-- Crontabs that are imported run when cron would have run them.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local testing = require "moonshift.testing"
local vixie = require "spec.support.vixie"

local WEEK = 7 * 86400

-- What an administrator's crontab looks like after some years.
local OLD = [[
# m h  dom mon dow   command
SHELL=/bin/bash
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
MAILTO="root@example.org"

*/30 * * * *  cd /srv/shop && /usr/bin/php artisan schedule:run >> /dev/null 2>&1
0 2 * * *    /usr/local/bin/backup.sh --full > /var/log/backup.log 2>&1
30 2 * * *   /usr/local/bin/backup.sh --copy
15 2,3 * * sun  /usr/local/bin/weekly
0 3 1 * *    /usr/local/bin/monthly
0 0 1,15 * fri  /usr/local/bin/payday
0 9-17/2 * * mon-fri  /usr/local/bin/office
*/20 8-18 * * 1-5  /usr/local/bin/poll --quiet
@hourly      /usr/local/bin/rotate
@daily       find /tmp -mtime +7 -delete
@weekly      /usr/local/bin/report 2>&1 | mail -s "report \\%" ops%Dear all,%%the report.
@midnight    flock -n /run/lock/index /usr/local/bin/index
@monthly     /usr/local/bin/invoice
1-59/10 1-4 * * *  nice -n 10 /usr/local/bin/night
*/2 2 * * *  /usr/local/bin/watch
0 */6 * * *  /usr/local/bin/certbot -q renew
0 */24 * * * /usr/local/bin/once
12 4 */2 * mon  /usr/local/bin/both
7 3 * apr,oct 0-2,7  /usr/local/bin/list
CRON_TZ=America/New_York
0 16 * * 1-5 /usr/local/bin/close
30 1 * * *   /usr/local/bin/settle
CRON_TZ=Australia/Lord_Howe
10 2 * * *   /usr/local/bin/island
]]

-- A random line in cron's own grammar.
local function field(low, high, names)
  local function value()
    local n = math.random(low, high)
    return names and math.random(2) == 1 and names[n - low + 1] or n
  end
  local function item()
    local kind = math.random(4)
    if kind == 1 then
      return "*/" .. math.random(2, high)
    elseif kind == 2 then
      local first = math.random(low, high)
      local range = ("%d-%d"):format(first, math.random(first, high))
      return math.random(2) == 1 and range or range .. "/" .. math.random(2, 5)
    end
    return tostring(value())
  end
  local list = { item() }
  while math.random(3) == 1 do
    list[#list + 1] = item()
  end
  return table.concat(list, ",")
end

local MONTHS = { "jan", "Feb", "MAR", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov",
  "dec" }
local WEEKDAYS = { "sun", "Mon", "TUE", "wed", "thu", "fri", "sat" }
local ZONES = { "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata",
  "America/Santiago", "UTC" }

local function some(chance, low, high, names)
  return math.random(chance) == 1 and field(low, high, names) or "*"
end

local function random_crontab(count)
  local lines = { "CRON_TZ=" .. ZONES[math.random(#ZONES)] }
  for n = 1, count do
    lines[#lines + 1] = ("%s %s %s %s %s /bin/job%d"):format(
      math.random(4) == 1 and "*/" .. math.random(11, 59)
        or math.random(0, 59) .. "," .. math.random(0, 59),
      math.random(3) == 1 and "*" or field(0, 23), some(4, 1, 31), some(6, 1, 12, MONTHS),
      some(3, 0, 6, WEEKDAYS), n)
    if math.random(8) == 1 then
      lines[#lines + 1] = "CRON_TZ=" .. ZONES[math.random(#ZONES)]
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

describe("an imported crontab", function()
  local read = require("moonshift.crontab").read

  after_each(engines.clean)

  local function import(text, zone)
    return read { files = { { name = "my", text = text } }, zone = zone }
  end

  -- The names of the starts in a week of the virtual clock.
  local function starts(imported, from)
    local files, found = {}, {}
    for _, file in ipairs(imported.files) do
      files[file.path] = file.text
    end
    local clock = moonshift.clock.virtual(os.date("!%Y-%m-%dT%H:%M:%SZ", from))
    local engine = testing.engine { scripts = engines.folder(files), clock = clock,
      history = "none", handlers = { shell = function(job)
        local y, m, d, h, min = job.due:match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+)")
        local at = vixie.days(tonumber(y), tonumber(m), tonumber(d)) * 86400 + h * 3600 + min * 60
        found[job.schedule .. " " .. at] = true
      end } }
    while true do
      local soonest = engine:jobs():sort("due"):page(1, 1):list()[1]
      if not soonest or soonest.due > os.date("!%Y-%m-%dT%H:%M:%S.000Z", from + WEEK) then
        break
      end
      clock:set(soonest.due)
      engine:drain()
    end
    engine:close()
    return found
  end

  local function differences(ours, theirs)
    local list = {}
    for start in pairs(ours) do
      list[#list + 1] = not theirs[start] and "+" .. start or nil
    end
    for start in pairs(theirs) do
      list[#list + 1] = not ours[start] and "-" .. start or nil
    end
    table.sort(list)
    return table.concat(list, "\n")
  end

  -- Both over a week. Returns how many starts there were.
  local function compare(text, zone, from)
    local imported, names, count = import(text, zone), {}, 0
    for _, file in ipairs(imported.files) do
      names[file.line] = file.path:match("([^/]+)%.lua$")
    end
    local lines = vixie.read(text, zone, function(number)
      return names[number] or "line " .. number
    end)
    local theirs = vixie.starts(lines, from, from + WEEK)
    assert.equal("", differences(starts(imported, from), theirs), text)
    for _ in pairs(theirs) do
      count = count + 1
    end
    return count
  end

  -- Weeks in which a zone of the crontab changes its clock, or none does.
  for name, date in pairs { ["the last of March"] = { 2026, 3, 26 },
    ["the first of November"] = { 2026, 10, 30 },
    ["the first of April"] = { 2026, 4, 2 } } do
    it("runs as cron runs it in the week of " .. name, function()
      local from = vixie.days(date[1], date[2], date[3]) * 86400
      assert.truthy(compare(OLD, "Europe/Berlin", from) > 900)
    end)
  end

  it("runs as cron runs it, whatever its lines are", function()
    local seed = tonumber(os.getenv("SEED")) or os.time()
    math.randomseed(seed)
    for _ = 1, 2 do
      local day = vixie.days(2026, 1, 1) + math.random(0, 364)
      compare("# SEED=" .. seed .. "\n" .. random_crontab(12), "UTC", day * 86400)
    end
  end)
end)
