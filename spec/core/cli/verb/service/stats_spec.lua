local program = require "spec.support.program"
local stores = require "spec.support.stores"

describe("stats", function()
  local place

  before_each(function()
    place = program.place { ["handlers/work.lua"] = "return function() end\n" }
    place.run("enqueue", "work", "--count", "3")
    place.run("enqueue", "work", "--in", "PT1H")
  end)

  after_each(function()
    place.clean()
  end)

  it("shows what waits", function()
    local status, output = place.run("stats")
    assert.equal(0, status)
    assert.truthy(output:find("^ready +3\n"), output)
    assert.truthy(output:find("\nscheduled +1\n"), output)
  end)

  it("shows how long the write-ahead log is #file", function()
    local _, output = place.run("stats")
    assert.truthy(output:find("\nwrite%-ahead log +%d+%.%d MB\n"), output)
  end)

  it("shows every handler that has jobs, and no other", function()
    local _, output = place.run("stats")
    assert.truthy(output:find("\nwork +3 +1 +0 +0 +0 +0 +0 +0\n"), output)
    assert.is_nil(output:find("shell", 1, true))
  end)

  it("shows counters that have counted, and all with --all", function()
    place.run("run", "--drain")
    local _, output = place.run("stats")
    assert.matches("\nsuccessful +3\n", output)
    assert.matches("\nfailed +0\n", output)
    assert.is_nil(output:find("removed_jobs", 1, true))
    assert.is_true(select(2, output:gsub("\n", "")) <= 24)
    assert.matches("\nremoved_jobs +0\n", (select(2, place.run("stats", "--all"))))
  end)

  it("is one object with --json", function()
    local status, output = place.run("stats", "--json")
    assert.equal(0, status)
    assert.truthy(output:find('^{.*"ready":3.*}\n$'), output)
  end)

  it("names the store while no executor runs on it, as job why and executor list do", function()
    local note = ('moonshift: no executor runs on "%s"\n'):format(stores.shown(place.store))
    for _, line in ipairs { { "stats" }, { "job", "why", "1" }, { "executor", "list" } } do
      local status, _, errors = place.run(table.unpack(line))
      assert.equal(0, status)
      assert.equal(note, errors)
      line[#line + 1] = "--json"
      assert.equal("", (select(3, place.run(table.unpack(line)))))
    end
  end)

  it("shows nothing of a store that is not there", function()
    assert.equal(4, (place.run("stats", "--store", stores.absent())))
  end)
end)
