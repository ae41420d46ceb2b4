-- kill -9 at random moments while a file of jobs is written: afterwards all of its jobs are there
-- or none, whoever looks, with and without an executor. SPEC_KILLS sets the number of rounds.
local process = require "spec.support.process"

local rounds = tonumber(os.getenv("SPEC_KILLS") or "15")
local LINES = 30000
local testing = os.getenv("SPEC_TESTING") or "build/testing/moonshift"

describe("enqueue --from under kill -9", function()
  local dir, store

  before_each(function()
    dir = process.folder { ["handlers/work.lua"] = "return function() end\n" }
    store = dir .. "/jobs.db"
    local file = assert(io.open(dir .. "/jobs.jsonl", "w"))
    for i = 1, LINES do
      file:write(('{"handler":"work","payload":%d}\n'):format(i))
    end
    file:close()
  end)

  after_each(function()
    process.remove(dir)
  end)

  local function moonshift(...)
    local status, output, errors = process.moonshift(...)
    assert.equal("0 ", status .. " " .. errors)
    return output
  end

  local function seen()
    local status, output = process.moonshift("stats", "--store", "sqlite:" .. store)
    assert.equal(0, status)
    return tonumber(output:match("^ready +(%d+)\n"))
  end

  local function number(sql)
    return tonumber(process.sql(store, sql)[1])
  end

  local function whole()
    assert.matches(": nothing is wrong\n", moonshift("check", "--store", "sqlite:" .. store))
  end

  local function enqueue_line(program)
    return ("%s enqueue --from %s/jobs.jsonl -C %s --store %s"):format(program, dir, dir,
      process.store(store))
  end

  -- What it says before it is killed, `pause` seconds after its start.
  local function killed_after(pause)
    process.run(("%s >%s/out 2>&1 & pid=$!; sleep %.3f; kill -9 $pid; wait $pid"):format(
      enqueue_line(process.command()), dir, pause))
    return process.read(dir .. "/out")
  end

  -- The program with crash points dies at a certain one.
  local function dies_at(point)
    local status, output = process.run(("env CRASH_AT=%s "):format(point) .. enqueue_line(testing))
    assert.equal("137 ", status .. " " .. output)
  end

  it("leaves all jobs or none, at any moment", function()
    moonshift("enqueue", "work", "--store", "sqlite:" .. store, "-C", dir)
    local before, pause = 1, 0.02
    for _ = 1, rounds do
      local told = killed_after(pause)
      local now = seen()
      assert.truthy(now == before or now == before + LINES, ("%d, then %d"):format(before, now))
      assert.truthy(told == "" or now == before + LINES, "an answer without the jobs: " .. told)
      pause = told ~= "" and 0.02 or pause * 1.3 -- the whole of its life, however long that is
      before = now
      whole()
    end
    assert.equal(0, (process.moonshift("run", dir, "--drain", "--store", "sqlite:" .. store)))
    assert.equal(before, number("SELECT count(*) FROM ended"))
    local pid = process.start(dir .. "/log", "run", dir, "--store", "sqlite:" .. store)
    process.await("the end of what was not released", 60, function()
      return number("SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM intake)") == 0
    end)
    process.kill(pid, "TERM")
    process.await_end(pid, 30)
    assert.equal(before, number("SELECT count(*) FROM ended"))
  end)

  it("leaves none before it is released", function()
    for _, point in ipairs { "intake_begun:1", "intake_added:1", "intake_added:6",
      "intake_released:1", "intake_placed:1" } do
      dies_at(point)
      assert.equal(0, seen())
      whole()
    end
  end)

  it("leaves all once it is released, also for who only reads", function()
    dies_at("intake_committed:1")
    assert.equal(10000, number("SELECT count(*) FROM ready"))
    assert.equal(LINES, seen())
    assert.equal(LINES, number("SELECT count(*) FROM ready"))
    whole()
    dies_at("intake_placed:3")
    assert.equal(2 * LINES, seen())
    whole()
  end)

  local function cleaned(pid)
    process.await("the end of the rows", 60, function()
      return number("SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM intake)") == 1
    end)
    process.kill(pid, "TERM")
    process.await_end(pid, 30)
    assert.same({ "remove_unfinished" },
      process.sql(store, "SELECT verb FROM operation WHERE count>1"))
    whole()
  end

  it("is cleaned up by an executor that runs", function()
    moonshift("enqueue", "work", "--in", "P1D", "--store", "sqlite:" .. store, "-C", dir)
    local pid = process.start(dir .. "/log", "run", dir, "--store", "sqlite:" .. store)
    process.await("the executor", 10, function()
      return process.read(dir .. "/log"):find("event=started", 1, true)
    end)
    dies_at("intake_added:5")
    moonshift("enqueue", "work", "--store", "sqlite:" .. store, "-C", dir) -- it looks
    cleaned(pid)
  end)

  -- Who opens the store removes one part of it, and the executor the others.
  it("is cleaned up by an executor that starts, which says so", function()
    moonshift("enqueue", "work", "--in", "P1D", "--store", "sqlite:" .. store, "-C", dir)
    dies_at("intake_added:5")
    local pid = process.start(dir .. "/log", "run", dir, "--store", "sqlite:" .. store)
    cleaned(pid)
    assert.truthy(process.read(dir .. "/log"):find('event="unfinished jobs removed"', 1, true))
  end)
end)
