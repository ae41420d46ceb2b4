local asker = require "spec.support.asker"
local json = require("moonshift").json
local program = require "spec.support.program"

describe("a question over HTTP", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["handlers/fail.lua"] = "return { retry = 'R1/PT1H',\n"
        .. "  run = function() error('no luck') end }\n",
      ["processes/order.lua"] = "local p = require 'moonshift.process'\n"
        .. "return { p.task 'look' {}, p.receive 'paid' { message = 'paid' } }\n",
    }
  end)

  after_each(function()
    place.clean()
  end)

  local function ask(...)
    return asker.ask(place.path, { ... })
  end

  -- The same question as the command line asks it.
  local function shown(...)
    local status, output, errors = place.run(...)
    assert.equal(0, status, errors)
    return assert(json.decode(output))
  end

  it("has the rows of the command line, and pages them", function()
    for i = 1, 5 do
      place.run("enqueue", "work", ('{"n":%d}'):format(i), "--priority", tostring(i % 3))
    end
    local rows = shown("job", "list", "--json")
    assert.same(rows, ask("GET", "/v1/jobs").body.items)
    local seen, after = {}, ""
    repeat
      local page = ask("GET", "/v1/jobs?limit=2" .. after).body
      for _, row in ipairs(page.items) do
        seen[#seen + 1] = row
      end
      after = page.next ~= json.null and "&after=" .. page.next
    until not after
    assert.same(rows, seen)
    assert.same(shown("job", "list", "--json", "--sort", "priority:desc"),
      ask("GET", "/v1/jobs?sort=-priority").body.items)
    local first = ask("GET", "/v1/jobs?sort=-priority&limit=3&fields=id").body
    local second = ask("GET", "/v1/jobs?sort=-priority&limit=3&fields=id&after=" .. first.next).body
    assert.equal(3, #first.items)
    assert.equal(2, #second.items)
    assert.equal(json.null, second.next)
  end)

  it("refuses the cursor of another question", function()
    place.run("enqueue", "work")
    place.run("enqueue", "work")
    local cursor = ask("GET", "/v1/jobs?limit=1").body.next
    local answer = ask("GET", "/v1/jobs?limit=1&state=ready&after=" .. cursor)
    assert.equal(400, answer.status)
    assert.truthy(answer.body.detail:find("it is not of this question", 1, true))
    assert.equal(400, ask("GET", "/v1/jobs?after=nonsense").status)
  end)

  it("pages the log by its own keys", function()
    for _ = 1, 3 do
      place.run("enqueue", "work")
    end
    place.run("run", "--drain")
    local first = ask("GET", "/v1/log?limit=4").body
    local second = ask("GET", "/v1/log?limit=4&after=" .. first.next).body
    local all = shown("log", "--json")
    assert.equal(#all, #first.items + #second.items)
    assert.equal("successful", all[1].outcome)
    for i, row in ipairs(all) do
      local other = first.items[i] or second.items[i - 4]
      assert.same({ row.job, row.outcome, row.at }, { other.job, other.outcome, other.at })
    end
  end)

  it("says what is wrong, as a problem", function()
    local answers = asker.ask_all(place.path, {
      { "GET", "/v1/jobs?stat=dead" }, { "GET", "/v1/jobs?limit=0" },
      { "GET", "/v1/jobs/7" },
      { "GET", "/v1/job" }, { "PUT", "/v1/jobs" }, { "GET", "/v1/jobs?fields=idd" },
      { "GET", "/v1/jobs?suspended=maybe" }, { "GET", "/v1/jobs?limit=1&limit=2" },
      { "GET", "/v1/jobs?limit= 5" },
    })
    assert.same({ type = "/problems/invalid", title = "Bad Request", status = 400,
      detail = 'unknown parameter "stat" (did you mean "state"?)', code = "invalid",
      field = json.null }, answers[1].body)
    assert.equal("application/problem+json", answers[1].type)
    assert.same({ 400, "limit" }, { answers[2].status, answers[2].body.field })
    assert.same({ 404, "not_found" }, { answers[3].status, answers[3].body.code })
    assert.same({ 404, "door" }, { answers[4].status, answers[4].by })
    assert.same({ 405, "GET, POST" }, { answers[5].status, answers[5].allow })
    assert.truthy(answers[6].body.detail:find('(did you mean "id"?)', 1, true))
    assert.equal("suspended", answers[7].body.field)
    assert.equal(400, answers[8].status)
    assert.same({ 400, "limit" }, { answers[9].status, answers[9].body.field })
  end)

  it("shows single things, and why they wait", function()
    place.run("enqueue", "fail")
    os.execute("mkdir -p " .. place.path .. "/schedules")
    place.write("schedules/night.lua", "return { handler = 'work', cycle = '@daily' }\n")
    place.run("run", "--drain")
    local job = ask("GET", "/v1/jobs/1")
    assert.equal(('"%d-%d"'):format(job.body.rev, job.body.attempt), job.etag)
    assert.same(shown("job", "show", "1", "--json"), job.body)
    assert.equal(job.body.stack, ask("GET", "/v1/jobs/1/stack").body.stack)
    assert.truthy(ask("GET", "/v1/jobs/1/why").body.text:find("has no retries left", 1, true))
    local attempts = ask("GET", "/v1/jobs/1/attempts?outcome=failed").body.items
    assert.equal("error", attempts[1].reason)
    assert.equal(1, ask("GET", "/v1/jobs/count?state=dead").body.count)
    local incident = shown("incident", "list", "--json")[1]
    assert.same(incident, ask("GET", "/v1/incidents/" .. incident.id).body)
    assert.same(shown("incident", "list", "--by", "cause", "--json"),
      ask("GET", "/v1/incidents/causes").body.items)
    assert.equal("work", ask("GET", "/v1/definitions/work").body.name)
    assert.equal(404, ask("GET", "/v1/definitions/nothing").status)
    assert.equal(3, #ask("GET", "/v1/schedules/night/dates?count=3").body.items)
    assert.equal("night", ask("GET", "/v1/schedules").body.items[1].name)
  end)

  it("shows instances of processes", function()
    place.run("process", "start", "order", "amount=120")
    local instance = ask("GET", "/v1/process-instances").body.items[1]
    local at = "/v1/process-instances/" .. instance.id
    assert.same({ amount = 120 }, ask("GET", at .. "/variables").body)
    assert.equal("look", ask("GET", at).body.at[1].activity)
    assert.truthy(ask("GET", at .. "/why").body.text:find("look", 1, true))
    assert.equal(1, #ask("GET", "/v1/tasks?activity=look").body.items)
    assert.truthy(#ask("GET", at .. "/trail").body.items > 0)
    assert.equal(1, #ask("GET", "/v1/processes/order/versions").body.items)
    assert.equal("image/svg+xml", ask("GET", "/v1/processes/order/picture?form=svg").type)
    assert.truthy(ask("GET", at .. "/picture?form=text").body:find("look", 1, true))
  end)

  it("gives payloads to none who may not see them", function()
    place.run("enqueue", "work", '{"secret":1}')
    place.run("process", "start", "order", "secret=1")
    local who = { scopes = { "read" } }
    for _, path in ipairs { "/v1/jobs", "/v1/jobs/1", "/v1/log", "/v1/process-instances" } do
      local answer = asker.ask(place.path, { "GET", path, who = who })
      assert.equal(200, answer.status)
      assert.falsy(json.encode(answer.body):find("secret", 1, true), path)
    end
    local answers = asker.ask_all(place.path, {
      { "GET", "/v1/jobs?payload=secret=1" }, { "GET", "/v1/jobs?payload=secret=1", who = who },
      { "GET", "/v1/jobs?sort=payload", who = who }, { "GET", "/v1/settings", who = who },
      { "POST", "/v1/jobs", { handler = "work" }, who = who },
      { "GET", "/v1/jobs", who = { scopes = { "work" } } },
    })
    assert.equal(1, #answers[1].body.items)
    for i = 2, #answers do
      assert.same({ 403, "forbidden" }, { answers[i].status, answers[i].body.code }, i)
    end
  end)

  it("tells a caller of one tenant nothing of another's", function()
    local made = ask("POST", "/v1/jobs", { { handler = "work", tenant = "acme" },
      { handler = "work", tenant = "other" }, { handler = "fail", tenant = "acme" } }).body.items
    local first, second, third = made[1].id, made[2].id, made[3].id
    local acme, work = { tenant = "acme" }, { handlers = { "wo*" } }
    local function ids(request)
      local list = {}
      for _, row in ipairs(asker.ask(place.path, request).body.items) do
        list[#list + 1] = row.id or row.job
      end
      table.sort(list)
      return list
    end
    assert.same({ first, third }, ids { "GET", "/v1/jobs", who = acme })
    assert.same({}, ids { "GET", "/v1/jobs?tenant=other", who = acme })
    assert.same({ first, third }, ids { "GET", "/v1/log", who = acme })
    assert.same({ first, second }, ids { "GET", "/v1/jobs", who = work })
    assert.same({}, ids { "GET", "/v1/jobs?handler=fail", who = work })
    local answers = asker.ask_all(place.path, {
      { "GET", "/v1/jobs/count", who = acme }, { "GET", "/v1/jobs/" .. second, who = acme },
      { "GET", "/v1/jobs/" .. second .. "/why", who = acme },
      { "GET", "/v1/jobs/" .. third, who = work },
      { "POST", ("/v1/jobs/%d/delete"):format(second), who = acme },
      { "POST", "/v1/jobs/delete", { ids = { first, second } }, who = acme },
      { "GET", "/v1/stats", who = acme }, { "GET", "/v1/operations", who = work },
      { "POST", "/v1/jobs/suspend", { query = { state = "ready" } }, who = acme },
    })
    assert.equal(2, answers[1].body.count)
    for i = 2, 6 do
      assert.equal(404, answers[i].status, i)
    end
    assert.equal(403, answers[7].status)
    assert.equal(403, answers[8].status)
    assert.equal(2, answers[9].body.touched)
    assert.equal("ready", ask("GET", "/v1/jobs/" .. second).body.state)
  end)
end)
