local testing = require "moonshift.testing"

describe("operator verbs", function()
  local engine

  before_each(function()
    engine = testing.engine {
      handlers = {
        fine = function() end,
        fail = function()
          error("no luck", 0)
        end,
      },
    }
  end)

  local function dead()
    local id = engine:enqueue("fail", nil, { retries = 1 })
    engine:drain()
    return id
  end

  it("takes an id, a list of ids or a query, and says how many it touched", function()
    engine:enqueue_many { { "fine" }, { "fine" }, { "fine" } }
    assert.equal(1, engine:set_priority(1, 7))
    assert.equal(2, engine:set_priority({ 1, 2, 1 }, 8))
    assert.equal(3, engine:set_priority(engine:jobs { handler = "fine" }, 9))
    assert.equal(0, engine:set_priority(engine:jobs { handler = "fail" }, 9))
    assert.equal(9, engine:job(3).priority)
  end)

  it("is all or nothing", function()
    local id = engine:enqueue("fine")
    local touched, message, code = engine:set_priority({ id, 99 }, 7)
    assert.is_nil(touched)
    assert.matches("99", message, 1, true)
    assert.equal("not_found", code)
    assert.equal(0, engine:job(id).priority)
  end)

  it("goes on beyond a thousand jobs, with one entry in the log", function()
    local entries = {}
    for i = 1, 2500 do
      entries[i] = { "fine" }
    end
    local ids = assert(engine:enqueue_many(entries))
    assert.equal(2500, engine:suspend(ids))
    assert.equal(2500, engine:activate(engine:jobs { suspended = true }))
    assert.equal(0, engine:jobs({ suspended = true }):count())
    local entry = engine:operations({ verb = "activate" }):one()
    assert.equal(2500, entry.count)
    assert.equal("2500 jobs", entry.entity)
    assert.equal("suspended", entry.old)
  end)

  it("says of many jobs how far it came before it was refused", function()
    local entries = {}
    for i = 1, 1000 do
      entries[i] = { "fine" }
    end
    local ids = assert(engine:enqueue_many(entries))
    ids[1001] = 5000
    local touched, message, code = engine:set_priority(ids, 7)
    assert.is_nil(touched)
    assert.equal("no job 5000 (1000 jobs before it are done)", message)
    assert.equal("not_found", code)
  end)

  it("raises for what is no id", function()
    assert.has_error(function()
      engine:delete("7")
    end, "id is a string (expected an integer, a list of them or a query)")
    assert.has_error(function()
      engine:delete { 1, 1.5 }
    end, "id is 1.5 (expected an integer, a list of them or a query)")
  end)

  it("sets retries, which brings a dead job back and resolves its incident", function()
    local id = dead()
    assert.equal("dead", engine:job(id).state)
    assert.equal(1, engine:incidents({ open = true }):count())
    assert.equal(1, engine:set_retries(id, 2))
    assert.equal("ready", engine:job(id).state)
    assert.equal(0, engine:incidents({ open = true }):count())
    assert.equal(1, engine:incidents():count())
  end)

  it("sets retries with a due date", function()
    local id = dead()
    engine:set_retries(id, 2, { due = "2026-01-02T00:00:00Z" })
    assert.equal("2026-01-02T00:00:00.000Z", engine:job(id).due)
    assert.equal("scheduled", engine:job(id).state)
  end)

  it("sets retries to 0, which makes a job dead with an incident", function()
    local id = engine:enqueue("fine")
    engine:set_retries(id, 0)
    assert.equal("dead", engine:job(id).state)
    assert.equal("failedJob", engine:incidents({ open = true }):one().type)
    assert.same({ done = 0, failed = 0 }, engine:drain())
  end)

  it("sets the configured number of retries", function()
    local id = dead()
    engine:retry(id)
    assert.equal(3, engine:job(id).retries)
  end)

  it("sets and clears due dates", function()
    local id = engine:enqueue("fine")
    engine:set_due(id, "2026-01-01T01:00:00Z")
    assert.equal("scheduled", engine:job(id).state)
    engine:set_due(id, nil)
    assert.is_nil(engine:job(id).due)
    assert.equal("ready", engine:job(id).state)
  end)

  it("suspends and activates", function()
    local id = engine:enqueue("fine")
    engine:suspend(id)
    assert.equal("suspended", engine:job(id).state)
    assert.same({ done = 0, failed = 0 }, engine:drain())
    engine:activate(id)
    assert.same({ done = 1, failed = 0 }, engine:drain())
  end)

  it("deletes, and logs it", function()
    local id = engine:enqueue("fine")
    assert.equal(1, engine:delete(id))
    assert.equal("not_found", select(3, engine:job(id)))
    assert.equal("deleted", engine:log({ job = id }):list()[1].outcome)
  end)

  it("cancels a waiting job, and logs it", function()
    local id = engine:enqueue("fine")
    assert.equal(1, engine:cancel(id))
    assert.equal("not_found", select(3, engine:job(id)))
    assert.equal("cancelled", engine:log({ job = id }):list()[1].outcome)
  end)

  it("writes an operation for each call, none for the engine's own work", function()
    local id = dead()
    assert.equal(0, engine:operations():count())
    engine:set_retries(id, 2)
    local operation = engine:operations():one()
    assert.equal(1, operation.count)
    assert.equal("2026-01-01T00:00:00.000Z", operation.at)
  end)

  it("logs the value before and after, as long as it is the same for all", function()
    engine:enqueue_many { { "fine" }, { "fine", nil, { priority = 4 } } }
    engine:set_priority({ 1, 2 }, 9)
    engine:set_priority({ 1, 2 }, 7)
    local entries = engine:operations():list()
    assert.is_nil(entries[1].old)
    assert.equal("9", entries[1].new)
    assert.equal("9", entries[2].old)
    assert.equal("7", entries[2].new)
    assert.equal("2 jobs", entries[2].entity)
  end)

  it("logs a run by hand", function()
    local id = engine:enqueue("fine")
    engine:execute(id)
    local entry = engine:operations():one()
    assert.equal("execute", entry.verb)
    assert.equal("job " .. id, entry.entity)
  end)

  it("rolls back retries of a list with an unknown id", function()
    local id = dead()
    local touched, message, code = engine:set_retries({ id, 99 }, 3)
    assert.is_nil(touched)
    assert.equal("no job 99", message)
    assert.equal("not_found", code)
    assert.equal(0, engine:job(id).retries)
    assert.equal(1, engine:incidents({ open = true }):count())
    assert.equal(0, engine:operations():count())
  end)

  it("refuses negative retries", function()
    local id = engine:enqueue("fine")
    assert.has_error(function()
      engine:set_retries(id, -1)
    end, "retries is -1 (expected 0 or more)")
    assert.has_error(function()
      engine:definition("fine"):set_retries(-1)
    end, "retries is -1 (expected 0 or more)")
  end)

  it("retries at a date, with the configured number", function()
    local id = dead()
    engine:retry(id, { due = "2026-01-02T00:00:00Z" })
    assert.equal(3, engine:job(id).retries)
    assert.equal("2026-01-02T00:00:00.000Z", engine:job(id).due)
  end)

  it("gives a job up", function()
    local id = engine:enqueue("fine")
    assert.equal(1, engine:dead_letter(id))
    assert.equal("dead", engine:job(id).state)
    assert.equal("failedJob", engine:incidents({ open = true }):one().type)
    engine:dead_letter(id)
    assert.equal(1, engine:incidents():count())
  end)

  it("touches the rows of a page only", function()
    engine:enqueue_many { { "fine" }, { "fine" }, { "fine" } }
    assert.equal(2, engine:set_priority(engine:jobs():sort("id", "desc"):page(1, 2), 5))
    assert.equal(0, engine:job(1).priority)
    assert.equal(5, engine:job(3).priority)
  end)

  it("refuses a query with a filter that is none", function()
    local touched, message, code = engine:suspend(engine:jobs { handlr = "fine" })
    assert.is_nil(touched)
    assert.equal('unknown filter "handlr" (did you mean "handler"?)', message)
    assert.equal("invalid", code)
  end)

  it("closes an incident without touching its job, once", function()
    local id = dead()
    local incident = engine:incidents():one()
    assert.is_true(engine:resolve(incident.id, { note = "known" }))
    assert.equal("dead", engine:job(id).state)
    local closed = engine:incidents():one()
    assert.equal("resolved", closed.how)
    assert.equal("known", closed.note)
    local done, message, code = engine:resolve(incident.id)
    assert.is_nil(done)
    assert.equal(("incident %d is resolved already"):format(incident.id), message)
    assert.equal("conflict", code)
    assert.equal("not_found", select(3, engine:resolve(99)))
  end)

  it("leaves notes on incidents", function()
    dead()
    local incident = engine:incidents():one()
    assert.is_true(engine:annotate(incident.id, "called them"))
    assert.equal("called them", engine:incidents():one().note)
    assert.equal("not_found", select(3, engine:annotate(99, "nobody")))
  end)

  it("shows a definition and sets the retries of its dead jobs", function()
    local id = dead()
    local waiting = engine:enqueue("fail", nil, { retries = 5 })
    local definition = engine:definition("fail")
    assert.equal("fail", definition.name)
    assert.equal(2, definition:jobs():count())
    assert.equal(1, definition:set_retries(4))
    assert.equal(4, engine:job(id).retries)
    assert.equal(5, engine:job(waiting).retries)
    assert.equal(0, engine:incidents({ open = true }):count())
    assert.equal("not_found", select(3, engine:definition("nobody")))
  end)

  it("tells statistics and deployments", function()
    engine:enqueue("fine")
    assert.is_table(engine:stats())
    assert.is_table(engine:deployments())
  end)
end)
