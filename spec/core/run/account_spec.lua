-- Signals of `moonshift run`: while it starts, and those that ask.
local process = require "spec.support.process"

describe("a signal to moonshift run", function()
  local folder, store, pid

  before_each(function()
    folder = process.folder {
      ["handlers/hold.lua"] = "return function(job)\n"
        .. "  io.open(job.payload.path):close()\nend",
    }
    store = folder .. "/jobs.db"
    process.run("mkfifo " .. process.quote(folder .. "/pipe"))
    pid = nil
  end)

  local function status()
    return process.await("its end", 20, function()
      return tonumber(process.read(folder .. "/status"))
    end)
  end

  after_each(function()
    process.kill(pid)
    status()
    process.remove(folder)
  end)

  -- Its exit status is written into a file once it has ended.
  local function start()
    local line = ("(%s >>%s/log 2>&1 </dev/null & pid=$!; echo $pid; exec >&- 2>&-; wait $pid;"
      .. " echo $? >%s/status) &"):format(process.command("run", folder, "--store",
        "sqlite:" .. store, "--workers", "2"), folder, folder)
    local pipe = io.popen(line)
    pid = pipe:read("n")
    pipe:close()
  end

  local function logged(text)
    process.await(("the log to say %q"):format(text), 20, function()
      return process.read(folder .. "/log"):find(text)
    end)
  end

  -- Sends these signals while the folder is loaded, which does not end before.
  local function start_under(...)
    local loading = folder .. "/loading"
    local file = assert(io.open(folder .. "/handlers/slow.lua", "w"))
    file:write(([[
      if not io.open("%s/told") then io.open("%s", "w"):close() end
      repeat local file = io.open("%s") until not (file and file:close())
      return function() end]]):format(folder, loading, loading))
    file:close()
    start()
    process.await("the folder to be loaded", 20, function()
      return io.open(loading)
    end)
    for _, name in ipairs { ... } do
      process.kill(pid, name)
    end
    process.run(("cd %s && touch told && rm loading"):format(folder))
  end

  for _, name in ipairs { "TERM", "INT" } do
    it(("ends it with 0 while it starts: %s"):format(name), function()
      start_under(name)
      assert.equal(0, status())
      assert.is_nil(process.read(folder .. "/log"):find("level=error"))
    end)
  end

  it("is none of its death: USR1, USR2 and HUP, also while it starts", function()
    start_under("USR1", "USR2", "HUP")
    logged("event=\"folder loaded\"")
    process.kill(pid, "USR1")
    process.kill(pid, "TERM")
    assert.equal(0, status())
  end)

  it("makes it say what it does: USR2", function()
    start()
    logged("event=started")
    local code, id = process.moonshift("enqueue", "hold", ('{"path":"%s/pipe"}'):format(folder),
      "-C", folder, "--store", "sqlite:" .. store)
    assert.equal(0, code)
    process.await("the job to run", 20, function()
      process.kill(pid, "USR2")
      return process.read(folder .. "/log"):find(
        ("event=worker worker=%%d job=%d handler=hold for="):format(id))
    end)
    local log = process.read(folder .. "/log")
    assert.matches("event=state executor=[^ ]+ store=[^ ]+ stage=working running=1 waiting=0", log)
    assert.matches("generations=1 deployment=1 handlers=%d+", log)
    process.run("sh -c " .. process.quote(": >" .. folder .. "/pipe"))
    process.kill(pid, "TERM")
    assert.equal(0, status())
  end)
end)
