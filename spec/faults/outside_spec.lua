-- Workers outside beside real executors, of which one is killed again and again: only the end of a
-- lock and a fetch, or its worker, take a job away.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local handlers = {
  ["handlers/slow.lua"] = [[
return function()
  os.execute("echo >>$RUNS.held")
  os.execute("until [ -e $RUNS.gate ] || [ ! -e ${RUNS%/*} ]; do sleep 0.02; done")
end
]],
  ["handlers/note.lua"] = "return function() end\n",
}

local WORKERS = { "w1", "w2", "w3" }

describe("workers outside", function()
  local place, engine

  before_each(function()
    place = executors.place(handlers)
    process.environment = "RUNS=" .. place.path .. "/runs"
    engine = assert(moonshift.open { store = place.url })
  end)

  after_each(function()
    engine:close()
    place.remove()
  end)

  local function fetch(worker, max, lock)
    return assert(engine:fetch { worker = worker, topics = { "ocr" }, max = max, lock = lock })
  end

  local function settle(jobs)
    local outcomes = {}
    for i, job in ipairs(jobs) do
      outcomes[i] = { id = job.id, token = job.token, outcome = "complete" }
    end
    for _, one in ipairs(assert(engine:settle { outcomes = outcomes }).outcomes) do
      assert.is_nil(one.code)
    end
  end

  -- Starts an executor, lets it begin a job, and kills it in the middle.
  local function start_and_kill(count)
    place.enqueue("slow", 1)
    local pid = place.start("killed", "run", "-C", place.path, "--workers", "1")
    process.await("a run", 60, function()
      local _, held = process.read(place.path .. "/runs.held"):gsub("\n", "")
      return held >= count
    end)
    process.kill(pid, "KILL")
    process.await_end(pid, 60)
  end

  it("keep their locks while executors come, die and reap each other", function()
    for n = 1, 30 do
      engine:enqueue("topic/ocr", { n = n })
    end
    place.write("runs.held", "")
    local held, seen = {}, {}
    for i, worker in ipairs(WORKERS) do
      held[i] = fetch(worker, 10, "PT1H")
      assert.equal(10, #held[i])
      for _, job in ipairs(held[i]) do
        assert.is_nil(seen[job.id])
        seen[job.id] = true
      end
    end
    for count = 1, 3 do
      start_and_kill(count)
      assert.same({}, fetch("w4", 10, "PT1H"))
    end
    place.write("runs.gate", "")
    place.executor("--workers", "2")
    place.enqueue("note", 20)
    process.await("the end of what the dead have left", 60, function()
      return engine:jobs({ handler = { "slow", "note" }, retries_left = true }):count() == 0
    end)
    assert.same({}, fetch("w4", 10, "PT1H"))
    for _, jobs in ipairs(held) do
      settle(jobs)
    end
    assert.equal(30, engine:log({ handler = "topic/ocr", outcome = "successful" }):count())
    assert.equal(0, engine:jobs({ topic = "ocr" }):count())
    local _, output = process.moonshift("check", "--store", place.url)
    assert.matches("nothing is wrong", output)
  end)
end)
