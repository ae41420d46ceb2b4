-- Hooks and notify where a worker died: nobody's Lua has seen it.
local process = require "spec.support.process"
local program = require "spec.support.program"

local ENDED = "SELECT count(*) FROM ended e JOIN stream s ON s.id=e.stream JOIN definition d"
  .. " ON d.id=s.definition WHERE d.name='%s' AND e.outcome=1"

describe("after a worker died", function()
  local place

  after_each(function()
    place.clean()
  end)

  local function lines(handler)
    local _, output = place.run("log", "--handler", handler, "--outcome", "successful", "--json")
    return output
  end

  it("hooks are told of the failure and of the end, and people of the incident", function()
    place = program.place {
      ["moonshift.lua"] = 'return { notify = { incident = "alert" }, crash_limit = 1 }',
      ["handlers/die.lua"] = 'return function() os.execute("kill -9 $PPID") end',
      ["handlers/alert.lua"] = "return function(job) return job.payload end",
      ["handlers/note.lua"] = "return function(job) return job.payload end",
      ["hooks/notes.lua"] = [[
        local function note(event)
          event:enqueue("note", { event = event.name, reason = event.reason, job = event.job.id })
        end
        return { failed = note, dead = note }
      ]],
    }
    assert.equal(0, (place.run("enqueue", "die")))
    assert.equal(137, (place.run("run", "--drain")))
    assert.equal(0, (place.run("run", "--drain")))
    local notes = lines("note")
    assert.matches('"event":"failed"', notes, 1, true)
    assert.matches('"event":"dead"', notes, 1, true)
    assert.matches('"reason":"workerDied"', notes, 1, true)
    assert.matches('"cause":"workerDied of die"', lines("alert"), 1, true)
  end)

  it("what a run's hooks enqueued is there if the run is, and only once", function()
    place = program.place {
      ["handlers/count.lua"] = "return function() end",
      ["handlers/note.lua"] = "return function() end",
      ["hooks/notes.lua"] = [[return { ended = function(event)
        if event.job.handler == "count" then event:enqueue("note", { job = event.job.id }) end
      end }]],
    }
    assert.equal(0, (place.run("enqueue", "count", "--count", "3000")))
    local function count(handler)
      return tonumber(process.sql(place.store, ENDED:format(handler))[1])
    end
    for _ = 1, 4 do
      local before = count("count")
      local pid = process.start(place.path .. "/run.log", "-C", place.path, "run", "--store",
        "sqlite:" .. place.store, "--workers", "2")
      process.await("some runs more", 5, function()
        local ended = count("count")
        return ended > before or ended == 3000
      end)
      process.kill(pid)
      process.await("its end", 5, function() return not process.alive(pid) end)
    end
    assert.equal(0, (place.run("run", "--drain")))
    assert.equal(3000, count("count"))
    assert.equal(3000, count("note"))
  end)
end)
