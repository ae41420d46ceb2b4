local program = require "spec.support.program"

describe("history", function()
  local place

  before_each(function()
    place = program.place { ["handlers/work.lua"] = "return function() print('done') end\n" }
    place.run("enqueue", "work")
    place.run("enqueue", "work")
    place.run("run", "--drain")
  end)

  after_each(function()
    place.clean()
  end)

  it("status shows how long each kind is kept, and what may go", function()
    local status, output = place.run("history", "status", "--history-ttl", "PT0.001S")
    assert.equal(0, status)
    assert.truthy(output:find("\njobs +PT0.001S +2\n"), output)
    assert.truthy(select(2, place.run("history", "status")):find("\njobs +ever +0\n"))
  end)

  it("clean --dry-run changes nothing", function()
    local _, output = place.run("history", "clean", "--dry-run", "--json",
      "--history-ttl", "PT0.001S")
    assert.truthy(output:find('"removable":{"jobs":2,"incidents":0,', 1, true), output)
    assert.equal("[]\n", select(2, place.run("job", "list", "--json")))
    assert.equal("[]\n", select(2, place.run("operations", "--json")))
  end)

  it("clean answers with the jobs that do it", function()
    local _, output = place.run("history", "clean", "--history-ttl", "PT0.001S")
    assert.equal("job 3 cleans the history\n", output)
    place.run("run", "--drain")
    assert.equal("[]\n", select(2, place.run("log", "--handler", "work", "--json")))
  end)

  it("removal-time and delete take ids or the filters of log", function()
    local _, output = place.run("history", "removal-time", "never", "1")
    assert.equal("1 job changed\n", output)
    _, output = place.run("log", "--job", "1", "--outcome", "successful", "--json")
    assert.truthy(output:find('"removal_time":"never"', 1, true), output)
    _, output = place.run("history", "delete", "--handler", "work")
    assert.equal("2 jobs removed from the history\n", output)
    assert.equal("[]\n", select(2, place.run("log", "--json")))
  end)

  it("who is named twice is meant once", function()
    local _, changed = place.run("history", "removal-time", "never", "1", "2", "1")
    assert.equal("2 jobs changed\n", changed)
    local _, removed = place.run("history", "delete", "1", "1")
    assert.equal("1 job removed from the history\n", removed)
  end)

  it("a list that is longer than a step is refused as a whole", function()
    place.run("enqueue", "work", "--count", "1100")
    place.run("run", "--drain")
    local ids = {}
    for id = 1, 1101 do
      ids[id] = id
    end
    ids[1102] = 5000
    local status, _, errors = place.run("history", "delete", table.unpack(ids))
    assert.equal(4, status)
    assert.equal("moonshift: no job 5000 in the history\n", errors)
    ids[1102] = 1102
    assert.equal("1102 jobs removed from the history\n",
      select(2, place.run("history", "delete", table.unpack(ids))))
  end)

  it("delete refuses what it does not know", function()
    local status, _, errors = place.run("history", "delete", "9")
    assert.equal(4, status)
    assert.equal("moonshift: no job 9 in the history\n", errors)
    assert.equal(2, (place.run("history", "delete")))
  end)
end)
