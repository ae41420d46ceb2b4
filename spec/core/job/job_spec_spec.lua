local moonshift = require "moonshift"
local testing = require "moonshift.testing"

describe("a new job", function()
  local engine

  before_each(function()
    engine = testing.engine { handlers = { work = function() end }, payload_limit = 20 }
  end)

  after_each(function()
    engine:close()
  end)

  local function made(options, payload)
    return engine:job(assert(engine:enqueue("work", payload, options)))
  end

  local function refusal(options, payload)
    local id, message, code = engine:enqueue("work", payload, options)
    assert.is_nil(id)
    assert.equal("invalid", code)
    return message
  end

  it("is a message of priority 0 with three retries", function()
    local job = made()
    assert.same({ "message", 0, 3, 1 }, { job.type, job.priority, job.retries, job.attempt })
    assert.is_nil(job.due)
    assert.same({}, job.payload)
  end)

  it("with a due date is a timer", function()
    local job = made { at = "2026-01-31T12:00:00+01:00" }
    assert.same({ "timer", "2026-01-31T11:00:00.000Z" }, { job.type, job.due })
    assert.equal("2026-02-01T00:00:00.000Z", made({ due = "2026-02-01" }).due)
  end)

  it("may come after a while, in ISO text or seconds", function()
    assert.equal("2026-01-01T00:05:00.000Z", made({ after = "PT5M" }).due)
    assert.equal("2026-02-01T00:00:00.000Z", made({ ["in"] = "P1M" }).due)
    assert.equal("2026-01-01T00:00:01.500Z", made({ after = 1.5 }).due)
  end)

  it("may say its date as people do, in UTC if no zone is set", function()
    engine.clock:set "2026-03-28T10:00:00Z"
    for text, due in pairs {
      now = "2026-03-28T10:00:00.000Z", today = "2026-03-28T00:00:00.000Z",
      ["tomorrow 08:00"] = "2026-03-29T08:00:00.000Z",
      ["yesterday 23:59:30"] = "2026-03-27T23:59:30.000Z", ["+1h30m"] = "2026-03-28T11:30:00.000Z",
      ["+P1M"] = "2026-04-28T10:00:00.000Z", ["-2d"] = "2026-03-26T10:00:00.000Z",
      ["2026-04-01 08:00"] = "2026-04-01T08:00:00.000Z",
    } do
      assert.equal(due, made({ at = text }).due, text)
    end
    assert.equal("2026-03-28T10:05:00.000Z", made({ after = "5m" }).due)
  end)

  it("says its date in the zone that the settings name", function()
    local berlin = testing.engine { handlers = { work = function() end }, zone = "Europe/Berlin" }
    berlin.clock:set "2026-03-28T22:30:00Z"
    for text, due in pairs {
      ["today"] = "2026-03-27T23:00:00.000Z", ["tomorrow 08:00"] = "2026-03-29T06:00:00.000Z",
      ["2026-07-01 08:00"] = "2026-07-01T06:00:00.000Z", ["+1d"] = "2026-03-29T21:30:00.000Z",
      ["+24h"] = "2026-03-29T22:30:00.000Z", ["2026-03-29 02:30"] = "2026-03-29T01:00:00.000Z",
      ["2026-07-01T08:00Z"] = "2026-07-01T08:00:00.000Z",
    } do
      assert.equal(due, berlin:job(assert(berlin:enqueue("work", nil, { at = text }))).due, text)
    end
    local id = assert(berlin:enqueue("work", nil, { cycle = "0 8 * * *" }))
    assert.equal("2026-03-29T06:00:00.000Z", berlin:job(id).due)
    assert(berlin:set_due(id, "tomorrow 09:00"))
    assert.equal("2026-03-29T07:00:00.000Z", berlin:job(id).due)
    assert.equal(1, berlin:jobs({ due_before = "2026-03-28 23:30" }):count())
    berlin:close()
  end)

  it("counts a date anew from what was said", function()
    local counted = {}
    for i, options in ipairs { { after = "1h30m" }, { after = 90 }, { at = "+1h" },
      { at = "2026-01-02" } } do
      counted[i] = assert(engine:enqueue("work", nil, options))
    end
    engine.clock:advance "1d"
    assert(engine:recalculate_due(counted))
    local due = {}
    for i, id in ipairs(counted) do
      due[i] = engine:job(id).due
    end
    assert.same({ "2026-01-02T01:30:00.000Z", "2026-01-02T00:01:30.000Z",
      "2026-01-01T01:00:00.000Z", "2026-01-02T00:00:00.000Z" }, due)
  end)

  it("with a cycle is a timer that waits for its first date", function()
    local job = made { cycle = "R/PT5M" }
    assert.same({ "timer", "2026-01-01T00:05:00.000Z" }, { job.type, job.due })
    assert.equal("2026-01-05T07:00:00.000Z",
      made({ ["repeat"] = "0 8 * * MON", zone = "Europe/Berlin" }).due)
  end)

  it("keeps a due date in the past", function()
    assert.equal("2020-01-01T00:00:00.000Z", made({ at = "2020-01-01" }).due)
  end)

  it("has one due date at the most", function()
    assert.equal("at and after: expected only one of at, due, after, in",
      refusal { at = "2026-01-01", after = 5 })
    assert.equal("at and due: expected only one of at, due, after, in",
      refusal { at = "2026-01-01", due = "2026-01-01" })
  end)

  it("names the key of a bad time", function()
    assert.equal('at: time "2026-02-30": day 30 is not in month 02 (position 9), '
      .. 'as in "2026-12-24T18:00:00+01:00"', refusal { at = "2026-02-30" })
    assert.equal('at: time "next week": expected a time, such as "2026-12-24 18:00", '
      .. '"tomorrow 08:00", "+1h" or "now"', refusal { at = "next week" })
    assert.equal('at: time "today 8h": time "8h": expected hour (2 digits) (position 2), '
      .. 'as in "08:00"', refusal { at = "today 8h" })
    assert.equal('after: duration "5M": M may mean months: expected m for minutes, or P1M for '
      .. 'months (position 2), as in "1h30m" or "PT1H30M"', refusal { after = "5M" })
    assert.equal('at 5: expected a time such as "2026-12-24T18:00:00Z"', refusal { at = 5 })
  end)

  it("has a whole priority of 64 bits", function()
    assert.equal(math.mininteger, made({ priority = math.mininteger }).priority)
    assert.equal(5, made({ priority = 5.0 }).priority)
    assert.equal("priority 1.5: expected a whole number of 64 bits", refusal { priority = 1.5 })
    assert.equal('priority "high": expected a whole number of 64 bits',
      refusal { priority = "high" })
    assert.equal("priority 1e+300: expected a whole number of 64 bits",
      refusal { priority = 1e300 })
  end)

  it("runs at least once", function()
    assert.equal(1, made({ retries = 1 }).retries)
    assert.equal("retries 0: expected a whole number from 1 to 2147483647",
      refusal { retries = 0 })
  end)

  it("with a lane or an instance is exclusive, the lane being the instance", function()
    local job = made { instance = "order-7" }
    assert.same({ true, "order-7" }, { job.exclusive, job.lane })
    assert.equal("customer-1", made({ instance = "order-7", lane = "customer-1" }).lane)
    assert.is_false(made({ lane = "q", exclusive = false }).exclusive)
    assert.is_false(made().exclusive)
  end)

  it("has a payload within the limit", function()
    assert.same({ a = moonshift.null, b = moonshift.array {} },
      made(nil, { a = moonshift.null, b = moonshift.array {} }).payload)
    assert.equal("payload: 21 bytes, at most 20 are allowed", refusal(nil, ("x"):rep(19)))
  end)

  it("has names of 255 bytes without control characters", function()
    assert.equal(("x"):rep(255), made({ lane = ("x"):rep(255) }).lane)
    assert.equal(('lane "%s…": 256 bytes, at most 255 are allowed'):format(("x"):rep(40)),
      refusal { lane = ("x"):rep(256) })
    assert.equal("tenant: control characters are not allowed", refusal { tenant = "a\nb" })
    assert.equal("lane: expected a text that is not empty", refusal { lane = "" })
    assert.equal("lane 5: expected a text", refusal { lane = 5 })
  end)

  it("has no unknown keys", function()
    assert.equal('job: unknown key "priorty" (did you mean "priority"?)', refusal { priorty = 1 })
    assert.equal('job: unknown key "colour"', refusal { colour = "red" })
  end)

  it("has no key that is neither true nor false where one is expected", function()
    assert.equal('exclusive "yes": expected true or false', refusal { exclusive = "yes" })
  end)
end)

describe("settings of new jobs", function()
  local function made(settings, options)
    settings.handlers = { work = function() end }
    local engine = testing.engine(settings)
    local job = engine:job(assert(engine:enqueue("work", nil, options)))
    engine:close()
    return job
  end

  it("may give every job a due date", function()
    local job = made { ensure_due_date = true }
    assert.same({ "message", job.created }, { job.type, job.due })
  end)

  it("may forbid priorities", function()
    assert.equal(0, made({ produce_priorities = false }, { priority = 9 }).priority)
  end)

  it("give retries and priority", function()
    local job = made { retries = 7, priority = 20 }
    assert.same({ 7, 20 }, { job.retries, job.priority })
  end)

  it("may make the root the lane", function()
    local given = { instance = "i", root = "r" }
    assert.equal("r", made({ lane_scope = "root" }, given).lane)
    assert.equal("i", made({ lane_scope = "instance" }, given).lane)
    local inherits = made({ lane_scope = "root" }, { root = "r" })
    assert.same({ true, "r" }, { inherits.exclusive, inherits.lane })
    assert.is_false(made({ lane_scope = "root" }, { root = "r", exclusive = false }).exclusive)
    assert.is_false(made({ lane_scope = "instance" }, { root = "r" }).exclusive)
  end)
end)

describe("a job created by a job", function()
  it("inherits root and tenant, not the instance", function()
    local engine = testing.engine {
      handlers = {
        parent = function(job)
          job:enqueue "child"
        end,
        child = function() end,
      },
    }
    engine:enqueue("parent", nil, { instance = "i", tenant = "t" })
    engine:turn()
    local child = engine:jobs({ handler = "child" }):one()
    assert.same({ "i", "t" }, { child.root, child.tenant })
    assert.is_nil(child.instance)
    engine:close()
  end)
end)
