-- An executor that takes another folder while its workers run jobs.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

-- Each run creates the next job, until the file `stop` is there, and leaves a mark.
local TICK = [[return function(job)
  local marks = assert(io.open("%s/ticks", "a"))
  marks:write("%s\n")
  marks:close()
  if not io.open("%s/stop") then
    job:enqueue("tick")
  end
end]]

-- Notes each evaluation. From the second one on it ends once another tick has run.
local SLOW = [[local function size(name)
  local file = io.open(name)
  return file and file:seek("end") or 0
end
local place = "%s/"
local marks = assert(io.open(place .. "loads", "a"))
marks:write("x")
marks:close()
local before = size(place .. "ticks")
while size(place .. "loads") > 1 and size(place .. "ticks") == before do end
return function() end]]

describe("an executor that takes another folder", function()
  local place

  before_each(function()
    place = executors.place {}
  end)

  after_each(function()
    place.remove()
  end)

  local function tick(mark)
    place.write("handlers/tick.lua", TICK:format(place.path, mark, place.path))
  end

  -- What the ticks so far have left, one letter each.
  local function ticks()
    return (process.read(place.path .. "/ticks") or ""):gsub("\n", "")
  end

  local function ticked(mark)
    process.await("a tick of " .. mark, 60, function()
      return ticks():find(mark, 1, true)
    end)
  end

  local function reload(pid, event)
    local _, before = place.log():gsub(event, "")
    process.kill(pid, "HUP")
    process.await(event, 60, function()
      return select(2, place.log():gsub(event, "")) > before
    end)
  end

  local LOADED, REFUSED = 'event="folder loaded"', 'event="folder refused"'

  -- Starts an executor with jobs of the first folder.
  local function begin(workers)
    tick("a")
    place.enqueue("tick", 1)
    local pid = place.executor("--workers", workers)
    ticked("a")
    return pid
  end

  it("has its only worker run jobs of the old one until the new one is loaded", function()
    local pid = begin("1")
    tick("b")
    place.write("handlers/slow.lua", SLOW:format(place.path))
    reload(pid, LOADED)
    ticked("b")
    assert.equal("xx", process.read(place.path .. "/loads"))
    assert.is_nil(place.log():find("cannot load", 1, true), place.log())
    assert.truthy(ticks():find("^a+b+$"), ticks())
    place.write("stop", "")
    place.stop(pid)
  end)

  it("keeps the old one if the new one is broken, and takes the next", function()
    local pid = begin("2")
    place.write("handlers/tick.lua", "return 1")
    reload(pid, REFUSED)
    local size = #ticks()
    process.await("another tick", 60, function()
      return #ticks() > size
    end)
    tick("c")
    reload(pid, LOADED)
    ticked("c")
    assert.truthy(ticks():find("^a+c+$"), ticks())
    place.write("stop", "")
    place.stop(pid)
  end)

  it("runs jobs of a handler that the new one lacks on the old one", function()
    place.write("handlers/gone.lua", ([[return function()
  local marks = assert(io.open("%s/gone", "a"))
  marks:write("x")
  marks:close()
end]]):format(place.path))
    local pid = begin("2")
    place.enqueue("gone", 1)
    os.remove(place.path .. "/handlers/gone.lua")
    tick("d")
    reload(pid, LOADED)
    place.moonshift("enqueue", "gone", "-C", place.path, "--unchecked")
    ticked("d")
    process.await("both jobs of the lost handler", 60, function()
      return process.read(place.path .. "/gone") == "xx"
    end)
    place.write("stop", "")
    place.stop(pid)
  end)

  -- One handler stays as it is, with its limits. The other changes with each folder.
  it("runs each job of a backlog once, by two executors that load others", function()
    local function work(declared)
      return ([[return { %s run = function(job)
  local marks <close> = assert(io.open("%s/runs", "a"))
  marks:write(job.id .. "\n")
end }]]):format(declared, place.path)
    end
    place.write("handlers/kept.lua", work "limit = 2, backlog = 500,")
    place.write("handlers/other.lua", work "")
    local ids = place.enqueue("kept", 300)
    table.move(place.enqueue("other", 300), 1, 300, 301, ids)
    local first, second = place.executor("--workers", "4"), place.executor("--workers", "3")
    for i = 1, 4 do
      place.write("handlers/other.lua", work(("priority = %d,"):format(i)))
      place.enqueue("kept", 5)
      reload(i % 2 == 0 and first or second, LOADED)
    end
    process.await("all runs", 60, function()
      return select(2, (process.read(place.path .. "/runs") or ""):gsub("\n", "")) >= 620
    end)
    place.stop(first)
    place.stop(second)
    local runs, all = {}, 0
    for id in process.read(place.path .. "/runs"):gmatch "%d+" do
      runs[id], all = (runs[id] or 0) + 1, all + 1
    end
    assert.equal(620, all)
    for _, id in ipairs(ids) do
      assert.equal(1, runs[id], id)
    end
    assert.matches("nothing is wrong", place.moonshift("check", "--store"), 1, true)
  end)

  it("has fresh states recycled by the settings that it runs with", function()
    place.write("moonshift.lua", "return { recycle_after = 2 }")
    local pid = begin("2")
    tick("e")
    reload(pid, LOADED)
    process.await("ten ticks", 60, function()
      return select(2, ticks():gsub("e", "")) > 10
    end)
    place.write("stop", "")
    place.stop(pid)
  end)

  it("ends at once while it loads a state ahead", function()
    local pid = begin("1")
    place.write("handlers/slow.lua", SLOW:format(place.path):gsub("ticks", "never"))
    process.kill(pid, "HUP")
    process.await("the second evaluation", 60, function()
      return process.read(place.path .. "/loads") == "xx"
    end)
    place.stop(pid)
    assert.truthy(place.log():find("event=stopped", 1, true), place.log())
    assert.is_nil(place.log():find(LOADED, 1, true), place.log())
  end)
end)
