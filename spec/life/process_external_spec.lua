-- External tasks as wait states: workers outside fetch their jobs, and what these hand back moves
-- the instance.
local models = require "spec.support.models"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local TASK = '<serviceTask id="%s" c:type="external" c:topic="%s" %s>%s</serviceTask>'
local FLOW = '<sequenceFlow id="%s_%s" sourceRef="%s" targetRef="%s"/>'

local function task(id, topic, attributes, inner)
  return TASK:format(id, topic, attributes or "", inner or "")
end

local function flow(from, to)
  return FLOW:format(from, to, from, to)
end

describe("an external task without a handler", function()
  local engine, folder

  after_each(function()
    if engine then
      engine:close()
    end
    engine = nil
    process.remove(folder)
  end)

  local function open(model, files, settings)
    files = files or {}
    files["processes/p.bpmn"] = model
    folder = process.folder(files)
    settings = settings or {}
    settings.scripts = folder
    engine = testing.engine(settings)
  end

  -- The folder has this model from now on.
  local function rewrite(model)
    local file = assert(io.open(folder .. "/processes/p.bpmn", "w"))
    file:write(model)
    file:close()
    assert(engine:reload())
  end

  local function fetch(topic, max)
    return assert(engine:fetch { worker = "w", topics = { topic }, max = max or 10, lock = "PT1M" })
  end

  -- Hands one job back; the code and the message of a refusal.
  local function hand(job, outcome, more)
    local one = { id = job.id, token = job.token, outcome = outcome }
    for key, value in pairs(more or {}) do
      one[key] = value
    end
    local settled = assert(engine:settle { outcomes = { one } }).outcomes[1]
    return settled.code, settled.message
  end

  it("gives its worker what it sees, local variables first, and takes variables back", function()
    open(models.line(task("x", "charge", "", [[<extensionElements><c:inputOutput>
      <c:inputParameter name="sum">${n * 2}</c:inputParameter>
      <c:inputParameter name="n">own</c:inputParameter>
      <c:outputParameter name="paid">${receipt}</c:outputParameter>
      </c:inputOutput></extensionElements>]])))
    local id = engine:start("p", { variables = { n = 21, other = "outside" } })
    local job = fetch("charge")[1]
    assert.same({ n = "own", sum = 42, other = "outside" }, job.variables)
    assert.same({ tostring(id), "x" }, { job.instance, job.activity })
    assert.is_nil(hand(job, "complete", { variables = { receipt = "r1", other = 2 } }))
    local ended = engine:instance(id)
    assert.same({ "completed", "r1", 2 }, { ended.how, ended.variables.paid,
      ended.variables.other })
    assert.equal("conflict", (hand(job, "complete")))
  end)

  it("is its worker's where a job or a batch comes to it", function()
    open(models.process('<startEvent id="s"/><userTask id="w"/>'
      .. '<scriptTask id="n" c:asyncBefore="true" scriptFormat="lua"><script>local x = 1</script>'
      .. "</scriptTask>" .. task("x", "charge") .. task("y", "pack", 'c:asyncAfter="true"')
      .. task("z", "weigh") .. flow("s", "w") .. flow("w", "n") .. flow("n", "x")
      .. flow("x", "y") .. flow("y", "z")),
      { ["handlers/topic/weigh.lua"] = "return function(job) job.variables.kg = 7 end" })
    local ids = {}
    for i = 1, 3 do
      ids[i] = engine:start("p")
    end
    engine:complete(engine:tasks({ instance = ids[1] }):one().id)
    assert(engine:batch { type = "modify", ids = { ids[2], ids[3] },
      config = { operations = { { start_before = "x" }, { cancel = "w" } } } })
    engine:drain()
    for _, topic in ipairs { "charge", "pack" } do
      local jobs = fetch(topic)
      assert.equal(3, #jobs)
      for _, job in ipairs(jobs) do
        assert.is_nil(hand(job, "complete"))
      end
      engine:drain()
    end
    for _, id in ipairs(ids) do
      assert.same({ "completed", 7 }, { engine:instance(id).how, engine:instance(id).variables.kg })
    end
    assert.equal(0, engine:incidents():count())
  end)

  it("has a topic and a priority that expressions give", function()
    open(models.line(task("x", "${where}", 'c:taskPriority="${rank}"')))
    engine:start("p", { variables = { where = "north", rank = 3 } })
    engine:start("p", { variables = { where = "north", rank = 9 } })
    engine:start("p", { variables = { where = "south", rank = 5 } })
    local jobs = fetch("north")
    assert.same({ 9, 3 }, { jobs[1].priority, jobs[2].priority })
    assert.equal(1, engine:jobs({ topic = "south" }):count())
  end)

  it("keeps neither the other branch nor a timer nor a message waiting", function()
    open(models.process('<startEvent id="s"/><parallelGateway id="g"/>'
      .. task("x", "slow") .. task("y", "quick")
      .. '<boundaryEvent id="late" attachedToRef="x" cancelActivity="false">'
      .. '<timerEventDefinition><timeDuration>PT30S</timeDuration></timerEventDefinition>'
      .. '</boundaryEvent>'
      .. '<boundaryEvent id="told" attachedToRef="x" cancelActivity="false">'
      .. '<messageEventDefinition messageRef="m"/></boundaryEvent>'
      .. '<userTask id="a"/><userTask id="b"/><userTask id="c"/><userTask id="d"/>'
      .. flow("s", "g") .. flow("g", "x") .. flow("g", "y") .. flow("x", "a") .. flow("y", "b")
      .. flow("late", "c") .. flow("told", "d"), '<message id="m" name="m"/>'))
    local id = engine:start("p")
    local slow = fetch("slow")[1]
    assert.is_nil(hand(fetch("quick")[1], "complete"))
    engine:advance "PT30S"
    engine:drain()
    engine:correlate("m", { instance = id })
    local names = {}
    for i, row in ipairs(engine:tasks():list()) do
      names[i] = row.activity
    end
    table.sort(names)
    assert.same({ "b", "c", "d" }, names)
    assert.equal("locked", engine:job(slow.id).state)
    engine:advance "PT29S"
    assert.is_nil(hand(slow, "complete"))
    assert.equal(1, engine:tasks({ activity = "a" }):count())
  end)

  it("is taken away from its worker by what interrupts it", function()
    open(models.line(task("x", "charge") .. '<boundaryEvent id="late" attachedToRef="x">'
      .. '<timerEventDefinition><timeDuration>PT30S</timeDuration></timerEventDefinition>'
      .. '</boundaryEvent><endEvent id="over"/>' .. flow("late", "over")))
    local id = engine:start("p")
    local job = fetch("charge")[1]
    engine:advance "PT30S"
    engine:drain()
    assert.equal("completed", engine:instance(id).how)
    assert.equal("conflict", (hand(job, "complete", { variables = { v = 1 } })))
    local other = engine:start("p")
    job = fetch("charge")[1]
    engine:cancel_instance(other)
    assert.equal("conflict", (hand(job, "complete")))
    assert.equal(0, engine:jobs():count())
  end)

  it("stays where it was if what follows fails, and its worker hears why", function()
    open(models.process('<startEvent id="s"/>' .. task("x", "charge")
      .. '<scriptTask id="z" scriptFormat="lua"><script>if job.variables.v ~= 2 then '
      .. 'error("v is wrong", 0) end</script></scriptTask>'
      .. flow("s", "x") .. flow("x", "z")))
    local id = engine:start("p")
    local job = fetch("charge")[1]
    local code, message = hand(job, "complete", { variables = { v = 1 } })
    assert.equal("failed", code)
    assert.match("v is wrong", message, 1, true)
    assert.same({ "locked", {} }, { engine:job(job.id).state, engine:instance(id).variables })
    assert.is_nil(hand(job, "complete", { variables = { v = 2 } }))
    assert.equal("completed", engine:instance(id).how)
  end)

  it("creates jobs where it goes on, and leaves lines", function()
    open(models.process('<startEvent id="s"/>' .. task("x", "charge")
      .. '<scriptTask id="z" scriptFormat="lua"><script>print("walked") '
      .. 'if job.variables.v ~= 2 then error("v is wrong", 0) end</script></scriptTask>'
      .. flow("s", "x") .. flow("x", "z")), {
      ["handlers/note.lua"] = "return function() end" })
    local id = engine:start("p")
    local job = fetch("charge")[1]
    local function complete(v)
      return assert(engine:settle { outcomes = { { id = job.id, token = job.token,
        outcome = "complete", variables = { v = v }, lines = { "charged" },
        create = { { handler = "note", payload = v }, { handler = "topic/other" } } } } })
        .outcomes[1]
    end
    assert.equal("failed", complete(1).code)
    assert.equal(1, engine:jobs():count())
    local told = complete(2)
    assert.is_nil(told.code)
    assert.same({ "note", 2, tostring(id) }, { engine:job(told.created[1].id).handler,
      engine:job(told.created[1].id).payload, engine:job(told.created[1].id).root })
    assert.equal("topic/other", engine:job(told.created[2].id).handler)
    local lines = engine:log({ job = job.id, outcome = "successful" }):one().lines
    assert.equal("charged", lines[1])
    assert.equal("completed", engine:instance(id).how)
  end)

  it("throws a BPMN error, which is caught or ends the task", function()
    open(models.line(task("x", "charge") .. '<boundaryEvent id="b" attachedToRef="x">'
      .. '<errorEventDefinition errorRef="refused"/></boundaryEvent><userTask id="ask"/>'
      .. flow("b", "ask")))
    engine:start("p")
    assert.is_nil(hand(fetch("charge")[1], "error", { code = "refused",
      variables = { why = "empty" } }))
    assert.equal(1, engine:tasks({ activity = "ask" }):count())
    local id = engine:start("p")
    assert.is_nil(hand(fetch("charge")[1], "error", { code = "unknown" }))
    assert.is_not_nil(engine:instance(id).how)
  end)

  it("fails as its model says, or as its worker does, and leaves an incident", function()
    open(models.line(task("x", "charge", "", [[<extensionElements>
      <c:failedJobRetryTimeCycle>R2/PT10M</c:failedJobRetryTimeCycle></extensionElements>]])))
    local id = engine:start("p")
    assert.is_nil(hand(fetch("charge")[1], "fail", { message = "no answer" }))
    local job = engine:jobs({ topic = "charge" }):one()
    assert.same({ 1, "2026-01-01T00:10:00.000Z" }, { job.retries, job.due })
    engine:advance "PT10M"
    assert.is_nil(hand(fetch("charge")[1], "fail", { message = "still none", retries = 0 }))
    local incident = engine:incidents({ open = true }):one()
    assert.same({ "still none", "x" }, { incident.message, incident.activity })
    engine:retry(job.id)
    assert.is_nil(hand(fetch("charge")[1], "complete"))
    assert.equal("completed", engine:instance(id).how)
    assert.equal(0, engine:incidents({ open = true }):count())
  end)

  it("is started, cancelled and begun again by operators", function()
    open(models.line(task("x", "charge")))
    local id = engine:start("p")
    local job = fetch("charge")[1]
    assert(engine:modify_instance(id, { { cancel = "x" }, { start_before = "x" } }))
    assert.equal("conflict", (hand(job, "complete")))
    job = fetch("charge")[1]
    engine:cancel_instance(id)
    assert.equal("conflict", (hand(job, "complete")))
    local again = assert(engine:restart_instance(id, { { start_before = "x" } }))
    assert.is_nil(hand(fetch("charge")[1], "complete"))
    assert.equal("completed", engine:instance(again).how)
  end)

  it("keeps its topic where its instance migrates, but not while a worker has it", function()
    open(models.line(task("x", "charge")))
    local id, held = engine:start("p"), engine:start("p")
    local first = fetch("charge", 1)[1]
    local renamed = models.line(task("x", "other", 'name="new"')):gsub('"x"', '"y"')
    rewrite(renamed)
    local plan = { process = "p", from = 1, to = 2, activities = { { from = "x", to = "y" } } }
    local _, message = engine:migrate_instance(id, plan)
    assert.match("is running", message, 1, true)
    assert(engine:migrate_instance(held, plan))
    local job = fetch("charge", 1)[1]
    assert.same({ "y", "process/p/y", tostring(held) }, { job.activity, job.handler, job.instance })
    assert.is_nil(hand(job, "complete"))
    assert.equal("completed", engine:instance(held).how)
    assert.is_nil(hand(first, "complete"))
    assert.equal("completed", engine:instance(id).how)
  end)

  it("does not become a task of another kind", function()
    open(models.line(task("x", "charge")))
    local id = engine:start("p")
    rewrite(models.line('<serviceTask id="x" c:expression="${1}" c:asyncBefore="true"/>'))
    local _, message = engine:migrate_instance(id,
      { process = "p", from = 1, to = 2, activities = { { from = "x", to = "x" } } })
    assert.match("external task", message, 1, true)
    assert.is_nil(hand(fetch("charge")[1], "complete"))
  end)

  it("has a job for each of a hundred turns, and no count is lost", function()
    open(models.line(task("x", "count", "", [[<extensionElements>
      <c:executionListener event="end"><c:script scriptFormat="lua">
      job.variables.total = job.variables.total + 1</c:script></c:executionListener>
      </extensionElements><multiInstanceLoopCharacteristics>
      <loopCardinality>100</loopCardinality></multiInstanceLoopCharacteristics>]])))
    local id = engine:start("p", { variables = { total = 0 } })
    engine:drain()
    local jobs = fetch("count", 100)
    assert.equal(100, #jobs)
    local outcomes = {}
    for i, job in ipairs(jobs) do
      outcomes[i] = { id = job.id, token = job.token, outcome = "complete" }
    end
    for _, one in ipairs(assert(engine:settle { outcomes = outcomes }).outcomes) do
      assert.is_nil(one.code)
    end
    engine:drain()
    assert.same({ "completed", 100 }, { engine:instance(id).how,
      engine:instance(id).variables.total })
  end)
end)
