-- What the program tells the service manager that started it.
local process = require "spec.support.process"

describe("a service manager", function()
  local folder, told, manager, pid

  before_each(function()
    folder = process.folder { ["handlers/work.lua"] = "return function() end" }
    told = folder .. "/told"
    local pipe = io.popen(("sh -c 'exec python3 spec/support/notified.py %s/socket >%s' & echo $!")
      :format(folder, told))
    manager = pipe:read("n")
    pipe:close()
    process.await("it listens", 60, function()
      return (process.run(("test -S %s/socket"):format(folder))) == 0
    end)
  end)

  after_each(function()
    process.environment = ""
    process.run("kill " .. manager)
    process.remove(folder)
  end)

  local function start(verb, environment, ...)
    process.environment = ("NOTIFY_SOCKET=%s/socket %s"):format(folder, environment)
    pid = process.start_watched(folder .. "/log", verb, folder, "--store",
      "sqlite:" .. folder .. "/moonshift.db", ...)
    process.environment = ""
  end

  -- Waits for so many lines like this one; all that was told.
  local function await(line, count)
    process.await(line, 60, function()
      return select(2, (process.read(told) or ""):gsub(line .. "[^\n]*\n", "")) >= count
    end)
    return process.read(told)
  end

  local function stop()
    process.kill(pid, "TERM")
    assert.equal(0, process.await_status(pid, 60))
    return await("STOPPING=1", 1)
  end

  for verb, words in pairs { run = {}, serve = { "--http", "127.0.0.1:0" } } do
    it("hears that " .. verb .. " is ready, reads its files again, and stops", function()
      start(verb, "", table.unpack(words))
      assert.equal("READY=1\n", await("READY=1", 1))
      process.kill(pid, "HUP")
      local text = await("READY=1", 2)
      assert.matches("^READY=1\nRELOADING=1 MONOTONIC_USEC=%d+\nREADY=1\n$", text)
      text = stop()
      assert.matches("\nSTOPPING=1\n$", text)
      assert.is_nil(text:find("WATCHDOG", 1, true))
    end)

    it("that watches hears that " .. verb .. " is alive, time and again", function()
      start(verb, "WATCHDOG_USEC=30000000", table.unpack(words))
      await("WATCHDOG=1", 2)
      stop()
    end)
  end

  -- Loading this file says so, and ends when `go` is there, or it is refused.
  local WAITS = [[
io.open("%s/reads", "w"):close()
repeat until io.open("%s/go")
return function() end
]]

  it("hears that serve is ready when the files have been read, not before", function()
    start("serve", "", "--http", "127.0.0.1:0")
    await("READY=1", 1)
    local file = assert(io.open(folder .. "/handlers/waits.lua", "w"))
    file:write(WAITS:format(folder, folder))
    file:close()
    process.kill(pid, "HUP")
    process.await("the files to be read", 60, function()
      local reads = io.open(folder .. "/reads")
      return reads and reads:close()
    end)
    assert.matches("RELOADING=1 MONOTONIC_USEC=%d+\n$", process.read(told))
    assert(io.open(folder .. "/go", "w")):close()
    await("READY=1", 2)
    stop()
  end)

  it("that watches another process is not told", function()
    start("serve", "WATCHDOG_USEC=30000000 WATCHDOG_PID=1", "--http", "127.0.0.1:0")
    await("READY=1", 1)
    process.kill(pid, "HUP")
    await("READY=1", 2)
    assert.is_nil(stop():find("WATCHDOG", 1, true))
  end)
end)
