-- Instances that stand in one place alone migrate while the unit of that place runs. It is written
-- from a form, without a walk, as its handler asks the job for nothing. Each step is called once,
-- by the version that its instance was on as the step began.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local INSTANCES, STEPS, BACKLOG, WORKERS = 60, 12, 200, 8

-- A chain of jobs with a handler each, "s1_old", and a task.
local function chain(version, more)
  local list = { 'local process = require "moonshift.process"\nlocal step = process.step',
    "return {" }
  for i = 1, STEPS do
    list[#list + 1] = ('step "s%d" { run = "s%d_%s", async = true },'):format(i, i, version)
  end
  list[#list + 1] = more .. 'process.task "look" {} }'
  return table.concat(list, "\n")
end

local MORE = 'step "more" { run = "more", async = true },\n'

local FILES = {
  ["processes/chain.lua"] = chain("old", ""),
  ["moonshift.lua"] = "return { failed_job_wait = 'PT0S', patience = 'PT1M' }\n",
  ["handlers/plain.lua"] = "return function() end",
}

-- Writes a word into a file in one write. It stays as long as the file "hold" is there.
local TELL = [[
local function there(path)
  local file = io.open(path)
  return file and file:close()
end
return function()
  local runs = os.getenv("RUNS")
  local file = assert(io.open(runs, "a"))
  file:setvbuf("full")
  file:write("%s\n")
  file:close()
  while there(runs .. "-hold") do
    os.execute("sleep 0.01")
  end
end]]

for i = 1, STEPS do
  for _, version in ipairs { "old", "new" } do
    local name = ("s%d_%s"):format(i, version)
    FILES["handlers/" .. name .. ".lua"] = TELL:format(name)
  end
end
FILES["handlers/more.lua"] = TELL:format "more"

local PLAN = { process = "chain", from = 1, to = 2, activities = {}, equal = true }
local PAIRS = { "--to", "2", "--equal" } -- the same, as words
for i = 1, STEPS do
  PLAN.activities[i] = { from = "s" .. i, to = "s" .. i }
  table.insert(PAIRS, ("s%d=s%d"):format(i, i))
end

describe("an instance whose straight unit runs as it migrates", function()
  local place, engine, ids

  before_each(function()
    place = executors.place(FILES)
    process.environment = "RUNS=" .. process.quote(place.path .. "/runs")
    place.write("runs-hold", "")
    engine = assert(moonshift.open { store = place.url, scripts = place.path,
      patience = "PT0.05S" })
    local list = {}
    for i = 1, INSTANCES do
      list[i] = { "chain" }
    end
    ids = assert(engine:start(list))
    place.enqueue("plain", BACKLOG)
  end)

  after_each(function()
    engine:close()
    place.remove()
    process.environment = ""
  end)

  local function rewrite()
    place.write("processes/chain.lua", chain("new", MORE))
    assert(engine:reload())
  end

  -- How often each handler was called, and all of them.
  local function calls()
    local found, all = {}, 0
    for name in place.log("runs"):gmatch("%S+") do
      found[name], all = (found[name] or 0) + 1, all + 1
    end
    return found, all
  end

  -- True: it has moved. What runs there refuses it.
  local function migrate(id)
    local done, message, code = engine:migrate_instance(id, PLAN)
    assert(done or code == "conflict", message)
    return done
  end

  -- Programs that wait for the lanes of these instances, one each.
  local function await_lanes(some)
    local pids = {}
    for i, id in ipairs(some) do
      pids[i] = place.command("migrate" .. i, "instance", "migrate", id, table.unpack(PAIRS))
    end
    return pids
  end

  -- The steps that the trail of an instance has ended, as the handlers of their versions.
  local function add_trail(id, wanted)
    local version = "old"
    for _, row in ipairs(engine:trail({ instance = id }):list()) do
      for _, event in ipairs(row.events) do
        local kind, name = event[1], event[3]
        version = kind == "m" and "new" or version
        if kind == "e" and name ~= "start" then
          name = name == "more" and name or name .. "_" .. version
          wanted[name] = (wanted[name] or 0) + 1
        end
      end
    end
    assert.equal("new", version)
  end

  local function all_look()
    process.await("all at the task", 60, function()
      return engine:tasks({ activity = "look" }):count() == INSTANCES
        and engine:jobs({}):count() == 0
    end)
    local status, output, errors = process.moonshift("check", "--store", place.url)
    assert.equal(0, status, output .. errors)
    assert.equal(BACKLOG, engine:log({ handler = "plain", outcome = "successful" }):count())
  end

  it("is refused while that runs, and moves in front of its next step", function()
    for _ = 1, 2 do
      place.executor("--workers", tostring(WORKERS // 2))
    end
    process.await("a call of each worker", 60, function()
      return select(2, calls()) == WORKERS
    end)
    rewrite()
    local refused = {}
    for i = INSTANCES, 1, -1 do
      refused[#refused + 1] = not migrate(ids[i]) and ids[i] or nil
    end
    assert(#refused >= WORKERS, "one has moved while it ran")
    local programs = await_lanes(refused)
    os.remove(place.path .. "/runs-hold")
    for _, pid in ipairs(programs) do
      process.await_end(pid, 60)
    end
    assert.equal(0, engine:instances({ version = 1 }):count(), place.log "migrate1")
    all_look()
    local wanted = {}
    for _, id in ipairs(ids) do
      add_trail(id, wanted)
    end
    assert.same(wanted, (calls()))
    for i = 1, STEPS do
      assert.equal(INSTANCES, (wanted["s" .. i .. "_old"] or 0) + (wanted["s" .. i .. "_new"] or 0))
    end
  end)
end)
