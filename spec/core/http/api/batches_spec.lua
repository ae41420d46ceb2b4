-- Batches over HTTP: by ids, by a query, and what cannot be one.
local asker = require "spec.support.asker"
local json = require("moonshift").json
local program = require "spec.support.program"

describe("a batch over HTTP", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["processes/order.lua"] = "local p = require 'moonshift.process'\n"
        .. "return { p.task 'look' {} }\n",
    }
    for _ = 1, 3 do
      place.run("enqueue", "work", "{}")
    end
  end)

  after_each(function()
    place.clean()
  end)

  local function post(body)
    return asker.ask(place.path, { "POST", "/v1/batches", body })
  end


  it("is made of ids, and done", function()
    local made = post { type = "set-job-priority", ids = { 1, 3 }, config = { priority = 7 },
      name = "soon" }
    assert.same({ 201, 2 }, { made.status, made.body.ids })
    assert.equal("/v1/batches/" .. made.body.id, made.location)
    assert.equal("soon", asker.ask(place.path, { "GET", made.location }).body.name)
    place.run("batch", "show", tostring(made.body.id))
    place.run("run", "--drain", "--categories", "none")
    place.run("run", "--drain")
    assert.equal("completed", asker.ask(place.path, { "GET", made.location }).body.state)
  end)

  it("is made of what a query finds, of the list that the type has or that is named", function()
    place.run("process", "start", "order", "--key", "k")
    local jobs = post { type = "suspend", query = { handler = "work" } }
    assert.same({ 201, 3 }, { jobs.status, jobs.body.ids })
    local instances = post { type = "cancel-instances", query = { key = "k" } }
    assert.same({ 201, 1 }, { instances.status, instances.body.ids })
    local past = post { type = "cancel-instances", query = { key = "k" }, of = "past" }
    assert.equal(400, past.status)
  end)

  it("is refused with what is wrong, and leaves nothing", function()
    for body, expected in pairs {
      [{ type = "set-job-priority", config = { priority = 7 } }] = "either ids or a query",
      [{ type = "set-job-priority", ids = { 1 }, query = {} }] = "either ids or a query",
      [{ type = "suspend", ids = { "one" } }] = "one",
      [{ type = "suspend", query = { handler = "other" } }] = "no ids",
      [{ type = "suspend", query = { handler = "work" }, of = "all" }] = '"jobs"',
      [{ type = "suspend", ids = { 1 }, nmae = "x" }] = "nmae",
      [{ ids = { 1 } }] = "type",
      [{ type = 7, ids = { 1 } }] = "type 7: expected a text",
      [{ type = json.null, ids = { 1 } }] = "type null: expected a text",
      [{ type = "delete-jobs", query = json.null }] = "either ids or a query",
    } do
      local answer = post(body)
      assert.equal(400, answer.status, expected)
      assert.matches(expected, answer.body.detail)
    end
    assert.equal(404, post { type = "set-job-priorty", ids = { 1 } }.status)
    assert.equal("[]\n", (select(2, place.run("batch", "list", "--json"))))
  end)

  it("that makes jobs wants the scope for that, too", function()
    local who = { scopes = { "operate" } }
    local enqueue = { type = "enqueue", ids = { { n = 1 } }, config = { handler = "work" } }
    for _, body in ipairs { enqueue,
      { type = "suspend", ids = { 1 }, on_complete = "work" } } do
      local answer = asker.ask(place.path, { "POST", "/v1/batches", body, who = who })
      assert.equal(403, answer.status)
      assert.matches("enqueue", answer.body.detail)
      assert.equal(201, post(body).status)
    end
  end)

  it("is not for callers who see some tenants or handlers", function()
    local body = { type = "suspend", ids = { 1 } }
    for _, who in ipairs { { scopes = { "operate" }, tenant = "a" },
      { scopes = { "read" } }, { scopes = { "operate" }, handlers = { "work" } } } do
      local answer = asker.ask(place.path, { "POST", "/v1/batches", body, who = who })
      assert.equal(403, answer.status)
    end
  end)
end)
