-- Requests under an Idempotency-Key that are no creation of jobs.
local asker = require "spec.support.asker"
local json = require("moonshift").json
local models = require "spec.support.models"
local program = require "spec.support.program"

describe("a request under a key", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["processes/order.lua"] = "local p = require 'moonshift.process'\n"
        .. "return { p.step 'say' { run = function() print 'said' end }, p.task 'look' {} }\n",
      ["processes/alarm.lua"] = "local p = require 'moonshift.process'\n"
        .. "return { p.start 'fire' { signal = 'fire' }, p.task 'look' {} }\n",
      ["processes/paid.lua"] = "local p = require 'moonshift.process'\n"
        .. "return { p.start 'paid' { message = 'paid' }, p.task 'look' {} }\n",
      ["processes/high.bpmn"] = models.process('<startEvent id="s"><conditionalEventDefinition>'
        .. "<condition>${level > 3}</condition></conditionalEventDefinition></startEvent>"
        .. '<userTask id="look"/><sequenceFlow id="f" sourceRef="s" targetRef="look"/>'),
    }
    place.run("enqueue", "work", "{}")
  end)

  after_each(function()
    place.clean()
  end)

  local function post(path, body, key, who)
    return { "POST", path, body, headers = { ["idempotency-key"] = key }, who = who }
  end

  local function count(...)
    return #json.decode(select(2, place.run(...)))
  end

  local function instances()
    return count("instance", "list", "--json")
  end

  it("is done once, and has its first answer again: whatever it creates", function()
    for _, one in ipairs {
      { "/v1/processes/order/start", { variables = { n = 1 } } },
      { "/v1/processes/order/start", { later = true } },
      { "/v1/messages", { message = "paid" } },
      { "/v1/messages", { message = "nobody", keep = "PT1H" } },
      { "/v1/signals", { signal = "fire" } },
      { "/v1/conditions", { variables = { level = 4 } } },
    } do
      local path, body = table.unpack(one)
      local key = json.encode(body)
      local before = instances()
      local answers = asker.ask_all(place.path, { post(path, body, key), post(path, body, key) })
      local after = instances()
      assert.is_true(answers[1].status < 300, json.encode(answers[1]))
      assert.same(answers[1], answers[2])
      local third = asker.ask_all(place.path, { post(path, body, key) })[1]
      assert.same(answers[1], third)
      assert.equal(after, instances())
      assert.is_true(after - before <= 1)
    end
    assert.equal(4, instances())
    assert.equal(2, count("job", "list", "--json")) -- that of the place, and the later start
  end)

  it("starts anew what has ended, once", function()
    local made = asker.ask(place.path, { "POST", "/v1/processes/order/start" }).body.instance
    place.run("instance", "cancel", tostring(made))
    local path = ("/v1/process-instances/%d/restart"):format(made)
    local body = { operations = { { start_before = "look" } } }
    local answers = asker.ask_all(place.path, { post(path, body, "r"), post(path, body, "r") })
    assert.equal(200, answers[1].status, json.encode(answers[1]))
    assert.same(answers[1], answers[2])
    assert.equal(1, instances())
  end)

  it("makes one batch", function()
    local body = { type = "set-job-priority", ids = { 1 }, config = { priority = 7 } }
    local answers = asker.ask_all(place.path, { post("/v1/batches", body, "b"),
      post("/v1/batches", body, "b"), post("/v1/batches", { type = "suspend", ids = { 1 } }, "b") })
    assert.equal(201, answers[1].status)
    assert.same(answers[1], answers[2])
    assert.same({ 409, "conflict" }, { answers[3].status, answers[3].body.code })
    assert.equal(1, count("batch", "list", "--json"))
  end)

  it("is another one with other content, at another path, and of another token", function()
    local path = "/v1/processes/order/start"
    local answers = asker.ask_all(place.path, {
      post(path, { key = "a" }, "k"),
      post(path, { key = "b" }, "k"),
      post("/v1/messages", { message = "paid" }, "k"),
      post("/v1/jobs", { handler = "work" }, "k"),
      post(path, { key = "a" }, "k", { token = 7 }),
    })
    local statuses = {}
    for i, answer in ipairs(answers) do
      statuses[i] = answer.status
    end
    assert.same({ 200, 409, 409, 409, 200 }, statuses)
    assert.not_equal(answers[1].body.instance, answers[5].body.instance)
    assert.equal(2, instances())
  end)

  it("that has failed is done when it is asked again", function()
    local path, body = "/v1/messages", { message = "late", key = "x" }
    assert.equal(404, asker.ask(place.path, post(path, body, "late")).status)
    body = { message = "nothing" }
    assert.equal(404, asker.ask(place.path, post(path, body, "late")).status)
  end)

  it("has a key that can be one", function()
    local path = "/v1/processes/order/start"
    for _, key in ipairs { "", ("k"):rep(256) } do
      local answer = asker.ask(place.path, post(path, nil, key))
      assert.same({ 400, "invalid", "Idempotency-Key" },
        { answer.status, answer.body.code, answer.body.field })
    end
    local answer = asker.ask(place.path, post("/v1/jobs/1/suspend", nil, "k"))
    assert.same({ 400, "Idempotency-Key" }, { answer.status, answer.body.field })
    assert.equal(0, instances())
  end)
end)
