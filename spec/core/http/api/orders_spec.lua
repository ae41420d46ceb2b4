local asker = require "spec.support.asker"
local core = require "moonshift.core"
local json = require("moonshift").json
local program = require "spec.support.program"

-- Two stores alike: what the command line does to the one, a request does to the other.
describe("an order over HTTP", function()
  local typed, asked

  local function new_place()
    local place = program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["handlers/fail.lua"] = "return { retry = 'R1/PT1H',\n"
        .. "  run = function() error('no luck') end }\n",
      ["handlers/nightly.lua"] = "return function() end\n",
      ["handlers/again.lua"] = "return function() end\n",
      ["schedules/night.lua"] = "return { handler = 'nightly', cycle = '@daily' }\n",
      ["processes/order.lua"] = "local p = require 'moonshift.process'\n"
        .. "return { p.task 'look' {}, p.receive 'paid' { message = 'paid', key = 'k' },"
        .. " p.receive 'sent' {}, p.task 'sign' {} }\n",
      ["processes/alarm.lua"] = "local p = require 'moonshift.process'\n"
        .. "return { p.wait 'fire' { signal = 'fire' } }\n",
      ["processes/loud.lua"] = "local p = require 'moonshift.process'\n"
        .. "return { p.step 'say' { run = function() print 'said' end } }\n",
    }
    place.run("enqueue", "fail", "{}", "--instance", "i1")
    place.run("run", "--drain")
    place.run("enqueue", "work", '{"n":1}', "--priority", "3")
    place.run("enqueue", "again", "{}", "--cycle", "R/PT1H")
    place.run("process", "start", "order", "amount=1")
    return place
  end

  before_each(function()
    typed, asked = new_place(), new_place()
  end)

  after_each(function()
    typed.clean()
    asked.clean()
  end)

  local function ask(...)
    return asker.ask(asked.path, { ... })
  end

  -- Everything that stays the same when the same is done at another time.
  local function state(place)
    local seen = {}
    for _, words in ipairs {
      "job list --json --columns id,handler,state,priority,retries,repeat,suspended_by,message",
      "incident list --json --columns id,type,job,open,note,how,handler",
      "operations --json --columns verb,entity,count,old,new,jobs",
      "definition list --json --columns name,suspended,override_priority,override_limit,"
        .. "override_rate",
      "instance list --json --columns id,process,version,suspended",
      "instance list --ended --json --columns id,process,how,reason",
      "task list --json --columns id,activity,assignee",
      "schedule list --json --columns name,paused",
      "process list --json --columns key,suspended",
      "log --json --columns job,outcome,message,handler",
      "deployment list --json --columns id,executors",
    } do
      local list = {}
      for word in words:gmatch("%S+") do
        list[#list + 1] = word
      end
      local _, output = place.run(table.unpack(list))
      seen[#seen + 1] = output:gsub('"%d+%-%d+%-%d+T[%d:.]+Z"', '"at"')
    end
    return seen
  end

  local function job(handler)
    local rows = json.decode(select(2, asked.run("job", "list", "--json")))
    for _, row in ipairs(rows) do
      if row.handler == handler then
        return tostring(row.id)
      end
    end
  end

  local function row(...)
    return json.decode(select(2, asked.run(...)))[1]
  end

  -- { words of the command line, path, body }
  local function each(cases)
    for _, case in ipairs(cases) do
      local status, output, errors = typed.run(table.unpack(case[1]))
      local answer = ask("POST", case[2], case[3])
      local name = case[2]
      assert.equal(0, status, name .. ": " .. errors .. output)
      assert.equal(200, answer.status, name .. ": " .. json.encode(answer))
      local left, right = state(typed), state(asked)
      for i = 1, #left do
        assert.equal(left[i], right[i], name)
      end
    end
  end

  it("does to jobs what their verbs do", function()
    local dead, plain, again = job "fail", job "work", job "again"
    each {
      { { "job", "retry", dead, "--retries", "2" }, "/v1/jobs/" .. dead .. "/set_retries",
        { retries = 2 } },
      { { "job", "dead", dead }, "/v1/jobs/" .. dead .. "/dead_letter" },
      { { "job", "retry", dead }, "/v1/jobs/" .. dead .. "/retry" },
      { { "job", "priority", "9", plain }, "/v1/jobs/" .. plain .. "/set_priority",
        { priority = 9 } },
      { { "job", "due", "2040-01-01T00:00:00Z", plain }, "/v1/jobs/" .. plain .. "/set_due",
        { due = "2040-01-01T00:00:00Z" } },
      { { "job", "recalculate", again }, "/v1/jobs/" .. again .. "/recalculate_due" },
      { { "job", "cycle", "R/PT2H", again }, "/v1/jobs/set_cycle",
        { ids = { math.tointeger(again) }, cycle = "R/PT2H" } },
      { { "job", "suspend", "--handler", "work" }, "/v1/jobs/suspend",
        { query = { handler = "work" } } },
      { { "job", "activate", plain }, "/v1/jobs/" .. plain .. "/activate" },
      { { "job", "cancel", again }, "/v1/jobs/" .. again .. "/cancel" },
      { { "job", "delete", dead }, "/v1/jobs/" .. dead .. "/delete" },
    }
  end)

  it("does to other things what their verbs do", function()
    local incident = row("incident", "list", "--json").id
    local at = "/v1/incidents/" .. incident
    local task = row("task", "list", "--json").id
    local deployment = row("deployment", "list", "--json").id
    each {
      { { "definition", "suspend", "work" }, "/v1/definitions/work/suspend_definition" },
      { { "definition", "activate", "work" }, "/v1/definitions/work/activate_definition" },
      { { "definition", "priority", "work", "5" }, "/v1/definitions/work/override_priority",
        { priority = 5 } },
      { { "definition", "priority", "work", "--clear" }, "/v1/definitions/work/clear_override" },
      { { "definition", "limit", "work", "2" }, "/v1/definitions/work/override_limit",
        { limit = 2 } },
      { { "instance", "suspend", "i1" }, "/v1/instances/i1/suspend_instance" },
      { { "instance", "activate", "i1" }, "/v1/instances/activate_instance",
        { instance = "i1" } },
      { { "incident", "annotate", tostring(incident), "seen" }, at .. "/annotate",
        { note = "seen" } },
      { { "incident", "resolve", tostring(incident) }, at .. "/resolve" },
      { { "schedule", "pause", "night" }, "/v1/schedules/night/pause_schedule" },
      { { "schedule", "resume", "night" }, "/v1/schedules/night/resume_schedule" },
      { { "process", "suspend", "order" }, "/v1/processes/order/suspend_process" },
      { { "process", "activate", "order" }, "/v1/processes/order/activate_process" },
      { { "task", "claim", tostring(task), "--as", "anna" },
        ("/v1/tasks/%d/set_assignee"):format(task), { assignee = "anna", claim = true } },
      { { "deployment", "unregister", tostring(deployment) },
        ("/v1/deployments/%d/unregister"):format(deployment) },
    }
  end)

  it("gives commands to processes", function()
    local task = row("task", "list", "--json").id
    local instance = row("instance", "list", "--json").id
    local at = "/v1/process-instances/" .. instance
    each {
      { { "task", "complete", tostring(task), "seen=true" },
        ("/v1/tasks/%d/complete"):format(task), { variables = { seen = true } } },
      { { "message", "paid", "--key", "k" }, "/v1/messages",
        { message = "paid", key = "k" } },
      { { "instance", "trigger", tostring(instance), "sent" }, at .. "/trigger",
        { activity = "sent" } },
      { { "instance", "set", tostring(instance), "amount=7" }, at .. "/set",
        { variables = { amount = 7 } } },
      { { "instance", "modify", tostring(instance), "--start-before", "look" }, at .. "/modify",
        { operations = { { start_before = "look" } } } },
      { { "instance", "cancel", tostring(instance), "--reason", "enough" }, at .. "/cancel",
        { reason = "enough" } },
      { { "process", "start", "order", "--key", "k9" }, "/v1/processes/order/start",
        { key = "k9" } },
    }
    local later = ask("POST", "/v1/processes/order/start", { later = true })
    assert.equal(202, later.status)
    assert.equal("/v1/jobs/" .. later.body.job, later.location)
    assert.equal(400, ask("POST", "/v1/processes/order/start", { kei = "x" }).status)
    assert.equal(404, ask("POST", "/v1/tasks/7777/complete").status)
  end)

  it("runs a job by hand", function()
    local work, fail = job "work", job "fail"
    local done = ask("POST", "/v1/jobs/" .. work .. "/execute")
    assert.same({ 200, json.null }, { done.status, done.body.result })
    assert.equal(404, ask("GET", "/v1/jobs/" .. work).status)
    local failed = ask("POST", "/v1/jobs/" .. fail .. "/execute", { force = true })
    assert.same({ 500, "failed" }, { failed.status, failed.body.code })
    assert.matches("no luck", failed.body.detail)
    assert.equal(404, ask("POST", "/v1/jobs/7777/execute").status)
  end)

  it("shows what handlers print to those alone who may see payloads", function()
    local answers = asker.ask_all(asked.path, {
      { "POST", "/v1/processes/loud/start" },
      { "POST", "/v1/processes/loud/start", who = { scopes = { "enqueue" } } },
    })
    assert.same({ 200, 200 }, { answers[1].status, answers[2].status })
    assert.same({ "said" }, answers[1].body.lines)
    assert.is_nil(answers[2].body.lines)
  end)

  it("has a key of a request of 1 to 255 bytes", function()
    local list = {}
    for i, key in ipairs { "k", "", ("k"):rep(255), ("k"):rep(256) } do
      list[i] = { "POST", "/v1/jobs", { handler = "work" },
        headers = { ["idempotency-key"] = key } }
    end
    local answers = asker.ask_all(asked.path, list)
    assert.same({ 201, 400, 201, 400 },
      { answers[1].status, answers[2].status, answers[3].status, answers[4].status })
    assert.equal("Idempotency-Key: expected a text of 1 to 255 bytes", answers[4].body.detail)
  end)

  it("counts what it would do, and does what is as it was seen alone", function()
    local id = job "work"
    local at = "/v1/jobs/" .. id
    assert.equal(1, ask("POST", "/v1/jobs/delete", { query = { handler = "work" },
      dry_run = true }).body.touched)
    for _, dry_run in ipairs { true, false } do
      assert.equal(1, ask("POST", "/v1/jobs/set_priority",
        { ids = { tonumber(id), tonumber(id) }, priority = 7, dry_run = dry_run }).body.touched)
    end
    local etag = ask("GET", at).etag
    local answers = asker.ask_all(asked.path, {
      { "POST", at .. "/set_priority", { priority = 8 }, headers = { ["if-match"] = etag } },
      { "POST", at .. "/set_priority", { priority = 9 }, headers = { ["if-match"] = etag } },
      { "POST", "/v1/jobs/retry", { query = {} }, headers = { ["if-match"] = etag } },
      { "POST", at .. "/set_priority", { priority = "high" } },
      { "POST", at .. "/set_priorty", { priority = 1 } },
      { "POST", at .. "/set_priority", raw = "priority=1" },
      { "POST", at .. "/suspend", who = { scopes = { "read", "payload", "work" } } },
      { "POST", at .. "/suspend", { ids = 7 } },
      { "GET", at },
    })
    assert.equal(200, answers[1].status)
    assert.same({ 412, "changed" }, { answers[2].status, answers[2].body.code })
    assert.equal(400, answers[3].status)
    assert.equal(400, answers[4].status)
    assert.equal(404, answers[5].status)
    assert.equal(415, answers[6].status)
    assert.equal(403, answers[7].status)
    assert.equal(400, answers[8].status)
    assert.equal(8, answers[9].body.priority)
    local row_of = row("operations", "--json", "--verb", "set_priority")
    assert.equal("token:spec", row_of.who)
  end)

  it("tells nothing of a job that is out of sight, whatever is to match", function()
    local id = math.tointeger(job "work")
    local narrow = { scopes = { "operate" }, tenant = "acme" }
    for _, tag in ipairs { '"1"', '"1-1"', '"77"', "*" } do
      local answer = asker.ask(asked.path, { "POST", "/v1/jobs/" .. id .. "/set_priority",
        { priority = 8 }, headers = { ["if-match"] = tag }, who = narrow })
      assert.same({ 404, "no job " .. id }, { answer.status, answer.body.detail })
    end
    local own = ask("POST", "/v1/jobs", { handler = "work", tenant = "acme" }).body.id
    local answers = asker.ask_all(asked.path, {
      { "POST", "/v1/jobs/" .. id .. "/execute", who = narrow },
      { "POST", "/v1/jobs/set_priority", { ids = { own, id }, priority = 8 }, who = narrow },
      { "POST", "/v1/jobs/set_priority", { ids = { id, own }, priority = 8 }, who = narrow },
      { "POST", "/v1/jobs/set_priority", { ids = id, priority = 8 }, who = narrow },
      { "POST", "/v1/jobs/set_priority", { ids = { own }, priority = 8 }, who = narrow },
      { "GET", "/v1/jobs/" .. id },
    })
    for i = 1, 4 do
      assert.same({ 404, "no job " .. id }, { answers[i].status, answers[i].body.detail })
    end
    assert.same({ 200, 1, 3 }, { answers[5].status, answers[5].body.touched,
      answers[6].body.priority })
  end)

  it("starts processes for the caller's tenant alone", function()
    local narrow = { scopes = { "enqueue" }, tenant = "acme" }
    local answers = asker.ask_all(asked.path, {
      { "POST", "/v1/processes/alarm/start", { tenant = "other" }, who = narrow },
      { "POST", "/v1/processes/alarm/start", who = narrow },
      { "POST", "/v1/processes/alarm/start", { tenant = "acme" }, who = narrow },
      { "POST", "/v1/messages", { message = "m" }, who = narrow },
    })
    assert.same({ 403, 200, 200, 403 }, { answers[1].status, answers[2].status, answers[3].status,
      answers[4].status })
    local _, output = asked.run("instance", "list", "--tenant", "acme", "--json")
    assert.equal(2, #json.decode(output))
  end)

  it("matches any of a list, and a star what is there", function()
    local at = "/v1/jobs/" .. job "work" .. "/set_priority"
    local statuses = {}
    for i, tag in ipairs { '"77"', '"77", "1-1"', "*", '"77","78"', 'W/"3-1"' } do
      statuses[i] = asker.ask(asked.path, { "POST", at, { priority = i },
        headers = { ["if-match"] = tag } }).status
    end
    assert.same({ 412, 200, 200, 412, 412 }, statuses)
  end)

  it("leaves more than a thousand jobs to a batch", function()
    local jobs = {}
    for i = 1, 1000 do
      jobs[i] = { handler = "work", tenant = "many" }
    end
    assert.equal(201, ask("POST", "/v1/jobs", jobs).status)
    assert.equal(201, ask("POST", "/v1/jobs", { handler = "work", tenant = "many" }).status)
    local answer = ask("POST", "/v1/jobs/set_priority", { query = { tenant = "many" },
      priority = 2 })
    assert.equal(202, answer.status)
    assert.equal("/v1/batches/" .. answer.body.batch, answer.location)
    assert.equal(answer.body.batch, ask("GET", answer.location).body.id)
  end)

  -- What no face asks: parts of other answers, and what walks of processes read.
  local INNER = { frame = true, body = true, turns = true, large_value = true, version = true,
    receivers = true, files = true, standing = true, task = true, walk = true }

  -- Kinds of commands that verbs and workers outside give.
  local OF_VERBS = { due = true, assign = true, external = true }

  it("says that jobs give a signal to more than a hundred", function()
    local list = {}
    for _ = 1, 101 do
      list[#list + 1] = { "POST", "/v1/processes/alarm/start" }
    end
    list[102] = { "POST", "/v1/signals", { signal = "storm" } }
    list[103] = { "POST", "/v1/signals", { signal = "fire" } }
    local answers = asker.ask_all(asked.path, list)
    assert.same({ 200, 202 }, { answers[102].status, answers[103].status })
  end)

  it("has a route for every verb, question, filter and command to a process", function()
    local api = ask("GET", "/v1/openapi.json").body
    local source = assert(io.open("core/job/command.c")):read("a")
    local all = json.encode(api.paths)
    for verb in source:gmatch('%[COMMAND_[%u_]+%] = {"([%l_]+)"') do
      if verb ~= "batch_seed" and verb ~= "batch_monitor" then
        assert.truthy(all:find("/" .. verb .. '"', 1, true), verb)
      end
    end
    local kinds = assert(io.open("core/engine/process/process_cause.c")):read("a")
    local orders = 0
    for kind in kinds:gmatch('\n    {"([%l_]+)", OF_') do
      orders = orders + (OF_VERBS[kind] and 0 or 1)
      local path = kind == "message" and "/v1/messages" or kind == "signal" and "/v1/signals"
        or "/" .. kind
      assert.truthy(OF_VERBS[kind] or all:find(path .. '"', 1, true), kind)
    end
    assert.truthy(orders > 10)
    local columns, filters = core.columns()
    local routes = assert(io.open("core/http/api/routes.c")):read("a")
      .. assert(io.open("core/http/api/questions.c")):read("a")
    local asks = assert(io.open("core/job/ask.h")):read("a"):match("enum ask_kind {(.-)ASK_KINDS")
    for name in asks:gmatch("\n    ASK_([%u_]+),") do
      if not INNER[name:lower()] then
        assert.truthy(routes:find("ASK_" .. name .. "%f[^%u_]"), name)
      end
    end
    local lists = { jobs = "/v1/jobs", definitions = "/v1/definitions", log = "/v1/log",
      incidents = "/v1/incidents", operations = "/v1/operations", batches = "/v1/batches",
      processes = "/v1/processes", versions = "/v1/versions", tasks = "/v1/tasks",
      instances = "/v1/process-instances", past = "/v1/process-instances/ended",
      subscriptions = "/v1/subscriptions", kept_messages = "/v1/messages",
      suspended_instances = "/v1/instances", trail = "/v1/process-instances/{id}/trail" }
    for kind, path in pairs(lists) do
      local known = {}
      for _, parameter in ipairs(api.paths[path].get.parameters) do
        known[parameter.name] = true
      end
      assert.truthy(columns[kind], kind)
      for name in pairs(filters[kind] or {}) do
        name = name == "after" and "at_after" or name
        assert.truthy(known[name] or (kind == "trail" and name == "instance"), kind .. " " .. name)
      end
    end
  end)
end)
