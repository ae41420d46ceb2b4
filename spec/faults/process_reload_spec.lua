-- Models that an executor with several workers takes at its start and at reloads, and those that it
-- refuses. Its workers have not read them.
local executors = require "spec.support.executors"
local models = require "spec.support.models"
local process = require "spec.support.process"

local BROKEN = models.process '<startEvent id="s"/><serviceTask id="x"/>'

local NOTE = [[return function(job)
  local done = assert(io.open("%s/done", "a"))
  done:write(job.activity, "\n")
  done:close()
end]]

describe("models of an executor with several workers", function()
  local place

  -- The model as of a version: its activity says which.
  local function model(version)
    return (models.line('<serviceTask id="x" c:class="a.Note" c:asyncBefore="true"/>')
      :gsub('"x"', ('"v%d"'):format(version)))
  end

  before_each(function()
    place = executors.place {
      ["processes/p.bpmn"] = model(1),
      ["processes/other.bpmn"] = models.definitions(
        '<process id="other" isExecutable="true"><startEvent id="s"/></process>'),
    }
    place.write("handlers/note.lua", NOTE:format(place.path))
  end)

  after_each(function()
    place.remove()
  end)

  local function start(count)
    for _ = 1, count do
      place.moonshift("process", "start", "p", "-C", place.path)
    end
  end

  -- How often each version has run its activity.
  local function done()
    local counts = {}
    for version in (process.read(place.path .. "/done") or ""):gmatch("v(%d)\n") do
      version = tonumber(version)
      counts[version] = (counts[version] or 0) + 1
    end
    return counts
  end

  local function await(expected)
    process.await("the instances end", 60, function()
      local found = done()
      for version, count in pairs(expected) do
        if found[version] ~= count then
          return false
        end
      end
      return true
    end)
    assert.same(expected, done())
    assert.same({ "0" }, place.sql("SELECT count(*) FROM incident"))
  end

  local function reload(pid, text, event)
    local _, before = place.log():gsub(event, "")
    place.write("processes/p.bpmn", text)
    process.kill(pid, "HUP")
    place.logged(event, before + 1)
  end

  it("are taken as they are now, and those of older versions still run", function()
    start(6)
    place.write("processes/p.bpmn", model(2))
    start(6)
    local pid = place.executor("--workers", "3")
    await { 6, 6 }
    reload(pid, model(3), 'event="folder loaded"')
    start(6)
    await { 6, 6, 6 }
    place.stop(pid)
  end)

  it("run on with the handlers of a folder that has the same models", function()
    start(2)
    local pid = place.executor("--workers", "2")
    await { 2 }
    place.write("handlers/note.lua", (NOTE:format(place.path):gsub("job.activity", '"v5"')))
    process.kill(pid, "HUP")
    place.logged('event="folder loaded"')
    start(4)
    await { 2, [5] = 4 }
    assert.same({ "1" }, place.sql("SELECT count(*) FROM process_version v JOIN process p"
      .. " ON p.current=v.id WHERE p.key='p'"))
    os.remove(place.path .. "/handlers/note.lua")
    process.kill(pid, "HUP")
    place.logged('event="folder refused"')
    assert.matches("there is no handler for its class", place.log(), 1, true)
    place.stop(pid)
  end)

  it("are refused in the words of check, at a start and at a reload", function()
    local pid = place.executor("--workers", "3")
    reload(pid, BROKEN, 'event="folder refused"')
    local _, output, errors = process.moonshift("check", "-C", place.path)
    local message = (output .. errors):match("processes/p.bpmn:%d+[:%d]*: ([^\n]+)")
    assert.truthy(message, output .. errors)
    assert.matches(message:gsub('"', '\\"'), place.log(), 1, true)
    local status, _, refused = process.moonshift("run", "--drain", "-C", place.path, "--store",
      place.url)
    assert.equal(78, status)
    assert.matches(message, refused, 1, true)
    reload(pid, model(4), 'event="folder loaded"')
    start(3)
    await { [4] = 3 }
    place.stop(pid)
  end)
end)
