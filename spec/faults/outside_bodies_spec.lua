-- Workers outside hold the turns of large bodies while executors run the branches beside, and
-- batches suspend, activate, modify and cancel the instances. Each turn that is settled counts
-- once.
local executors = require "spec.support.executors"
local models = require "spec.support.models"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local TURNS, INSTANCES, BACKLOG = 70, 9, 200 -- more than 64: the turns stand outside of the frame
local WORKERS = { "w1", "w2", "w3" }

local function flow(from, to)
  return ('<sequenceFlow id="%s_%s" sourceRef="%s" targetRef="%s"/>'):format(from, to, from, to)
end

local function beside(name)
  return ('<scriptTask id="%s" c:asyncBefore="true" scriptFormat="lua"><script>'
    .. "job.variables.ran = (job.variables.ran or 0) + 1</script></scriptTask>"):format(name)
end

-- A body of external tasks, a chain of jobs, and a task that operators move.
local MODEL = models.process('<startEvent id="s"/><parallelGateway id="g"/>'
  .. '<parallelGateway id="j"/><serviceTask id="x" c:type="external" c:topic="pack">'
  .. ("<multiInstanceLoopCharacteristics><loopCardinality>%d</loopCardinality>"
    .. "</multiInstanceLoopCharacteristics></serviceTask>"):format(TURNS)
  .. beside "a" .. beside "b" .. beside "c" .. '<userTask id="wait"/><userTask id="moved"/>'
  .. '<userTask id="end"/>' .. flow("s", "g") .. flow("g", "x") .. flow("x", "j") .. flow("g", "a")
  .. flow("a", "b") .. flow("b", "c") .. flow("c", "j") .. flow("g", "wait")
  .. flow("wait", "moved") .. flow("j", "end"))

describe("workers outside that hold turns of large bodies", function()
  local place, engine, ids, held, settled

  before_each(function()
    place = executors.place { ["processes/p.bpmn"] = MODEL,
      ["handlers/plain.lua"] = "return function() end",
      ["moonshift.lua"] = "return { failed_job_wait = 'PT0S', batch_poll_time = 'PT1S' }\n" }
    engine = assert(moonshift.open { store = place.url, scripts = place.path })
    held, settled = {}, {}
    for _, worker in ipairs(WORKERS) do
      held[worker] = {}
    end
    local list = {}
    for i = 1, INSTANCES do
      list[i] = { "p" }
    end
    ids = assert(engine:start(list))
    place.enqueue("plain", BACKLOG)
  end)

  after_each(function()
    engine:close()
    place.remove()
  end)

  -- Every third instance, from this one on. Turns are fetched instance by instance.
  local function third(first)
    local some = {}
    for i = first, INSTANCES, 3 do
      some[#some + 1] = ids[i]
    end
    return some
  end

  -- What was not settled, and still is the worker's: its instance was busy.
  local function left(jobs, verdicts)
    local kept = {}
    for i, one in ipairs(verdicts) do
      if not one.code then
        assert.is_nil(settled[one.id], "settled twice")
        settled[one.id] = jobs[i].instance
      elseif not one.message:find("its lock is lost", 1, true) then
        assert.equal("conflict", one.code)
        kept[#kept + 1] = jobs[i]
      end
    end
    return kept
  end

  -- Hands back what the worker holds, and fetches more with it. No job is two workers'.
  local function hand(worker)
    local outcomes = {}
    for i, job in ipairs(held[worker]) do
      outcomes[i] = { id = job.id, token = job.token, outcome = "complete" }
    end
    local answer = assert(engine:settle { outcomes = outcomes, worker = worker,
      fetch = { worker = worker, topics = { "pack" }, max = 20, lock = "PT1H" } })
    held[worker] = left(held[worker], answer.outcomes)
    for _, job in ipairs(answer.jobs) do
      assert.is_nil(settled[job.id], "fetched after its end")
      table.insert(held[worker], job)
    end
  end

  local function hand_until(what, condition)
    process.await(what, 60, function()
      for _, worker in ipairs(WORKERS) do
        hand(worker)
      end
      return condition()
    end)
  end

  local function batches(...)
    local all = {}
    for i, given in ipairs { ... } do
      all[i] = assert(engine:batch { type = given[1], ids = given[2], config = given[3] })
    end
    hand_until("the end of the batches", function()
      for _, id in ipairs(all) do
        if engine:batch(id).state ~= "completed" then
          return false
        end
      end
      return true
    end)
  end

  local function settled_of(instance)
    local count = 0
    for _, of in pairs(settled) do
      count = count + (tonumber(of) == instance and 1 or 0)
    end
    return count
  end

  local function all_settled(some)
    hand_until("all turns", function()
      for _, id in ipairs(some) do
        if settled_of(id) < TURNS then
          return false
        end
      end
      return true
    end)
  end

  local function all_done()
    process.await("the end of all jobs", 60, function()
      return engine:jobs({}):count() == 0
    end)
    local _, output = process.moonshift("check", "--store", place.url)
    assert.matches("nothing is wrong", output)
  end

  -- All turns have ended once, in the trail, too, and the branch beside has run through.
  local function went_through(id, places)
    assert.same({ places, 3, TURNS }, { engine:at(id), engine:instance(id).variables.ran,
      settled_of(id) })
    local ends = 0
    for _, row in ipairs(engine:trail({ instance = id }):list()) do
      for _, event in ipairs(row.events) do
        ends = ends + (event[1] == "e" and event[3] == "x" and 1 or 0)
      end
    end
    assert.equal(TURNS, ends)
  end

  it("count each that is settled once, whatever batches do to the instances", function()
    local held_up, moved, gone = third(1), third(2), third(3)
    hand_until("turns of each kind", function()
      return settled_of(gone[1]) > 0
    end)
    place.executor("--workers", "4")
    batches({ "suspend-instances", held_up }, { "cancel-instances", gone },
      { "modify", moved, { operations = { { start_before = "moved" }, { cancel = "wait" } } } })
    all_settled(moved)
    assert.equal(0, engine:jobs({ topic = "pack", suspended = false }):count())
    batches { "activate-instances", held_up }
    all_settled(held_up)
    all_done()
    for i, id in ipairs(held_up) do
      went_through(id, { "end", "wait" })
      went_through(moved[i], { "end", "moved" })
      assert.equal("cancelled", engine:instance(gone[i]).how)
    end
    local count = 0
    for _ in pairs(settled) do
      count = count + 1
    end
    assert.equal(count,
      engine:log({ handler = "process/p/x", outcome = "successful" }):count())
  end)
end)
