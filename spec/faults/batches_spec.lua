-- kill -9 at random moments while a batch is filled, seeded and executed. The spec kills, and now
-- and then a run does, so that a late spec still has a death in the midst. What became of the
-- ids is read with the database's own tool: each execution job leaves its ids as its result.
-- SPEC_KILLS sets the number of rounds, SPEC_BATCH that of the ids.
local process = require "spec.support.process"

local rounds = tonumber(os.getenv("SPEC_KILLS") or "15")
local ids = tonumber(os.getenv("SPEC_BATCH") or "15000")

local mark = [[
return function(job, ids)
  if os.getenv("DIES") and math.random(300) == 1 then
    os.execute("kill -9 $PPID")
  end
  if job.attempt == 1 and ids[1] % 50 == 0 then
    error("not at once", 0)
  end
  return ids
end
]]

-- Who reads the ids never comes to their end.
local ENDLESS = "cd %s; [ -e ids ] || mkfifo ids; exec 3<>ids; seq %d >&3 &"
  .. " timeout -s KILL %.3f %s <&3; status=$?; kill $!; exit $status"

describe("a batch under kill -9", function()
  local dir, store

  local function write(path, text)
    local file = assert(io.open(dir .. path, "w"))
    file:write(text)
    file:close()
  end

  before_each(function()
    dir = process.folder()
    store = dir .. "/jobs.db"
    os.execute(("mkdir -p %s/s/batches %s/s/handlers"):format(dir, dir))
    write("/s/moonshift.lua", "return { failed_job_wait = 'PT0S' }\n")
    write("/s/batches/mark.lua", mark)
    write("/s/handlers/over.lua", "return function() end")
  end)

  after_each(function()
    process.remove(dir)
  end)

  local function moonshift(...)
    local status, output, errors = process.moonshift(...)
    assert.equal("", errors)
    assert.equal(0, status)
    return output
  end

  local function create()
    return process.command("batch", "create", "mark", "--ids-from", "-", "--per-seed", "20",
      "--invocations", "3", "--on-complete", "over", "-C", dir .. "/s", "--store",
      "sqlite:" .. store)
  end

  local function whole()
    assert.matches(": nothing is wrong\n", moonshift("check", "--store", "sqlite:" .. store))
  end

  local function number(sql)
    return tonumber(process.sql(store, sql)[1])
  end

  -- Killed a moment after it has done something; or after some time, if there is nothing to do.
  local function round()
    local before = number("SELECT made - open FROM batch")
    process.environment = "DIES=1"
    local pid = process.start(dir .. "/log", "run", dir .. "/s", "--store", "sqlite:" .. store,
      "--workers", "2", "--crash-limit", "1000")
    process.environment = ""
    pcall(process.await, "progress", 1, function()
      return not process.alive(pid)
        or number("SELECT made - open > " .. before .. " OR state=4 FROM batch") == 1
    end)
    process.pause(math.random() * 0.1)
    process.kill(pid, "KILL")
    process.await_end(pid, 5)
    whole()
  end

  it("loses no id, and does none twice", function()
    assert.equal(0, (process.run(("seq %d | %s"):format(ids, create()))))
    local inside = 0
    for _ = 1, rounds do
      round()
      inside = inside + number("SELECT count(*) FROM batch WHERE state=1 AND made>open")
    end
    assert.is_true(inside > 0)
    process.moonshift("run", dir .. "/s", "--store", "sqlite:" .. store, "--drain")
    whole()
    local done = "SELECT value FROM ended e JOIN json_each(e.result) WHERE e.batch=1 AND outcome=1"
    assert.equal(ids, number("SELECT count(*) FROM (" .. done .. ")"))
    assert.equal(ids, number("SELECT count(DISTINCT value) FROM (" .. done .. ")"))
    local total = math.ceil(ids / 3)
    assert.same({ ("4|%d|%d|%d|0|0"):format(ids, total, total) },
      process.sql(store, "SELECT state, ids, total, made, open, failed FROM batch"))
  end)

  it("ends once, with one job for what follows", function()
    assert.equal(0, (process.run(("seq 30 | %s"):format(create()))))
    for _ = 1, math.min(rounds, 10) do
      round()
    end
    process.moonshift("run", dir .. "/s", "--store", "sqlite:" .. store, "--drain")
    assert.equal(1, number("SELECT count(*) FROM ended e JOIN stream s ON s.id=e.stream"
      .. " JOIN definition d ON d.id=s.definition WHERE d.name='over'"))
  end)

  it("starts with all of its ids, or not at all", function()
    for _ = 1, math.min(rounds, 10) do
      local status = process.run(ENDLESS:format(dir, ids, 0.02 + math.random() * 0.05,
        create()))
      assert.is_not.equal(0, status)
    end
    process.moonshift("run", dir .. "/s", "--store", "sqlite:" .. store, "--drain")
    whole()
    assert.equal(0, number("SELECT count(*) FROM ended WHERE batch IS NOT NULL"))
    assert.equal(0, number("SELECT count(*) FROM batch WHERE state<>0"))
  end)
end)
