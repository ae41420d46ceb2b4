local executors = require "spec.support.executors"
local process = require "spec.support.process"
local program = require "spec.support.program"

describe("a verb on jobs", function()
  local place

  before_each(function()
    place = executors.at(program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["handlers/slow.lua"] = "return function(job)\n"
        .. "  io.open(job.payload.gate .. '.begun', 'w'):close()\n"
        .. "  os.execute('until test -e ' .. job.payload.gate .. '; do sleep 0.02; done') end\n",
      ["handlers/fail.lua"] = "return { retry = 'R1/PT1S', run = function() error('no', 0) end }\n",
    })
  end)

  after_each(function()
    place.clean()
  end)

  local function count(...)
    local _, output = place.run("job", "list", "--json", "--limit", "10000", ...)
    return select(2, output:gsub('"id":', ""))
  end

  it("takes the filters of job list instead of ids", function()
    place.run("enqueue", "fail", "--count", "3")
    place.run("enqueue", "work", "--in", "PT1H")
    place.run("run", "--drain")
    local _, output = place.run("job", "retry", "--no-retries-left", "--handler", "fail")
    assert.equal("3 jobs retried\n", output)
    assert.equal(0, count("--state", "dead"))
    assert.equal("0 jobs retried\n", select(2, place.run("job", "retry", "--state", "dead")))
  end)

  it("says with --dry-run how many it would touch, and writes nothing", function()
    place.run("enqueue", "work", "--count", "3")
    local before = process.read(place.store) .. process.read(place.store .. "-wal")
    local status, output = place.run("job", "delete", "--handler", "work", "--dry-run")
    assert.equal(0, status)
    assert.equal("3 jobs would be deleted\n", output)
    local _, document = place.run("job", "suspend", "1", "2", "--dry-run", "--json")
    assert.equal('{"count":2,"dry_run":true}\n', document)
    assert.equal(before, process.read(place.store) .. process.read(place.store .. "-wal"))
    assert.equal(3, count("--state", "ready"))
    assert.equal("[]\n", select(2, place.run("operations", "--json")))
  end)

  it("refuses with --dry-run what it would refuse", function()
    place.run("enqueue", "work")
    local status, output, errors = place.run("job", "delete", "1", "77", "--dry-run")
    assert.equal(4, status)
    assert.equal("", output)
    assert.equal("moonshift: no job 77\n", errors)
  end)

  it("needs ids or a filter, and not both", function()
    place.run("enqueue", "work")
    local status, _, errors = place.run("job", "delete")
    assert.equal(2, status)
    assert.equal("moonshift: job delete needs ids or a filter (such as --handler NAME)\n", errors)
    status, _, errors = place.run("job", "priority", "5", "1", "--handler", "work")
    assert.equal(2, status)
    assert.equal("moonshift: job priority takes ids or filters, not both\n", errors)
  end)

  it("becomes a batch beyond a thousand jobs", function()
    place.run("enqueue", "work", "--count", "2300", "--in", "PT1H")
    local status, output, errors = place.run("job", "priority", "5", "--handler", "work")
    assert.equal(0, status)
    assert.equal("batch 1: 2300 jobs\n", output)
    assert.equal("moonshift: batch 1 waits: no executor runs\n", errors)
    place.run("run", "--drain")
    assert.equal(2300, count("--min-priority", "5"))
    local _, log = place.run("operations", "--json")
    assert.equal(1, select(2, log:gsub('"verb"', "")))
    assert.truthy(log:find('"verb":"create_batch","entity":"batch 1"', 1, true), log)
  end)

  it("takes more than a thousand ids", function()
    place.run("enqueue", "work", "--count", "1200", "--in", "PT1H")
    local ids = {}
    for i = 1, 1200 do
      ids[i] = tostring(i)
    end
    local _, output = place.run("job", "suspend", "--json", table.unpack(ids))
    assert.equal('{"batch":1,"count":1200}\n', output)
    place.run("run", "--drain")
    assert.equal(1200, count("--suspended"))
  end)

  it("is all or nothing", function()
    place.run("enqueue", "work")
    local status, _, errors = place.run("job", "priority", "5", "1", "77")
    assert.equal(4, status)
    assert.equal("moonshift: no job 77\n", errors)
    assert.equal(0, count("--min-priority", "5"))
  end)

  it("takes the commit from a job that another process runs", function()
    local gate = place.path .. "/gate"
    place.run("enqueue", "slow", ('{"gate":"%s"}'):format(gate))
    local pid = place.executor("--workers", "1")
    place.there("gate.begun") -- a lock alone is of a run that may not have begun
    assert.equal(1, count("--locked"))
    assert.equal("1 job suspended\n", select(2, place.run("job", "suspend", "1")))
    assert.equal(1, count("--state", "suspended"))
    assert(io.open(gate, "w")):close()
    place.logged("stale outcome refused")
    assert.equal(1, count("--state", "suspended"))
    assert.equal("[]\n", select(2, place.run("log", "--outcome", "failed,successful", "--json")))
    place.run("job", "activate", "1")
    process.await("its end", 10, function()
      return count() == 0
    end)
    place.stop(pid)
  end)

  it("gives repeating jobs another cycle", function()
    place.run("enqueue", "work", "--cycle", "R/PT1H")
    assert.equal("1 job would be changed\n",
      select(2, place.run("job", "cycle", "0 3 * * *", "1", "--dry-run")))
    assert.equal("1 job changed\n", select(2, place.run("job", "cycle", "0 3 * * *", "1", "--zone",
      "Europe/Berlin", "--misfire", "skip")))
    local _, log = place.run("operations", "--json", "--limit", "1")
    assert.truthy(log:find('"old":"R/PT1H (UTC, once)","new":"0 3 * * * (Europe/Berlin, skip)"', 1,
      true), log)
    local status, _, errors = place.run("job", "cycle", "0 3 * *", "1")
    assert.equal(2, status)
    assert.truthy(errors:find('; a cycle is such as "R/PT2H" or "0 3 * * *"', 1, true), errors)
    local _, id = place.run("enqueue", "work")
    status, _, errors = place.run("job", "cycle", "R/PT2H", (id:gsub("\n", "")))
    assert.equal(5, status)
    local refused = "moonshift: job %d does not repeat (enqueue one with a cycle instead)\n"
    assert.equal(refused:format(id), errors)
  end)

  it("gives jobs up", function()
    place.run("enqueue", "work")
    assert.equal("1 job given up\n", select(2, place.run("job", "dead", "1")))
    assert.equal(1, count("--state", "dead"))
    local _, output = place.run("incident", "list", "--json")
    assert.truthy(output:find('"type":"failedJob"', 1, true), output)
  end)

  it("refuses negative retries", function()
    place.run("enqueue", "work")
    local status, _, errors = place.run("job", "retry", "1", "--retries", "-1")
    assert.equal(2, status)
    assert.equal('moonshift: --retries "-1": expected an integer from 0 to 2147483647\n', errors)
  end)

  it("leaves who, what, and the value before and after in the log", function()
    place.run("enqueue", "work")
    place.run("job", "due", "2126-01-01T00:00:00Z", "1")
    local _, table_shown = place.run("operations")
    assert.truthy(table_shown:find("set_due +job 1 +1 +2126%-01%-01T00:00:00.000Z\n"), table_shown)
    place.run("job", "due", "none", "1")
    local _, log = place.run("operations", "--json", "--sort", "id:desc", "--limit", "1")
    assert.truthy(log:find('"old":"2126-01-01T00:00:00.000Z","new":null', 1, true), log)
  end)
end)
