-- The store at a glance in a real terminal, beside an executor.
local json = require("moonshift").json
local process = require "spec.support.process"
local program = require "spec.support.program"

local MEND = [[
return { retry = "R1/PT0S", run = function(job)
  local file = io.open(job.payload.file)
  if not file then error("no file of " .. job.id) end
  file:close()
end }]]

describe("top", function()
  local place

  -- Takes these steps with the program on a terminal (spec/support/screen.py): what it answers.
  local function watch(steps, rows, columns)
    local lines = {}
    for i, step in ipairs(steps) do
      lines[i] = json.encode(step)
    end
    place.write("steps", table.concat(lines, "\n") .. "\n")
    local inner = process.quote("cd " .. place.path .. " && exec " .. place.line("top"))
    local line = ("python3 spec/support/screen.py %d %d sh -c %s <%s"):format(rows or 24,
      columns or 90, inner, process.quote(place.path .. "/steps"))
    local _, output, errors = process.run(line)
    assert.equal("", errors)
    local answers = {}
    for answer in output:gmatch("[^\n]+") do
      answers[#answers + 1] = answer
    end
    return answers
  end

  -- Dead jobs of two handlers, and one that waits.
  setup(function()
    place = program.place {
      ["handlers/mend.lua"] = MEND,
      ["handlers/later.lua"] = "return function() end",
      ["handlers/bad.lua"] = "return { retry = 'R1/PT0S', run = function() error('broken') end }",
    }
    place.run("enqueue", "mend", '{"file":"' .. place.path .. '/mended"}')
    place.run("enqueue", "bad")
    place.run("run", "--drain", "--log-level", "error")
    place.run("enqueue", "later")
  end)

  teardown(function()
    place.clean()
  end)

  it("draws what waits, what fails and why, and leaves with q", function()
    assert.same({ "shown", "shown", "shown", "shown", "shown", "0", "restored" }, watch {
      { "shows", "open incidents 2" },
      { "shows", "executors 0" },
      { "shows", "ready 1  scheduled 0  locked 0" },
      { "type", "w" }, { "shows", "has no retries left (incident 2" },
      { "shows", "no file of 1" },
      { "type", "q" }, { "end" }, { "restored" },
    })
  end)

  it("filters by a part of a name or a message, as it is typed", function()
    assert.same({ "shown", "shown", "hidden", "hidden", "shown", "shown", "shown", "0" }, watch {
      { "shows", "later" },
      { "type", "/no fi" }, { "shows", "filter: no fi" },
      { "hides", "broken" },
      { "hides", "later" },
      { "shows", "no file of 1" },
      { "type", "\127\127\127\127\127ber" }, { "type", "\27" }, { "shows", "broken" },
      { "type", "/mend\r" }, { "shows", "q quit" },
      { "type", "q" }, { "end" },
    })
  end)

  it("retries the job of the chosen incident beside an executor", function()
    local log = place.path .. "/log"
    local pid = process.start(log, "run", place.path, "--store", "sqlite:" .. place.store)
    place.write("mended", "")
    local answers = watch {
      { "shows", "executors 1" },
      { "shows", ">         2" },
      { "type", "\27[B" }, { "shows", ">         1" },
      { "type", "r" }, { "shows", " retried" },
      { "shows", "open incidents 1" },
      { "hides", "no file of 1" },
      { "shows", "dead 1" },
      { "type", "q" }, { "end" }, { "restored" },
    }
    process.kill(pid)
    assert.same({ "shown", "shown", "shown", "shown", "shown", "hidden", "shown", "0", "restored" },
      answers)
  end)

  it("gives the terminal back whatever ends it", function()
    for _, name in ipairs { "TERM", "INT", "HUP", "QUIT", "SEGV" } do
      assert.same({ "shown", "SIG" .. name, "restored" }, watch {
        { "shows", "open incidents" }, { "signal", name }, { "end" }, { "restored" },
      })
    end
  end)

  it("gives it back while it is stopped, and takes it again", function()
    assert.same({ "shown", "stopped", "restored", "shown", "0", "restored" }, watch {
      { "shows", "open incidents" },
      { "signal", "TSTP" }, { "stopped" }, { "restored" },
      { "signal", "CONT" }, { "type", "/xyz" }, { "shows", "filter: xyz" },
      { "type", "\27" }, { "type", "q" }, { "end" }, { "restored" },
    })
  end)

  it("fits the terminal, whatever size that gets", function()
    local answers = watch {
      { "shows", "open incidents" }, { "widest" },
      { "size", 10, 40 }, { "shows", "executors" }, { "shows", "q quit" }, { "widest" },
      { "type", "q" }, { "end" },
    }
    assert.truthy(tonumber(answers[2]) <= 90, answers[2])
    assert.truthy(tonumber(answers[5]) <= 40, answers[5])
  end)

  it("prints one screen where there is no terminal, or with --once", function()
    for _, words in ipairs { { "top" }, { "top", "--once" } } do
      local status, output, errors = place.run(table.unpack(words))
      assert.equal(0, status)
      assert.matches("^executors 0  open incidents 1  ", output)
      assert.matches("\nbad +", output)
      assert.is_nil(output:find("\27", 1, true))
      assert.matches("^moonshift: no executor runs on ", errors)
    end
  end)

  it("prints one document with --json", function()
    local status, output = place.run("top", "--json")
    local document = json.decode(output)
    assert.equal(0, status)
    assert.equal(1, document.stats.open_incidents)
    assert.equal("bad", document.incidents[1].handler)
    local seen = {}
    for _, definition in ipairs(document.stats.definitions) do
      seen[definition.name] = definition
    end
    assert.truthy(seen.bad.delay >= 0 and seen.bad.run >= 0)
  end)

  it("says what is wrong with the store, on a terminal that it has not taken #file", function()
    assert.same({ "shown", "4", "restored" }, (function()
      local kept = place.line
      place.line = function(verb)
        return kept(verb, "--store", "sqlite:/no/such/store.db")
      end
      local answers = watch { { "shows", "moonshift: " }, { "end" }, { "restored" } }
      place.line = kept
      return answers
    end)())
  end)
end)
