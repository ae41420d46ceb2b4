-- Rows that a turn cannot deal with, written by hand: each is one incident, and all other jobs are
-- done.
local executors = require "spec.support.executors"
local process = require "spec.support.process"
local stores = require "spec.support.stores"

local testing = (os.getenv "BUILD" or "build") .. "/testing/moonshift"

-- What is done to the rows of a job.
local rows = {
  ["without a definition"] = "UPDATE job SET stream=999 WHERE id=%d",
  ["that is gone, but for its place"] = "DELETE FROM job WHERE id=%d",
  ["that nobody can lock #file"] =
    "INSERT INTO locked(id, token, owner, stream) VALUES(%d, 5, 77, 1)",
}

describe("a row that makes the loop fail", function()
  local place

  before_each(function()
    place = executors.place { ["handlers/fine.lua"] = "return function() end",
      ["handlers/bad.lua"] = [[return function() error("no", 0) end]] }
  end)

  after_each(function()
    place.remove()
  end)

  -- Changes the store by SQL.
  local function write(statement)
    if stores.sql(place.store, statement .. " RETURNING 1") then
      return
    end
    local status, _, errors = process.run(("sqlite3 %s %s"):format(process.quote(place.store),
      process.quote(statement)))
    assert(status == 0, errors)
  end

  local function ended()
    return place.sql("SELECT count(DISTINCT job) FROM ended")[1]
  end

  -- The jobs of open incidents.
  local function incidents()
    return table.concat(place.sql("SELECT job FROM incident WHERE ended IS NULL ORDER BY job"), " ")
  end

  for name, statement in pairs(rows) do
    it("is one incident: a job " .. name, function()
      local ids = place.enqueue("fine", 1000)
      local bad = ids[500]
      write(statement:format(tonumber(bad)))
      place.moonshift("run", "-C", place.path, "--drain", "--workers", "3")
      assert.same({ bad, "999" }, { incidents(), ended() })
      assert.same({ "0" }, place.sql(("SELECT count(*) FROM ready WHERE id=%s"):format(bad)))
    end)
  end

  -- Gone, but for their places: the first, the last, and those at which a page may end.
  local function gone(ids, at)
    local bad = {}
    for i, number in ipairs(at) do
      bad[i] = ids[number]
    end
    write(("DELETE FROM job WHERE id IN (%s)"):format(table.concat(bad, ", ")))
    place.moonshift("run", "-C", place.path, "--drain", "--workers", "3")
    assert.same({ table.concat(bad, " "), tostring(#ids - #bad) }, { incidents(), ended() })
    assert.same({ "0" }, place.sql "SELECT count(*) FROM ready")
    assert.same({ "0" }, place.sql "SELECT count(*) FROM parked")
  end

  it("is an incident wherever it stands among others", function()
    gone(place.enqueue("fine", 200), { 1, 3, 7, 8, 64, 65, 200 })
  end)

  it("is an incident if nothing else is to be done", function()
    gone(place.enqueue("fine", 1), { 1 })
  end)

  it("is an incident in a lane, too", function()
    gone(place.enqueue("fine", 100, "--lane", "one"), { 1, 2, 17, 50, 100 })
  end)

  it("is an incident once its date has come", function()
    place.enqueue("fine", 10)
    write("INSERT INTO timer(due, id, stream, rank, lane)"
      .. " SELECT 1, 4711, stream, rank, lane FROM ready LIMIT 1")
    place.moonshift("run", "-C", place.path, "--drain")
    assert.same({ "4711", "10" }, { incidents(), ended() })
  end)

  it("is shown, and can be deleted", function()
    local bad = place.enqueue("fine", 3)[2]
    write(("UPDATE job SET stream=999 WHERE id=%s"):format(bad))
    assert.truthy(place.moonshift("job", "why", bad):find("has no definition", 1, true))
    place.moonshift("run", "-C", place.path, "--drain")
    assert.truthy(place.moonshift("job", "list"):find(("%s%%s+dead"):format(bad)))
    assert.truthy(place.moonshift("job", "show", bad):find("has no definition", 1, true))
    assert.truthy(place.moonshift("job", "why", bad):find("has no retries left (incident", 1, true))
    place.moonshift("job", "delete", bad, "--yes")
    assert.equal("", incidents())
  end)

  it("is an incident each, if there are several in a row", function()
    local ids = place.enqueue("fine", 100)
    write(("UPDATE job SET stream=999 WHERE id IN (%s, %s, %s)"):format(ids[1], ids[50], ids[51]))
    place.moonshift("run", "-C", place.path, "--drain", "--workers", "3")
    assert.same({ table.concat({ ids[1], ids[50], ids[51] }, " "), "97" },
      { incidents(), ended() })
  end)

  -- Every executor dies as it settles the one job whose handler fails.
  it("is an incident if it kills the process again and again #file", function()
    place.enqueue("fine", 100)
    local bad = place.enqueue("bad", 1, "--unique", "k", "--retries", "1")[1]
    place.enqueue("fine", 300)
    local line = ("env CRASH_AT=settle_attempted:1 %s run --store '%s' -C %s --drain"):format(
      testing, place.url, place.path)
    local deaths, status = 0
    repeat
      status = process.run(line)
      deaths = deaths + 1
    until status == 0 or deaths == 40
    assert.equal(0, status)
    assert.same({ bad, "400" }, { incidents(), ended() })
    assert.same({ "workerDied" }, place.sql "SELECT type FROM incident")
  end)
end)
