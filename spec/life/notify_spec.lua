-- The setting `notify`: a job tells people of an incident.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local program = require "spec.support.program"

describe("notify", function()
  local engine

  local function open(settings)
    local given = { notify = { incident = "alerts/incident" }, retry = "R1/PT1S" }
    for key, value in pairs(settings or {}) do
      given[key] = value
    end
    engine = engines.private({
      ["handlers/alerts/incident.lua"] = [[return function(job)
        if job.payload.why == "raise" then error("nobody is there") end
        return job.payload
      end]],
      ["handlers/work.lua"] = "return function(job) error(job.payload.text or 'broken', 0) end",
      ["handlers/other.lua"] = "return function() error('broken', 0) end",
      ["handlers/fine.lua"] = "return function() end",
    }, given)
  end

  after_each(function()
    if engine then
      engine:close()
      engine = nil
    end
    engines.clean()
  end)

  local function told()
    return engine:log({ handler = "alerts/incident", outcome = "successful" }):list()
  end

  it("tells a handler what happened, with the transaction that opens the incident", function()
    open()
    local id = engine:enqueue("work", { text = "no answer" })
    assert.has_error(function() engine:execute(id) end)
    local waiting = engine:jobs({ handler = "alerts/incident" }):one()
    local job = engine:job(waiting.id)
    assert.same({
      kind = "incident", cause = "failedJob of work", type = "failedJob", handler = "work",
      job = id, incident = engine:incidents():one().id, count = 1, why = "no answer",
      activity = moonshift.null, schedule = moonshift.null, at = "2026-01-01T00:00:00.000Z",
    }, job.payload)
    assert.equal(1, engine:drain().done)
    assert.equal(1, #told())
  end)

  it("tells of one cause once in ten minutes", function()
    open()
    for _ = 1, 5 do
      engine:enqueue("work")
      engine:enqueue("other")
    end
    engine:drain()
    assert.equal(2, #told())
    engine:advance("PT9M59S")
    engine:enqueue("work")
    engine:drain()
    assert.equal(2, #told())
    engine:advance("PT1S")
    engine:enqueue("work")
    engine:drain()
    local ended = told()
    assert.equal(3, #ended)
    assert.equal(10, engine:incidents({ open = true }):count() - 2)
  end)

  it("counts the open incidents of the cause", function()
    open { notify_every = "PT1M" }
    for _ = 1, 7 do
      engine:enqueue("work")
    end
    engine:enqueue("other")
    engine:drain()
    engine:advance("PT1M")
    assert.has_error(function() engine:execute(engine:enqueue("work")) end)
    local job = engine:jobs({ handler = "alerts/incident" }):one()
    assert.equal(8, engine:job(job.id).payload.count)
    assert.equal("failedJob of work", engine:job(job.id).payload.cause)
  end)

  it("tells of what an operator gives up", function()
    open()
    local id = engine:enqueue("fine", nil, { after = "P1D" })
    engine:dead_letter(id)
    assert.equal("failedJob of fine",
      engine:job(engine:jobs({ handler = "alerts/incident" }):one().id).payload.cause)
  end)

  it("tells of nothing when its own handler fails, or incidents are off", function()
    open()
    engine:enqueue("work", { text = "raise" })
    engine:drain()
    assert.equal(1, engine:incidents({ handler = "alerts/incident" }):count())
    assert.equal(0, engine:jobs({ handler = "alerts/incident", state = "ready" }):count())
    engine:close()
    open { incidents = false }
    engine:enqueue("work")
    engine:drain()
    assert.equal(0, #told())
  end)

  it("does not fail what it tells of where its backlog is full", function()
    engine = engines.private({
      ["handlers/alert.lua"] = "return { backlog = 1, run = function() end }",
      ["handlers/work.lua"] = "return function() error('broken', 0) end",
    }, { notify = { incident = "alert" }, retry = "R1/PT1S" })
    engine:enqueue("alert", nil, { after = "P1D" })
    engine:enqueue("work")
    assert.same({ done = 0, failed = 1 }, engine:drain())
    assert.equal(1, engine:incidents({ open = true }):count())
    assert.equal(1, engine:jobs({ handler = "alert" }):count())
  end)

  it("is refused where it names what is not there", function()
    local function refusal(notify, files)
      return select(2, moonshift.open { store = "sqlite::memory:", notify = notify,
        scripts = engines.folder(files or { ["handlers/alert.lua"] = "return function() end" }) })
    end
    assert.equal('notify: unknown key "incidents" (did you mean "incident"?)',
      refusal { incidents = "alert" })
    assert.equal('settings: notify: unknown handler "alart" (did you mean "alert"?)',
      refusal { incident = "alart" })
    assert.matches("^notify: names under moonshift/ are reserved",
      refusal { incident = "moonshift/operate" })
    assert.matches("^notify .*: expected names of handlers", refusal("alert"))
    assert.equal('moonshift.lua:1: notify: unknown handler "x" (expected a handler of the folder)',
      refusal(nil, { ["moonshift.lua"] = 'return { notify = { incident = "x" } }' }))
  end)

  it("is a flag, too, and tells across processes", function()
    local place = program.place {
      ["handlers/alert.lua"] = "return function(job) print(job.payload.cause) end",
      ["handlers/work.lua"] = "return { retry = 'R1/PT1S', run = function() error('broken') end }",
    }
    assert.equal(0, (place.run("enqueue", "work")))
    local status, _, errors = place.run("run", "--drain", "--notify", "incident=alert")
    assert.equal(0, status, errors)
    assert.matches("failedJob of work",
      select(2, place.run("log", "--handler", "alert", "--outcome", "successful")), 1, true)
    place.clean()
  end)
end)
