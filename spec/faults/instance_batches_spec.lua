-- Batches on instances whose jobs run at the same time, on executors with several workers beside
-- plain jobs, and under kill -9: each instance gets its command once, or its job says why not.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local INSTANCES = tonumber(os.getenv("SPEC_BATCH") or "150")

-- A chain of jobs beside a task that a batch moves.
local CHAIN = [[
    local process = require "moonshift.process"
    local step, task, choose, parallel = process.words()
    local chain = {}
    for i = 1, %d do
      chain[i] = step("s" .. i) { run = "count", async = true }
    end
    return { search = { "x" }, parallel { chain, { task "%s" {}, task "behind" {} } } }]]

local FILES = {
  ["moonshift.lua"] = "return { failed_job_wait = 'PT0S', batch_poll_time = 'PT1S' }",
  ["handlers/count.lua"] = [[
    return function(job)
      local file <close> = assert(io.open(os.getenv "CALLED" or "/dev/null", "a"))
      file:write(job.instance .. " " .. job.activity .. "\n")
      job.variables.runs = (job.variables.runs or 0) + 1
    end]],
  ["handlers/plain.lua"] = "return function() end",
  ["processes/busy.lua"] = CHAIN:format(8, "wait"),
}

describe("a batch on instances that run", function()
  local place, engine, ids

  before_each(function()
    place = executors.place(FILES)
    engine = assert(moonshift.open { store = place.url, scripts = place.path })
    ids = {}
    while #ids < INSTANCES do
      local starts = {}
      for i = 1, math.min(INSTANCES - #ids, 1000) do
        starts[i] = { "busy", { key = "k" .. #ids + i } }
      end
      table.move(assert(engine:start(starts)), 1, #starts, #ids + 1, ids)
    end
    place.enqueue("plain", 300)
  end)

  after_each(function()
    process.environment = ""
    engine:close()
    place.remove()
  end)

  local function executor()
    return place.executor("--workers", "4")
  end

  local function ended(batch)
    process.await("the end of batch " .. batch, 60, function()
      return engine:batch(batch).state == "completed"
    end)
  end

  local function all_done()
    process.await("the end of all jobs", 60, function()
      return engine:jobs({}):count() == 0
    end)
  end

  -- Nothing failed, each chain ran through, and each is where the batches have put it.
  local function check()
    assert.equal(0, engine:jobs({ no_retries_left = true }):count())
    for _, id in ipairs(ids) do
      local row = engine:instance(id)
      assert.same({ 8, 7 }, { row.variables.runs, row.variables.x })
      assert.equal(1, engine:tasks({ instance = id, activity = "behind" }):count())
      assert.equal(0, engine:tasks({ instance = id, activity = "wait" }):count())
    end
    local status, _, errors = process.moonshift("check", "--store", place.url)
    assert.equal(0, status, errors)
  end

  local function modify(more)
    more.type, more.ids = "modify", engine:instances { process = "busy" }
    more.config = { operations = { { start_before = "behind" }, { cancel = "wait" } } }
    return assert(engine:batch(more))
  end

  local function set(more)
    more.type, more.ids, more.config = "set-variables", ids, { variables = { x = 7 } }
    return assert(engine:batch(more))
  end

  it("goes through beside their jobs, one or several in a job", function()
    executor()
    local first, second = modify {}, set { invocations = 3 }
    ended(first)
    ended(second)
    all_done()
    check()
  end)

  it("holds while it is suspended", function()
    executor()
    local id = set { jobs_per_seed = 10 }
    local batch = engine:batch(id)
    assert(batch:suspend())
    process.await("that nothing of it runs", 60, function()
      return assert(engine:jobs({ batch = id, state = "locked" }):count()) == 0
    end)
    local done = engine:batch(id).completed
    local moved = modify { invocations = 5 }
    ended(moved)
    assert.equal(done, engine:batch(id).completed)
    assert.equal("suspended", engine:batch(id).state)
    assert(batch:activate())
    ended(id)
    all_done()
    check()
  end)

  -- Executors that are killed, each when the batch has come on.
  local function kill_some(batch)
    for round = 1, 4 do
      local pid = executor()
      process.await("progress", 60, function()
        return engine:batch(batch).completed >= round * INSTANCES // 8
          or engine:batch(batch).state == "completed"
      end)
      process.kill(pid, "KILL")
      process.await_end(pid, 10)
    end
    return executor()
  end

  it("loses and repeats nothing under kill -9", function()
    local first, second = modify { jobs_per_seed = 20 }, set { invocations = 4 }
    kill_some(first)
    ended(first)
    ended(second)
    all_done()
    check()
  end)

  -- Calls of an activity of an instance, by both: the most of them.
  local function most_calls()
    local counts, most = {}, 0
    for line in process.read(place.path .. "/called"):gmatch "[^\n]+" do
      counts[line] = (counts[line] or 0) + 1
      most = math.max(most, counts[line])
    end
    return most
  end

  -- Instances of the old version, each of which a job of the batch names with the reason.
  local function named(batch)
    local texts, left = {}, 0
    engine:jobs({ batch = batch, no_retries_left = true }):each(function(job)
      texts[#texts + 1] = job.message
    end)
    local all = table.concat(texts, "\n")
    engine:instances({ process = "busy", version = 1 }):each(function(row)
      left = left + 1
      assert.truthy(all:find(("instance %d cannot be migrated: at s8: no pair"):format(row.id), 1,
        true), all)
    end)
    assert.equal(left, #texts)
    return left
  end

  it("moves each to the new version or says why not, under kill -9 and a reload", function()
    process.environment = "CALLED=" .. process.quote(place.path .. "/called")
    local pid = executor()
    place.write("processes/busy.lua", CHAIN:format(9, "check"))
    engine:close()
    engine = assert(moonshift.open { store = place.url, scripts = place.path })
    local plan = { process = "busy", from = 1, to = 2, equal = true,
      activities = { { from = "wait", to = "check" } } }
    for i = 1, 7 do
      plan.activities[i + 1] = { from = "s" .. i, to = "s" .. i }
    end
    local batch = assert(engine:batch { type = "migrate", config = { plan = plan },
      ids = engine:instances { process = "busy" }, jobs_per_seed = 20 })
    process.kill(pid, "HUP")
    place.logged 'event="folder loaded"'
    process.kill(pid, "KILL")
    process.await_end(pid, 10)
    kill_some(batch)
    process.await("the end of all that can run", 60, function()
      return engine:jobs({ no_retries_left = false, executable = true }):count() == 0
        and engine:batch(batch).completed + engine:batch(batch).failed >= INSTANCES
    end)
    local moved = engine:instances({ process = "busy", version = 2 }):count()
    assert.equal(INSTANCES, moved + named(batch))
    assert.is_true(moved > 0 and most_calls() <= 6)
    local status, _, errors = process.moonshift("check", "--store", place.url)
    assert.equal(0, status, errors)
  end)
end)
