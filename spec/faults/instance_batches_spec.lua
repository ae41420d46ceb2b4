-- Batches on instances whose jobs run at the same time, on executors with several workers beside
-- plain jobs, and under kill -9: each instance gets its command once, or its job says why not.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local INSTANCES = tonumber(os.getenv("SPEC_BATCH") or "150")

local FILES = {
  ["moonshift.lua"] = "return { failed_job_wait = 'PT0S', batch_poll_time = 'PT1S' }",
  ["handlers/count.lua"] = [[
    return function(job)
      job.variables.runs = (job.variables.runs or 0) + 1
    end]],
  ["handlers/plain.lua"] = "return function() end",
  -- A chain of jobs beside a task that a batch moves.
  ["processes/busy.lua"] = [[
    local process = require "moonshift.process"
    local step, task, choose, parallel = process.words()
    local chain = {}
    for i = 1, 8 do
      chain[i] = step("s" .. i) { run = "count", async = true }
    end
    return { search = { "x" }, parallel { chain, { task "wait" {}, task "behind" {} } } }]],
}

describe("a batch on instances that run", function()
  local place, engine, ids

  before_each(function()
    place = executors.place(FILES)
    engine = assert(moonshift.open { store = place.url, scripts = place.path })
    ids = {}
    for i = 1, INSTANCES do
      ids[i] = assert(engine:start("busy", { key = "k" .. i }))
    end
    place.enqueue("plain", 300)
  end)

  after_each(function()
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

  it("loses and repeats nothing under kill -9", function()
    local first, second = modify { jobs_per_seed = 20 }, set { invocations = 4 }
    for round = 1, 4 do
      local pid = executor()
      process.await("progress", 60, function()
        return engine:batch(first).completed >= round * INSTANCES // 8
          or engine:batch(first).state == "completed"
      end)
      process.kill(pid, "KILL")
      process.await_end(pid, 10)
    end
    executor()
    ended(first)
    ended(second)
    all_done()
    check()
  end)
end)
