-- Handlers that no hook interrupts, in real processes: their job fails, others go on, and the
-- executor ends itself once it has lost more workers than it can replace.
local process = require "spec.support.process"

-- Where a run hangs is seen from inside a signal, which a sanitizer holds back.
local sanitized = process.run("ldd " .. process.command() .. " | grep -q 'lib[at]san'") == 0
local function seen_at(place)
  return sanitized and "before its first line" or place
end

-- A pattern that backtracks for ever, a finalizer that loops, a read that nobody answers.
local files = {
  ["handlers/pattern.lua"] = [[
return { timeout = "PT0.3S", run = function()
  return string.rep("a", 30):find((".-"):rep(30) .. "b")
end }]],
  ["handlers/finalizer.lua"] = [[
return { timeout = "PT0.3S", run = function()
  setmetatable({}, { __gc = function()
    while true do end
  end })
  collectgarbage()
end }]],
  ["handlers/reader.lua"] = [[
return { timeout = "PT0.3S", run = function(job)
  local file <close> = assert(io.open(job.payload.path))
  return file:read("a")
end }]],
  ["handlers/good.lua"] = "return function(job) print('good') end",
  ["moonshift.lua"] = "return { failed_job_wait = 'PT1H', shutdown_wait = 'PT0.5S' }",
}

describe("a handler that nothing ends", function()
  local folder, store, pids

  before_each(function()
    folder, pids = process.folder(files), {}
    store = folder .. "/jobs.db"
    process.run("mkfifo " .. process.quote(folder .. "/pipe"))
  end)

  after_each(function()
    for i, pid in ipairs(pids) do
      process.kill(pid)
      process.await("the end of executor " .. i, 10, function()
        return process.read(folder .. "/status" .. i) ~= ""
      end)
    end
    process.remove(folder)
  end)

  local function command(...)
    local words = { ... }
    words[#words + 1] = "--store"
    words[#words + 1] = "sqlite:" .. store
    local status, output, errors = process.moonshift(table.unpack(words))
    assert.equal(0, status, output .. errors)
    return output, errors
  end

  local function enqueue(...)
    return command("enqueue", "-C", folder, ...)
  end

  local function read_pipe(...)
    return enqueue("reader", ('{"path":"%s/pipe"}'):format(folder), ...)
  end

  -- The executor; its exit status is written into a file once it has ended.
  local function start(workers)
    local line = ("(%s >>%s/log 2>&1 </dev/null & pid=$!; echo $pid; exec >&- 2>&-; wait $pid;"
      .. " echo $? >%s/status%d) &"):format(process.command("run", folder, "--store",
        "sqlite:" .. store, "--workers", tostring(workers)), folder, folder, #pids + 1)
    local pipe = io.popen(line)
    pids[#pids + 1] = pipe:read("n")
    pipe:close()
    return pids[#pids]
  end

  local function status_of(seconds)
    return process.await("the executor's end", seconds, function()
      return tonumber(process.read(folder .. "/status" .. #pids))
    end)
  end

  local function rows(question)
    return process.sql(store, question)
  end

  local function await(question, ...)
    local expected = { ... }
    process.await(question, 20, function()
      local found = rows(question)
      return table.concat(found, "\n") == table.concat(expected, "\n")
    end)
  end

  local open_incidents = "SELECT i.type, d.name, i.job FROM incident i JOIN definition d"
    .. " ON d.id=i.definition WHERE i.ended IS NULL ORDER BY i.job"

  it("fails by its timeout, whatever it hangs in, and others go on", function()
    enqueue("pattern")
    enqueue("finalizer")
    read_pipe()
    start(3)
    await(open_incidents, "handlerStuck|pattern|1", "handlerStuck|finalizer|2",
      "handlerStuck|reader|3")
    assert.same({ "1|2|2|0", "2|2|2|0", "3|2|2|0" }, -- attempt, retries, crashes
      rows("SELECT id, attempt, retries, crashes FROM job ORDER BY id"))
    assert.same({ "1|1", "2|1", "3|1" }, rows("SELECT job, reason FROM attempt ORDER BY job"))
    local messages = rows("SELECT message FROM incident ORDER BY job")
    assert.matches("does not end: " .. seen_at("handlers/pattern.lua:2 %(in find%)"), messages[1])
    assert.matches("does not end: " .. seen_at("handlers/finalizer.lua:3"), messages[2])
    assert.matches("does not end: " .. seen_at("handlers/reader.lua:2 %(in open%)"), messages[3])
    enqueue("good", "--count", "20")
    await("SELECT count(*) FROM ended", "20")
    assert.matches('"running":0', (command("executor", "list", "--json")))
  end)

  it("lets TERM end the executor all the same", function()
    enqueue("pattern")
    read_pipe()
    local pid = start(2)
    await("SELECT count(*) FROM stuck", "2")
    process.kill(pid, "TERM")
    assert.equal(0, status_of(5)) -- nobody opens the pipe
    assert.same({ "1|2|0", "2|2|0" },
      rows("SELECT id, retries, crashes FROM job ORDER BY id"))
    assert.same({}, rows(open_incidents))
  end)

  it("holds its lane until it ends after all", function()
    read_pipe("--lane", "a")
    enqueue("good", "--lane", "a")
    start(2)
    await(open_incidents, "handlerStuck|reader|1")
    assert.matches('job 2 waits for its lane "a": a run of job 1 on .* does not end %('
      .. seen_at("handlers/"), (command("job", "why", "2")))
    local output, errors = command("job", "cancel", "1")
    assert.equal("1 job cancelled\n", output)
    assert.matches("a run of job 1 on .*: could not be ended; it goes on until it ends", errors)
    process.run("sh -c " .. process.quote(": >" .. folder .. "/pipe"))
    await(open_incidents)
    await("SELECT job, outcome FROM ended ORDER BY seq", "1|3", "2|1")
    assert.same({ "0" }, rows("SELECT count(*) FROM stuck"))
  end)

  it("ends the executor when more are stuck than workers can be replaced", function()
    for _ = 1, 3 do
      read_pipe()
    end
    start(2)
    assert.equal(70, status_of(20))
    assert.matches("3 handlers do not end, and no more workers can be replaced",
      process.read(folder .. "/log"))
    assert.same({ "1|2|2|0", "2|2|2|0", "3|2|2|0" },
      rows("SELECT id, attempt, retries, crashes FROM job ORDER BY id"))
    assert.same({ "0" }, rows("SELECT count(*) FROM locked"))
    enqueue("good")
    start(2)
    await("SELECT job FROM ended", "4")
    assert.same({ "1|1", "2|1", "3|1" }, rows("SELECT job, n FROM attempt ORDER BY job, n"))
    assert.same({}, rows("SELECT id FROM job WHERE crashes>0"))
  end)

  it("punishes no job when its executor is killed", function()
    read_pipe()
    local pid = start(1)
    await("SELECT count(*) FROM stuck", "1")
    process.kill(pid, "KILL")
    assert.equal(137, status_of(5))
    start(1)
    await("SELECT count(*) FROM stuck", "0")
    assert.same({ "1|2|0" }, rows("SELECT id, retries, crashes FROM job ORDER BY id"))
    assert.same({}, rows(open_incidents))
  end)

  it("ends with a drained executor, which stays as long as nothing is stuck", function()
    local file = assert(io.open(folder .. "/handlers/slow.lua", "w"))
    file:write([[
return function(job)
  while not io.open(job.payload.path) do
    os.execute("sleep 0.02")
  end
end]])
    file:close()
    start(2)
    await("SELECT count(*) FROM executor", "1")
    command("executor", "drain", "1")
    process.await("the drain", 20, function()
      return process.read(folder .. "/log"):find("event=draining", 1, true)
    end)
    command("executor", "resume", "1")
    read_pipe("--lane", "a")
    enqueue("slow", ('{"path":"%s/go"}'):format(folder))
    await("SELECT count(*) FROM stuck", "1")
    command("executor", "drain", "1")
    enqueue("good", "--lane", "a")
    await("SELECT id FROM job WHERE id NOT IN (SELECT id FROM ready) ORDER BY id", "1", "2")
    assert.equal("", process.read(folder .. "/status1"))
    process.run("touch " .. process.quote(folder .. "/go"))
    assert.equal(0, status_of(10))
    assert.matches("event=drained stuck=1", process.read(folder .. "/log"))
    assert.same({ "2" }, rows("SELECT job FROM ended"))
    assert.same({ "1|2|0" }, rows("SELECT id, retries, crashes FROM job WHERE id=1"))
    start(2)
    await("SELECT job FROM ended ORDER BY seq", "2", "3")
  end)

  it("runs again when the retry rule of its handler says so, if that is a text", function()
    local file = assert(io.open(folder .. "/handlers/stubborn.lua", "w"))
    file:write([[
return { timeout = "PT0.3S", retry = "R5/PT2H", run = function()
  return string.rep("a", 30):find((".-"):rep(30) .. "b")
end }]])
    file:close()
    enqueue("stubborn")
    start(1)
    await("SELECT count(*) FROM stuck", "1")
    assert.same({ "4|7200" }, rows("SELECT j.retries, (j.due - a.at) / 1000"
      .. " FROM job j JOIN attempt a ON a.job=j.id"))
  end)

  it("stops an executor in a program of its own kind from taking more, until it ends", function()
    local file = assert(io.open(folder .. "/host.lua", "w"))
    file:write((([[
local moonshift = require "moonshift"
local folder = "FOLDER"
local engine = assert(moonshift.open { scripts = folder,
  store = "sqlite:" .. folder .. "/jobs.db" })
local executor = assert(moonshift.executor { engines = { engine }, workers = 1 })
local function await(what)
  for _ = 1, 1500 do
    local status = executor:status()
    if what(status) then
      return
    end
    os.execute("sleep 0.02")
  end
  error("waited in vain")
end
engine:enqueue("reader", { path = folder .. "/pipe" })
engine:enqueue("reader", { path = folder .. "/pipe" })
assert(executor:start())
local function locked() return engine:jobs({ locked = true }):count() end
await(function(status) return status.exhausted and locked() == 0 end)
print(executor:status().stuck, executor:status().state, locked())
local count, stuck = engine:cancel(1)
print(count, stuck.runs, stuck.job,
  stuck.text:match("^a run of job 1 on .* at before its first line"))
engine:enqueue("good")
os.execute("sh -c ': >" .. folder .. "/pipe'")
local function open() return engine:incidents({ open = true }):count() end
await(function(status) return status.stuck == 0 and status.done == 1 and open() == 0 end)
print(executor:status().exhausted, open())
executor:stop()
]]):gsub("FOLDER", folder)))
    file:close()
    local code, output, errors = process.run((os.getenv("SPEC_LUA") or "lua5.4") .. " " .. folder
      .. "/host.lua")
    assert.equal("", errors)
    assert.matches("^2\trunning\t0\n1\t1\t1\ta run of job 1 on [^\n]*\nfalse\t0\n$", output)
    assert.equal(0, code)
  end)

  it("does not keep a drained executor", function()
    read_pipe()
    enqueue("good")
    command("run", folder, "--drain", "--workers", "1", "--log-level", "error")
    assert.same({ "2" }, rows("SELECT job FROM ended"))
  end)
end)
