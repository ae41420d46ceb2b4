-- Scripts that do not end while they are loaded, in a place where no hook of Lua comes: a pattern
-- that backtracks at file level, in the settings, in a finalizer.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local ENDLESS = '(("a"):rep(3000)):find(("a-"):rep(30) .. "b")'
local SAYS = "took longer than PT10S and does not end"

describe("a folder that does not end to load", function()
  local place

  before_each(function()
    place = executors.place { ["handlers/work.lua"] = "return function() end" }
  end)

  after_each(function()
    place.remove()
  end)

  local function check(log, ...)
    return process.start(place.path .. "/" .. log, ...)
  end

  -- The commands run beside each other: each takes as long as its limit.
  local function all(commands)
    local pids, logs = {}, {}
    for i, words in ipairs(commands) do
      local start = words[1] == "check" and check or place.start
      pids[i] = start("log" .. i, table.unpack(words))
    end
    for i, pid in ipairs(pids) do
      process.await_end(pid, 60)
      logs[i] = place.log("log" .. i)
    end
    return logs
  end

  it("is refused by check, run and enqueue, with the file that hangs", function()
    place.write("handlers/bad.lua", ENDLESS .. " return function() end")
    local logs = all { { "check", "-C", place.path }, { "run", "--drain", "-C", place.path },
      { "enqueue", "work", "-C", place.path } }
    for _, log in ipairs(logs) do
      assert.matches("handlers/bad.lua:1: loading " .. SAYS, log, 1, true)
    end
  end)

  it("is refused for its settings and for its finalizers", function()
    local settings = executors.place { ["moonshift.lua"] = ENDLESS .. " return {}" }
    place.write("handlers/bad.lua", ("local t = setmetatable({}, { __gc = function() %s end })"
      .. " return function() return t end"):format(ENDLESS))
    local logs = all { { "check", "-C", settings.path }, { "check", "-C", place.path } }
    settings.remove()
    assert.matches("moonshift.lua: loading " .. SAYS, logs[1], 1, true)
    assert.matches("closing took longer than PT2S and does not end", logs[2], 1, true)
  end)

  it("is refused at a reload: the executor goes on with what it has", function()
    local pid = place.executor("--workers", "2")
    place.write("handlers/bad.lua", ENDLESS .. " return function() end")
    process.kill(pid, "HUP")
    process.await("the folder is refused", 60, function()
      return place.log():find("folder refused", 1, true)
    end)
    assert.matches("file=handlers/bad.lua line=1 reason=\"loading " .. SAYS, place.log(), 1, true)
    place.enqueue("work", 3)
    process.await("the jobs are done", 10, function()
      return not place.moonshift("job", "list"):find("work", 1, true)
    end)
    os.remove(place.path .. "/handlers/bad.lua")
    place.write("handlers/good.lua", "return function() end")
    process.kill(pid, "HUP")
    place.logged("event=\"folder loaded\"")
    place.stop(pid)
  end)
end)
