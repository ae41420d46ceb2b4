local program = require "spec.support.program"

describe("schedule", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["schedules/weekly.lua"] = "return { handler = 'work', cycle = '0 8 * * MON',\n"
        .. "  zone = 'Europe/Berlin' }\n",
    }
  end)

  after_each(function()
    place.clean()
  end)

  it("list shows what was loaded, with its next date", function()
    place.run("deploy")
    local status, output = place.run("schedule", "list")
    assert.equal(0, status)
    assert.truthy(output:find("^SCHEDULE +CYCLE +NEXT +PAUSED +ZONE +HANDLER +MISFIRE "
      .. "+OVERLAP +LOCAL +JOB\n"), output)
    assert.truthy(output:find("\nweekly +0 8 %* %* MON +%S+Z +no +Europe/Berlin +work "
      .. "+once +skip "), output)
    assert.truthy(output:find("T08:00:00%.000%+0[12]:00 +1\n$"), output)
  end)

  it("list is an array with --json", function()
    place.run("deploy")
    local _, output = place.run("schedule", "list", "--json")
    assert.truthy(output:find('^%[{"name":"weekly","handler":"work","cycle":"0 8 %* %* MON",'
      .. '"zone":"Europe/Berlin","misfire":"once","overlap":"skip","jitter":null,'
        .. '"catch_up":null,"paused":false,"last":null,"outcome":null,"next":"'), output)
  end)

  it("show has the last ten runs, the newest first, and the dates to come", function()
    place.write("handlers/work.lua", "return { retry = 'R1/PT1S', run = function(job)\n"
      .. "  if job.payload.n == 1 then error('no disk', 0) end\nend }\n")
    place.write("schedules/weekly.lua", "return { handler = 'work', cycle = '0 8 * * MON',\n"
      .. "  payload = { n = 1 } }\n")
    place.run("deploy")
    for _ = 1, 11 do
      place.run("schedule", "run", "weekly")
    end
    place.run("run", "--drain")
    local status, output = place.run("schedule", "show", "weekly", "--count", "2")
    assert.equal(0, status)
    assert.truthy(output:find("\noutcome +failed\n"), output)
    assert.equal(10, select(2, output:gsub("Z  failed +[%d.]+ +%d+ +1  no disk\n", "")), output)
    assert.equal(2, select(2, output:gsub("T08:00:00%.000%+00:00  ", "")), output)
    local _, json = place.run("schedule", "show", "weekly", "--json")
    assert.equal(10, select(2, json:gsub('"attempt":', "")))
    assert.equal(5, select(2, json:gsub('"local":', "")))
    assert.equal(4, (place.run("schedule", "show", "daily")))
  end)

  describe("with at = \"start\"", function()
    before_each(function()
      place.write("schedules/warm.lua", "return { handler = 'work', at = 'start', retries = 2 }\n")
    end)

    local function runs()
      local _, output = place.run("log", "--schedule", "warm", "--outcome", "successful", "--json")
      return select(2, output:gsub('"job":', ""))
    end

    it("runs once as an executor starts, and when it is asked for", function()
      place.run("deploy")
      assert.equal(0, runs())
      place.run("run", "--drain")
      assert.equal(1, runs())
      place.run("run", "--drain")
      assert.equal(2, runs())
      assert.truthy(tonumber((select(2, place.run("schedule", "run", "warm")))))
      local _, job = place.run("job", "list", "--schedule", "warm", "--json")
      assert.matches('"retries":2,', job)
      place.run("run", "--drain")
      assert.equal(4, runs())
      assert.matches("\nwarm +@reboot +successful ", (select(2, place.run("schedule", "list"))))
    end)

    it("rests while it is paused", function()
      place.run("deploy")
      place.run("schedule", "pause", "warm")
      place.run("run", "--drain")
      assert.equal(0, runs())
      place.run("schedule", "resume", "warm")
      place.run("run", "--drain")
      assert.equal(1, runs())
    end)

    it("has no dates, and nothing that belongs to them", function()
      local status, output = place.run("check")
      assert.equal(0, status)
      assert.matches("\nwarm +work +@reboot +UTC +each start of an executor ", output)
      place.write("schedules/warm.lua", "return { handler = 'work', at = 'start',\n"
        .. "  zone = 'UTC' }\n")
      assert.matches('zone: expected none beside at = "start"', (select(3, place.run("check"))))
      place.write("schedules/warm.lua", "return { handler = 'work', at = 'noon' }\n")
      assert.matches('at: got the string "noon" %(expected "start", or a cycle%)',
        (select(3, place.run("check"))))
    end)
  end)

  it("next shows the dates to come in the zone and in UTC", function()
    place.run("deploy")
    local status, output = place.run("schedule", "next", "weekly", "--count", "3")
    assert.equal(0, status)
    local _, lines = output:gsub("T08:00:00%.000%+0[12]:00  %d+%-%d+%-%d+T0[67]:00:00%.000Z\n", "")
    assert.equal(3, lines, output)
  end)

  it("pause, resume and run say what they did", function()
    place.run("deploy")
    local _, paused = place.run("schedule", "pause", "weekly")
    local _, resumed = place.run("schedule", "resume", "weekly")
    assert.equal('schedule "weekly" is paused\nschedule "weekly" goes on\n', paused .. resumed)
    assert.equal("2\n", select(2, place.run("schedule", "run", "weekly")))
    assert.equal('{"schedule":"weekly","job":3}\n',
      select(2, place.run("schedule", "run", "weekly", "--json")))
    assert.equal('{"schedule":"weekly","paused":true}\n',
      select(2, place.run("schedule", "pause", "weekly", "--json")))
    local status, _, errors = place.run("schedule", "pause", "daily")
    assert.equal(4, status)
    assert.equal('moonshift: no schedule "daily"\n', errors)
  end)

  it("verbs say with --dry-run what they would do, or that they would be refused", function()
    place.run("deploy")
    local function try(...)
      local status, output, errors = place.run("schedule", ...)
      return status .. " " .. output .. errors
    end
    assert.equal("0 1 schedule would be paused\n", try("pause", "weekly", "--dry-run"))
    assert.equal("0 0 schedules would be resumed\n", try("resume", "weekly", "--dry-run"))
    assert.equal("0 1 schedule would be run\n", try("run", "weekly", "--dry-run"))
    assert.equal('0 {"count":1,"dry_run":true}\n', try("run", "weekly", "--dry-run", "--json"))
    assert.equal('4 moonshift: no schedule "daily"\n', try("run", "daily", "--dry-run"))
    local _, listed = place.run("schedule", "list", "--json")
    assert.truthy(listed:find('"paused":false', 1, true))
    place.run("job", "delete", "1")
    assert.truthy(try("run", "weekly", "--dry-run"):find("^5 moonshift: .*no job waits"))
  end)

  it("next refuses a name that is not there", function()
    place.run("deploy")
    local status, _, errors = place.run("schedule", "next", "daily")
    assert.equal(4, status)
    assert.equal('moonshift: no schedule "daily"\n', errors)
  end)

  it("is shown by check, with its next dates", function()
    local status, output = place.run("check")
    assert.equal(0, status)
    assert.truthy(output:find("\nweekly +work +0 8 %* %* MON +Europe/Berlin +%d+%-%d+%-%d+T08:"),
      output)
    assert.truthy(output:find(" schedules/weekly%.lua\n"), output)
  end)

  it("is loaded by run, and its jobs are run", function()
    place.run("run", "--drain")
    assert.truthy(select(2, place.run("job", "list", "--timer")):find("\n +1 +work +scheduled "))
    assert.equal(place.given() .. ": nothing is wrong\n", select(2, place.run("check", "--store")))
  end)
end)

describe("dates", function()
  it("shows the dates of a cycle, here and in UTC", function()
    local status, output = program.run { "dates", "30 2 * * *", "--zone", "America/New_York",
      "--after", "2026-03-07T00:00:00-05:00", "--count", "3" }
    assert.equal(0, status)
    assert.equal("LOCAL                          UTC\n"
      .. "2026-03-07T02:30:00.000-05:00  2026-03-07T07:30:00.000Z\n"
      .. "2026-03-08T03:00:00.000-04:00  2026-03-08T07:00:00.000Z\n"
      .. "2026-03-09T02:30:00.000-04:00  2026-03-09T06:30:00.000Z\n", output)
  end)

  it("ends where the cycle ends", function()
    local _, output = program.run { "dates", "R2/PT1H", "--after", "2026-01-01", "--json" }
    assert.equal('[{"local":"2026-01-01T01:00:00.000+00:00","utc":"2026-01-01T01:00:00.000Z"},'
      .. '{"local":"2026-01-01T02:00:00.000+00:00","utc":"2026-01-01T02:00:00.000Z"}]\n', output)
  end)

  it("refuses what is no cycle", function()
    local status, _, errors = program.run { "dates", "R/P" }
    assert.equal(2, status)
    assert.equal('moonshift: cycle "R/P": duration "P": expected a number (position 2), '
      .. 'as in "1h30m" or "PT1H30M"\n', errors)
  end)
end)

describe("a repeating job on the command line", function()
  local place

  before_each(function()
    place = program.place { ["handlers/work.lua"] = "return function() end\n" }
  end)

  after_each(function()
    place.clean()
  end)

  local function due(id)
    return select(2, place.run("job", "show", id, "--json")):match('"due":"([^"]+)"')
  end

  it("is made by enqueue", function()
    assert.equal("1\n", select(2, place.run("enqueue", "work", "--cycle",
      "R/2100-01-01T08:00:00/P1D", "--zone", "Europe/Berlin", "--misfire", "skip")))
    assert.equal("2100-01-01T07:00:00.000Z", due("1"))
  end)

  it("is made from lines", function()
    local line = '{"handler":"work","repeat":"R/2100-01-01T08:00:00Z/P1D"}\n'
    local status = program.run({ "enqueue", "--from", "-" }, { dir = place.path, stdin = line })
    assert.equal(0, status)
    assert.equal("2100-01-01T08:00:00.000Z", due("1"))
  end)

  it("moves with its later dates by job due --cascade, and back by job recalculate", function()
    place.run("enqueue", "work", "--cycle", "R/2100-01-01T08:00:00Z/P1D")
    assert.equal("1 job changed\n",
      select(2, place.run("job", "due", "2100-01-01T09:00:00Z", "1", "--cascade")))
    assert.equal("2100-01-01T09:00:00.000Z", due("1"))
    assert.equal("1 job changed\n", select(2, place.run("job", "recalculate", "1")))
    assert.equal("2100-01-01T08:00:00.000Z", due("1"))
  end)

  it("recalculates timers only", function()
    place.run("enqueue", "work")
    local status, _, errors = place.run("job", "recalculate", "1", "--from-creation")
    assert.equal(5, status)
    assert.equal("moonshift: job 1 is no timer\n", errors)
  end)
end)
