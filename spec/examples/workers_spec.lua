-- Each worker of the example as its page starts it: what it has counted is in the store.
local faces = require "spec.support.faces"
local json = require("moonshift").json
local process = require "spec.support.process"

local TEXTS = { [[to be or not to be]], [[an it's "quoted" text]], "" }
local WORDS = { 6, 4, 0 }

describe("examples/workers", function()
  local dir, store, face, token
  local running = {} -- by the pid of each that has not ended

  local function moonshift(...)
    local words = { ... }
    words[#words + 1] = "--store"
    words[#words + 1] = store
    local status, output, errors = process.moonshift(table.unpack(words))
    assert.equal(0, status, errors)
    return output
  end

  setup(function()
    dir = process.folder()
    store = "sqlite:" .. dir .. "/moonshift.db"
    process.run("cp -R examples/workers/. " .. process.quote(dir))
    face = faces.start(dir, "run", "--http", "127.0.0.1:0")
    token = moonshift("token", "create", "counter", "--scope", "work"):match("ms_%w+")
  end)

  -- With its timers and requests.
  local function strike(pid)
    os.execute(("env kill -KILL -- -%d"):format(pid))
    running[pid] = nil
  end

  teardown(function()
    for pid in pairs(running) do
      strike(pid)
    end
    process.kill(face.pid)
    process.remove(dir)
  end)

  -- Waits for the end of a worker that does so many rounds. What it has printed.
  local function work(name, rounds)
    local line = "JOBS_URL=http://%s JOBS_TOKEN=%s %s examples/workers/%s %d"
    local interpreter = name == "worker.js" and "node" or ""
    local status, output, errors = process.run(line:format(face.addresses[1], token, interpreter,
      name, rounds))
    assert.equal(0, status, output .. errors)
    return output
  end

  -- The ids of new jobs with these texts.
  local function enqueue()
    local ids = {}
    for i, text in ipairs(TEXTS) do
      local payload = assert(json.encode { text = text })
      ids[i] = tonumber(moonshift("enqueue", "topic/wordcount", payload))
    end
    return ids
  end

  local function result(id)
    local rows = json.decode(moonshift("log", "--job", tostring(id), "--json"))
    assert.equal("successful", rows[1].outcome)
    return rows[1].result
  end

  local function counts(name, rounds)
    local ids = enqueue()
    local output = work(name, rounds)
    assert.equal(#ids, select(2, output:gsub("%d+ complete\n", "")), output)
    for i, id in ipairs(ids) do
      assert.same({ words = WORDS[i] }, result(id))
    end
  end

  local function present(program)
    return process.run("command -v " .. program) == 0
  end

  -- Which job it is, and what else differs here from the page.
  local function as_here(line, id)
    local changes = { { "127.0.0.1:8080", face.addresses[1] }, { "ms_…", token },
      { "-C examples/workers", "--store " .. process.quote(store) },
      { "--job 1 ", "--job " .. id .. " " } }
    for _, change in ipairs(changes) do
      line = line:gsub(change[1]:gsub("%p", "%%%0"), (change[2]:gsub("%%", "%%%%")))
    end
    return line
  end

  it("does what its page says, step by step in one terminal #file", function()
    local id, lines = enqueue()[3] + 1, {}
    work("worker.py", 2)
    for number, line in io.open("examples/workers/README.md"):read("a"):gmatch(
      "\n(%d)%. `([^`]+)`") do
      lines[#lines + 1] = number > "2" and as_here(line, id) .. (number == "5" and " 1" or "")
        or nil
    end
    local folder = process.command():match("^'(.*)/[^/]*'$")
    local script = "set -e; PATH=" .. process.quote(folder) .. ":$PATH\n"
      .. table.concat(lines, "\n")
    local status, output, errors = process.run("sh -c " .. process.quote(script))
    assert.equal("0 ", status .. " " .. errors)
    assert.equal(4, #lines)
    assert.same({ words = 6 }, json.decode(output:match("%[.*$"))[1].result)
  end)

  it("counts in Python", function()
    counts("worker.py", 2)
    counts("worker.py", 1) -- what it has fetched is handed back besides
  end)

  it("counts in JavaScript", function()
    if not present "node" then
      return pending("no node")
    end
    counts("worker.js", 2)
    counts("worker.js", 1)
  end)

  it("counts in the shell", function()
    if not present "curl" or not present "jq" then
      return pending("no curl or no jq")
    end
    counts("worker.sh", 3)
  end)

  -- ---- workers that go on until they are told to stop ----

  local ALL = { ["worker.py"] = "python", ["worker.js"] = "node", ["worker.sh"] = "shell" }

  -- Those whose interpreters are there.
  local function workers()
    local names = {}
    for name, interpreter in pairs(ALL) do
      local missing = name == "worker.sh" and not (present "curl" and present "jq")
        or name == "worker.js" and not present(interpreter)
      names[#names + 1] = not missing and name or nil
    end
    table.sort(names)
    return names
  end

  -- Starts one in a process group of its own; its pid, and the file with what it prints.
  local function start(name, settings)
    local log = dir .. "/log-" .. name
    os.remove(log)
    local line = ("exec setsid env JOBS_URL=http://%s JOBS_TOKEN=%s WAIT=PT10M %s %s"
      .. " examples/workers/%s >>%s 2>&1 </dev/null"):format(face.addresses[1], token,
      settings or "", name == "worker.js" and "node" or "", name, process.quote(log))
    local pipe = io.popen(("sh -c %s & echo $!"):format(process.quote(line)))
    local pid = pipe:read("n")
    pipe:close()
    running[pid] = true
    return pid, log
  end

  local function shown(id)
    return json.decode(moonshift("job", "show", tostring(id), "--json"))
  end

  -- Waits until the store has the worker, which has fetched then.
  local function await_worker(name)
    process.await("a fetch of " .. name, 60, function()
      return moonshift("executor", "list", "--json"):find(ALL[name] .. "-", 1, true)
    end)
  end

  local function stop(pid)
    process.kill(pid, "TERM")
    process.await_end(pid, 60)
    running[pid] = nil
  end

  local function await_longer_lock(name, id)
    local first
    process.await("a longer lock of " .. name, 60, function()
      local until_now = shown(id).lock_expiration
      first = first or until_now
      return first and until_now and until_now ~= first
    end)
  end

  it("has less than eighty lines", function()
    for name in pairs(ALL) do
      assert.is_true(select(2, process.read("examples/workers/" .. name):gsub("\n", "")) < 80, name)
    end
  end)

  it("keeps the lock of a job that takes long", function()
    for _, name in ipairs(workers()) do
      local id = tonumber(moonshift("enqueue", "topic/wordcount", '{"text":"a","seconds":600}'))
      local pid = start(name, "RENEW=0.05")
      await_longer_lock(name, id)
      strike(pid)
      moonshift("job", "cancel", tostring(id))
    end
  end)

  it("is stopped behind its present job", function()
    for _, name in ipairs(workers()) do
      local id = tonumber(moonshift("enqueue", "topic/wordcount", '{"text":"a b","seconds":2}'))
      local pid = start(name, "RENEW=0.05")
      await_longer_lock(name, id) -- it has read the job, and works on it
      stop(pid)
      assert.same({ words = 2 }, result(id))
      assert.same({}, json.decode(moonshift("job", "list", "--state", "locked", "--json")))
    end
  end)

  it("is stopped at once where it waits", function()
    for _, name in ipairs(workers()) do
      local pid = start(name)
      await_worker(name)
      stop(pid)
    end
  end)

  it("asks again until the server is there", function()
    local port, pids = face.addresses[1], {}
    assert.equal(0, (face:stop()))
    for _, name in ipairs(workers()) do
      local pid, log = start(name)
      pids[#pids + 1] = pid
      process.await(name .. " finds nobody", 60, function()
        return process.read(log):find("away", 1, true)
      end)
    end
    face = faces.start(dir, "run", "--http", port)
    for i, id in ipairs(enqueue()) do
      process.await("a result", 60, function()
        return moonshift("log", "--job", tostring(id), "--json"):find('"successful"', 1, true)
      end)
      assert.same({ words = WORDS[i] }, result(id))
    end
    for _, pid in ipairs(pids) do
      stop(pid)
    end
  end)

  it("hands back what it cannot do with the reason", function()
    local id = tonumber(moonshift("enqueue", "topic/wordcount", "{}"))
    work("worker.py", 2)
    local row = json.decode(moonshift("job", "show", tostring(id), "--json"))
    assert.equal("KeyError: 'text'", row.message)
    assert.equal(2, row.retries)
  end)
end)
