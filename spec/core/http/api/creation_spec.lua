-- POST /v1/jobs: one job, lists, and lists that take several transactions.
local asker = require "spec.support.asker"
local process = require "spec.support.process"

local MANY = 2500

describe("a creation over HTTP", function()
  local folder

  before_each(function()
    folder = process.folder { ["handlers/work.lua"] = "return function() end" }
  end)

  after_each(function()
    process.remove(folder)
  end)

  local function post(jobs, headers)
    return { "POST", "/v1/jobs", jobs, headers = headers }
  end

  local COUNT = { "GET", "/v1/jobs/count" }

  local function many(count, last)
    local jobs = {}
    for i = 1, count do
      jobs[i] = { handler = "work", priority = i % 7 }
    end
    jobs[count + 1] = last
    return jobs
  end

  it("is of many jobs at once: all of them, or none", function()
    local key = { ["idempotency-key"] = "many" }
    local answers = asker.ask_all(folder, {
      post(many(MANY, { handler = "nobody" })), COUNT,
      post(many(MANY), key), COUNT,
      post(many(MANY), key), COUNT,
      post(many(MANY - 1), key), COUNT,
    })
    assert.same({ 404, 0, "not_found" },
      { answers[1].status, answers[2].body.count, answers[1].body.code })
    assert.same({ 201, MANY, MANY },
      { answers[3].status, #answers[3].body.items, answers[4].body.count })
    assert.same(answers[3].body, answers[5].body)
    assert.same({ 409, MANY }, { answers[7].status, answers[8].body.count })
    local seen = {}
    for _, item in ipairs(answers[3].body.items) do
      assert.equal("created", item.outcome)
      assert.is_nil(seen[item.id])
      seen[item.id] = true
    end
  end)

  it("leaves nothing of many of which one is refused as it is written", function()
    local answers = asker.ask_all(folder, {
      post { handler = "work", unique = "u" },
      post(many(MANY, { handler = "work", unique = "u", on_conflict = "refuse" })), COUNT,
    })
    assert.same({ 409, 1 }, { answers[2].status, answers[3].body.count })
    assert.same({ "1|0" }, process.sql(folder .. "/moonshift.db",
      "SELECT (SELECT count(*) FROM job), (SELECT count(*) FROM intake)"))
  end)

  it("replaces a job that was there, with the end of many", function()
    local new = { handler = "work", unique = "u", on_conflict = "replace", priority = 9 }
    local key = { ["idempotency-key"] = "replaces" }
    local answers = asker.ask_all(folder, {
      post { handler = "work", unique = "u" }, post(many(MANY, new), key),
      post(many(MANY, new), key), COUNT,
    })
    local id = answers[1].body.id
    assert.equal(201, answers[2].status)
    assert.same({ id = id, outcome = "replaced" }, answers[2].body.items[MANY + 1])
    assert.same(answers[2].body, answers[3].body)
    assert.equal(MANY + 1, answers[4].body.count)
    assert.equal(9, asker.ask(folder, { "GET", "/v1/jobs/" .. id }).body.priority)
  end)

  it("is of a hundred thousand jobs at most", function()
    local text = '{"handler":"work"}\n'
    local answer = asker.ask(folder, { "POST", "/v1/jobs", raw = text:rep(100001),
      headers = { ["content-type"] = "application/x-ndjson" } })
    assert.equal(413, answer.status)
    assert.matches("100001 jobs %(expected at most 100000%)", answer.body.detail)
  end)
end)
