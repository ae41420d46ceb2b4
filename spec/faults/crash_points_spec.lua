-- Death at every named point between create and settle, under four workloads: the program is
-- killed there once, started again, and lived to its end. What has become of the jobs is read from
-- the handlers' own log and, with its own tool, from the database. A point that no workload reaches
-- is a failure. SPEC_HITS=1 leaves out all but the first pass; 0 keeps one workload for each point.
local process = require "spec.support.process"
local sweep = require "spec.support.sweep"
local workloads = require "spec.support.workloads"

local hits = tonumber(os.getenv("SPEC_HITS") or "3")

-- Passed over HTTP alone; a spec of the face counts them.
local COUNTED = { work_committed = true, externals_committed = true }

local function named()
  local points, twice = {}, {}
  local pipe = io.popen([[grep -rhoE 'CRASH_POINT\("[a-z_]+"\)' core --include=*.c]])
  for line in pipe:lines() do
    local name = line:match('"(.-)"')
    twice[#twice + 1] = points[name] and name or nil
    points[name] = not COUNTED[name] or nil
  end
  pipe:close()
  return points, twice
end

-- First pass; one in the middle; and the first by a process that follows a death.
local function plans_of(name, result, list)
  for point, most in pairs(result.passed) do
    list[#list + 1] = ("%s %s 1 0"):format(name, point)
    if most > 1 and hits > 1 then
      list[#list + 1] = ("%s %s %d 0"):format(name, point, most // 2 + 1)
    end
    if result.recovering[point] and hits > 2 then
      list[#list + 1] = ("%s %s 1 1"):format(name, point)
    end
  end
end

-- The first pass of each point in one workload, so that each workload has about as many.
local function one_plan_each(passed_by)
  local list, points, load = {}, {}, {}
  for point in pairs(passed_by) do
    points[#points + 1] = point
  end
  table.sort(points)
  for _, point in ipairs(points) do
    local chosen
    for _, name in ipairs(passed_by[point]) do
      if not chosen or (load[name] or 0) < (load[chosen] or 0) then
        chosen = name
      end
    end
    load[chosen] = (load[chosen] or 0) + 1
    list[#list + 1] = ("%s %s 1 0"):format(chosen, point)
  end
  return list
end

-- What depends on who is faster is tried again, in each workload, after a death and without one.
local function plans_for(missing)
  local plans = {}
  for _, point in ipairs(missing) do
    for _, name in ipairs(workloads.names) do
      plans[#plans + 1] = ("%s %s 1 0"):format(name, point)
      plans[#plans + 1] = ("%s %s 1 1"):format(name, point)
    end
  end
  return plans
end

local function missing_of(points, died)
  local missing = {}
  for point in pairs(points) do
    missing[#missing + 1] = not died[point] and point or nil
  end
  return missing
end

describe("a crash point", function()
  local points, twice = named()

  it("has a name of its own", function()
    assert.same({}, twice)
    assert.is_true(next(points) ~= nil)
  end)

  it("is nothing in the program that is delivered", function()
    if os.getenv("SPEC_TESTING") == os.getenv("SPEC_PROGRAM") and os.getenv("SPEC_TESTING") then
      return pending("this build has crash points")
    end
    local _, text = process.run("strings " .. process.command())
    assert.truthy(text:find("sqlite_schema", 1, true))
    assert.is_nil(text:find("after_lock_commit", 1, true))
  end)

  it("is reached, and a death there loses nothing and leaves nothing half", function()
    local plans, died, failures = {}, {}, {}
    local function kill(list)
      for plan, output in pairs(sweep("spec/support/crash_run.lua", list)) do
        local point, came, problems = output:match("^%w+ (%S+) %d+ %d+\t(%w+)\t(%d+)\n")
        died[point or plan] = died[point or plan] or came == "died"
        failures[#failures + 1] = problems ~= "0" and plan .. "\n" .. output or nil
      end
    end
    local passed_by = {}
    for _, name in ipairs(workloads.names) do
      local result = workloads.run(name)
      assert.same({}, result.problems, result.told)
      plans_of(name, result, plans)
      for point in pairs(result.passed) do
        passed_by[point] = passed_by[point] or {}
        table.insert(passed_by[point], name)
      end
    end
    kill(hits > 0 and plans or one_plan_each(passed_by))
    for _ = 1, 3 do
      local missing = missing_of(points, died)
      if #missing > 0 then
        kill(plans_for(missing))
      end
    end
    assert.equal("", table.concat(failures, "\n"))
    assert.same({}, missing_of(points, died))
  end)
end)
