-- Workers outside hold external tasks of processes while operators, timers and other tasks change
-- the instances. Afterwards the store is as it should be.
local executors = require "spec.support.executors"
local models = require "spec.support.models"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local TURNS = 100

local function flow(from, to)
  return ('<sequenceFlow id="%s_%s" sourceRef="%s" targetRef="%s"/>'):format(from, to, from, to)
end

local function external(id, topic, inner)
  return ('<serviceTask id="%s" c:type="external" c:topic="%s">%s</serviceTask>'):format(id, topic,
    inner or "")
end

local function loop(count, condition)
  return ('<multiInstanceLoopCharacteristics><loopCardinality>%d</loopCardinality>'
    .. '%s</multiInstanceLoopCharacteristics>'):format(count, condition and
    ('<completionCondition>%s</completionCondition>'):format(condition) or "")
end

-- A body of sub-processes with an external task each.
local function body(count, condition, id, inner)
  return ('<subProcess id="x">%s%s</subProcess>'):format(loop(count, condition),
    '<startEvent id="is"/>' .. external(id or "pack", "pack", inner) .. '<endEvent id="ie"/>'
    .. flow("is", id or "pack") .. flow(id or "pack", "ie"))
end

-- The body x, or the task x, with what follows it.
local function model(text, beside)
  return models.process('<startEvent id="s"/>' .. text .. '<userTask id="after"/>'
    .. flow("s", "x") .. flow("x", "after"), beside)
end

local bodies = {
  ["tasks"] = function(count, condition)
    return external("x", "pack", loop(count, condition))
  end,
  ["sub-processes"] = body,
}

-- What a worker may hand back.
local OUTCOMES = { { "complete", { variables = { n = 1 } } }, { "fail", { message = "no" } },
  { "fail", { retries = 0 } }, { "error", { code = "no" } }, { "snooze", { ["in"] = "PT1M" } },
  { "extend", { lock = "PT2H" } }, { "release" } }

describe("a worker that holds external tasks", function()
  local place, engine

  before_each(function()
    place = executors.place {}
  end)

  after_each(function()
    if engine then
      engine:close()
      engine = nil
    end
    place.remove()
  end)

  local function open(text, settings)
    place.write("processes/p.bpmn", text)
    local given = { store = place.url, scripts = place.path, failed_job_wait = "PT0S",
      clock = moonshift.clock.virtual("2026-01-01T00:00:00.000Z") }
    for key, value in pairs(settings or {}) do
      given[key] = value
    end
    engine = assert(moonshift.open(given))
  end

  local function rewrite(text)
    place.write("processes/p.bpmn", text)
    assert(engine:reload())
  end

  local function check()
    local status, output, errors = process.moonshift("check", "--store", place.url)
    assert.equal(0, status, output .. errors)
  end

  local function fetch(max)
    return assert(engine:fetch { worker = "w", topics = { "pack" }, max = max or TURNS,
      lock = "PT1H" })
  end

  -- Hands them back in one call; how many were refused, by code.
  local function hand(jobs, outcome, more)
    local list, codes = {}, {}
    for i, job in ipairs(jobs) do
      list[i] = { id = job.id, token = job.token, outcome = outcome }
      for key, value in pairs(more or {}) do
        list[i][key] = value
      end
    end
    for _, one in ipairs(assert(engine:settle { outcomes = list }).outcomes) do
      local code = one.code or "done"
      codes[code] = (codes[code] or 0) + 1
    end
    return codes
  end

  local function at(id)
    return table.concat(engine:at(id), " ")
  end

  -- All turns are begun, and all are held.
  local function hold(count)
    local id = assert(engine:start("p", { variables = { n = 0 } }))
    engine:drain()
    local jobs = fetch(count or TURNS)
    assert.equal(count or TURNS, #jobs)
    check()
    return id, jobs
  end

  -- Whatever a worker says of jobs that it has lost is a conflict, before and after the job that
  -- removes the turns of the body, and no other worker is given one.
  local function lost(jobs)
    for _ = 1, 2 do
      check()
      for i, outcome in ipairs(OUTCOMES) do
        assert.same({ conflict = 5 }, hand({ table.unpack(jobs, i * 5 - 4, i * 5) }, outcome[1],
          outcome[2]))
      end
      assert.same({}, fetch())
      engine:drain()
    end
    assert.equal(0, engine:jobs({}):count())
    check()
  end

  -- Half of the turns are held.
  local function hold_half()
    local id = assert(engine:start("p", { variables = { n = 0 } }))
    engine:drain()
    return id, fetch(TURNS // 2)
  end

  -- Commits in the log, which has been written from its beginning.
  local function commits()
    local log = assert(process.read(place.store .. "-wal"))
    local size = 24 + string.unpack(">I4", log, 9)
    local count = 0
    for frame = 33, #log, size do
      local same = log:sub(frame + 8, frame + 15) == log:sub(17, 24)
      count = count + (same and string.unpack(">I4", log, frame + 4) > 0 and 1 or 0)
    end
    return count
  end

  -- Behind the task comes a script that refuses one value.
  local SINGLE = model(external("x", "pack")
    .. '<scriptTask id="y" scriptFormat="lua"><script>if job.variables.v == 7 then '
    .. 'error("no seven", 0) end</script></scriptTask>' .. flow("x", "y") .. flow("y", "after"))

  local function start_many(count)
    local ids = {}
    for i = 1, count do
      ids[i] = assert(engine:start("p", { variables = { n = i } }))
    end
    return ids
  end

  it("of many instances hands them back in one transaction #file", function()
    open((SINGLE:gsub('<sequenceFlow id="x_after"[^>]*>', "")))
    local ids = start_many(20)
    local jobs = fetch(20)
    local before = commits()
    assert.same({ done = 20 }, hand(jobs, "complete", { variables = { v = 1 } }))
    local count = commits() - before
    assert.truthy(count > 0 and count <= 4, count .. " commits for 20 tasks")
    for _, id in ipairs(ids) do
      assert.equal("after", at(id))
    end
    check()
  end)

  it("of many instances hears of each what came of it", function()
    open((SINGLE:gsub('<sequenceFlow id="x_after"[^>]*>', "")))
    local ids = start_many(20)
    local outcomes = {}
    for i, job in ipairs(fetch(20)) do
      outcomes[i] = { id = job.id, token = job.token, outcome = "complete",
        variables = { v = i }, create = { { handler = "topic/else", payload = i } } }
    end
    outcomes[3].token = 1
    outcomes[21] = outcomes[5]
    assert(engine:cancel_instance(ids[9]))
    local told = assert(engine:settle { outcomes = outcomes }).outcomes
    for i, one in ipairs(told) do
      local code = ({ [3] = "conflict", [7] = "failed", [9] = "conflict", [21] = "conflict" })[i]
      assert.equal(code, one.code, i)
      if not code then
        local created = engine:job(one.created[1].id)
        assert.same({ i, tostring(ids[i]) }, { created.payload, created.root })
        assert.equal("after", at(ids[i]))
      end
    end
    assert.match("no seven", told[7].message, 1, true)
    assert.same({ "x", "x" }, { at(ids[3]), at(ids[7]) })
    outcomes[7].variables.v = 1
    assert.is_nil(assert(engine:settle { outcomes = { outcomes[7] } }).outcomes[1].code)
    check()
  end)

  -- What is behind "known" has been walked before, what is behind "new" has not.
  it("of one instance hands them back in their order", function()
    open(models.process('<startEvent id="s"/><parallelGateway id="both"/>'
      .. external("new", "pack") .. external("known", "pack") .. '<userTask id="after"/>'
      .. flow("s", "both") .. flow("both", "new") .. flow("both", "known")
      .. flow("new", "after") .. flow("known", "after")))
    start_many(1)
    local function held()
      local jobs = fetch(20)
      table.sort(jobs, function(a, b)
        return a.activity > b.activity -- those that are new come first
      end)
      return jobs
    end
    assert.same({ done = 1 }, hand({ held()[2] }, "complete"))
    local ids, outcomes = start_many(3), {}
    for i, job in ipairs(held()) do
      outcomes[i] = { id = job.id, token = job.token, outcome = "complete",
        variables = { last = job.activity } }
    end
    assert.equal(6, #outcomes)
    for _, one in ipairs(assert(engine:settle { outcomes = outcomes }).outcomes) do
      assert.is_nil(one.code, one.message)
    end
    for _, id in ipairs(ids) do
      assert.equal("known", engine:instance(id).variables.last)
    end
    check()
  end)

  for name, text in pairs(bodies) do
    describe("of a large body of " .. name, function()
      it("loses them all when the instance is cancelled", function()
        open(model(text(TURNS)))
        local id, jobs = hold_half()
        assert(engine:cancel_instance(id))
        lost(jobs)
      end)

      it("loses the rest when one throws an error that the body catches", function()
        open(model(text(TURNS) .. '<boundaryEvent id="b" attachedToRef="x">'
          .. '<errorEventDefinition errorRef="no"/></boundaryEvent><userTask id="ask"/>'
          .. flow("b", "ask")))
        local id, jobs = hold_half()
        assert.same({ done = 1 }, hand({ table.remove(jobs, 40) }, "error", { code = "no" }))
        assert.equal("ask", at(id))
        lost(jobs)
      end)

      it("loses the rest when the condition of the body holds", function()
        open(model(text(TURNS, "${nrOfCompletedInstances == 10}")))
        local id, jobs = hold_half()
        assert.same({ done = 10, conflict = 40 }, hand(jobs, "complete"))
        assert.equal("after", at(id))
        lost(jobs)
      end)

      it("loses the rest with the last of an instance", function()
        open((model(text(TURNS, "${nrOfCompletedInstances == 10}")):gsub('<userTask id="after"/>',
          '<endEvent id="after"/>')))
        local id, jobs = hold_half()
        assert.same({ done = 10, conflict = 40 }, hand(jobs, "complete"))
        assert.equal("completed", engine:instance(id).how)
        lost(jobs)
      end)

      it("loses them to a timer of the body", function()
        open(model(text(TURNS) .. '<boundaryEvent id="b" attachedToRef="x"><timerEventDefinition>'
          .. '<timeDuration>PT1M</timeDuration></timerEventDefinition></boundaryEvent>'
          .. '<userTask id="late"/>' .. flow("b", "late")))
        local id, jobs = hold_half()
        assert.same({ done = 3 }, hand({ table.remove(jobs, 50), table.remove(jobs, 40),
          table.remove(jobs, 1) }, "complete"))
        engine.clock:advance "PT1M"
        engine:drain()
        assert.equal("late", at(id))
        lost(jobs)
      end)

      it("loses what a modification cancels", function()
        open(model(text(TURNS)))
        local id, jobs = hold_half()
        assert(engine:modify_instance(id, { { start_before = "after" },
          { cancel = "x#multiInstanceBody" } }))
        assert.equal("after", at(id))
        lost(jobs)
      end)

      it("brings all of them to their end, some at the second try", function()
        open(model(text(TURNS)))
        local id, jobs = hold()
        local failed = { table.unpack(jobs, 1, 30) }
        local released = { table.unpack(jobs, 31, 50) }
        local done = { table.unpack(jobs, 51) }
        assert.same({ done = 30 }, hand(failed, "fail", { message = "no" }))
        assert.same({ done = 20 }, hand(released, "release"))
        assert.same({ done = 50 }, hand(done, "complete", { variables = { n = 1 } }))
        check()
        assert.same({ conflict = TURNS }, hand(jobs, "complete"))
        local again = fetch()
        assert.equal(50, #again)
        assert.same({ done = 50 }, hand(again, "complete"))
        engine:drain()
        assert.equal("after", at(id))
        check()
      end)

      it("loses them to a suspension, and fetches them again after it", function()
        open(model(text(TURNS)))
        local id, jobs = hold()
        assert(engine:suspend_instance(tostring(id)))
        check()
        assert.same({}, fetch())
        assert.same({ conflict = TURNS }, hand(jobs, "complete"))
        assert(engine:activate_instance(tostring(id)))
        check()
        assert.same({ conflict = TURNS }, hand(jobs, "complete"))
        assert.same({ done = TURNS }, hand(fetch(), "complete"))
        engine:drain()
        assert.equal("after", at(id))
        check()
      end)

      it("keeps the instance where it is until the last is back", function()
        open(model(text(TURNS)))
        local id, jobs = hold()
        rewrite((model(text(TURNS)):gsub('"pack" c:type', '"send" c:type')
          :gsub('Ref="pack"', 'Ref="send"'):gsub('id="after"', 'id="then"')
          :gsub('Ref="after"', 'Ref="then"')))
        local plan = { process = "p", from = 1, to = 2, activities = {
          { from = "x#multiInstanceBody", to = "x#multiInstanceBody" }, { from = "x", to = "x" } } }
        if name == "sub-processes" then
          plan.activities[3] = { from = "pack", to = "send" }
        end
        local done, message, code = engine:migrate_instance(id, plan)
        if name == "sub-processes" then
          assert.is_nil(done)
          assert.equal("conflict", code)
          assert.match("is running", message, 1, true)
          check()
          assert.same({ done = TURNS }, hand(jobs, "release"))
          assert(engine:migrate_instance(id, plan))
          check()
          jobs = fetch()
        else
          assert(done, message) -- The jobs stay what they were.
          check()
        end
        assert.equal(TURNS, #jobs)
        assert.same({ done = TURNS }, hand(jobs, "complete"))
        engine:drain()
        assert.equal("then", at(id))
        check()
      end)
    end)
  end

  it("of a batch of migrations has them fail, and operators retry them", function()
    open(model(external("x", "pack")))
    local ids = {}
    for i = 1, 10 do
      ids[i] = assert(engine:start("p"))
    end
    local jobs = fetch(4)
    local held = {}
    for _, job in ipairs(jobs) do
      held[tonumber(job.instance)] = true
    end
    rewrite((model(external("x", "pack")):gsub('"x"', '"y"')))
    local batch = assert(engine:batch { type = "migrate", ids = ids, config = { plan =
      { process = "p", from = 1, to = 2, activities = { { from = "x", to = "y" } } } } })
    engine:drain()
    check()
    assert.equal(6, engine:instances({ version = 2 }):count())
    local failures = engine:batch(batch):failures()
    assert.equal(4, #failures)
    for _, failed in ipairs(failures) do
      assert.is_true(held[tonumber(failed.id)])
      assert.match("is running", failed.message, 1, true)
    end
    assert.same({ done = 4 }, hand(jobs, "release"))
    for _, job in ipairs(engine:jobs({ batch = batch, retries_left = false }):list()) do
      assert(engine:set_retries(job.id, 1))
    end
    engine:drain()
    engine.clock:advance "PT1M"
    engine:drain()
    assert.equal(10, engine:instances({ version = 2 }):count())
    assert.equal("completed", engine:batch(batch).state)
    check()
    assert.same({ done = 10 }, hand(fetch(), "complete"))
    assert.equal(10, engine:tasks({ activity = "after" }):count())
    check()
  end)

  for _, invocations in ipairs { 1, 4, 100 } do
    it(("loses what a batch with %d in a job cancels"):format(invocations), function()
      open(model(external("x", "pack")))
      local ids = {}
      for i = 1, 10 do
        ids[i] = assert(engine:start("p"))
      end
      local jobs = fetch(6)
      local batch = assert(engine:batch { type = "cancel-instances", ids = ids,
        invocations = invocations })
      engine:drain()
      engine.clock:advance "PT1M"
      engine:drain()
      assert.equal("completed", engine:batch(batch).state)
      assert.same({ conflict = 6 }, hand(jobs, "complete"))
      assert.equal(0, engine:instances():count())
      assert.same({}, fetch())
      check()
    end)
  end
end)
