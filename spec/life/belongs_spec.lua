-- To what a job belonged: its instance, root, activity, tenant and lane, in the log and in
-- incidents, when the job itself has gone; and the filters that ask for them.
local engines = require "spec.support.engines"
local testing = require "moonshift.testing"

describe("to what a job belonged", function()
  local engine

  before_each(function()
    engine = testing.engine {
      failed_job_wait = "PT0S",
      handlers = {
        fine = function() end,
        fail = function() error("no luck", 0) end,
        nap = function(job) job:snooze("PT1H") end,
      },
    }
  end)

  after_each(engines.clean)

  local OPTIONS = {
    instance = "order-7", root = "order-1", activity = "pay", tenant = "acme", lane = "till",
    category = "money", retries = 1,
  }

  local function has_all(entry, root_key)
    assert.same({ "order-7", "order-1", "pay", "acme", "till" },
      { entry.instance, entry[root_key], entry.activity, entry.tenant, entry.lane })
  end

  local function outcomes(filters)
    local list = {}
    for i, entry in ipairs(assert(engine:log(filters):list())) do
      list[i] = entry.outcome
    end
    return list
  end

  it("is in every entry of its log", function()
    local fine, nap = engine:enqueue("fine", nil, OPTIONS), engine:enqueue("nap", nil, OPTIONS)
    local fail = engine:enqueue("fail", nil, OPTIONS)
    engine:drain()
    engine:delete(fail)
    local entries = engine:log({ job = { fine, nap, fail } }):list()
    assert.equal(7, #entries)
    for _, entry in ipairs(entries) do
      has_all(entry, "root")
      assert.equal("money", entry.category)
    end
  end)

  it("is nothing where a job belonged to nothing", function()
    engine:enqueue("fine")
    engine:drain()
    for _, entry in ipairs(engine:log():list()) do
      for _, key in ipairs { "instance", "root", "activity", "tenant", "lane", "category" } do
        assert.is_nil(entry[key])
      end
    end
  end)

  it("is in its incident, and finds it", function()
    engine:enqueue("fail", nil, OPTIONS)
    engine:enqueue("fail", nil, { retries = 1 })
    engine:drain()
    local list = engine:incidents():list()
    assert.equal(2, #list)
    has_all(list[1], "root_instance")
    assert.equal(list[1].id, list[1].root_cause)
    local opened, later = list[1].created, "2200-01-01T00:00:00Z"
    for _, filters in ipairs {
      { instance = "order-7" }, { root_instance = "order-1" }, { activity = "pay" },
      { tenant = "acme" }, { cause = list[1].id }, { message = "luck", tenant = "acme" },
    } do
      local found = assert(engine:incidents(filters):list())
      assert.same({ 1, list[1].id }, { #found, found[1].id })
    end
    assert.equal(2, #engine:incidents({ created_before = later }):list())
    assert.equal(0, #engine:incidents({ created_before = opened }):list())
    assert.equal(0, #engine:incidents({ created_after = later }):list())
    assert.equal(0, #engine:incidents({ message = "bad luck" }):list())
  end)

  it("finds entries of the log, before and after they are filed", function()
    for i = 1, 3 do
      engine:enqueue("fine", nil, { instance = "order-" .. i, tenant = i < 3 and "acme" or nil })
    end
    engine:drain()
    engine:advance("PT1S")
    engine:enqueue("fail", nil, { instance = "order-2", retries = 1 })
    engine:drain()
    local function look()
      assert.same({ "failed", "created", "successful", "created" },
        outcomes { instance = "order-2" })
      assert.equal(4, #engine:log({ tenant = "acme" }):list())
      assert.same({ "failed" }, outcomes { instance = "order-2", outcome = "failed" })
      local walked = 0
      engine:log({ instance = { "order-1", "order-2" } }):each(function()
        walked = walked + 1
      end)
      assert.equal(6, walked)
      assert.equal(1, #engine:log({ job = 2, instance = "order-2", outcome = "created" }):list())
      assert.equal(0, #engine:log({ job = 2, instance = "order-1" }):list())
    end
    look()
    engine:advance("PT1H") -- the indexes are written in the meantime
    engine:drain()
    engine:enqueue("fine", nil, { instance = "order-9" })
    engine:drain()
    look()
    assert.equal(2, #engine:log({ instance = "order-9" }):list())
  end)

  it("finds nothing any more once an entry is removed", function()
    local id = engine:enqueue("fine", nil, OPTIONS)
    engine:drain()
    assert.equal(2, #engine:log({ instance = "order-7" }):list())
    assert(engine:delete_history(id))
    assert.equal(0, #engine:log({ instance = "order-7" }):list())
  end)

  it("is a filter beside deployment, executor, reason, message and priority", function()
    engine:enqueue("fine", nil, { priority = 5 })
    engine:enqueue("fail", nil, { retries = 1, priority = 9 })
    engine:drain()
    local done = engine:log({ outcome = "successful" }):one()
    assert.equal(2, #engine:log({ executor = done.executor }):list())
    assert.equal(2, #engine:log({ executor = { done.executor:match("^(.*)/"), 4711 } }):list())
    assert.equal(0, #engine:log({ executor = "nobody/99" }):list())
    assert.same({ "failed" }, outcomes { reason = "error" })
    assert.same({}, outcomes { reason = { "timeout" } })
    assert.same({ "failed" }, outcomes { message = "luck" })
    assert.same({ "failed", "created" }, outcomes { min_priority = 6 })
    assert.same({ "successful", "created" }, outcomes { max_priority = 5 })
    assert.equal(4, #engine:log({ deployment = done.deployment }):list())
    assert.equal(0, #engine:log({ deployment = done.deployment + 1 }):list())
    local _, message = engine:log({ reason = "weather" }):list()
    assert.matches('^filter "reason": "weather"', message)
    _, message = engine:log({ executor = true }):list()
    assert.matches('^filter "executor": expected an executor', message)
  end)

  it("is asked of jobs: activity, owner, those without tenant or instance", function()
    local one = engine:enqueue("fine", nil, { instance = "a", activity = "x" })
    local other = engine:enqueue("fine", nil, { tenant = "t" })
    assert.same({ one }, engine:jobs({ activity = "x" }):ids())
    assert.same({ other }, engine:jobs({ without_instance = true }):ids())
    assert.same({ one }, engine:jobs({ without_instance = false }):ids())
    assert.same({ one }, engine:jobs({ without_tenant = true }):ids())
    assert.same({}, engine:jobs({ owner = "nobody" }):ids())
  end)
end)
