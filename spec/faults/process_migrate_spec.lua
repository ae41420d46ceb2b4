-- Instances migrate while their jobs run on two executors with a backlog beside, one of which is
-- killed. SPEC_INSTANCES sets their number.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local stores = require "spec.support.stores"

local TESTING = os.getenv("SPEC_TESTING") or "build/testing/moonshift"
local INSTANCES = tonumber(os.getenv("SPEC_INSTANCES") or "60")
local BACKLOG = 300

local FIRST = [[
local process = require "moonshift.process"
local step, task, parallel = process.step, process.task, process.parallel
return {
  step "one" { run = "tell", async = true },
  parallel { { step "left" { run = "tell", async = true, exclusive = false } },
    { step "right" { run = "tell", async = true, exclusive = false } } },
  step "two" { run = "tell", async = true },
  task "look" {},
}
]]
local SECOND = FIRST:gsub('  task "look"', '  step "three" { run = "tell", async = true },\n%0')

-- A line for each call.
local TELL = [[
return function(job)
  local file = assert(io.open("%s", "a"))
  file:setvbuf("full")
  file:write(("%%s %%s %%d\n"):format(job.instance, job.activity,
    io.open("/proc/self/stat"):read("n")))
  file:close()
end
]]

local PLAN = { process = "walk", from = 1, to = 2, equal = true, activities = {
  { from = "one", to = "one" }, { from = "left", to = "left" }, { from = "right", to = "right" },
  { from = "two", to = "two" } } }

describe(INSTANCES .. " instances that migrate while they run", function()
  local place, engine, log

  before_each(function()
    place = executors.place { ["processes/walk.lua"] = FIRST, ["moonshift.lua"] =
      "return { crash_limit = 1000, failed_job_wait = 'PT0S', patience = 'PT1M' }\n" }
    log = place.path .. "/runs"
    place.write("handlers/tell.lua", TELL:format(log))
    place.write("handlers/plain.lua", "return function() end")
    engine = assert(moonshift.open { store = place.url, scripts = place.path })
  end)

  after_each(function()
    engine:close()
    place.remove()
  end)

  -- What a running job refuses is asked again, for a minute at most.
  local function migrate(id)
    local done, message, code
    process.await("the migration of " .. id, 60, function()
      done, message, code = engine:migrate_instance(id, PLAN)
      return done or code ~= "conflict"
    end)
    assert(done, message)
  end

  -- The calls that were made again, though no process was killed that had made them.
  local function again_without(killed)
    local seen, again = {}, {}
    for call, pid in process.read(log):gmatch("(%d+ %w+) (%d+)\n") do
      if seen[call] and seen[call] ~= killed then
        again[#again + 1] = call
      end
      seen[call] = tonumber(pid)
    end
    return again
  end

  local function tasks()
    return engine:tasks({ activity = "look" }):count()
  end

  it("come to the end on the new version, and call nothing twice but for the kill", function()
    local ids = {}
    for i = 1, INSTANCES do
      ids[i] = assert(engine:start "walk")
    end
    place.enqueue("plain", BACKLOG)
    local killed, other = place.executor("--workers", "4"), place.executor("--workers", "4")
    process.await("a first one", 60, function()
      return tasks() > 0
    end)
    place.write("processes/walk.lua", SECOND)
    assert(engine:reload())
    for i, id in ipairs(ids) do
      if i == INSTANCES // 3 then
        process.kill(killed, "KILL")
        process.await_end(killed, 30)
        place.executor("--workers", "4")
        place.stop(other)
        place.executor("--workers", "4")
      end
      migrate(id)
    end
    process.await("all at the task", 60, function()
      return tasks() == INSTANCES
    end)
    assert.equal(INSTANCES, engine:instances({ process = "walk", version = 2 }):count())
    assert.same({}, again_without(killed))
    local status, output, errors = process.moonshift("check", "--store", place.url)
    assert.equal(0, status, output .. errors)
  end)
end)

local BEFORE = [[
local process = require "moonshift.process"
return { process.parallel { { process.wait "w" { signal = "S" } },
  { process.step "j" { run = "plain", async = true } } }, process.task "look" {} }
]]
local BEHIND = [[
local process = require "moonshift.process"
return { process.parallel { { process.sub "s" { process.wait "w" { signal = "S" } } },
  { process.sub "s2" { process.step "j" { run = "plain", async = true } } } },
  process.task "look" {} }
]]

describe("a migration whose program dies", function()
  local place, engine, id

  before_each(function()
    place = executors.place { ["processes/walk.lua"] = BEFORE,
      ["handlers/plain.lua"] = "return function() end" }
    engine = assert(moonshift.open { store = place.url, scripts = place.path })
    id = assert(engine:start "walk")
    place.write("processes/walk.lua", BEHIND)
    assert(engine:reload())
  end)

  after_each(function()
    engine:close()
    place.remove()
  end)

  local function dies_at(point)
    local status = process.run(("env CRASH_AT=%s:1 %s instance migrate %d --to 2 --equal w=w j=j"
      .. " --store '%s' -C %s"):format(point, TESTING, id, stores.url(place.url), place.path))
    assert.equal(137, status)
    place.moonshift("check", "--store", "-C", place.path)
    assert.equal(1, engine:instance(id).version)
  end

  -- The lane of the dead program is free a little later.
  local function migrate()
    local done, message, code
    process.await("the migration", 60, function()
      done, message, code = engine:migrate_instance(id, { to = 2, equal = true, activities = {
        { from = "w", to = "w" }, { from = "j", to = "j" } } })
      return done or code ~= "conflict"
    end)
    assert(done, message)
  end

  for _, point in ipairs { "unit_guarded", "unit_left", "unit_framed", "unit_written" } do
    it("at " .. point .. " has moved nothing, and may be done again", function()
      dies_at(point)
      migrate()
      place.moonshift("run", "-C", place.path, "--drain")
      assert.equal(1, engine:signal "S")
      assert.same({ "look" }, engine:at(id))
      place.moonshift("check", "--store", "-C", place.path)
    end)
  end
end)
