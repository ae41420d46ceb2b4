-- Bodies of a hundred turns, which stand outside of the frame, on executors with several workers.
-- They are killed while turns run and while the body ends, looked at, cancelled and suspended.
-- Several programs complete them at once.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local N = 100

local WORDS = 'local process = require "moonshift.process"\n'
  .. "local step, task, sub, call = process.step, process.task, process.sub, process.call\n"

local TURNS = { -- what a turn is
  jobs = 'step "work" { run = "count", async = true, exclusive = false, each = EACH }',
  tasks = 'task "look" { each = EACH }',
  calls = 'call "below" { with = { "loopCounter", "hold" }, each = EACH }',
  loud = 'task "look" { each = EACH, on_end = "left" }',
}

local FILES = {
  ["processes/below.lua"] = WORDS .. 'return { step "work" { run = "count", async = true } }',
  ["handlers/note.lua"] = "return function(job) job.variables[job.activity] = true end",
  ["handlers/left.lua"] = "return function(job)\n"
    .. "job.variables.left = (job.variables.left or 0) + 1 end",
  -- Tells the file; where the instance asks for it, stays until the file "go" is there.
  ["handlers/count.lua"] = [[
    local function there(path)
      local file = io.open(path)
      return file and file:close()
    end
    return function(job)
      local file = assert(io.open(os.getenv("RUNS"), "a"))
      file:setvbuf("full")
      local pid = io.open("/proc/self/stat"):read("n")
      file:write(("%d %d\n"):format(job.variables.loopCounter, pid))
      file:close()
      while job.variables.hold and not there(os.getenv("RUNS") .. "-go") do
        os.execute("sleep 0.01")
      end
    end]],
  ["moonshift.lua"] = "return { crash_limit = 1000, failed_job_wait = 'PT0S' }\n",
}
for name, turn in pairs(TURNS) do
  FILES["processes/" .. name .. ".lua"] = ([[%s local EACH = { times = %d, parallel = true }
    return { sub "all" { on_message = { "stop", key = "${instance.key}",
      step "late" { run = "note" } }, %s }, step "behind" { run = "note" } }]])
    :format(WORDS, N, turn)
end

describe("a body of many turns on executors", function()
  local place, engine, runs

  before_each(function()
    math.randomseed(20261127)
    place = executors.place(FILES)
    runs = place.path .. "/runs"
    process.environment = "RUNS=" .. process.quote(runs)
    engine = assert(moonshift.open { store = place.url, scripts = place.path })
  end)

  after_each(function()
    engine:close()
    place.remove()
    process.environment = ""
  end)

  local function start(key, variables)
    return assert(engine:start(key, { key = "k", variables = variables }))
  end

  local function count(from)
    return tonumber(place.sql("SELECT count(*) FROM " .. from)[1])
  end

  -- The processes in which each turn ran, by its number: { [turn] = { pid, … } }, and all runs.
  local function ran()
    local pids, all = {}, 0
    for turn, pid in (process.read(runs) or ""):gmatch("(%d+) (%d+)\n") do
      turn, all = tonumber(turn), all + 1
      pids[turn] = pids[turn] or {}
      table.insert(pids[turn], tonumber(pid))
    end
    return pids, all
  end

  local function await(what, condition)
    return process.await(what, 20, condition)
  end

  local function await_runs(least)
    await(least .. " runs", function()
      return select(2, ran()) >= least
    end)
  end

  local function await_end(id, how)
    await("the end of " .. id, function()
      local found = place.sql("SELECT how FROM past WHERE id=" .. id)[1]
      return found == how and count "body" == 0
    end)
  end

  -- Nothing is left of any body.
  local function check_clean()
    assert.same({ "0|0|0|0|0|0|0" }, place.sql("SELECT (SELECT count(*) FROM instance),"
      .. " (SELECT count(*) FROM live), (SELECT count(*) FROM locked), (SELECT count(*) FROM body),"
      .. " (SELECT count(*) FROM body_turn), (SELECT count(*) FROM user_task),"
      .. " (SELECT count(*) FROM incident)"))
    assert.truthy(place.moonshift("check"):find("nothing is wrong", 1, true))
  end

  -- How often each activity began and ended, by the trail.
  local function told(id)
    local seen = {}
    for _, row in ipairs(engine:trail({ instance = id }):list()) do
      for _, event in ipairs(row.events) do
        local key = event[1] .. " " .. tostring(event[3])
        seen[key] = (seen[key] or 0) + 1
      end
    end
    return seen
  end

  local function kill(pid, killed)
    process.kill(pid, "KILL")
    process.await_end(pid, 5)
    killed[pid] = true
  end

  -- A turn runs again where its process was killed, and nowhere else.
  local function check_runs(killed)
    local pids = ran()
    for turn = 0, N - 1 do
      assert.truthy(pids[turn], "turn " .. turn .. " never ran")
      for i = 1, #pids[turn] - 1 do
        assert.is_true(killed[pids[turn][i]], ("turn %d ran again"):format(turn))
      end
    end
  end

  local function check_told(id)
    local seen = told(id)
    assert.same({ N, N, 1, 1, 1 }, { seen["s work"], seen["e work"],
      seen["e work#multiInstanceBody"], seen["s behind"], seen["e behind"] })
  end

  it("calls each turn once, but where a process was killed", function()
    local killed, id = {}, start("jobs")
    local second = place.executor("--workers", "4")
    for round = 1, 4 do
      local pid = place.executor("--workers", "4")
      await_runs(round * 20)
      kill(pid, killed)
    end
    await_end(id, "completed")
    place.stop(second)
    check_runs(killed)
    check_told(id)
    check_clean()
  end)

  -- The body is left by a job that the last end makes. Each round kills at another number of turns.
  it("is left once, whenever a process is killed while it ends", function()
    for round = 1, 5 do
      os.remove(runs)
      local killed, id = {}, start("jobs")
      local pid = place.executor("--workers", "8")
      local left = math.random(0, 8)
      await("the last turns", function()
        return count "body_turn" <= left
      end)
      kill(pid, killed)
      local last = place.executor("--workers", "8")
      await_end(id, "completed")
      place.stop(last)
      check_runs(killed)
      check_told(id)
      assert.equal(round, count "past")
    end
    check_clean()
  end)

  it("goes with all that it has as it is interrupted and the process is killed", function()
    for _, key in ipairs { "jobs", "calls", "loud" } do
      os.remove(runs)
      local id = start(key, { hold = true })
      local pid = place.executor("--workers", "4")
      if key ~= "loud" then
        await_runs(4)
      end
      place.moonshift("message", "stop", "--key", "k", "-C", place.path)
      process.kill(pid, "KILL")
      process.await_end(pid, 5)
      place.write("runs-go", "")
      local last = place.executor("--workers", "4")
      await_end(id, "completed")
      await("its jobs", function()
        return count "live" == 0
      end)
      place.stop(last)
      os.remove(runs .. "-go")
      local variables = engine:instance(id).variables
      assert.same({ true, true }, { variables.late, variables.behind })
      assert.equal(key == "loud" and N or nil, variables.left)
    end
    check_clean()
  end)

  it("is shown, told of and found sound while its turns run", function()
    local id = start("jobs", { hold = true })
    place.executor("--workers", "4")
    await_runs(4)
    local shown = place.moonshift("instance", "show", tostring(id))
    assert.truthy(shown:find("turns", 1, true), shown)
    local why = place.moonshift("instance", "why", tostring(id))
    assert.truthy(why:find('"work": 50 more turns', 1, true), why)
    assert.truthy(place.moonshift("instance", "trail", tostring(id)):find("work", 1, true))
    assert.truthy(place.moonshift("check"):find("nothing is wrong", 1, true))
    place.write("runs-go", "")
    await_end(id, "completed")
    check_told(id)
  end)

  -- What runs then cannot commit, and runs again.
  it("waits while its instance is suspended", function()
    local id = start("jobs", { hold = true })
    place.executor("--workers", "4")
    await_runs(4)
    place.moonshift("instance", "suspend", tostring(id))
    place.write("runs-go", "")
    await("the runs", function()
      return count "locked" == 0
    end)
    local before = select(2, ran())
    assert.same({ true, N }, { before < N, count "body_turn" })
    assert.truthy(place.moonshift("check"):find("nothing is wrong", 1, true))
    place.moonshift("instance", "activate", tostring(id))
    await_end(id, "completed")
    assert.equal(N + before, select(2, ran()))
    check_told(id)
    check_clean()
  end)

  it("is cancelled while its turns run", function()
    for _, key in ipairs { "jobs", "calls", "tasks", "loud" } do
      os.remove(runs)
      local id = start(key, { hold = true })
      local pid = place.executor("--workers", "4")
      if key == "jobs" or key == "calls" then
        await_runs(4)
      end
      place.moonshift("instance", "cancel", tostring(id), "-C", place.path)
      assert.equal(0, engine:tasks():count())
      assert.truthy(place.moonshift("check"):find("nothing is wrong", 1, true))
      place.write("runs-go", "")
      await_end(id, "cancelled")
      await("its runs", function()
        return count "live" == 0
      end)
      place.stop(pid)
      os.remove(runs .. "-go")
      assert.same({ nil, key == "loud" and N or nil }, { told(id)["s behind"],
        engine:instance(id).variables.left })
    end
    check_clean()
  end)

  it("counts tasks that eight programs complete at once", function()
    local id, parts = start "tasks", {}
    place.executor("--workers", "4")
    for i, row in ipairs(engine:tasks({ instance = id }):list()) do
      parts[i % 8 + 1] = (parts[i % 8 + 1] or "") .. " " .. row.id
    end
    local lines = {}
    for i, tasks in ipairs(parts) do
      lines[i] = ("for task in %s; do %s $task >/dev/null || echo $task; done &"):format(tasks,
        process.command("task", "complete", "-C", place.path, "--store", place.url))
    end
    local _, output, errors = process.run(table.concat(lines, "\n") .. "\nwait")
    assert.same({ "", "" }, { output, errors })
    await_end(id, "completed")
    assert.same({ N, 1 }, { told(id)["e look"], told(id)["e behind"] })
    check_clean()
  end)
end)
