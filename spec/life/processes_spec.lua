-- Processes: instances that start, wait, go on and end; what a failure leaves; versions.
local engines = require "spec.support.engines"
local models = require "spec.support.models"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = "local step, task, choose, parallel, each, receive, call = "
  .. 'require "moonshift.process".words()\n'

local files = {
  ["processes/order.lua"] = WORDS .. [[return {
    step "reserve" { run = "reserve", result = "stock", async = true },
    task "approve" { assignee = "boss" },
    parallel { { step "pack" { run = "note", async = true } },
      { step "invoice" { run = "note", async = true } } },
    receive "delivered" { message = "parcel", key = "${execution.processBusinessKey}" },
  }]],
  ["processes/book.lua"] = WORDS .. [[return {
    task "register" {},
    step "pay" { run = "pay" },
    step "send" { run = "send" },
    task "done" {},
  }]],
  ["processes/meet.lua"] = WORDS .. [[return {
    parallel { { receive "left" {} }, { receive "right" {} } },
  }]],
  ["processes/late.lua"] = WORDS .. [[return {
    task "answer" { within = { "PT2H", step "remind" { run = "note" } } },
  }]],
  ["processes/listen.lua"] = WORDS .. [[return {
    task "a" { assignee = "ann", on_create = function(job)
      job.task.assignee, job.task.priority, job.task.name = "zoe", 7, "Look"
      job.task.due = "2030-01-01T00:00:00Z"
    end },
    task "b" { on_create = { expression = "${task.setDueDate(now().plusDays(1))}" } },
    task "c" { on_create = function(job) job.task.due = "soon" end },
  }]],
  ["processes/count.lua"] = WORDS .. [[
    local list = {}
    for i = 1, 20 do
      list[i] = { step("s" .. i) { run = "count", async = true, exclusive = false } }
    end
    return { parallel(list), step "last" { run = "note" } }]],
  ["processes/stir.lua"] = WORDS .. [[return {
    step "stir" { run = "stir", async = true, exclusive = false } }]],
  ["handlers/stir.lua"] = "return function() end",
  ["handlers/reserve.lua"] = "return function(job) return job.variables.amount * 2 end",
  ["handlers/note.lua"] = [[return function(job)
    job.variables.seen = (job.variables.seen or "") .. job.activity .. " "
  end]],
  ["handlers/count.lua"] = "return function(job) job.variables.n = (job.variables.n or 0) + 1 end",
  ["handlers/pay.lua"] = "return function(job) job.variables.paid = true end",
  ["handlers/send.lua"] = [[return function(job)
    if not job.variables.address then
      error("no address", 0)
    end
  end]],
}

describe("an instance of a process", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  it("takes from the listeners of a task who does it, and until when", function()
    assert(engine:start "listen")
    local row = engine:tasks():one()
    assert.same({ "zoe", 7, "Look", "2030-01-01T00:00:00.000Z" },
      { row.assignee, row.priority, row.name, row.due })
    assert(engine:complete(row.id))
    row = engine:tasks():one()
    assert.same({ "b", "2026-01-02T00:00:00.000Z" }, { row.activity, row.due })
    assert.equal('c: the due date of the task is the string "soon" (expected a time or a span)',
      (select(2, engine:complete(row.id))))
  end)

  it("is visited in pages by id, so that a visit may end what it visits", function()
    for i = 1, 230 do
      assert(engine:start("meet", { key = "m" .. i }))
    end
    local ids = engine:instances({ process = "meet" }):ids()
    assert.equal(230, #ids)
    assert.equal(230, engine:instances():each(function(row)
      assert(engine:cancel_instance(row.id))
    end))
    assert.same({ 0, 230 }, { engine:instances():count(), engine:past_instances():count() })
    assert.same(ids, engine:past_instances():ids())
    assert(engine:start("book"))
    assert.equal(1, #engine:tasks():ids())
    assert.equal(2, #engine:trail({ instance = ids[1] }):ids())
  end)

  local function start(key, given)
    return assert(engine:start(key, given))
  end

  local function task()
    return (assert(engine:tasks():list()))[1]
  end

  local function past(id)
    return engine:past_instances({ id = id }):one()
  end

  it("goes from one wait to the next, by jobs, tasks and messages", function()
    local id = start("order", { variables = { amount = 21 }, key = "o-7" })
    assert.same({ "process/order/reserve" }, { engine:jobs():one().handler })
    engine:drain()
    assert.equal("boss", task().assignee)
    assert.equal(id, assert(engine:complete(task().id, { fine = true })))
    engine:drain()
    assert.equal("parcel", engine:subscriptions():one().name)
    local began = engine:instance(id).started
    engine:advance "PT1H"
    assert.equal(id, assert(engine:correlate("parcel", { key = "o-7" })))
    local ended = past(id)
    assert.equal("completed", ended.how)
    assert.equal("o-7", ended.key)
    assert.equal(began, ended.started)
    assert.not_equal(began, ended.ended)
    assert.same({ amount = 21, fine = true, stock = 42, seen = "pack invoice " }, ended.variables)
    assert.equal(0, engine:instances():count())
    assert.equal(0, engine:jobs():count())
  end)

  it("stays where it was if what follows a command fails", function()
    local id = start("book")
    local first = task().id
    local done, message, code = engine:complete(first, { name = "ann" })
    assert.is_nil(done)
    assert.equal("failed", code)
    assert.truthy(message:find("no address", 1, true), message)
    assert.equal(first, task().id)
    assert.is_nil(engine:instance(id).variables.paid)
    assert.is_nil(engine:instance(id).variables.name)
    assert(engine:complete(first, { address = "here" }))
    assert.same({ address = "here", paid = true }, engine:instance(id).variables)
    assert.equal("done", task().activity)
  end)

  it("stays at its last wait while a job fails, and becomes an incident", function()
    local id = start("order", { variables = { amount = "none" } })
    engine:drain()
    engine:advance "PT1H"
    engine:drain()
    engine:advance "PT1H"
    engine:drain()
    local incident = assert(engine:incidents():one())
    assert.equal(tostring(id), incident.instance)
    assert.equal("reserve", incident.activity)
    assert.is_nil(engine:instance(id).variables.stock)
    assert(engine:set_variables(id, { amount = 1 }))
    assert(engine:retry(incident.job))
    engine:drain()
    assert.equal("approve", task().activity)
  end)

  it("is interrupted by a timer that is due", function()
    local id = start "late"
    engine:advance "PT1H"
    engine:drain()
    assert.is_nil(past(id))
    engine:advance "PT1H"
    engine:drain()
    assert.equal("remind ", past(id).variables.seen)
    assert.equal(0, engine:tasks():count())
  end)

  it("loses no change of branches that run side by side", function()
    local id = start "count"
    engine:drain()
    assert.equal(20, past(id).variables.n)
    assert.equal(0, engine:log({ handler = "process/count/s1", outcome = "failed" }):count())
  end)

  it("is walked by jobs beside each other that are taken as one page", function()
    local ids = {}
    for i = 1, 5 do
      ids[i] = start "count"
    end
    assert.same({ done = 100, failed = 0 }, engine:drain())
    for _, id in ipairs(ids) do
      assert.equal(20, past(id).variables.n)
    end
    assert.equal(100, engine:log({ outcome = "successful" }):count())
  end)

  -- It has moved on while its handler ran: the job walks again, and calls nothing twice.
  for _, way in ipairs { "turn", "drain" } do
    it("keeps what a handler has done where its job was behind: " .. way, function()
      local store, calls = "sqlite:" .. folder .. "/jobs.db", 0
      local other <close> = testing.engine { scripts = folder, store = store }
      local id = assert(other:start "stir")
      local own <close> = testing.engine { scripts = folder, store = store, handlers = {
        stir = function(job)
          calls = calls + 1
          job.variables.calls = calls
          assert(other:set_variables(id, { written = calls }))
        end } }
      assert.equal(1, own[way](own).done)
      local found = own:instance(id)
      assert.same({ "completed", 1, 1 }, { found.state, found.variables.calls,
        found.variables.written })
    end)
  end

  it("shows the types that came with its variables", function()
    local id = start("late", { variables = { due = "2026-01-01" }, types = { due = "Date" } })
    assert.same({ due = "Date" }, engine:instance(id).types)
    assert(engine:set_variables(id, { size = ("x"):rep(3000) }, { types = { size = "Bytes" } }))
    assert.same({ due = "Date", size = "Bytes" }, engine:instance(id).types)
    assert(engine:set_variables(id, { due = "soon" }))
    assert.same({ size = "Bytes" }, engine:instance(id).types)
    assert.equal(3000, #engine:instance(id).variables.size)
  end)

  it("is cancelled with all that waits for it", function()
    local id = start("late")
    assert.equal(id, engine:cancel_instance(id, { reason = "no longer wanted" }))
    local ended = past(id)
    assert.same({ "cancelled", "no longer wanted" }, { ended.how, ended.reason })
    assert.equal(0, engine:jobs():count())
    assert.equal(0, engine:tasks():count())
  end)

  it("is triggered at the only place that waits for it, or at the one that is named", function()
    local id = start "meet"
    local _, message = engine:trigger(id)
    assert.equal(("instance %d waits to be triggered at left and at right (expected the name of "
      .. "one)"):format(id), message)
    assert(engine:trigger(id, "right"))
    assert(engine:trigger(id))
    assert.equal("completed", past(id).how)
  end)

  it("that was begun on a version ends on it", function()
    local old = start "late"
    local file = assert(io.open(folder .. "/processes/late.lua", "wb"))
    file:write(WORDS .. 'return { task "reply" {} }')
    file:close()
    assert(engine:reload())
    local new = start "late"
    assert.same({ 1, 2 }, { engine:instance(old).version, engine:instance(new).version })
    engine:advance "PT2H"
    engine:drain()
    assert.equal("remind ", past(old).variables.seen)
    assert.equal("reply", task().activity)
  end)

  it("is not found, or not meant, in one clear sentence", function()
    local function message(...)
      return (select(2, ...))
    end
    assert.equal('no process "oder" is deployed', message(engine:start "oder"))
    assert.equal("no instance 99 that runs", message(engine:cancel_instance(99)))
    assert.equal("no task 99 that is open", message(engine:complete(99)))
    assert.equal('message "parcel": nothing waits for it', message(engine:correlate "parcel"))
  end)

  it("gives a message to the token that is meant, where several of an instance wait", function()
    process.remove(folder)
    folder = process.folder { ["processes/count.lua"] = [[
      local _, _, _, _, each, receive = require "moonshift.process".words()
      return { each "item" { times = 3, parallel = true, receive "counted" { message = "ok" } } }
    ]] }
    engine = testing.engine { scripts = folder }
    local id = assert(engine:start "count")
    local function correlate(given)
      return engine:correlate("ok", given)
    end
    assert.equal("conflict", (select(3, correlate { instance = id })))
    local tokens = {}
    for i, one in ipairs(engine:subscriptions({ instance = id }):list()) do
      tokens[i] = one.token
    end
    assert.equal(id, assert(correlate { instance = id, token = tokens[2] }))
    assert.equal("not_found", (select(3, correlate { instance = id, token = tokens[2] })))
    assert.equal(id, assert(correlate { instance = tostring(id), token = tokens[1] }))
    assert.equal(tokens[3], engine:subscriptions({ instance = id }):one().token)
    assert.error_matches(function()
      correlate { token = tokens[3] }
    end, "a token without its instance")
    assert.error_matches(function()
      correlate { instance = "the first" }
    end, 'instance is the string "the first" %(expected the number of one%)')
    assert.equal(id, assert(correlate { instance = id, token = tokens[3] }))
    assert.equal("completed", past(id).how)
  end)

  it("has in a variable who started it, and a task with a name made of that", function()
    process.remove(folder)
    folder = process.folder { ["processes/trip.bpmn"] = models.process [[
      <startEvent id="s" c:initiator="by"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/>
      <userTask id="t" name="Trip of ${by == null ? 'nobody' : by}" c:assignee="${by}"/>
      <sequenceFlow id="g" sourceRef="t" targetRef="e"/><endEvent id="e"/>]],
      ["processes/tour.lua"] = WORDS .. 'return { call "p" {} }' }
    engine = testing.engine { scripts = folder, who = "ada" }
    local id = assert(engine:start "p")
    assert.same({ "Trip of ada", "ada" }, { task().name, task().assignee })
    assert.equal("ada", engine:instance(id).variables.by)
    assert(engine:complete(task().id))
    assert(engine:start("p", { variables = { by = "eve" } }))
    assert.equal("Trip of eve", task().name)
    assert(engine:complete(task().id))
    assert(engine:start "tour")
    assert.equal("Trip of nobody", task().name)
  end)

  it("is begun by a message although another one waits for it, if that is said", function()
    process.remove(folder)
    folder = process.folder { ["processes/claim.lua"] = WORDS .. [[
      return { require("moonshift.process").start "asked" { message = "claim" },
        receive "more" { message = "claim" } }]] }
    engine = testing.engine { scripts = folder }
    local first = assert(engine:correlate "claim")
    local second = assert(engine:correlate("claim", { starts = true }))
    assert.same({ first, second }, engine:instances():ids())
    assert.equal("conflict", (select(3, engine:correlate "claim")))
    assert.error_matches(function()
      engine:correlate("claim", { starts = true, instance = first })
    end, "starts goes without instance")
  end)
end)
