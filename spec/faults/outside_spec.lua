-- Workers outside beside real executors, of which one is killed again and again: only the end of a
-- lock and a fetch, or its worker, take a job away.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local models = require "spec.support.models"
local process = require "spec.support.process"

local function flow(from, to)
  return ('<sequenceFlow id="%s_%s" sourceRef="%s" targetRef="%s"/>'):format(from, to, from, to)
end

local handlers = {
  ["handlers/slow.lua"] = [[
return function()
  os.execute("echo >>$RUNS.held")
  os.execute("until [ -e $RUNS.gate ] || [ ! -e ${RUNS%/*} ]; do sleep 0.02; done")
end
]],
  ["handlers/note.lua"] = "return function() end\n",
  ["processes/p.bpmn"] = models.process('<startEvent id="s"/><parallelGateway id="g"/>'
    .. '<parallelGateway id="j"/><serviceTask id="x" c:type="external" c:topic="pack"/>'
    .. '<scriptTask id="y" c:asyncBefore="true" scriptFormat="lua"><script>'
    .. "job.variables.y = true</script></scriptTask>"
    .. '<scriptTask id="z" c:asyncBefore="true" scriptFormat="lua"><script>'
    .. 'job.variables.z = job.variables.packed + 1</script></scriptTask><endEvent id="e"/>'
    .. flow("s", "g") .. flow("g", "x") .. flow("g", "y") .. flow("x", "j") .. flow("y", "j")
    .. flow("j", "z") .. flow("z", "e")),
  ["processes/q.bpmn"] = models.process('<startEvent id="s"/><userTask id="w"/>'
    .. '<scriptTask id="n" c:asyncBefore="true" scriptFormat="lua"><script>local x = 1</script>'
    .. '</scriptTask><serviceTask id="x" c:type="external" c:topic="pack" c:asyncAfter="true"/>'
    .. '<serviceTask id="y" c:type="external" c:topic="weigh"/>'
    .. '<serviceTask id="z" c:type="external" c:topic="pack"/><endEvent id="e"/>'
    .. flow("s", "w") .. flow("w", "n") .. flow("n", "x") .. flow("x", "y") .. flow("y", "z")
    .. flow("z", "e")):gsub('process id="p"', 'process id="q"'),
  ["handlers/topic/weigh.lua"] = "return function(job) job.variables.kg = 7 end\n",
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

  -- Starts so many instances. Their ids.
  local function start(key, count)
    local started = {}
    for i = 1, count do
      started[i] = { key }
    end
    return assert(engine:start(started))
  end

  -- Hands these back; those to hand back again are added to `left`. How many were done.
  local function hand_back(given, left)
    local done = 0
    for i, one in ipairs(assert(engine:settle { outcomes = given }).outcomes) do
      if one.code then -- something else had the lane of the instance too long
        assert.equal("conflict", one.code)
        left[#left + 1] = given[i]
      else
        done = done + 1
      end
    end
    return done
  end

  -- Fetches and hands back until all instances have ended. How many jobs that were.
  local function serve()
    local ended, left = 0, {}
    process.await("the end of all instances", 60, function()
      for _, worker in ipairs(WORKERS) do
        local given = left
        for _, job in ipairs(assert(engine:fetch { worker = worker, topics = { "pack" }, max = 5,
          lock = "PT1H" })) do
          given[#given + 1] = { id = job.id, token = job.token, outcome = "complete",
            variables = { packed = 1 } }
        end
        left = {}
        ended = ended + hand_back(given, left)
      end
      return engine:instances():count() == 0
    end)
    return ended
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

  it("move instances whose other branches an executor runs", function()
    place.executor("--workers", "4")
    place.enqueue("note", 200)
    start("p", 40)
    assert.equal(40, serve())
    for _, row in ipairs(engine:past_instances():list()) do
      assert.same({ "completed", true, 2 }, { row.how, row.variables.y, row.variables.z })
    end
    local _, output = process.moonshift("check", "--store", place.url)
    assert.matches("nothing is wrong", output)
  end)

  it("get what jobs and batches of executors come to, and nothing that has a handler", function()
    place.executor("--workers", "3")
    place.enqueue("note", 200)
    local ids = start("q", 40)
    assert(engine:batch { type = "modify", ids = table.move(ids, 1, 20, 1, {}),
      config = { operations = { { start_before = "x" }, { cancel = "w" } } } })
    for _, task in ipairs(engine:tasks({ instance = table.move(ids, 21, 40, 1, {}) }):list()) do
      assert(engine:complete(task.id))
    end
    assert.equal(80, serve())
    for _, row in ipairs(engine:past_instances():list()) do
      assert.same({ "completed", 7 }, { row.how, row.variables.kg })
    end
    assert.equal(0, engine:incidents():count())
    assert.equal(0, engine:log({ outcome = "failed" }):count())
  end)
end)
