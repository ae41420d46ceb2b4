local moonshift = require "moonshift"
local process = require "spec.support.process"
local program = require "spec.support.program"
local stores = require "spec.support.stores"

describe("check", function()
  local place

  after_each(function()
    place.clean()
  end)

  it("shows every definition with its priority, retry and timeout", function()
    place = program.place {
      ["handlers/bill.lua"] = "return { priority = 20, retry = 'R5/PT5M', timeout = 'PT30S',\n"
        .. "  run = function() end }\n",
      ["handlers/mail/send.lua"] = "return function() end\n",
    }
    local status, output, errors = place.run("check")
    assert.equal(0, status, errors)
    assert.truthy(output:find("\nbill +20 +R5/PT5M +PT30S +handlers/bill%.lua\n"), output)
    assert.truthy(output:find("\nmail/send +PT5M +handlers/mail/send%.lua\n"), output)
  end)

  it("shows stock handlers where the folder names them, and with --all the others", function()
    place = program.place {
      ["handlers/zeal.lua"] = "return function() end\n",
      ["moonshift.lua"] = "return { stock = { 'shell' } }\n",
    }
    local _, output = place.run("check")
    assert.matches("^HANDLER[^\n]+STOCK[^\n]+\nshell [^\n]+\nzeal [^\n]+\n$", output)
    _, output = place.run("check", "--all")
    assert.matches("\nzeal [^\n]+\nbatch/activate [^\n]+\n", output)
    assert.matches('"name":"batch/activate"', (select(2, place.run("check", "--json"))))
  end)

  it("names every problem with file and line and answers 1", function()
    place = program.place {
      ["moonshift.lua"] = "return { wrokers = 4 }\n",
      ["handlers/a.lua"] = "return function(job)\n  x = = 1\nend\n",
      ["handlers/b.lua"] = "return {}\n",
    }
    local status, _, errors = place.run("check")
    assert.equal(1, status)
    local unknown = 'moonshift.lua: unknown setting "wrokers" (did you mean "workers"?)\n'
    assert.truthy(errors:find(unknown, 1, true), errors)
    assert.truthy(errors:find("handlers/a.lua:2: unexpected symbol near '='\n", 1, true), errors)
    assert.truthy(errors:find("handlers/b.lua", 1, true), errors)
    assert.truthy(errors:find("\nmoonshift: .: 3 problems\n", 1, true), errors)
  end)

  it("ends with what is wrong", function()
    place = program.place { ["handlers/a.lua"] = "return 5\n",
      ["handlers/b.lua"] = "return function() end\n" }
    local _, shown = program.run({ "check" }, { dir = place.path, terminal = 100 })
    assert.truthy(shown:find("\nhandlers/a.lua:1: [^\n]+\nmoonshift: .: 1 problem\r?\n$"), shown)
  end)

  it("is one document with --json", function()
    place = program.place { ["handlers/a.lua"] = "return 5\n",
      ["handlers/b.lua"] = "return function() end\n" }
    local status, output = place.run("check", "--json")
    assert.equal(1, status)
    assert.truthy(output:find('^{"definitions":%[.*"problems":%[{.*"warnings":%[.*%]}\n$'), output)
    assert.truthy(output:find('"file":"handlers/a.lua"', 1, true), output)
  end)

  it("warns of folders that mean nothing", function()
    place = program.place { ["handlers/a.lua"] = "return function() end\n", ["handler/b.lua"] = "" }
    local status, _, errors = place.run("check")
    assert.equal(0, status)
    assert.truthy(errors:find("^warning: .*handler"), errors)
  end)

  it("runs nothing and makes no store", function()
    place = program.place { ["handlers/a.lua"] = "return function() end\n" }
    place.run("check")
    assert.is_nil(io.open(place.store))
  end)

  it("reads the whole store with --store", function()
    place = program.place { ["handlers/a.lua"] = "return function() end\n" }
    place.run("enqueue", "a", "--count", "10")
    local status, output, errors = place.run("check", "--store")
    assert.equal(0, status, errors)
    assert.equal(place.given() .. ": nothing is wrong\n", output)
    assert.equal('{"problems":[]}\n', select(2, place.run("check", "--store", "sqlite:moonshift.db",
      "--json")))
  end)

  it("names every setting that is wrong, at once", function()
    place = program.place {
      ["handlers/a.lua"] = "return function() end\n",
      ["moonshift.lua"] = 'return { ["core-pool-size"] = 3, ["lock-time-in-millis"] = 300000,\n'
        .. '  page = 0, workers = 2 }\n',
    }
    local status, _, errors = place.run("check")
    assert.equal(1, status)
    assert.truthy(errors:find('"core-pool-size" (here it is "workers")', 1, true), errors)
    assert.truthy(errors:find('(here it is "lock_time", in seconds or as "PT5M")', 1, true), errors)
    assert.truthy(errors:find("page 0: expected", 1, true), errors)
    assert.truthy(errors:find("3 problems", 1, true), errors)
  end)

  it("shows the zone that a schedule's cron counts in", function()
    place = program.place {
      ["handlers/send.lua"] = "return function() end\n",
      ["moonshift.lua"] = 'return { zone = "Europe/Berlin" }\n',
      ["schedules/nightly.lua"] = 'return { handler = "send", cycle = "0 3 * * 1-5" }\n',
    }
    local _, output = place.run("check")
    assert.matches("\nnightly +%S+ +0 3 %* %* 1%-5 +Europe/Berlin +", output)
  end)

  it("shows the next dates of a schedule with a policy of its own", function()
    place = program.place {
      ["handlers/send.lua"] = "return function() end\n",
      ["schedules/hourly.lua"] = [[return { handler = "send", cycle = "@hourly",
        overlap = "queue", jitter = "PT1S", misfire = "all", catch_up = 2 }]],
    }
    local _, output = place.run("check")
    assert.matches("\nhourly +%S+ +@hourly +UTC +%d%d%d%d%-%d%d%-%d%dT", output)
  end)

  it("finds nothing wrong with a late run that stands for those before it", function()
    place = program.place {
      ["handlers/look.lua"] = "return function(job) os.execute(job.payload.command) end\n",
    }
    os.execute("mkdir " .. place.path .. "/schedules")
    local file = assert(io.open(place.path .. "/schedules/hourly.lua", "w"))
    local found = place.path .. "/found"
    local command = process.command("check", "--store", "sqlite:" .. place.store)
    file:write(([[return { handler = "look", cycle = "R/PT1H", misfire = "all", catch_up = 1,
      payload = { command = %q } }]]):format(command .. " >" .. found .. " 2>&1"))
    file:close()
    local engine = assert(moonshift.open { store = "sqlite:" .. place.store, scripts = place.path,
      clock = moonshift.clock.virtual("2026-01-01T00:00:00Z") })
    engine:advance("PT5H")
    assert.equal(1, engine:drain().done)
    engine:close()
    assert.equal(stores.url("sqlite:" .. place.store) .. ": nothing is wrong\n",
      process.read(found))
  end)

  it("finds a job that is nowhere", function()
    place = program.place { ["handlers/a.lua"] = "return function() end\n" }
    place.run("enqueue", "a", "--count", "3")
    process.change(place.store, "DELETE FROM ready WHERE id = 2")
    local status, _, errors = place.run("check", "--store")
    assert.equal(65, status)
    assert.truthy(errors:find("job 2 is in no place, or not where its row says\n", 1, true), errors)
    -- On a file nothing counts what another program deletes.
    local wrong = place.given():find("^postgres") and "1 thing is" or "2 things are"
    assert.truthy(errors:find(('store "%s": %s wrong\n'):format(place.given(), wrong), 1, true),
      errors)
  end)
end)
