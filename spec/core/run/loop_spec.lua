local process = require "spec.support.process"

local files = {
  ["handlers/hello.lua"] = "return function(job) end",
  ["handlers/brief.lua"] = [[
return function(job)
  local begun = os.clock()
  while os.clock() < begun + 0.0002 do end
end]],
  ["handlers/endless.lua"] = [[
return {
  timeout = "PT0.3S",
  retry = "R3/PT0S",
  run = function(job)
    while true do pcall(function() while true do end end) end
  end,
}]],
  ["handlers/long.lua"] = [[
return function(job)
  local file = assert(io.open(job.payload.begun, "a"))
  file:write("x")
  file:close()
  while true do end
end]],
  ["handlers/gated.lua"] = [[
return function(job)
  local file = assert(io.open(job.payload.begun, "a"))
  file:write("x")
  file:close()
  while not io.open(job.payload.begun .. job.id) do end
end]],
  ["handlers/busy.lua"] = [[
return function(job)
  job:progress(0.4, "2 of 5 files")
  local nap = "sleep " .. job.payload.nap
  os.execute(("(%s; %s) & %s >%s"):format(nap, nap, nap, job.payload.begun))
end]],
  ["handlers/paced.lua"] = [[
return { rate = "5/PT0.2S", run = function() end }]],
  ["handlers/spin.lua"] = [[
return function()
  local begun = os.clock()
  while os.clock() - begun < 0.001 do end
end]],
  ["handlers/daily.lua"] = [[
return { rate = "1/P1D", run = function() end }]],
  ["handlers/single.lua"] = [[
return {
  limit = { cluster = 1 },
  run = function(job)
    local file = assert(io.open(job.payload.begun, "a"))
    file:write("x")
    file:close()
    while not io.open(job.payload.begun .. "-go") do end
  end,
}]],
  ["handlers/asleep.lua"] = [[
return function(job)
  os.execute("sleep 30 >" .. job.payload.begun)
end]],
}

local HOLD = "touch held; until [ -e free -o ! -e handlers ]; do sleep 0.01; done"

describe("the loop", function()
  local folder, store, log, pid

  before_each(function()
    folder = process.folder(files)
    store = folder .. "/moonshift.db"
    log = folder .. "/log"
  end)

  after_each(function()
    if pid then
      process.kill(pid)
    end
    pid = nil
    process.remove(folder)
  end)

  -- The id of the job, or of the first one.
  local function enqueue(...)
    local url = "sqlite:" .. store
    local status, output, errors = process.moonshift("enqueue", "-C", folder, "--store", url, ...)
    assert.equal("0 ", status .. " " .. errors)
    local count, first = output:match("^(%d+) ?(%d*)")
    return math.tointeger(first ~= "" and first or count)
  end

  local function logged(text, seconds)
    return process.await("the log to say " .. text, seconds or 5, function()
      return process.read(log):find(text, 1, true)
    end)
  end

  -- Jobs that leave a mark when they begin, and the wait for it.
  local function enqueue_marked(handler, ...)
    return enqueue(handler, ('{"begun":"%s/begun"}'):format(folder), ...)
  end

  -- Nobody else writes until there is a file `free`.
  local function hold()
    os.execute(("cd %s && %s &"):format(folder, process.holding(store, HOLD)))
    process.await("the store to be held", 5, function()
      return io.open(folder .. "/held")
    end)
  end

  local function begun(marks)
    process.await("handlers to begin", 10, function()
      local file = io.open(folder .. "/begun")
      return file and file:seek("end") == (marks or 0) and file:close()
    end)
  end

  local function run(...)
    pid = process.start(log, "run", folder, "--store", "sqlite:" .. store, "--workers", "2", ...)
    logged("event=started")
  end

  -- Runs the program under strace with these options and gives its exit status.
  local function traced(options, ...)
    local command = process.command("run", folder, "--store", "sqlite:" .. store, "--drain", ...)
    local trace = process.quote(folder .. "/trace")
    -- A sanitizer cannot look for leaks under strace.
    return (process.run(("strace -E ASAN_OPTIONS=detect_leaks=0 -f -o %s %s %s"):format(trace,
      options, command)))
  end

  local function count(question)
    return tonumber(process.sql(store, question)[1])
  end

  local function seconds()
    return io.popen("date +%s.%N"):read("n")
  end

  local function locked()
    return count("SELECT count(*) FROM locked")
  end

  it("wakes up once a second at idle and reads the two ends of the log, no more", function()
    enqueue("hello")
    run()
    process.await("the job", 5, function()
      return count("SELECT count(*) FROM ready") == 0 and locked() == 0
    end)
    local waits, reads
    for _ = 1, 10 do -- until what follows the start is over: the first gap watch
      local trace = folder .. "/trace"
      os.execute(("timeout 3.5 strace -f -p %d -o %s >/dev/null 2>&1"):format(pid, trace))
      waits = select(2, process.read(trace):gsub("epoll_wait%(", ""))
      local calls = process.read(trace):gsub("pread64%([^\n]*, 32, 0%)", "")
      calls = calls:gsub("pread64%([^\n]*, 1, %d+%)", "")
      reads = select(2, calls:gsub("pread", ""))
      if waits >= 1 and waits <= 5 and reads == 0 then
        return
      end
    end
    error(("%d waits and %d reads in 3.5 s"):format(waits, reads))
  end)

  it("settles several brief jobs in one transaction while others wait #file", function()
    enqueue("brief", "--count", "400")
    -- A sync takes 50 ms, and so long the workers have the processor, if there is but one.
    local slow = "-e trace=fdatasync -e inject=fdatasync:delay_exit=50000"
    assert.equal(0, traced(slow, "--workers", "1"))
    local syncs = select(2, process.read(folder .. "/trace"):gsub("fdatasync%(", ""))
    assert.equal(0, count("SELECT count(*) FROM job"))
    assert.is_true(syncs < 240, syncs .. " syncs")
  end)

  it("ends a handler at its time, whatever it catches", function()
    enqueue("endless", "--count", "2")
    run()
    logged('event=incident job=1 handler=endless attempt=3 retries=0 reason=timeout', 10)
    logged('event=incident job=2 handler=endless attempt=3 retries=0 reason=timeout', 10)
  end)

  it("cuts running handlers off at a second TERM and gives everything back", function()
    enqueue_marked("long", "--count", "50")
    run()
    begun(2)
    process.kill(pid, "TERM")
    logged("event=stopping running=2")
    process.kill(pid, "TERM")
    process.await_end(pid, 5)
    assert.equal(0, locked())
    assert.equal(50, count("SELECT count(*) FROM live WHERE attempt=1 AND retries=3"))
  end)

  it("begins nothing after TERM, not even while it waits for the store", function()
    enqueue_marked("gated", "--count", "4")
    run()
    begun(2)
    hold()
    os.execute("touch " .. folder .. "/begun1")
    begun(3) -- the first one's outcome has to wait, the third one has begun
    process.kill(pid, "TERM")
    process.await("TERM to be heard", 5, function()
      local status = process.read(("/proc/%d/status"):format(pid))
      local pending, blocked = status:match("ShdPnd:%s*(%x+).-SigBlk:%s*(%x+)")
      -- It is blocked while its handler runs.
      return (tonumber(pending, 16) | tonumber(blocked, 16)) & 1 << 14 == 0
    end)
    os.execute(("cd %s && touch begun2 begun3 begun4 free"):format(folder))
    process.await_end(pid, 5)
    assert.equal("xxx", process.read(folder .. "/begun"))
    assert.equal(0, locked())
    assert.equal(1, count("SELECT count(*) FROM live WHERE id=4 AND attempt=1 AND retries=3"))
  end)

  it("ends at TERM while somebody else holds the store, and is buried by the next", function()
    run()
    hold()
    process.kill(pid, "TERM")
    process.await_end(pid, 12)
    assert.equal(1, count("SELECT count(*) FROM executor WHERE state<>0"))
    os.execute("touch " .. folder .. "/free")
    assert.equal(0, (process.moonshift("run", folder, "--store", "sqlite:" .. store, "--drain")))
    assert.equal(0, count("SELECT count(*) FROM executor WHERE state<>0"))
  end)

  -- An executor that must stop while another process holds the store: its status, and the seconds
  -- from the signal to its end.
  local function stop_while_held()
    os.execute(("rm -f %s/begun* %s/held %s/free %s"):format(folder, folder, folder, log))
    enqueue_marked("gated")
    pid = process.start_watched(log, "run", folder, "--store", "sqlite:" .. store,
      "--shutdown-wait", "PT1S")
    begun(1)
    hold()
    os.execute(("touch %s/begun%d"):format(folder, count("SELECT id FROM locked")))
    local told = seconds()
    process.kill(pid, "TERM")
    local status = process.await_status(pid, 12)
    local took = seconds() - told
    os.execute("touch " .. folder .. "/free")
    return status, took
  end

  it("says that the store was busy when it ends with results that it could not write", function()
    local took
    for _ = 1, 20 do -- its time and less than a second; 4 s, once. A busy machine takes longer
      local status
      status, took = stop_while_held()
      logged("results could not be written: store ")
      logged("busy: another process has been writing for ")
      assert.equal(1, status)
      assert.equal(0, (process.moonshift("run", folder, "--store", "sqlite:" .. store, "--drain")))
      assert.equal(0, count("SELECT count(*) FROM live"))
      if took < 3.5 then
        return
      end
    end
    error(took .. " s")
  end)

  it("cuts a handler off whose job was cancelled", function()
    enqueue_marked("long")
    run()
    begun(1)
    local moonshift = require "moonshift"
    local engine = assert(moonshift.open({ store = "sqlite:" .. store }))
    assert.equal(1, engine:cancel(1))
    engine:close()
    logged('event="stale outcome refused" job=1 handler=long token=1 outcome=cancelled')
    enqueue("hello", "--count", "2")
    process.await("the other jobs", 5, function()
      return count("SELECT count(*) FROM live") == 0
    end)
  end)

  it("hears at once that a job was cancelled, also while all its workers are busy", function()
    local moonshift = require "moonshift"
    local engine = assert(moonshift.open({ store = "sqlite:" .. store }))
    run("--queue", "1")
    local took
    for round = 1, 30 do -- once a second it would ask by itself, and take a second look at the next
      local first = enqueue_marked("long", "--count", "2")
      begun(2 * round)
      local ids = { first, first + 1 }
      local from = seconds()
      assert.equal(2, engine:cancel(ids))
      for _, id in ipairs(ids) do
        logged(('event="stale outcome refused" job=%d '):format(id))
      end
      took = seconds() - from
      if took < 0.8 then -- a busy machine takes longer, but not each time
        break
      end
    end
    engine:close()
    assert.is_true(took < 0.8, took)
  end)

  it("ends programs that a handler waits for when it is cut off", function()
    enqueue_marked("asleep")
    run()
    begun()
    process.kill(pid, "TERM")
    logged("event=stopping running=1")
    process.kill(pid, "TERM")
    logged('event="job cut off" job=1 handler=asleep')
    process.await_end(pid, 5)
    assert.equal(0, locked())
  end)

  it("ends programs of a job that is cancelled, the whole group, and shows its progress", function()
    local nap = ("%.6f"):format(300 + math.random()) -- no other program's
    enqueue("busy", ('{"begun":"%s/begun","nap":"%s"}'):format(folder, nap))
    run()
    begun()
    assert.truthy(io.popen(("pgrep -f '[s]leep %s'"):format(nap)):read("l"))
    local shown
    process.await("its progress in the list", 5, function()
      shown = select(2, process.moonshift("job", "list", "--store", "sqlite:" .. store))
      return shown:find("40% 2 of 5 files", 1, true)
    end)
    process.moonshift("job", "cancel", "1", "--store", "sqlite:" .. store)
    logged('event="stale outcome refused" job=1 handler=busy token=1 outcome=cancelled')
    process.await("the end of the group", 5, function() -- by itself it would end after ten minutes
      return not io.popen(("pgrep -f '[s]leep %s'"):format(nap)):read("l")
    end)
    assert.equal(0, count("SELECT count(*) FROM live"))
  end)

  it("drains what its rate alone holds back", function()
    enqueue("paced", "--count", "12")
    local status = process.moonshift("run", folder, "--store", "sqlite:" .. store, "--drain")
    assert.equal(0, status)
    assert.same({ 0, 12 }, { count("SELECT count(*) FROM live"),
      count("SELECT count(*) FROM ended") })
  end)

  -- A worker is kept for what a rate lets begin, and free again for the others.
  it("drains a backlog beside what a rate holds back, with one worker", function()
    enqueue("spin", "--count", "600")
    enqueue("paced", "--count", "12")
    enqueue("spin", "--count", "300")
    pid = process.start(log, "run", folder, "--store", "sqlite:" .. store, "--workers", "1")
    process.await("the end of all", 60, function()
      return count("SELECT count(*) FROM ended") == 912
    end)
  end)

  it("drains what a limit holds back while another executor runs", function()
    enqueue_marked("single", "--count", "2")
    pid = process.start(log, "run", folder, "--store", "sqlite:" .. store, "--name", "first")
    begun(1)
    assert.equal(0, (process.moonshift("executor", "drain", "first", "--store",
      "sqlite:" .. store)))
    logged("event=draining", 60)
    enqueue("hello")
    local second = process.start_watched(folder .. "/second", "run", folder, "--store",
      "sqlite:" .. store, "--drain")
    process.await("the job beside them", 60, function()
      return count("SELECT count(*) FROM ended") == 1
    end)
    os.execute(("touch %s/begun-go"):format(folder))
    assert.equal(0, process.await_status(second, 60))
    assert.same({ 0, 3 }, { count("SELECT count(*) FROM live"),
      count("SELECT count(*) FROM ended") })
  end)

  it("ends a drain beside what a rate holds back from others alone", function()
    enqueue("daily", "--priority", "150")
    enqueue("daily", "--priority", "10")
    local status = process.await_status(process.start_watched(log, "run", folder, "--store",
      "sqlite:" .. store, "--drain", "--priority-range", "100:200"), 60)
    assert.same({ 0, 1 }, { status, count("SELECT count(*) FROM ready") })
  end)

  it("says that the disk is full when there is no room for its own files #file", function()
    enqueue("hello")
    local status, _, errors = process.run(("strace -f -o /dev/null -E " ..
      "ASAN_OPTIONS=detect_leaks=0 -e trace=fallocate -e inject=fallocate:error=ENOSPC %s"):format(
      process.command("run", folder, "--store", "sqlite:" .. store, "--drain")))
    assert.equal(74, status)
    assert.matches('no room on the disk for "[^"]+%-slots%-1"', errors)
  end)

  it("ends with 74 when its store is moved away #file", function()
    run()
    os.rename(store, store .. "-elsewhere")
    logged("was moved, removed or replaced while in use")
    process.await_end(pid, 5)
  end)

  it("ends with 74 after a failed sync and never syncs again #file", function()
    enqueue("hello", "--count", "2000")
    local options = "-e trace=fdatasync,fsync -e inject=fdatasync:error=EIO:when=12"
    assert.equal(74, traced(options))
    local after = process.read(folder .. "/trace"):match("INJECTED%)\n(.*)$")
    assert.is_nil(after:find("sync", 1, true))
    local status = process.moonshift("run", folder, "--store", "sqlite:" .. store, "--drain")
    assert.equal(0, status)
    assert.equal(0, count("SELECT count(*) FROM live"))
  end)
end)
