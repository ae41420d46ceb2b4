-- Random processes with everything in them, driven at random: whatever comes, every scope, row and
-- entry of the trail that begins has its end.
local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"
local nested = require "spec.lua.process.nested"
local rules = require "moonshift.rules"

local MODELS = 400
local STEPS = 150

-- All that could happen now, as functions.
local function choices(d)
  local list = {}
  for _, job in ipairs(d.jobs) do
    list[#list + 1] = (job.due or 0) <= d.time and function()
      d:run(job)
    end or nil
  end
  local function add(kind, instance, token)
    list[#list + 1] = function()
      d:command { kind = kind, instance = instance, token = token }
    end
  end
  for _, row in ipairs(d.tasks) do
    add("complete", row.instance, row.token)
  end
  for _, row in ipairs(d.subscriptions) do
    add("message", row.instance, row.token)
  end
  for id = 1, d.last do
    for _, token in ipairs(d.instances[id] and d:frame(id).tokens or {}) do
      if token[4] == "trigger" then
        add("trigger", id, token[1])
      end
    end
  end
  return list
end

-- Walks two jobs on the same frames, and writes them: the second may be behind.
local function race(d, jobs)
  local units = {}
  for i = 1, 2 do
    local cause = d:take(jobs[i])
    units[i] = { cause = cause, unit = d:walk(cause) }
  end
  for _, one in ipairs(units) do
    while not d:write(one.unit, one.cause) do
      one.cause.kept = rules.decode(rules.encode(one.unit.kept))
      one.unit = d:walk(one.cause)
    end
  end
end

local function ready_jobs(d)
  local list = {}
  for _, job in ipairs(d.jobs) do
    list[#list + 1] = (job.due or 0) <= d.time and job or nil
  end
  return list
end

-- Lets time pass to the next date; false: nothing is due any more.
local function wait(d)
  local soon
  for _, job in ipairs(d.jobs) do
    soon = math.min(job.due, soon or job.due)
  end
  d.time = soon or d.time
  return soon ~= nil
end

local function step(d, r)
  local jobs, list = ready_jobs(d), choices(d)
  if #jobs >= 2 and r:upto(3) == 1 then
    race(d, jobs)
    return true
  elseif list[1] then
    list[r:upto(#list)]()
    return true
  end
  return wait(d)
end

-- Each activity of the trail that began has ended or was cancelled, once.
local function check_trail(d)
  local open = {}
  for _, unit in ipairs(d.trail) do
    for _, event in ipairs(unit.events) do
      local key = ("%d/%s/%s"):format(unit.instance, event[2], event[3])
      local begins, ends = event[1] == "s", event[1] == "e" or event[1] == "c"
      assert(not begins or not open[key], "began twice: " .. key)
      assert(not ends or open[key], "ended, but never began: " .. key)
      if begins or ends then
        open[key] = begins or nil
      end
    end
  end
  assert.is_nil(next(open))
end

-- Runs one process; what has not ended by then is cancelled.
local function run(seed)
  local r = graphs.random(seed)
  local d = driver.new { nested.draw(r) }
  local id = d:start("p")
  for _ = 1, STEPS do
    if not d.instances[id] or not step(d, r) then
      break
    end
  end
  if d.instances[id] then
    d:command { kind = "cancel", instance = id }
  end
  assert.is_nil(next(d.instances))
  assert.same({ {}, {}, {} }, { d.jobs, d.tasks, d.subscriptions })
  check_trail(d)
end

describe("scopes", function()
  it("end with all that is in them, whatever comes", function()
    for seed = 1, MODELS do
      local ok, message = pcall(run, seed * 7919)
      assert(ok, ("process %d: %s"):format(seed * 7919, tostring(message)))
    end
  end)
end)

describe("what is cancelled", function()
  it("takes the jobs of turns that are only a range, also by an event sub-process", function()
    local d = driver.new { graphs.make("p", { a = { kind = "task", before = true,
      multi = { parallel = true, count = 3 } }, es = "event_subprocess",
      s2 = { kind = "start", scope = "es", event = { kind = "message", name = "stop" } },
      u = { kind = "user", scope = "es" }, e2 = { kind = "end", scope = "es" } },
      { "s -> a -> e", "s2 -> u -> e2" }) }
    local id = d:start("p")
    assert.equal(3, #d.jobs)
    d:message("s2")
    assert.equal("u", d:at(id))
    assert.same({}, d.jobs)
  end)

  it("maps its outputs", function()
    local d = driver.new { graphs.make("p", { u = { kind = "user",
      output = { { name = "done", value = "${1 + 1}" } } }, b = { kind = "boundary",
      attached = "u", event = { kind = "message", name = "stop" } }, v = "user" },
      { "s -> u -> e", "b -> v -> e2" }) }
    local id = d:start("p")
    d:message("b")
    assert.equal(2, d:variables(id).done)
  end)
end)
