-- Executors of a server whose standby takes over. An asynchronous one lacks the last commits.
local executors = require "spec.support.executors"
local library = require "spec.support.faketime"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

-- A line for each run, as it begins. A job that is told to waits for a file.
local work = [[
return { run = function(job)
  local file = assert(io.open("PLACE/runs", "a"))
  file:write(job.id, " ", job.token, "\n")
  file:close()
  if job.payload == "wait" then
    os.execute("until [ -e PLACE/go ] || [ ! -e PLACE ]; do sleep 0.05; done")
  end
end }
]]

describe("a failover", function()
  if not postgres.programs() then
    it("to an asynchronous standby is noticed", function()
      return pending("no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server, standby, place

  local function start(environment)
    server = postgres.start()
    standby = postgres.standby(server, environment)
    place = executors.place {}
    place.url = postgres.urls({ server, standby }, "jobs")
    place.write("handlers/work.lua", (work:gsub("PLACE", place.path)))
    place.write("runs", "")
  end

  after_each(function()
    place.remove()
    postgres.stop(server)
  end)

  -- The ids that have run, and how many lines and tokens there are.
  local function runs()
    local ids, tokens, lines, different = {}, {}, 0, 0
    for id, token in place.log("runs"):gmatch("(%d+) (%d+)\n") do
      lines = lines + 1
      different = different + (tokens[token] and 0 or 1)
      ids[id], tokens[token] = true, true
    end
    return ids, lines, different
  end

  local function await_runs(count)
    process.await(count .. " runs", 60, function()
      return select(2, runs()) >= count
    end)
  end

  local function await_standby()
    process.await("the standby has all", 60, function()
      local rows = postgres.rows(server, "jobs", "SELECT count(*) FROM pg_stat_replication"
        .. " WHERE replay_lsn=pg_current_wal_lsn()")
      return rows[1] == "1"
    end)
  end

  local function await_none(which)
    process.await("no job is left", 60, function()
      return postgres.rows(which, "jobs", "SELECT count(*) FROM job")[1] == "0"
    end)
  end

  local function hold_back()
    postgres.hold_back(standby)
    process.await("the standby hears nothing", 60, function()
      return postgres.rows(server, "jobs", "SELECT count(*) FROM pg_stat_replication")[1] == "0"
    end)
  end

  local function operations()
    return postgres.rows(standby, "jobs",
      "SELECT verb FROM operation WHERE verb IN ('failover', 'lose_commits') ORDER BY id")
  end

  it("to a standby that lacks the last commits gives no id and no token a second time", function()
    start()
    local pid = place.executor()
    local known = place.enqueue("work", 20)
    await_runs(20)
    local waiting = place.enqueue("work", 2, '"wait"')
    await_runs(22)
    await_standby()
    hold_back()
    place.write("go", "")
    local lost = place.enqueue("work", 30)
    await_runs(52)
    await_none(server) -- for the executor all have ended
    postgres.promote(server, standby)
    local new = place.enqueue("work", 40)
    await_runs(94) -- those of the standby's locks again
    await_none(standby)

    local before, ids = {}, runs()
    for _, list in ipairs { known, waiting, lost } do
      for _, id in ipairs(list) do
        before[id] = true
      end
    end
    for _, id in ipairs(new) do
      assert.is_nil(before[id])
      assert.truthy(ids[id])
    end
    local _, lines, tokens = runs()
    assert.equal(94, lines)
    assert.equal(lines, tokens)
    assert.same({ "failover", "lose_commits" }, operations())
    assert.truthy(place.log():find('event="store went back"', 1, true), place.log())
    assert.truthy(process.alive(pid))
    assert.truthy(place.moonshift("check"):find("nothing is wrong", 1, true))
  end)

  -- The clock of the new primary decides: no lease is over by it, though the old one's was another.
  it("to a standby that has all commits, and another clock, loses nothing", function()
    start(("env LD_PRELOAD=%s FAKETIME=+5m FAKETIME_DONT_FAKE_MONOTONIC=1 "):format(library))
    place.executor("--name", "one", "--workers", "1", "--lock-time", "PT20S")
    place.executor("--name", "two", "--workers", "1", "--lock-time", "PT20S")
    place.enqueue("work", 2, '"wait"')
    await_runs(2)
    await_standby()
    postgres.promote(server, standby)
    process.await("both executors are connected", 60, function()
      return postgres.rows(standby, "jobs", "SELECT count(*) FROM executor WHERE state=1 AND seen>"
        .. "extract(epoch FROM clock_timestamp())*1000-60000")[1] == "2"
    end)
    place.write("go", "")
    place.enqueue("work", 20)
    await_runs(22)
    await_none(standby)
    local _, lines = runs()
    assert.equal(22, lines)
    assert.falsy(place.log():find("dead executor", 1, true), place.log())
    assert.same({ "failover" }, operations())
    assert.is_nil(place.log():find("went back", 1, true))
    assert.truthy(place.moonshift("check"):find("nothing is wrong", 1, true))
  end)

  it("before which the executor had joined ends it, and the next one works", function()
    start()
    place.enqueue("work", 3)
    await_standby()
    hold_back()
    local pid = place.executor()
    await_runs(3)
    postgres.promote(server, standby)
    process.await_end(pid, 60)
    assert.truthy(place.log():find("and with them its registration", 1, true), place.log())
    place.executor()
    await_runs(6)
    await_none(standby)
    local _, lines, tokens = runs()
    assert.equal(6, lines)
    assert.equal(6, tokens)
  end)

  -- A commit that waits for a standby, or was made by a server that crashed, may be lost.
  it("to a synchronous standby loses nothing that was acknowledged while it was away", function()
    start()
    if process.is_sanitized() then
      return pending("a sanitized program takes no other clock")
    end
    place.enqueue("work", 1)
    await_standby()
    postgres.say(server,
      "ALTER SYSTEM SET synchronous_standby_names='*';\nSELECT pg_reload_conf();\n")
    -- The process that writes checkpoints tells the others of it, and reads its settings first.
    postgres.say(server, "CHECKPOINT;\n")
    hold_back()

    local function waiting()
      return postgres.rows(server, "jobs", "SELECT pid FROM pg_stat_activity"
        .. " WHERE wait_event='SyncRep' AND backend_type='client backend'")[1]
    end

    local function create(log)
      local pid = place.start(log, "enqueue", "work", "-C", place.path)
      process.await("a commit that waits", 60, waiting)
      return pid
    end

    local function terminate()
      postgres.rows(server, "jobs", "SELECT pg_terminate_backend(" .. waiting() .. ", 60000)")
    end

    process.environment = "LD_PRELOAD=" .. library .. " FAKETIME='+0 x40'"
    local impatient = create("impatient")
    process.environment = ""
    process.await_end(impatient, 60)
    local waits = "the server waits for a synchronous standby (*); none is connected"
    assert.truthy(place.log("impatient"):find("a commit has not ended: " .. waits, 1, true),
      place.log("impatient"))
    assert.truthy(place.moonshift("stats"):find("stalled +" .. waits:gsub("%p", "%%%0")))
    local _, _, note = process.moonshift("executor", "list", "-C", place.path, "--store", place.url)
    assert.truthy(note:find(waits .. "\n", 1, true), note)
    terminate()

    local cut = create("cut")
    terminate()
    process.await("another commit that waits, or an answer", 60, function()
      return not process.alive(cut) or waiting()
    end)
    postgres.promote(server, standby)
    process.await_end(cut, 60)
    local id = place.log("cut"):match("^(%d+)\n")
    assert.truthy(not id or postgres.rows(standby, "jobs", "SELECT 1 FROM job WHERE id=" .. id)[1],
      place.log("cut"))
  end)
end)
