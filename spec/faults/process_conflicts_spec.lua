-- Parallel turns that add to one variable, run by executors with several workers: each handler is
-- called twice at most, and nothing that it did is lost.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local INSTANCES, TURNS = 5, 20

-- Notes its call before it reads the variable.
local HANDLER = [[
return function(job)
  local file <close> = assert(io.open(%q, "a"))
  file:write((job.id or "command") .. "\n")
  local sum = (job.variables.total or 0) + 1
  %s
end
]]

-- What is wanted of a process: its text, and how many jobs call the handler.
local processes = {
  turns = { TURNS, [[
local p = require "moonshift.process"
return { p.step "add" { run = "add", async = true, exclusive = false,
  each = { times = 20, parallel = true } } }
]] },
  result = { TURNS, [[
local p = require "moonshift.process"
return { p.step "add" { run = "sum", async = true, exclusive = false, result = "total",
  each = { times = 20, parallel = true } } }
]] },
  beside_a_lane = { TURNS + 5, [[
local p = require "moonshift.process"
return { p.parallel {
  { p.step "add" { run = "add", async = true, exclusive = false,
    each = { times = 20, parallel = true } } },
  { p.step "one" { run = "add", async = true, each = { times = 5, parallel = true } } },
} }
]] },
}

describe("turns that read and write one variable", function()
  local place, called

  before_each(function()
    place = executors.place {}
    called = place.path .. "/called"
    place.write("handlers/add.lua", HANDLER:format(called, "job.variables.total = sum"))
    place.write("handlers/sum.lua", HANDLER:format(called, "return sum"))
    for name, one in pairs(processes) do
      place.write("processes/" .. name .. ".lua", one[2])
    end
  end)

  after_each(function()
    place.remove()
  end)

  -- How many jobs there were, and the most calls that one of them had.
  local function calls()
    local counts, jobs, most = {}, 0, 0
    for id in process.read(called):gmatch("[^\n]+") do
      jobs = counts[id] and jobs or jobs + 1
      counts[id] = (counts[id] or 0) + 1
      most = math.max(most, counts[id])
    end
    return jobs, most
  end

  local function start(name)
    for _ = 1, INSTANCES do
      place.moonshift("process", "start", name, "-C", place.path)
    end
  end

  local function prove(name)
    local jobs, most = calls()
    local wanted = processes[name][1]
    assert.equal(INSTANCES * wanted, jobs)
    assert.is_true(most <= 2, ("a job had %d calls"):format(most))
    local ended = place.moonshift("instance", "list", "--ended", "--json")
    local _, right = ended:gsub(('"total":%d'):format(wanted), "")
    assert.equal(INSTANCES, right, ended)
    assert.matches("nothing is wrong", place.moonshift("check", "--store"), 1, true)
  end

  for name in pairs(processes) do
    it("call their handler twice at most: " .. name, function()
      start(name)
      place.moonshift("run", "-C", place.path, "--drain", "--workers", "8")
      prove(name)
    end)

    it("do so with two executors: " .. name, function()
      start(name)
      local first = place.start("log1", "run", "-C", place.path, "--drain", "--workers", "4")
      local second = place.start("log2", "run", "-C", place.path, "--drain", "--workers", "4")
      process.await_end(first, 60)
      process.await_end(second, 60)
      place.moonshift("run", "-C", place.path, "--drain")
      prove(name)
    end)
  end

  -- Their units are behind each other, and are walked again without a call.
  it("have what their handlers have printed in the log", function()
    place.write("handlers/say.lua", 'return function() print "said" end\n')
    place.write("processes/talk.lua", [[
local p = require "moonshift.process"
return { p.step "talk" { run = "say", async = true, exclusive = false,
  each = { times = 20, parallel = true } } }
]])
    start "talk"
    place.moonshift("run", "-C", place.path, "--drain", "--workers", "4")
    local log = place.moonshift("log", "--json", "--limit", "1000")
    assert.equal(INSTANCES * TURNS, select(2, log:gsub('"said"', "")))
  end)

  -- A handler that reads and writes a variable. In each call it waits for a dozen jobs that set the
  -- variable: some of them are written, if they may be.
  local function against_marks(text)
    local begun = place.path .. "/begun"
    place.write("handlers/slowly.lua", HANDLER:format(called, ([[
  assert(io.open(%q, "w")):close()
  os.execute("n=$(($(wc -l <%s)+12)); for i in $(seq 100); do"
    .. " [ $(wc -l <%s) -lt $n ] || break; sleep 0.02; done")
  job.variables.total = sum]]):format(begun, called, called)))
    place.write("handlers/mark.lua", ([[
return function(job)
  os.execute("while sleep 0.02; [ ! -e %s ]; do :; done")
  local file <close> = assert(io.open(%q, "a"))
  file:write(job.id .. "\n")
  job.variables.total = job.id
end
]]):format(begun, called))
    place.write("processes/beside.lua", text)
    place.moonshift("process", "start", "beside", "-C", place.path)
    return place.executor("--workers", "4")
  end

  local function twice_at_most(executor, wanted)
    process.await("the end of the instance", 60, function()
      return place.moonshift("instance", "list", "--json") == "[]\n"
    end)
    place.stop(executor)
    local jobs, most = calls()
    assert.equal(wanted, jobs)
    assert.is_true(most <= 2, ("a handler had %d calls"):format(most))
    assert.same({}, place.sql "SELECT id FROM lane")
    assert.matches("nothing is wrong", place.moonshift("check", "--store"), 1, true)
  end

  it("call the handler of a command beside them twice at most", function()
    local executor = against_marks [[
local p = require "moonshift.process"
return { p.parallel {
  { p.task "begin" {}, p.step "slowly" { run = "slowly" } },
  { p.step "mark" { run = "mark", async = true, exclusive = false,
    each = { times = 100, parallel = true } } },
} }
]]
    local task = place.moonshift("task", "list", "--json"):match('"id":(%d+)')
    place.moonshift("task", "complete", task, "--now", "-C", place.path)
    twice_at_most(executor, 100 + 1)
  end)

  -- Each is alone in its lane, and its end moves the instance that has called it.
  it("call a handler twice at most beside instances that end into its own", function()
    place.write("processes/kid.lua", [[
local p = require "moonshift.process"
return { p.step "mark" { run = "mark", async = true } }
]])
    twice_at_most(against_marks [[
local p = require "moonshift.process"
return { p.parallel {
  { p.step "slowly" { run = "slowly", async = true, exclusive = false } },
  { p.call "kid" { back = { "total" }, each = { times = 100, parallel = true } } },
} }
]], 100 + 1)
  end)

  -- Its handler changes the instance by another program, so that the run is behind.
  it("are walked again where a job that is run by hand is behind", function()
    place.write("handlers/moves.lua", ([[
return function(job)
  local file <close> = assert(io.open(%q, "a"))
  file:write(job.id .. "\n")
  assert(os.execute((%q):format(job.instance)))
end
]]):format(called, process.command("instance", "set", "%d", "x=1", "--now", "-C", place.path,
      "--store", place.url) .. " >" .. place.path .. "/set"))
    place.write("processes/moves.lua", [[
local p = require "moonshift.process"
return { p.step "moves" { run = "moves", async = true, exclusive = false } }
]])
    place.moonshift("process", "start", "moves", "-C", place.path)
    local id = place.moonshift("job", "list", "--json"):match('"id":(%d+)')
    place.moonshift("job", "execute", id, "-C", place.path)
    assert.same({ 1, 1 }, { calls() })
    assert.equal("[]\n", place.moonshift("instance", "list", "--json"))
    assert.equal("[]\n", place.moonshift("job", "list", "--json"))
  end)

  it("say in the log why a handler was called again", function()
    start("turns")
    place.moonshift("run", "-C", place.path, "--drain", "--workers", "8")
    local _, calls_made = process.read(called):gsub("\n", "")
    local _, told = place.moonshift("log", "--limit", "1000", "--json")
      :gsub("add is called again: another one has changed the variable total", "")
    assert.equal(calls_made - INSTANCES * TURNS, told)
  end)

  it("go on where an executor dies that has a lane", function()
    start("turns")
    local dies = place.executor("--workers", "4")
    process.await("a call", 10, function()
      return #process.read(called) > 0
    end)
    process.kill(dies, "KILL")
    process.await_end(dies, 10)
    place.moonshift("run", "-C", place.path, "--drain", "--workers", "4")
    local ended = place.moonshift("instance", "list", "--ended", "--json")
    local _, right = ended:gsub('"total":20', "")
    assert.equal(INSTANCES, right, ended)
  end)

  it("are given back where the program is told to stop", function()
    start("turns")
    local stops = place.executor("--workers", "4")
    process.await("a call", 10, function()
      return #process.read(called) > 0
    end)
    place.stop(stops)
    assert.equal("", place.log():match("event=fatal[^\n]*") or "")
    place.moonshift("run", "-C", place.path, "--drain", "--workers", "4")
    local ended = place.moonshift("instance", "list", "--ended", "--json")
    local _, right = ended:gsub('"total":20', "")
    assert.equal(INSTANCES, right, ended)
  end)
end)
