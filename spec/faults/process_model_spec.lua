-- Random processes by real executors, compared with a model that counts what they do. What fails is
-- made smaller and told as a file. SPEC_PROCESSES sets how many there are, SPEC_SEED draws others.
local process = require "spec.support.process"
local process_runs = require "spec.support.process_runs"
local process_texts = require "spec.support.process_texts"
local random_process = require "spec.support.random_process"

local PROCESSES = tonumber(os.getenv("SPEC_PROCESSES") or "300")
local SEED = tonumber(os.getenv("SPEC_SEED") or "29")
local TOGETHER = 75 -- in one folder and one store
local SMALLER = 60 -- runs that look for a smaller process
local COPIES = 12 -- of the process in such a run, so that luck is rare

-- Whether the process fails alone, too.
local function fails(one, how)
  local copies = {}
  for i = 1, COPIES do
    copies[i] = { key = "p" .. i, list = one.list }
  end
  local fine, run = pcall(process_runs.run, copies, how)
  return fine and (next(run.problems) ~= nil or run.store ~= nil)
end

-- The smallest process that is found to fail, or nil: alone it does not fail.
local function smallest(found, how)
  if not fails(found, how) then
    return nil
  end
  local runs, again = 0, true
  while again and runs < SMALLER do
    again = false
    for _, one in ipairs(random_process.smaller(found)) do
      runs = runs + 1
      if fails(one, how) then
        found, again = one, true
        break
      end
    end
  end
  return found
end

local function text_of(one)
  local parts = {}
  for path, text in pairs(process_texts.of(one)) do
    parts[#parts + 1] = ("-- %s\n%s"):format(path, text)
  end
  table.sort(parts)
  return table.concat(parts, "\n")
end

-- What is told of the first process that failed.
local function told(processes, run, how)
  for _, one in ipairs(processes) do
    local problems = run.problems[one.key]
    if problems then
      local small = smallest(one, how)
      return ("%d workers, %d executors, %d kills, lane of the %s\n%s\n%s\n%s"):format(how.workers,
        how.executors, how.kills, how.scope, table.concat(problems, "\n"),
        small and "smallest:" or "not alone:", text_of(small or one))
    end
  end
  return run.store
end

local function run_all(count, kills)
  for first = 1, count, TOGETHER do -- each with other executors
    local processes = {}
    for i = 1, math.min(TOGETHER, count - first + 1) do
      processes[i] = random_process.new("p" .. i)
    end
    local how = { workers = math.random(2, 8), executors = math.random(2), kills = kills,
      scope = math.random(3) == 1 and "root" or "instance",
      suspends = math.random(3) == 1 and 20, cancels = math.random(3) == 1 and 10,
      sets = math.random(3) == 1 and 40, changes = math.random(3) == 1 and 10 }
    local run = process_runs.run(processes, how)
    assert.is_nil(told(processes, run, how))
    assert.equal(kills, run.dead)
  end
end

-- A process of one step, with something done to its records before they are read.
local function problem_of(between)
  local step = { kind = "step", id = "a", async = true }
  local run = process_runs.run({ { key = "p1", list = { step } } }, { workers = 2, executors = 1,
    kills = 0, between = between })
  return table.concat(run.problems.p1 or {}, "\n")
end

describe("the comparison of random processes", function()
  it("has nothing to say of what is right", function()
    assert.equal("", problem_of(function() end))
  end)

  it("sees a call too many", function()
    assert.truthy(problem_of(function(run)
      local file <close> = assert(io.open(run.log, "a"))
      file:write "p1 1 a 7\n"
    end):find "a called 2 times, expected 1")
  end)

  it("sees a successful job whose handler was not called", function()
    assert.truthy(problem_of(function(run)
      io.open(run.log, "w"):close()
    end):find "a called 0 times, expected 1")
  end)

  it("sees an activity that ended twice, and an instance that stands", function()
    assert.truthy(problem_of(function(run)
      process.change(run.place.store,
        [=[UPDATE trail SET events='[["s",2,"a",1],["e",2,"a",1],["e",2,"a",1]]' WHERE instance=1]=]
          .. " AND job IS NOT NULL")
    end):find "a ended 2 times, expected 1")
    assert.truthy(problem_of(function(run)
      process.change(run.place.store, "UPDATE past SET how='cancelled' WHERE id=1")
    end):find "cancelled")
  end)
end)

-- One job fails while another one ends the sub-process in which both run.
local function ended_beside()
  local failing = { kind = "step", id = "a1", async = true, beside = true, fails = 2 }
  local ends = { kind = "step", id = "a2", async = true, beside = true }
  return { { kind = "halt", id = "h1", how = "terminate", thrower = {}, lists = { { failing },
    { ends } } } }
end

describe("a job that fails while its activity is cut off", function()
  it("leaves nothing in the store", function()
    local processes = {}
    for i = 1, 40 do
      processes[i] = { key = "p" .. i, list = ended_beside() }
    end
    local run = process_runs.run(processes, { workers = 6, executors = 1, kills = 0 })
    assert.same({}, run.problems)
    assert.is_nil(run.store)
  end)
end)

describe("random processes by executors, seed " .. SEED, function()
  it("call, write and end as the model says", function()
    math.randomseed(SEED)
    run_all(PROCESSES // 2, 0)
  end)

  it("do so when executors are killed, but for calls that a kill interrupts", function()
    math.randomseed(SEED + 1)
    run_all(PROCESSES // 2, 3)
  end)
end)
