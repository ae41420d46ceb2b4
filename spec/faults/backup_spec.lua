-- A backup while an executor works and producers enqueue, and the way back; kill -9 in the middle
-- of both. What the copies hold is read with the database's own tool.
local process = require "spec.support.process"

local testing = os.getenv("SPEC_TESTING") or "build/testing/moonshift"

local WORK = [[
return function(job)
  if job.payload % 3 == 0 then
    job:enqueue("work", job.payload + 1)
  end
  if job.payload == -1 then
    for _ = 1, 600 do -- what it starts must not outlive a killed executor for long
      os.execute("sleep 1")
    end
  end
end
]]

describe("a backup under load", function()
  local dir, store, pids

  before_each(function()
    dir = process.folder { ["handlers/work.lua"] = WORK }
    store, pids = dir .. "/jobs.db", {}
    local file = assert(io.open(dir .. "/jobs.jsonl", "w"))
    for i = 1, 200 do
      file:write(('{"handler":"work","payload":%d}\n'):format(i))
    end
    file:close()
  end)

  after_each(function()
    for _, pid in ipairs(pids) do
      process.kill(pid, "KILL")
    end
    process.remove(dir)
  end)

  local function start(...)
    pids[#pids + 1] = process.start(dir .. "/log", ...)
    return pids[#pids]
  end


  local function moonshift(...)
    local status, output, errors = process.moonshift(...)
    assert.equal("0 ", status .. " " .. errors)
    return output
  end

  local function number(file, sql)
    return tonumber(process.sql(file, sql)[1])
  end

  -- How many jobs a store knows: each waits, runs, or has ended.
  local KNOWN = "SELECT count(*) FROM (SELECT id FROM job WHERE id NOT IN (SELECT job FROM ended)"
    .. " UNION SELECT job FROM ended)"

  local function load_up()
    local word = process.command("enqueue", "--from", dir .. "/jobs.jsonl", "-C", dir, "--store",
      "sqlite:" .. store)
    local pipe = io.popen(("sh -c 'while [ ! -e %s/stop ]; do %s; done' >/dev/null 2>&1 & echo $!")
      :format(dir, (word:gsub("'", "'\\''"))))
    local pid = pipe:read("n")
    pipe:close()
    return pid
  end

  local function backup(name, ...)
    return process.moonshift("backup", dir .. "/" .. name, "--store", "sqlite:" .. store, ...)
  end

  it("is whole, and what is restored from it goes on", function()
    moonshift("enqueue", "work", "1", "-C", dir, "--store", "sqlite:" .. store)
    local executor, producer = start("run", dir, "--store", "sqlite:" .. store), load_up()
    for i = 1, 5 do
      local before = number(store, KNOWN)
      local status, output, errors = backup("copy" .. i)
      assert.equal("0 ", status .. " " .. errors)
      assert.truthy(output:find("nothing is wrong", 1, true))
      local copied, after = number(dir .. "/copy" .. i, KNOWN), number(store, KNOWN)
      assert.is_true(before <= copied and copied <= after, before .. " " .. copied .. " " .. after)
    end
    process.run("touch " .. dir .. "/stop")
    process.await_end(producer, 60)
    process.kill(executor, "TERM")
    process.await_end(executor, 60)

    -- What had ended in the copy had ended so in the store.
    assert.equal(0, number(store, ("ATTACH '%s' AS copy; SELECT count(*) FROM copy.ended c WHERE"
      .. " NOT EXISTS (SELECT 1 FROM main.ended e WHERE e.seq=c.seq AND e.job=c.job AND e.at=c.at)")
      :format(dir .. "/copy5")))

    moonshift("restore", dir .. "/copy5", "--store", "sqlite:" .. store)
    local before = number(store, "SELECT count(*) FROM ended")
    local waiting = number(store, "SELECT count(*) FROM ready")
    assert.equal(0, (process.moonshift("run", dir, "--drain", "--store", "sqlite:" .. store)))
    assert.is_true(number(store, "SELECT count(*) FROM ended") >= before + waiting)
    assert.equal(0, number(store, "SELECT count(*) FROM ready"))
    assert.matches("nothing is wrong", moonshift("check", "--store", "sqlite:" .. store))
  end)

  it("frees what was running, and takes no result from before", function()
    moonshift("enqueue", "work", "-1", "-C", dir, "--store", "sqlite:" .. store)
    local executor = start("run", dir, "--store", "sqlite:" .. store)
    process.await("the run", 30, function()
      return number(store, "SELECT count(*) FROM locked") == 1
    end)
    assert.equal(0, (backup("copy")))
    process.kill(executor, "KILL")
    process.await_end(executor, 30)
    local output = moonshift("restore", dir .. "/copy", "--store", "sqlite:" .. store)
    assert.truthy(output:find("restored, 1 job that ran can be taken again", 1, true), output)
    assert.same({ "1|0|0" }, process.sql(store, "SELECT (SELECT count(*) FROM ready),"
      .. " (SELECT count(*) FROM locked), (SELECT crashes FROM job)"))
    assert.is_true(number(store, "SELECT value FROM meta WHERE key='next_token'") > 1000000)
  end)

  it("that is killed leaves no file of that name", function()
    moonshift("enqueue", "work", "1", "--count", "30000", "-C", dir, "--store", "sqlite:" .. store)
    for _, point in ipairs { "backup_stepped:1", "backup_stepped:2", "backup_copied:1",
      "backup_synced:1" } do
      local status = process.run(("env CRASH_AT=%s %s backup %s/copy --store sqlite:%s"):format(
        point, testing, dir, store))
      assert.equal(137, status, point)
      assert.is_nil(io.open(dir .. "/copy"), point)
    end
    assert.equal(0, (backup("copy")))
    assert.equal(30000, number(dir .. "/copy", KNOWN))
    local _, list = process.run("ls " .. dir)
    assert.is_nil(list:find("partial", 1, true), list)
  end)

  it("comes back whole or not at all if the restore is killed", function()
    moonshift("enqueue", "work", "1", "-C", dir, "--store", "sqlite:" .. store)
    assert.equal(0, (backup("copy")))
    moonshift("enqueue", "work", "2", "-C", dir, "--store", "sqlite:" .. store)
    for _, point in ipairs { "restore_refreshed:1", "restore_moved:1", "restore_moved:3",
      "restore_named:1" } do
      local status = process.run(("env CRASH_AT=%s %s restore %s/copy --store sqlite:%s"):format(
        point, testing, dir, store))
      assert.equal(137, status, point)
      if io.open(store) then
        assert.matches("nothing is wrong", moonshift("check", "--store", "sqlite:" .. store))
      end
      moonshift("restore", dir .. "/copy", "--store", "sqlite:" .. store)
      assert.equal(1, number(store, "SELECT count(*) FROM job"))
    end
  end)
end)
