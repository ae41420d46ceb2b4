-- Work for programs elsewhere: workers outside fetch jobs of topics and hand back what became of
-- them.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local outsiders = require "spec.support.outsiders"
local testing = require "moonshift.testing"

describe("a worker outside", function()
  local engine, handlers, ran

  before_each(function()
    ran = {}
    handlers = {}
    function handlers.note(job)
      ran[#ran + 1] = job.payload.n
    end
    engine = testing.engine { handlers = handlers }
  end)

  after_each(engines.clean)

  local function open(settings)
    engine:close()
    settings.handlers = handlers
    engine = testing.engine(settings)
  end

  local worker = outsiders.new(function()
    return engine
  end)
  local make, fetch, numbers, hand = worker.make, worker.fetch, worker.numbers, worker.hand

  local function outcomes()
    local list = {}
    for i, entry in ipairs(engine:log():list()) do
      list[i] = entry.outcome
    end
    table.sort(list)
    return list
  end

  it("gets the jobs of its topics, the best first, and nobody else gets them", function()
    make(1)
    make(2, { priority = 5 })
    engine:enqueue("topic/mail", { n = 3 })
    engine:enqueue("note", { n = 4 })
    local jobs = fetch("w1")
    assert.same({ 2, 1 }, numbers(jobs))
    assert.equal("ocr", jobs[1].topic)
    assert.equal("2026-01-01T00:01:00.000Z", jobs[1].lock_expiration)
    assert.same({}, fetch("w2"))
    engine:drain()
    assert.same({ 4 }, ran)
    assert.equal("ready", engine:jobs({ topic = "mail" }):one().state)
    assert.equal(3, engine:jobs({ external = true }):count())
  end)

  it("gets at most so many, of a range of priorities", function()
    for n = 1, 5 do
      make(n, { priority = n })
    end
    assert.same({ 5, 4 }, numbers(fetch("w1", 2)))
    assert.same({ 1 }, numbers(fetch("w1", 10, { priority = { moonshift.null, 1 } })))
    assert.same({ 3, 2 }, numbers(fetch("w1", 10, { priority = moonshift.null })))
  end)

  it("says of each topic which of its jobs it wants", function()
    local function add(topic, n, options)
      return (assert(engine:enqueue("topic/" .. topic, { n = n }, options)))
    end
    for n = 1, 6 do
      add("ocr", n, { priority = n, tenant = n % 2 == 0 and "acme" or nil })
      add("mail", 10 + n, { priority = n })
      add("fax", 20 + n, { priority = 2, category = n == 4 and "scans" or nil,
        lane = "l" .. n })
    end
    local function wanted(topics, more)
      local given = { worker = "w", topics = topics, max = 100, lock = "PT1M" }
      for key, value in pairs(more or {}) do
        given[key] = value
      end
      local jobs = assert(engine:fetch(given))
      local list = numbers(jobs)
      local back = {}
      for i, job in ipairs(jobs) do
        back[i] = { id = job.id, token = job.token, outcome = "release" }
      end
      assert(engine:settle { outcomes = back })
      return list
    end
    local null = moonshift.null
    assert.same({ 6, 4, 2 }, wanted { { topic = "ocr", tenant = "acme" } })
    assert.same({ 4, 2 }, wanted { { topic = "ocr", tenant = "acme", priority = { null, 5 } } })
    assert.same({}, wanted { { topic = "ocr", tenant = "other" } })
    assert.same({ 24 }, wanted { { topic = "fax", category = "scans" } })
    assert.same({}, wanted { { topic = "ocr", category = "scans" } })
    assert.same({ 16, 15, 4, 3, 2, 1 }, wanted { { topic = "ocr", priority = { null, 4 } },
      { topic = "mail", priority = { 5, null } } })
    assert.same({ 5, 13, 12 }, wanted({ { topic = "ocr", priority = { 5, 5 } }, "mail" },
      { priority = { 2, 3 } }))
    assert.same({ 6 }, wanted({ { topic = "ocr", tenant = "acme" } }, { max = 1 }))
  end)

  it("has the jobs of each topic as long as it says", function()
    make(1)
    engine:enqueue("topic/mail", { n = 2 })
    local jobs = assert(engine:fetch { worker = "w", max = 2, lock = "PT1M",
      topics = { { topic = "ocr", lock = "PT9M" }, { topic = "mail" } } })
    assert.equal("2026-01-01T00:09:00.000Z", jobs[1].lock_expiration)
    assert.equal("2026-01-01T00:01:00.000Z", jobs[2].lock_expiration)
  end)

  it("completes with a result", function()
    local id = make(1)
    local job = fetch("w1")[1]
    assert.is_nil(hand(job, "complete", { result = { pages = 3 } }))
    local entry = engine:log({ job = id, outcome = "successful" }):one()
    assert.same({ pages = 3 }, entry.result)
    assert.match("^w1/%d+$", entry.executor)
    assert.is_nil(engine:job(id))
    assert.equal("conflict", (hand(job, "complete")))
  end)

  it("creates jobs with what it completes, or neither", function()
    local id = make(1, { tenant = "acme", instance = "order-7" })
    local job = fetch("w1")[1]
    local function complete(create)
      return assert(engine:settle { outcomes = {
        { id = job.id, token = job.token, outcome = "complete", create = create } } }).outcomes[1]
    end
    local refused = complete { { handler = "note", payload = { n = 1 } }, { handler = "nite" } }
    assert.same({ "not_found", id }, { refused.code, refused.id })
    assert.match('create 2: unknown handler "nite"', refused.message, 1, true)
    engine:enqueue("note", { n = 5 }, { unique = "five" })
    refused = complete { { handler = "note", payload = { n = 2 } },
      { handler = "note", unique = "five", on_conflict = "refuse" } }
    assert.equal("conflict", refused.code)
    assert.same({ "locked", 2 }, { engine:job(id).state, engine:jobs():count() })
    local told = complete { { handler = "note", payload = { n = 3 }, priority = 7 },
      { handler = "note", unique = "five" }, { handler = "topic/ocr", payload = { n = 4 } } }
    assert.is_nil(told.code)
    assert.same({ "created", "kept", "created" },
      { told.created[1].outcome, told.created[2].outcome, told.created[3].outcome })
    local new = engine:job(told.created[1].id)
    assert.same({ "note", 7, "acme", "order-7" },
      { new.handler, new.priority, new.tenant, new.root })
    assert.same({ 4 }, numbers(fetch("w1")))
    engine:drain()
    assert.same({ 3, 5 }, ran)
    assert.equal("conflict", complete({ { handler = "note" } }).code)
    assert.equal(1, engine:jobs():count())
  end)

  it("is refused alone where what it creates is, and the others are settled", function()
    engine:enqueue("note", {}, { unique = "five" })
    local list = {}
    for n = 1, 6 do
      make(n)
    end
    for i, job in ipairs(fetch("w1")) do
      list[i] = { id = job.id, token = job.token, outcome = "complete", result = i,
        create = i % 2 == 0 and { { handler = "note", payload = { n = i } },
          { handler = "note", unique = "five", on_conflict = "refuse" } } or nil }
    end
    for i, told in ipairs(assert(engine:settle { outcomes = list }).outcomes) do
      assert.equal(i % 2 == 0 and "conflict" or nil, told.code)
    end
    assert.equal(3, engine:jobs({ locked = true }):count())
    assert.equal(4, engine:jobs():count())
    assert.equal(3, engine:log({ outcome = "successful" }):count())
  end)

  it("tells how far it is, and leaves lines", function()
    local id = make(1)
    local job = fetch("w1")[1]
    assert.is_nil(hand(job, "progress", { fraction = 0.25, text = "page 1", lines = { "began" } }))
    local seen = engine:job(id)
    assert.same({ "locked", 0.25, "page 1" },
      { seen.state, seen.progress.fraction, seen.progress.text })
    assert.is_nil(hand(job, "fail", { message = "torn", lines = { "page 1", "page 2" } }))
    engine:advance "PT1M"
    job = fetch("w1")[1]
    assert.is_nil(hand(job, "progress", { lines = { "again" } }))
    assert.is_nil(hand(job, "complete", { lines = { "done" } }))
    assert.equal("conflict", (hand(job, "progress", { fraction = 1 })))
    local lines = {}
    for _, entry in ipairs(engine:log({ job = id }):list()) do
      for _, line in ipairs(entry.lines or {}) do
        lines[#lines + 1] = entry.attempt .. " " .. line
      end
    end
    table.sort(lines)
    assert.same({ "1 began", "1 page 1", "1 page 2", "2 again", "2 done" }, lines)
  end)

  it("ends a job with a business error, and an operator may try again", function()
    local id = make(1)
    assert.is_nil(hand(fetch("w1")[1], "error", { code = "NO_PAPER", message = "empty" }))
    local job = engine:job(id)
    assert.same({ "dead", "BPMN error NO_PAPER: empty" }, { job.state, job.message })
    local incident = engine:incidents({ type = "businessError" }):one()
    assert.same({ id, "BPMN error NO_PAPER: empty" }, { incident.job, incident.message })
    assert.equal("businessError", engine:log({ reason = "businessError" }):one().reason)
    engine:retry(id)
    assert.is_nil(hand(fetch("w1")[1], "complete"))
    assert.equal(0, engine:incidents({ open = true }):count())
  end)

  it("fails as its definition says, or as it says itself", function()
    local id = make(1)
    assert.is_nil(hand(fetch("w1")[1], "fail", { message = "no paper", stack = "a\nb" }))
    local job = engine:job(id)
    assert.same({ 2, "no paper", "a\nb" }, { job.retries, job.message, job.stack })
    assert.same({}, fetch("w1"))
    engine:advance "PT1M"
    assert.is_nil(hand(fetch("w1")[1], "fail", { message = "x", retries = 7, ["in"] = "PT1H" }))
    job = engine:job(id)
    assert.same({ 7, "2026-01-01T01:01:00.000Z" }, { job.retries, job.due })
    assert.same({}, fetch("w1"))
    engine:advance "PT1H"
    assert.is_nil(hand(fetch("w1")[1], "fail", { message = "y", ["in"] = "PT2H" }))
    job = engine:job(id)
    assert.same({ 6, "2026-01-01T03:01:00.000Z" }, { job.retries, job.due })
    engine:advance "PT2H"
    assert.is_nil(hand(fetch("w1")[1], "fail", { message = "no use", permanent = true }))
    assert.same({ "dead", 1 }, { engine:job(id).state, engine:incidents({ job = id }):count() })
  end)

  it("gives back, puts off and keeps longer", function()
    local id = make(1)
    local job = fetch("w1")[1]
    assert.is_nil(hand(job, "extend", { lock = "PT1H" }))
    assert.equal("2026-01-01T01:00:00.000Z", engine:job(id).lock_expiration)
    engine:advance "PT30M"
    assert.same({}, fetch("w2"))
    assert.is_nil(hand(job, "release"))
    job = fetch("w2")[1]
    assert.same({ 1, 3, 0 }, { job.attempt, job.retries, job.crashes })
    assert.is_nil(hand(job, "snooze", { ["in"] = "PT10M" }))
    assert.same({ "scheduled", "2026-01-01T00:40:00.000Z" },
      { engine:job(id).state, engine:job(id).due })
  end)

  it("has no job of an activity whose handler the folder lacks", function()
    local process = 'local p = require "moonshift.process"\n'
      .. 'return { p.step "s" { run = "elsewhere", async = true } }\n'
    local called = 0
    engine:close()
    engine = testing.engine { scripts = engines.folder { ["processes/p.lua"] = process },
      missing = function()
        called = called + 1
      end }
    assert(engine:start "p")
    assert.is_nil((select(2, engine:execute(engine:jobs():list()[1].id))))
    assert.equal(1, called)
  end)

  it("has the retry rule and the lock of a handler's file that has no function", function()
    engine:close()
    engine = engines.private { ["handlers/topic/ocr.lua"] =
      'return { retry = "R2/PT7M", timeout = "PT9M" }' }
    local id = make(1)
    engine:drain()
    assert.equal("ready", engine:job(id).state)
    local _, message, code = engine:execute(id)
    assert.same({ "conflict", 'job %d: workers outside do the jobs of "topic/ocr"' },
      { code, (message:gsub("%d+", "%%d")) })
    local job = assert(engine:fetch { worker = "w1", topics = { "ocr" } })[1]
    assert.equal("2026-01-01T00:09:00.000Z", job.lock_expiration)
    assert.is_nil(hand(job, "fail", { message = "no paper" }))
    job = engine:job(id)
    assert.same({ 1, "2026-01-01T00:07:00.000Z" }, { job.retries, job.due })
  end)

  it("counts against a limit", function()
    make(1)
    make(2)
    engine:definition("topic/ocr"):override_limit { cluster = 1 }
    assert.same({ 1 }, numbers(fetch("w1")))
    assert.same({}, fetch("w1"))
  end)

  it("settles many as one, and fetches with it", function()
    for n = 1, 100 do
      make(n)
    end
    local jobs, list = fetch("w1", 50), {}
    for i, job in ipairs(jobs) do
      list[i] = { id = job.id, token = job.token, outcome = i % 10 == 0 and "fail" or "complete",
        message = i % 10 == 0 and "tenth" or nil }
    end
    list[3].token = list[3].token + 1000
    local settled = assert(engine:settle { worker = "w1", outcomes = list,
      fetch = { worker = "w1", topics = { "ocr" }, max = 20, lock = "PT1M" } })
    assert.equal("conflict", settled.outcomes[3].code)
    assert.is_nil(settled.outcomes[4].code)
    assert.equal(20, #settled.jobs)
    assert.equal(44, engine:log({ outcome = "successful" }):count())
    assert.equal(5, engine:log({ outcome = "failed" }):count())
    assert.equal(21, engine:jobs({ locked = true }):count())
  end)

  it("ends each of its jobs once, however often one request says so", function()
    engine:enqueue("topic/ocr")
    local one = assert(engine:fetch { worker = "w1", topics = { "ocr" } })[1]
    local again = { id = one.id, token = one.token, outcome = "complete",
      create = { { handler = "topic/ocr" } } }
    local settled = assert(engine:settle { worker = "w1", outcomes = { again, again } })
    assert.is_nil(settled.outcomes[1].code)
    assert.equal("conflict", settled.outcomes[2].code)
    assert.equal(1, engine:jobs():count())
  end)

  it("is suspended with its job, and may not complete it then", function()
    local id = make(1)
    local job = fetch("w1")[1]
    engine:suspend(id)
    assert.equal("conflict", (hand(job, "complete")))
    engine:activate(id)
    assert.is_nil(hand(fetch("w1")[1], "complete"))
  end)

  it("is told what is wrong with its words", function()
    local function refused(given, pattern)
      local jobs, message, code = engine:fetch(given)
      assert.is_nil(jobs)
      assert.equal("invalid", code)
      assert.match(pattern, message, 1, true)
    end
    refused({ topics = { "ocr" } }, "worker ?: expected a text of 1 to 255 bytes")
    refused({ worker = "w", topics = {} }, "expected a list of 1 to 1000 topics")
    refused({ worker = "w", topics = { "a", "a" } }, "expected each topic once")
    refused({ worker = "w", topics = { "a" }, lock = "PT0S" }, "expected more than nothing")
    refused({ worker = "w", topics = { "a" }, max = 1001 }, "a whole number from 1 to 1000")
    refused({ worker = "w", topics = { "a" }, loc = "PT1M" }, 'unknown key "loc"')
    local function topic(wish, pattern)
      wish.topic = wish.topic or "a"
      refused({ worker = "w", topics = { wish } }, pattern)
    end
    topic({ topic = 5 }, "topic 5: expected a text of 1 to 255 bytes")
    topic({ lock = "soon" }, 'lock: duration "soon"')
    topic({ lock = 5 }, 'lock 5: expected a span such as "PT5M"')
    topic({ priority = { 2, 1 } }, "priority [2,1]: expected the least one first")
    topic({ priority = { "x" } }, 'priority "x": expected a whole number or nothing')
    topic({ priority = 5 }, "priority 5: expected the least and the highest one")
    topic({ tenant = "" }, 'tenant "": expected a text of 1 to 255 bytes')
    topic({ category = 7 }, "category 7: expected a text of 1 to 255 bytes")
    topic({ max = 7 }, 'unknown key "max"')
    refused({ worker = "w", topics = { "a" }, priority = { 2, 1 } },
      "priority [2,1]: expected the least one first")
    local function wrong(pattern, outcome, more)
      local one = { id = 1, token = 1, outcome = outcome }
      for key, value in pairs(more or {}) do
        one[key] = value
      end
      local settled, message = engine:settle { outcomes = { one } }
      assert.is_nil(settled)
      assert.match("outcome 1: " .. pattern, message, 1, true)
    end
    wrong('unknown outcome "done"', "done")
    wrong("code ?: expected a text", "error")
    wrong("code 7: expected a text", "error", { code = 7 })
    wrong("message true: expected a text", "fail", { message = true })
    wrong("in ?: expected a span", "snooze")
    wrong('in "PT0S": expected more than nothing', "snooze", { ["in"] = "PT0S" })
    wrong('unknown key "code"', "complete", { code = "no" })
    local function wrong_with(one, pattern)
      one.id, one.token = 1, 1
      local _, text, code = engine:settle { outcomes = { one } }
      assert.equal("invalid", code)
      assert.match(pattern, text, 1, true)
    end
    wrong_with({ outcome = "progress" }, "fraction ?: expected a number from 0 to 1")
    wrong_with({ outcome = "progress", fraction = 2 }, "fraction 2: expected a number from 0 to 1")
    wrong_with({ outcome = "complete", lines = { 5 } },
      "lines [5]: expected a list of at most 1000 texts")
    wrong_with({ outcome = "complete", create = { "note" } },
      "expected a list of at most 1000 jobs")
    wrong_with({ outcome = "fail", create = {} }, 'unknown key "create"')
    local most = {}
    for i = 1, 501 do
      most[i] = { handler = "note" }
    end
    local whole = { id = 1, token = 1, outcome = "complete", create = most }
    assert.match("create: 1002 jobs in all outcomes (expected at most 1000)",
      select(2, engine:settle { outcomes = { whole, whole } }), 1, true)
    wrong_with({ outcome = "extend", lock = "PT1M", lines = {} }, 'unknown key "lines"')
  end)

  it("is counted in what it ends, each run once", function()
    local function counted(name)
      local stats, list = engine:stats(), {}
      for _, definition in ipairs(stats.definitions) do
        list[definition.name] = definition.metrics
      end
      local one = list[name] or { successful = 0, failed = 0 }
      return one.successful, one.failed, stats.metrics.successful, stats.metrics.failed
    end
    for n = 1, 8 do
      make(n)
    end
    engine:enqueue("topic/mail", {})
    local jobs = fetch("w1")
    assert.same({ 0, 0, 0, 0 }, { counted "topic/ocr" })
    hand(jobs[1], "complete")
    hand(jobs[1], "complete") -- refused
    hand(jobs[2], "fail", { message = "no", ["in"] = "PT1H" })
    hand(jobs[3], "fail", { message = "no", permanent = true })
    hand(jobs[4], "error", { code = "E" })
    hand(jobs[5], "snooze", { ["in"] = "PT1H" })
    hand(jobs[6], "release")
    hand(jobs[7], "complete", { create = { { handler = "nobody" } } }) -- refused
    assert.same({ 1, 3, 1, 3 }, { counted "topic/ocr" })
    hand(fetch("w1", 1, { topics = { "mail" } })[1], "complete")
    engine:advance("PT2M") -- the locks of 7 and 8 run out: that is seen by who takes over
    assert.same({ 1, 3, 2, 3 }, { counted "topic/ocr" })
    assert.same({ 6, 7, 8 }, numbers(fetch("w2")))
    assert.same({ 1, 5, 2, 5 }, { counted "topic/ocr" })
    assert.same({ 1, 0, 2, 5 }, { counted "topic/mail" })
  end)

  it("stands among the executors with its topics, and its jobs say so", function()
    local id = make(1)
    local row = engine:executors()
    assert.match("topic \"ocr\"", (engine:why(id)), 1, true)
    fetch("w1", 1)
    row = engine:executors({ gone = true })[#row + 1]
    assert.same({ "w1", "live", { "ocr" } }, { row.name, row.state, row.topics })
    assert.match("is being worked on by the worker w1/", (engine:why(id)), 1, true)
    make(2)
    assert.equal("next", select(2, engine:why(2)).reason)
    engine:advance "PT2H"
    assert.match("whose lock expired at", (engine:why(id)), 1, true)
    assert.match("has not been heard of since", (engine:why(2)), 1, true)
  end)

  it("is a filter of jobs", function()
    make(1)
    make(2)
    engine:enqueue("note", { n = 3 })
    local job = fetch("w1", 1)[1]
    fetch("w2", 1)
    assert.equal(job.id, engine:jobs({ worker = "w1" }):one().id)
    assert.equal(2, engine:jobs({ worker = { "w1", "w2" } }):count())
    assert.equal(0, engine:jobs({ worker = "w3" }):count())
    for _, row in ipairs(engine:executors()) do
      local held = row.topics and 1 or 0
      assert.equal(held, engine:jobs({ worker = row.name .. "/" .. row.id }):count())
    end
  end)

  it("of a topic whose handler the folder has shares the jobs with the executor", function()
    handlers["topic/ocr"] = handlers.note
    open {}
    make(1)
    make(2)
    assert.same({ 1 }, numbers(fetch("w1", 1)))
    engine:drain()
    assert.same({ 2 }, ran)
    assert.same({ "created", "created", "successful" }, outcomes())
  end)

  it("leaves its row for an hour, and a few of them go with each that comes", function()
    make(0)
    hand(fetch("old1", 1)[1], "complete")
    for i = 2, 1060 do
      fetch("old" .. i, 1)
    end
    make(1)
    assert.equal(1, #fetch("holds", 1, { lock = "PT12H" }))
    local function count(state)
      local found = 0
      for _, executor in ipairs(engine:executors { gone = true }) do
        found = found + (executor.state == state and 1 or 0)
      end
      return found
    end
    engine:advance "PT2H"
    fetch "new1"
    assert.same({ 16, 1045 }, { count "gone", count "overdue" })
    for i = 2, 67 do
      fetch("new" .. i)
    end
    assert.same({ 1000, 1, 67 }, { count "gone", count "overdue", count "live" })
    assert.equal(1, engine:stats().metrics.successful) -- what old1 did counts on
    fetch "old1"
    assert.equal(68, count "live")
  end)
end)
