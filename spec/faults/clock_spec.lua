-- The machine's clock is set while executors run: libfaketime shows them another wall clock.
local executors = require "spec.support.executors"
local library = require "spec.support.faketime"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

local sanitized = process.is_sanitized()

local handlers = {
  ["handlers/long.lua"] = [[
return function(job)
  local file = assert(io.open(os.getenv("RUNS"), "a"))
  file:write("run ", job.id, "\n")
  file:close()
  os.execute("until [ -e $RUNS.go ] || [ ! -e ${RUNS%/*} ]; do sleep 0.05; done")
end
]],
}

describe("a wall clock that is set", function()
  local dir, path, pids

  local function set(offset)
    local file = assert(io.open(dir .. "/offset", "w"))
    file:write(offset, "\n")
    file:close()
  end

  before_each(function()
    dir, pids = process.folder(handlers), {}
    path = dir .. "/jobs.db"
    process.environment = ("RUNS=%s/runs LD_PRELOAD=%s FAKETIME_TIMESTAMP_FILE=%s/offset"
      .. " FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1"):format(dir, library, dir)
    set("+0")
  end)

  after_each(function()
    for _, pid in ipairs(pids) do
      process.kill(pid, "KILL")
    end
    process.environment = ""
    process.remove(dir)
  end)

  local function moonshift(...)
    local words = { ... }
    words[#words + 1] = "--store"
    words[#words + 1] = "sqlite:" .. path
    return words
  end

  local function enqueue(...)
    assert.equal(0, (process.moonshift(table.unpack(moonshift("enqueue", "long", "-C", dir, ...)))))
  end

  local function start(range)
    pids[#pids + 1] = process.start(dir .. "/log",
      table.unpack(moonshift("run", dir, "--priority-range", range)))
  end

  local function runs()
    return select(2, process.read(dir .. "/runs"):gsub("run", ""))
  end

  local function leases()
    return process.sql(path, "SELECT lease FROM executor ORDER BY id")
  end

  -- All executors have renewed their leases by the clock as it is then.
  local function step(offset)
    local before = leases()
    set(offset)
    process.await("new leases", 10, function()
      for i, lease in ipairs(leases()) do
        if math.abs(lease - before[i]) < 5 * 3600 * 1000 then
          return false
        end
      end
      return true
    end)
  end

  for _, offset in ipairs { "+10h", "+400d", "-10h" } do
    it("by " .. offset .. " lets no executor that starts just then take what others run", function()
      if sanitized then
        return pending("a sanitized program takes no other clock")
      end
      enqueue("--priority", "1")
      start("1:1")
      process.await("the run", 5, function()
        return runs() == 1
      end)
      -- The next one sees another clock; the first has not noticed yet.
      local file = assert(io.open(dir .. "/later", "w"))
      file:write(offset, "\n")
      file:close()
      process.environment = process.environment:gsub("/offset", "/later")
      start("0:9")
      process.await("both", 5, function()
        return select(2, process.read(dir .. "/log"):gsub("event=started", "")) == 2
      end)
      local _, listed = process.moonshift("executor", "list", "--store", "sqlite:" .. path)
      assert.equal(2, select(2, listed:gsub(" live ", "")), listed)
      os.execute("touch " .. dir .. "/runs.go")
      process.await("its end", 8, function()
        return process.sql(path, "SELECT count(*) FROM ended WHERE outcome=1")[1] == "1"
      end)
      assert.equal(1, runs())
      local log = process.read(dir .. "/log")
      assert.falsy(log:find("stale", 1, true) or log:find("dead executor", 1, true), log)
    end)
  end

  for _, sign in ipairs { "+", "-" } do
    it("by " .. sign .. "10h, and again, takes no lock away and starts no timer early", function()
      if sanitized then
        return pending("a sanitized program takes no other clock")
      end
      enqueue("--priority", "1")
      enqueue("--priority", "5")
      enqueue("--in", "P2D")
      for _, range in ipairs { "1:1", "5:5", "0:9" } do
        start(range)
      end
      process.await("both runs and three executors", 5, function()
        return runs() == 2 and #leases() == 3
      end)
      for hours = 10, 30, 10 do
        step(sign .. hours .. "h")
      end
      os.execute("touch " .. dir .. "/runs.go")
      process.await("both ends", 8, function()
        return process.sql(path, "SELECT count(*) FROM ended WHERE outcome=1")[1] == "2"
      end)
      assert.equal(2, runs())
      assert.falsy(process.read(dir .. "/log"):find("stale", 1, true))
    end)
  end
end)

-- A line at the beginning of each run: the job, and the server's time in ms.
local noting = [[
return function(job)
  os.execute("echo " .. job.id .. " $(env -u LD_PRELOAD date +%s%3N) >>PLACE/runs")
  if job.payload == "long" then
    os.execute("env -u LD_PRELOAD sleep 5")
  end
end
]]

describe("machines on one server whose clocks are wrong", function()
  local server, place

  before_each(function()
    server = postgres.programs() and postgres.start()
    place = executors.place {}
    place.write("handlers/note.lua", (noting:gsub("PLACE", place.path)))
    place.write("runs", "")
    place.url = server and postgres.url(server, "jobs")
  end)

  after_each(function()
    process.environment = ""
    place.remove()
    if server then
      postgres.stop(server)
    end
  end)

  -- What is started from here on has the clock of this machine.
  local function on(machine)
    process.environment = ("LD_PRELOAD=%s FAKETIME_TIMESTAMP_FILE=%s/%s FAKETIME_NO_CACHE=1"
      .. " FAKETIME_DONT_FAKE_MONOTONIC=1"):format(library, place.path, machine)
  end

  local function set(machine, offset)
    place.write(machine, offset .. "\n")
  end

  local function now()
    return tonumber(io.popen("date +%s%3N"):read("l"))
  end

  local function runs()
    local started, count = {}, 0
    for id, at in place.log("runs"):gmatch("(%d+) (%d+)\n") do
      started[id], count = tonumber(at), count + 1
    end
    return count, started
  end

  -- Its commands leave a number for each commit, and clear away old ones.
  it("leave the numbers of each other's commits alone, days ahead or behind", function()
    if sanitized or not server then
      return pending("needs a server, and a program that takes another clock")
    end
    place.enqueue("note", 1)
    postgres.rows(server, "jobs", "INSERT INTO turn SELECT -n, n,"
      .. " floor(extract(epoch FROM clock_timestamp())*1000) FROM generate_series(1, 3) AS n")
    for machine, offset in pairs { ahead = "+8d", behind = "-8d" } do
      set(machine, offset)
      on(machine)
      place.enqueue("note", 3)
    end
    assert.same({ "3" }, postgres.rows(server, "jobs", "SELECT count(*) FROM turn"))
    place.executor("--name", "behind", "--workers", "1")
    process.await("a turn by the server's clock", 8, function()
      return postgres.rows(server, "jobs", "SELECT count(*) FROM turn WHERE"
        .. " abs(at - extract(epoch FROM clock_timestamp())*1000) < 60000")[1] == "4"
    end)
  end)

  it("run nothing early or late, and take nothing from each other", function()
    if sanitized or not server then
      return pending("needs a server, and a program that takes another clock")
    end
    set("ahead", "+5m")
    set("behind", "-5m")
    for _, machine in ipairs { "ahead", "behind" } do
      on(machine)
      place.executor("--name", machine, "--lock-time", "PT9S", "--workers", "2")
    end
    local due = {}
    for _, machine in ipairs { "ahead", "behind" } do
      on(machine)
      local before = now()
      local status, id, errors = process.run(("env %s %s"):format(process.environment,
        process.command("enqueue", "note", "--in", "3", "-C", place.path, "--store", place.url)))
      assert.equal(0, status, errors)
      due[id:match("%d+")] = { before + 3000, now() + 3000 }
    end
    place.enqueue("note", 4, '"long"')
    process.await("the long runs", 30, function()
      return runs() >= 4
    end)
    set("ahead", "-5m") -- while they run
    set("behind", "+5m")
    process.await("all ends", 60, function()
      return postgres.rows(server, "jobs", "SELECT count(*) FROM ended WHERE outcome=1")[1] == "6"
    end)
    local count, started = runs()
    assert.equal(6, count)
    for id, span in pairs(due) do
      assert.truthy(started[id] >= span[1], "early")
      assert.truthy(started[id] < span[2] + 120000, "late")
    end
    local log = place.log()
    assert.falsy(log:find("stale", 1, true) or log:find("dead executor", 1, true), log)
    assert.equal(2, select(2, log:gsub("this machine's clock is wrong", "")))
  end)
end)
