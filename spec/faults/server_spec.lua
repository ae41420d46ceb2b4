-- Executors of a store on a PostgreSQL server, which crashes and starts again under them.
local executors = require "spec.support.executors"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

local JOBS = 6000

-- A line for each run.
local work = [[
return { run = function(job)
  local file = assert(io.open("%s", "a"))
  file:write(job.id, "\n")
  file:close()
end }
]]

describe("a server", function()
  if not postgres.programs() then
    it("is crashed under executors", function()
      return pending("no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server, place

  before_each(function()
    server = postgres.start()
    place = executors.place {}
    place.url = postgres.url(server, "jobs")
    place.write("handlers/work.lua", work:format(place.path .. "/runs"))
    place.write("runs", "")
  end)

  after_each(function()
    place.remove()
    postgres.stop(server)
  end)

  local function runs()
    local seen, count, times = {}, 0, 0
    for id in place.log("runs"):gmatch("%d+\n") do
      times = times + 1
      count = count + (seen[id] and 0 or 1)
      seen[id] = true
    end
    return count, times
  end

  it("that crashes and starts again loses no job, and none runs twice", function()
    place.enqueue("work", JOBS)
    place.executor()
    place.executor()
    for crash = 1, 3 do
      process.await("some runs", 30, function()
        return runs() >= crash * JOBS / 6
      end)
      postgres.restart(server)
    end
    process.await("all runs", 60, function()
      return runs() == JOBS
    end)
    for _, pid in ipairs(place.pids) do
      place.stop(pid)
    end
    local count, times = runs()
    assert.equal(JOBS, count)
    assert.equal(JOBS, times)
    assert.truthy(place.moonshift("check"):find("nothing is wrong", 1, true))
  end)

  it("has executors that see a death on their machine before a session counts as lost", function()
    place.write("handlers/wait.lua", (([[
      return function()
        io.open("PLACE/runs", "a"):write("1\n"):close()
        os.execute("until [ -e PLACE/go ] || [ ! -e PLACE ]; do sleep 0.05; done")
      end
    ]]):gsub("PLACE", place.path)))
    local first = place.executor("--name", "first")
    place.enqueue("wait", 1)
    process.await("a run", 30, function()
      return runs() == 1
    end)
    place.executor("--name", "second")
    process.kill(first, "KILL")
    process.await("a crash is counted", 8, function()
      return postgres.rows(server, "jobs", "SELECT crashes FROM job")[1] == "1"
    end)
    place.write("go", "")
    process.await("no job is left", 30, function()
      return postgres.rows(server, "jobs", "SELECT count(*) FROM job")[1] == "0"
    end)
  end)

  -- As a standby that is not promoted yet.
  local function read_only(yes)
    local said = postgres.say(server, ([[
      SET default_transaction_read_only=off;
      ALTER DATABASE postgres SET default_transaction_read_only=%s;
      SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE backend_type='client backend' AND pid<>pg_backend_pid() \gset
    ]]):format(yes and "on" or "off"))
    assert.equal("", said)
  end

  it("that does not answer as an executor starts lets TERM end it without an error", function()
    local postmaster = process.read(server.folder .. "/data/postmaster.pid"):match("%d+")
    place.url = place.url .. "&connect_timeout=2"
    process.kill(postmaster, "STOP")
    local fine, why = pcall(function()
      local pid = place.start("log", "run", "-C", place.path)
      process.await("its connection", 10, function()
        return process.run(("ls -l /proc/%s/fd | grep -q socket:"):format(pid)) == 0
      end)
      place.stop(pid)
    end)
    process.kill(postmaster, "CONT")
    assert(fine, why)
    assert.is_nil(place.log():find("cannot connect", 1, true))
  end)

  it("that is away is told once, and so is its return", function()
    place.executor()
    read_only(true)
    place.logged('event="store away"', 1)
    local connections, count = {}, 0
    process.await("three attempts to connect", 30, function()
      for _, pid in ipairs(postgres.rows(server, "jobs", "SELECT pid FROM pg_stat_activity " ..
        "WHERE application_name='moonshift'")) do
        count = count + (connections[pid] and 0 or 1)
        connections[pid] = true
      end
      return count >= 3
    end)
    read_only(false)
    place.logged('event="store back"', 1)
    place.enqueue("work", 1)
    process.await("a run", 30, function()
      return runs() == 1
    end)
    assert.is_nil(place.log():find("what others left stays", 1, true))
    assert.equal(1, select(2, place.log():gsub('event="store away"', "")))
  end)

  it("that is away while an executor ends is told, as results could not be written", function()
    place.write("handlers/held.lua", work:format(place.path .. "/runs"):gsub("file:close%(%)", [[%0
  repeat os.execute("sleep 0.05") until io.open("]] .. place.path .. [[/on")]]))
    place.enqueue("held", 1)
    local pid = place.executor("--shutdown-wait", "PT2S")
    process.await("a run", 30, function()
      return runs() == 1
    end)
    read_only(true)
    place.logged('event="store away"', 1)
    place.write("on", "")
    place.stop(pid)
    assert.truthy(place.log():find("\nmoonshift: results could not be written: store", 1, true))
  end)

  it("that is away while an executor loads its folder gets the folder later", function()
    local pid = place.executor()
    place.write("handlers/more.lua", "return function() end\n")
    read_only(true)
    process.kill(pid, "HUP")
    place.logged('event="folder waits for the store"', 1)
    read_only(false)
    place.logged('event="folder loaded"', 1)
    place.enqueue("more", 1)
    process.await("no job is left", 60, function()
      return postgres.rows(server, "jobs", "SELECT count(*) FROM job")[1] == "0"
    end)
  end)
end)
