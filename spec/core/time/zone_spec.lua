local process = require "spec.support.process"
local rules = require("moonshift.core").rules

local lua = os.getenv("SPEC_LUA") or "lua5.4"

local function refusal(zone)
  local value, message = rules.cycle("@daily", zone)
  assert.is_nil(value)
  return message
end

-- Midnight of a day on the wall, in UTC.
local function midnight(zone, day)
  local start = ("R/%s/P1D"):format(day)
  local after = rules.time(day) - 2 * 86400000
  return rules.format_time(assert(rules.dates(start, zone, after, 1))[1]):sub(1, 16)
end

describe("a zone", function()
  for _, case in ipairs {
    { "UTC", "2026-07-01", "2026-07-01T00:00" },
    { "Europe/Berlin", "2026-01-01", "2025-12-31T23:00" },
    { "Europe/Berlin", "2026-07-01", "2026-06-30T22:00" },
    { "Europe/Berlin", "2350-07-01", "2350-06-30T22:00" },
    { "Europe/Berlin", "1890-01-01", "1889-12-31T23:06" }, -- +00:53:28
    { "Europe/Dublin", "2026-07-01", "2026-06-30T23:00" },
    { "Asia/Kathmandu", "2026-01-01", "2025-12-31T18:15" },
    { "America/Argentina/Buenos_Aires", "2026-01-01", "2026-01-01T03:00" },
    { "Australia/Lord_Howe", "2026-01-01", "2025-12-31T13:00" },
    { "Australia/Lord_Howe", "2026-07-01", "2026-06-30T13:30" },
    { "America/Nuuk", "2400-07-01", "2400-07-01T01:00" }, -- its rule has negative hours
    { "Etc/GMT+5", "2026-01-01", "2026-01-01T05:00" },
  } do
    local zone, day, expected = table.unpack(case)
    it(("%s has midnight of %s at %s"):format(zone, day, expected), function()
      assert.equal(expected, midnight(zone, day))
    end)
  end

  -- What the clocks skip: the first instant behind it. Once as a date, once as a day more.
  for _, case in ipairs {
    { "Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:00" },
    { "Europe/Berlin", "2026-03-29T02:00", "2026-03-29T01:00" },
    { "Europe/Berlin", "2026-03-29T02:59:59", "2026-03-29T01:00" },
    { "Europe/Berlin", "2026-03-29T03:00", "2026-03-29T01:00" },
    { "America/New_York", "2026-03-08T02:30", "2026-03-08T07:00" },
    { "Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:30" }, -- half an hour
    { "America/Santiago", "2026-09-06T00:00", "2026-09-06T04:00" }, -- midnight itself
    { "Asia/Beirut", "2026-03-29T00:30", "2026-03-28T22:00" },
    { "Pacific/Apia", "2011-12-30T12:00", "2011-12-30T10:00" }, -- a whole day
  } do
    local zone, date, expected = table.unpack(case)
    it(("%s has no %s: it is %s"):format(zone, date, expected), function()
      local at = rules.time(date:sub(1, 10))
      local dates = assert(rules.dates(("R/%s/P1D"):format(date), zone, at - 3 * 86400000, 1))
      assert.equal(expected, rules.format_time(dates[1]):sub(1, 16))
      local before = rules.format_time(at - 86400000):sub(1, 10) .. date:sub(11)
      dates = assert(rules.dates(("R/%s/P1D"):format(before), zone, at - 3 * 86400000, 2))
      assert.equal(expected, rules.format_time(dates[2]):sub(1, 16))
    end)
  end

  it("is UTC unless named", function()
    assert.equal("2026-07-01T00:00", midnight(nil, "2026-07-01"))
    assert.equal("2026-07-01T00:00", midnight("", "2026-07-01"))
  end)

  it("that is unknown is told with the one that was meant", function()
    assert.equal('zone "Europe/Berln": unknown (did you mean "Europe/Berlin"?)',
      refusal "Europe/Berln")
    assert.equal('zone "europe/berlin": unknown (did you mean "Europe/Berlin"?)',
      refusal "europe/berlin")
    assert.equal('zone "new_york": unknown (did you mean "America/New_York"?)', refusal "new_york")
    assert.equal('zone "utc": unknown (did you mean "UTC"?)', refusal "utc")
    assert.equal('zone "Middle-earth": unknown (expected a name such as "Europe/Berlin")',
      refusal "Middle-earth")
  end)

  it("is no folder and no other file of tzdata", function()
    assert.equal('zone "Europe": unknown (expected a name such as "Europe/Berlin")',
      refusal "Europe")
    assert.equal('zone "leapseconds": its file in /usr/share/zoneinfo is damaged',
      refusal "leapseconds")
  end)

  it("counts no leap seconds", function()
    assert.equal('zone "right/UTC": its file in /usr/share/zoneinfo counts leap seconds '
      .. "(expected one that does not)", refusal "right/UTC")
  end)

  for _, name in ipairs { "../../../etc/passwd", "/etc/localtime", "Europe/../UTC", "Europe/", ".",
    "Europe//Berlin", "+02:00", "CET ", ("x"):rep(65) } do
    it(("is not %q"):format(name), function()
      assert.equal(('zone "%s": expected a name such as "Europe/Berlin" or "UTC"')
        :format(name:sub(1, 64)), refusal(name))
    end)
  end
end)

describe("time zone data", function()
  local folder

  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    os.execute("mkdir " .. folder)
  end)

  after_each(function()
    os.execute("rm -r " .. folder)
  end)

  local function write(name, bytes)
    local file = assert(io.open(folder .. "/" .. name, "wb"))
    file:write(bytes)
    file:close()
  end

  -- What a process of its own says of midnight of a day, or why not.
  local function ask(zone, day)
    local script = ([[local rules = require("moonshift.core").rules
      local after = rules.time(%q) - 2 * 86400000
      local dates, message = rules.dates("R/%s/P1D", %q, after, 1)
      print(message or rules.format_time(dates[1]):sub(1, 16))]]):format(day, day, zone)
    local _, output, errors = process.run(("TZDIR=%s %s -e %s"):format(folder, lua,
      process.quote(script)))
    return output:match "^(.-)\n?$" .. errors
  end

  local function block(version, time_size, times, indexes, types)
    local parts = { ("TZif%s"):format(version), ("\0"):rep(15),
      (">I4I4I4I4I4I4"):pack(0, 0, 0, #times, #types, 4) }
    for _, time in ipairs(times) do
      parts[#parts + 1] = (">i" .. time_size):pack(time)
    end
    for _, index in ipairs(indexes) do
      parts[#parts + 1] = string.char(index)
    end
    for _, offset in ipairs(types) do
      parts[#parts + 1] = (">i4BB"):pack(offset, 0, 0)
    end
    return table.concat(parts) .. "ABC\0"
  end

  -- A file without transitions, whose closing line says all.
  local function closing(line)
    return block("3", 4, {}, {}, { 0 }) .. block("3", 8, {}, {}, { 0 }) .. "\n" .. line .. "\n"
  end

  it("is not needed for UTC", function()
    assert.equal("2026-01-01T00:00", ask("UTC", "2026-01-01"))
    assert.equal(('zone "Europe/Berlin": unknown (no time zones in %s)'):format(folder),
      ask("Europe/Berlin", "2026-01-01"))
  end)

  it("of the first version has 32-bit times and no closing line", function()
    write("Old", block("\0", 4, { 0, 86400 }, { 1, 2 }, { 3600, 7200, 10800 }))
    assert.equal("1969-12-30T23:00", ask("Old", "1969-12-31"))
    assert.equal("1970-01-01T22:00", ask("Old", "1970-01-02"))
    assert.equal("2039-12-31T21:00", ask("Old", "2040-01-01"))
  end)

  for line, expected in pairs {
    ["XXX-3"] = "2026-06-30T21:00",
    ["<+0330>-3:30:30"] = "2026-06-30T20:29",
    ["XXX3YYY,M3.2.0,M11.1.0"] = "2026-07-01T02:00",
    ["XXX3YYY1,J60/0,J300/0"] = "2026-07-01T01:00",
    ["XXX3YYY,J300,J60"] = "2026-07-01T03:00",
    ["XXX3YYY,180/167,300/-167"] = "2026-07-01T03:00",
    ["XXX3EDT4,0/0,J365/23"] = "2026-07-01T04:00", -- all the year
    [""] = "2026-07-01T00:00",
  } do
    it(("ends with %q"):format(line), function()
      write("Zone", closing(line))
      assert.equal(expected, ask("Zone", "2026-07-01"))
    end)
  end

  it("may have days of its closing line in the year after", function()
    write("Zone", closing "XXX0YYY,0,365/24")
    assert.equal("1971-01-01T00:00", ask("Zone", "1971-01-01"))
    assert.equal("1971-01-01T11:00", ask("Zone", "1971-01-01T12:00"))
  end)

  for what, bytes in pairs {
    ["of another kind"] = "#!/bin/sh\n",
    ["that is empty"] = "",
    ["cut short"] = closing("XXX-3"):sub(1, 60),
    ["without its last line's end"] = closing("XXX-3"):sub(1, -2),
    ["with a closing line that is none"] = closing "nonsense",
    ["with a closing line of too many hours"] = closing "XXX-3YYY,M3.2.0/168,M11.1.0",
    ["with a closing line that goes on"] = closing "XXX-3YYY,M3.2.0,M11.1.0,",
    ["with half a rule"] = closing "XXX-3YYY,M3.2.0",
    ["with transitions out of order"] = block("\0", 4, { 5, 5 }, { 0, 0 }, { 0 }),
    ["with a type that is not there"] = block("\0", 4, { 5 }, { 1 }, { 0 }),
    ["with an offset of 26 hours"] = block("\0", 4, {}, {}, { 93600 }),
    ["without any type"] = block("\0", 4, {}, {}, {}),
  } do
    it(("%s is refused"):format(what), function()
      write("Zone", bytes)
      assert.equal(('zone "Zone": its file in %s is damaged'):format(folder),
        ask("Zone", "2026-07-01"))
    end)
  end
end)
