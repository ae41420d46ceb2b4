local executors = require "spec.support.executors"
local process = require "spec.support.process"
local program = require "spec.support.program"

describe("executor", function()
  local place, pid, log

  before_each(function()
    place = executors.at(program.place { ["handlers/work.lua"] = "return function() end\n" })
    log = place.path .. "/log"
    process.environment = "MOONSHIFT_PRIORITY_RANGE=:9"
    pid = place.executor("--name", "node", "--workers", "2")
    process.environment = ""
  end)

  after_each(function()
    process.kill(pid, "TERM")
    process.await_end(pid, 5)
    place.clean()
  end)

  local function logged(text)
    return process.await(text, 5, function()
      return process.read(log):find(text, 1, true)
    end)
  end

  it("list shows who lives and what they serve", function()
    local status, output
    process.await("its handlers", 5, function()
      status, output = place.run("executor", "list")
      return output:find("\n *1  node +live +" .. pid
        .. "  0%.1%.0 +%d+%.?%d* s +2 +0 +0 +%S+ +9 +%d+\n")
    end)
    assert.equal(0, status)
  end)

  local function row()
    local _, output = place.run("executor", "list", "--json")
    return output
  end

  -- It may still write of its start at first, and tidy up behind that.
  it("list shows a sign of life of the last second, without a write", function()
    process.await("a sign of life without a write", 20, function()
      local first, wal = row():match('"seen":"([^"]+)"'), process.read(place.store .. "-wal")
      process.await("the next sign of life", 5, function()
        return row():match('"seen":"([^"]+)"') > first
      end)
      return process.read(place.store .. "-wal") == wal
    end)
    local rows = process.sql(place.store, "SELECT count(*) FROM executor WHERE seen=started")
    assert.same({ "1" }, rows)
  end)

  it("list shows when one that stands still was last alive", function()
    process.await("a sign of life", 5, function()
      return row():match('"uptime":(%d+)') ~= "0"
    end)
    process.freeze(pid, place.store)
    local before = row():match('"seen":"([^"]+)"')
    process.pause(1.2)
    assert.equal(before, row():match('"seen":"([^"]+)"'))
    process.kill(pid, "CONT")
    process.await("the next sign of life", 5, function()
      return row():match('"seen":"([^"]+)"') > before
    end)
  end)

  it("list is an array with --json", function()
    local _, output = place.run("executor", "list", "--json")
    local wanted = '^%[{"id":1,"name":"node","state":"live","pid":' .. pid
      .. ',.*"priority_max":9.*}%]\n$'
    assert.truthy(output:find(wanted), output)
  end)

  it("list --gone shows those that have left", function()
    process.kill(pid, "KILL")
    process.await_end(pid, 5)
    local _, output = place.run("executor", "list", "--gone")
    assert.truthy(output:find("node +gone"), output)
  end)

  it("drain is noticed at once, and resume too", function()
    local status, output = place.run("executor", "drain", "node")
    assert.same({ 0, "1 executor told to drain\n" }, { status, output })
    assert.truthy(logged("event=draining"))
    local id = select(2, place.run("enqueue", "work")):match("%d+")
    local _, why, errors = place.run("job", "why", id)
    assert.equal(("job %s is ready, but node/1, which serves it, is draining\n"):format(id),
      why .. errors)
    place.run("executor", "resume", "1")
    assert.truthy(logged('event="working again"'))
    process.await("the job", 5, function()
      return select(2, place.run("job", "why", id)):find("ended successfully", 1, true)
    end)
  end)

  it("drain of an unknown one is not found", function()
    local status, _, errors = place.run("executor", "drain", "other")
    assert.equal(4, status)
    assert.equal('moonshift: no executor "other" runs (known: node/1)\n', errors)
  end)

  it("warns once about jobs that no executor takes", function()
    place.run("enqueue", "work", "--priority", "50")
    local _, stats = place.run("stats")
    assert.truthy(stats:find("\n *1  no live executor serves priority 10 and above\n"), stats)
    assert.truthy(logged(
      'event="unserved jobs" gap="no live executor serves priority 10 and above" jobs=1'))
    local _, count = process.read(log):gsub("unserved jobs", "")
    assert.equal(1, count)
  end)
end)

describe("job why", function()
  local place

  before_each(function()
    place = program.place { ["handlers/work.lua"] = "return function() end\n" }
    place.run("enqueue", "work")
  end)

  after_each(function()
    place.clean()
  end)

  it("is one sentence", function()
    local status, output = place.run("job", "why", "1")
    assert.same({ 0, "job 1 is ready, but no executor runs\n" }, { status, output })
  end)

  it("is an object with --json", function()
    local _, output = place.run("job", "why", "1", "--json")
    assert.equal('{"job":1,"handler":"work","state":"ready","reason":"no_executor",'
      .. '"text":"job 1 is ready, but no executor runs"}\n', output)
  end)

  it("of an unknown job is not found", function()
    local status, _, errors = place.run("job", "why", "7")
    assert.same({ 4, "moonshift: no job 7\n" }, { status, errors })
  end)

  it("wants a number", function()
    assert.equal(2, (place.run("job", "why", "seven")))
  end)
end)
