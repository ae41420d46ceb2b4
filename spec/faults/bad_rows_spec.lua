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

-- Jobs that nothing would ever take.
local strays = {
  ["that is ready in a stream that is not known"] = { "UPDATE ready SET stream=999 WHERE id=%d" },
  ["that is parked, its lane gone"] = { words = { "--lane", "one" },
    "INSERT INTO parked(lane, stream, rank, place, id) SELECT -5, stream, rank, place, id"
      .. " FROM ready WHERE id=%d",
    "DELETE FROM ready WHERE id=%d" },
  ["that nobody has locked"] = {
    "INSERT INTO locked(id, token, owner, stream) SELECT id, 5, 77, stream FROM ready WHERE id=%d",
    "DELETE FROM ready WHERE id=%d" },
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

  -- Changes the store by SQL; statements that the engine refuses change nothing.
  local function change(statement)
    if stores.sql(place.store, statement .. " RETURNING 1") then
      return true
    end
    local status, _, errors = process.run(("sqlite3 %s %s"):format(process.quote(place.store),
      process.quote(statement)))
    return status == 0, errors
  end

  local function write(statement)
    assert(change(statement))
  end

  local function ended()
    return place.sql("SELECT count(DISTINCT job) FROM ended")[1]
  end

  -- The jobs of open incidents.
  local function incidents()
    return table.concat(place.sql("SELECT job FROM incident WHERE ended IS NULL ORDER BY job"), " ")
  end

  local function run()
    place.moonshift("run", "-C", place.path, "--drain", "--workers", "3")
  end

  for name, statement in pairs(rows) do
    it("is one incident: a job " .. name, function()
      local ids = place.enqueue("fine", 1000)
      local bad = ids[500]
      write(statement:format(tonumber(bad)))
      run()
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

  for name, kind in pairs(strays) do
    it("is one incident though nothing takes it: a job " .. name, function()
      local ids = place.enqueue("fine", 300, table.unpack(kind.words or {}))
      local bad = ids[150]
      for _, statement in ipairs(kind) do
        write(statement:format(tonumber(bad)))
      end
      run()
      assert.same({ bad, "299" }, { incidents(), ended() })
      assert.same({ "0" }, place.sql("SELECT count(*) FROM (SELECT id FROM ready UNION ALL"
        .. " SELECT id FROM parked UNION ALL SELECT id FROM locked) AS p"))
      place.moonshift("job", "retry", bad)
      run()
      assert.same({ "", "300" }, { incidents(), ended() })
    end)
  end

  it("is told once, and its lane goes on: one that nobody runs", function()
    local ids = place.enqueue("fine", 20, "--lane", "one")
    write(("INSERT INTO lane(id, token, owner) SELECT lane, 0, 77 FROM ready WHERE id=%s"):format(
      ids[1]))
    run()
    assert.same({ ids[1], "19" }, { incidents(), ended() })
    run()
    assert.same({ "1" }, place.sql "SELECT count(*) FROM incident")
  end)

  it("counts against no limit: a run of nobody", function()
    place.write("handlers/few.lua", "return { limit = { cluster = 1 }, run = function() end }")
    place.enqueue("few", 5)
    write("INSERT INTO limited(definition, token, id, owner) SELECT id, 5, 1, 77 FROM definition"
      .. " WHERE name='few'")
    run()
    assert.same({ "", "5" }, { incidents(), ended() })
  end)

  it("gets its place back: a job that has none", function()
    place.enqueue("fine", 30)
    run()
    local bad = place.enqueue("fine", 30)[7]
    write(("DELETE FROM ready WHERE id=%s"):format(bad))
    run()
    run() -- on a file rows of ended jobs are removed before
    assert.same({ "", "60" }, { incidents(), ended() })
  end)

  it("is a definition that is no JSON: its jobs alone become incidents", function()
    place.enqueue("bad", 120)
    place.enqueue("fine", 200)
    write "UPDATE definition SET properties='x' WHERE name='bad'"
    os.remove(place.path .. "/handlers/bad.lua")
    run()
    assert.same({ "120", "200" }, { place.sql("SELECT count(*) FROM incident WHERE message='the"
      .. " properties of its definition are no JSON object'")[1], ended() })
    place.write("handlers/bad.lua", "return function() end")
    run() -- the folder says anew what it is
    place.moonshift("definition", "retries", "bad", "1")
    run()
    assert.same({ "", "320" }, { incidents(), ended() })
  end)

  local WAITS = [[
local p = require "moonshift.process"
return { p.receive "r" { message = "m", key = "${instance.key}" }, p.step "s" { run = "fine" } }]]

  local function start(key)
    return place.moonshift("process", "start", "p", "-C", place.path, "--key", key):match "%d+"
  end

  it("is a kept message that cannot be read: it is not given without what it said", function()
    place.write("processes/p.lua", WAITS)
    for _, key in ipairs { "k1", "k2", "k3" } do
      place.moonshift("message", "m", "-C", place.path, "--key", key, "--keep", "1h")
    end
    write "UPDATE kept_message SET variables='x' WHERE key='k2'"
    for _, key in ipairs { "k1", "k2", "k3" } do
      start(key)
    end
    run()
    assert.same({ "k2" }, place.sql "SELECT key FROM instance")
    assert.truthy(place.sql("SELECT message FROM incident")[1]:find(
      'message "m" with key "k2": its variables are no JSON object', 1, true))
    local job = incidents()
    write "UPDATE kept_message SET variables='{}'"
    place.moonshift("job", "delete", job, "--yes")
    assert.same({ "k2" }, place.sql "SELECT key FROM kept_message")
  end)

  it("makes its instance stuck: a subscription that is gone", function()
    place.write("processes/p.lua", WAITS)
    local ids = { start "k1", start "k2", start "k3" }
    write(("UPDATE subscription SET instance=-1 WHERE instance=%s"):format(ids[2]))
    run()
    run()
    assert.same({ "instanceStuck|r|" .. ids[2] .. '|"r" waits for a subscription that is gone' },
      place.sql "SELECT type, activity, instance, message FROM incident")
    assert.truthy(place.moonshift("instance", "list", "--stuck"):find(ids[2], 1, true))
    assert.truthy(place.moonshift("stats"):find "stuck instances +1")
    write(("UPDATE subscription SET instance=%s WHERE instance=-1"):format(ids[2]))
    run()
    assert.falsy(place.moonshift("instance", "list", "--stuck"):find(ids[2], 1, true))
    assert.same({ "0" }, place.sql "SELECT count(*) FROM incident WHERE ended IS NULL")
  end)

  it("makes its instance stuck until that has ended: a task that is gone", function()
    place.write("processes/p.lua", [[
      local p = require "moonshift.process"
      return { p.parallel { { p.task "t" {} }, { p.task "u" {} } } }]])
    local id = start "k"
    write "DELETE FROM user_task WHERE activity='t'"
    run()
    assert.same({ '"t" waits for a task that is gone' }, place.sql("SELECT message FROM incident"
      .. " WHERE ended IS NULL AND type='instanceStuck'"))
    place.moonshift("instance", "cancel", id, "-C", place.path)
    assert.same({ "0" }, place.sql "SELECT count(*) FROM incident WHERE ended IS NULL")
  end)

  it("is found whatever the counters of changes are", function()
    place.enqueue("fine", 50)
    write "UPDATE meta SET value=-5 WHERE key IN ('catalog', 'executors')"
    run()
    place.enqueue("fine", 50)
    write "DELETE FROM meta WHERE key IN ('catalog', 'executors')"
    run()
    assert.equal("100", ended())
  end)

  -- Every column of a job's row and of its place, but the id of the place, gets each of these.
  local values = { "NULL", "''", "'x'", "-5", "4611686018427387904", "0" }

  local function columns(name)
    return place.sql(os.getenv "SPEC_STORE"
      and ("SELECT column_name FROM information_schema.columns WHERE table_name='%s'"
        .. " AND table_schema=current_schema() AND column_name<>'id'"):format(name)
      or ("SELECT name FROM pragma_table_info('%s') WHERE name<>'id'"):format(name))
  end

  it("holds up no other one, whatever stands in a column", function()
    local ids = place.enqueue("fine", 600)
    local good, bad = {}, 0
    for _, name in ipairs { "job", "ready" } do
      for _, column in ipairs(columns(name)) do
        for _, value in ipairs(values) do
          bad = bad + 1
          change(("UPDATE %s SET %s=%s WHERE id=%s"):format(name, column, value, ids[3 * bad]))
        end
      end
    end
    for i, id in ipairs(ids) do
      good[#good + 1] = i % 3 ~= 0 and id or nil
    end
    assert.truthy(bad > 150 and 3 * bad < 600)
    run()
    assert.same({ tostring(#good) }, place.sql(("SELECT count(*) FROM ended WHERE outcome=1 AND"
      .. " job IN (%s)"):format(table.concat(good, ", "))))
    assert.same({ "0" }, place.sql "SELECT count(*) FROM ready")
  end)

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
