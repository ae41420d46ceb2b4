-- The routes over a socket, with the threads that answer them.
local faces = require "spec.support.faces"
local json = require("moonshift").json
local process = require "spec.support.process"

describe("the routes over a socket", function()
  local folder, face

  setup(function()
    folder = process.folder {
      ["handlers/first.lua"] = "return { priority = function(job) return job.payload.n end,\n"
        .. "  run = function() end }\n",
      ["processes/order.lua"] = "local p = require 'moonshift.process'\n"
        .. "return { p.task 'look' {} }\n",
    }
    face = faces.start(folder, "serve", "--http", "unix:" .. folder .. "/socket")
  end)

  teardown(function()
    process.kill(face.pid)
    process.remove(folder)
  end)

  local function ask(line, body)
    local text = body and json.encode(body) or ""
    local request = faces.head(line, "Content-Type: application/json",
      "Content-Length: " .. #text) .. text
    local status, content = face:ask(request):match("^(%d+) (.*)$")
    return status, json.decode(content)
  end

  it("create jobs whose priority a function says", function()
    local status, made = ask("POST /v1/jobs", { handler = "first", payload = { n = 7 } })
    assert.equal("201", status, json.encode(made))
    local _, job = ask("GET /v1/jobs/" .. made.id)
    assert.equal(7, job.priority)
    assert.equal("200", (ask(("POST /v1/jobs/%d/set_priority"):format(made.id), { priority = 9 })))
    assert.equal(9, select(2, ask("GET /v1/jobs/" .. made.id)).priority)
  end)

  it("walk commands to processes, and draw", function()
    local status, started = ask("POST /v1/processes/order/start", { key = "k" })
    assert.equal("200", status)
    local _, tasks = ask("GET /v1/tasks?instance=" .. started.instance)
    assert.equal("look", tasks.items[1].activity)
    assert.equal("200", (ask(("POST /v1/tasks/%d/set_assignee"):format(tasks.items[1].id),
      { assignee = "anna" })))
    assert.equal("200", (ask(("GET /v1/process-instances/%d/picture"):format(started.instance))))
    assert.equal("200", (ask(("POST /v1/tasks/%d/complete"):format(tasks.items[1].id), {})))
  end)

  it("wait for the end of a job", function()
    local _, made = ask("POST /v1/jobs", { handler = "topic/slow" })
    local _, fetched = ask("POST /v1/fetch", { worker = "w", topics = { "slow" } })
    local text = json.encode { token = fetched.jobs[1].token, result = { n = 7 } }
    local lines = face:talk {
      { "on", "1" }, { "send", faces.head(("GET /v1/jobs/%d?wait=PT1M"):format(made.id)) },
      { "on", "2" }, { "send", faces.head(("POST /v1/jobs/%d/complete"):format(made.id),
        "Content-Type: application/json", "Content-Length: " .. #text) .. text }, { "read" },
      { "on", "1" }, { "read" },
    }
    assert.matches("^200 ", lines[1])
    local ended = json.decode(lines[2]:match("^200 (.*)$"))
    assert.same({ made.id, "ended", "successful", { n = 7 } },
      { ended.job, ended.state, ended.outcome, ended.result })
  end)

  it("take no newer folder back that another program has deployed", function()
    local store = "sqlite:" .. folder .. "/moonshift.db"
    local other = faces.start(folder, "serve", "--http", "unix:" .. folder .. "/other")
    local file = assert(io.open(folder .. "/handlers/second.lua", "w"))
    file:write("return function() end\n")
    file:close()
    assert.equal(0, (process.moonshift("deploy", folder, "--store", store)))
    local head = faces.head("POST /v1/processes/order/start", "Content-Type: application/json",
      "Content-Length: 2")
    -- Its threads open the store only now. What is begun is left to a job.
    assert.matches("^202", other:ask(head .. "{}"))
    assert.equal(0, (other:stop()))
    local _, operations = process.moonshift("operations", "--verb", "rollback", "--json", "--store",
      store)
    assert.equal("[]\n", operations)
  end)

  it("wait no longer than they are told, and not for what is not there", function()
    local _, made = ask("POST /v1/jobs", { handler = "topic/never" })
    local status, job = ask(("GET /v1/jobs/%d?wait=PT0.1S"):format(made.id))
    assert.same({ "200", "ready" }, { status, job.state })
    assert.equal("404", (ask("GET /v1/jobs/7777?wait=PT1M")))
    assert.equal("400", (ask(("GET /v1/jobs/%d?wait=PT31M"):format(made.id))))
    assert.equal("400", (ask(("GET /v1/jobs/%d?wait=soon"):format(made.id))))
  end)

  it("lend jobs to workers", function()
    ask("POST /v1/jobs", { handler = "topic/ocr", payload = { page = 1 } })
    local _, fetched = ask("POST /v1/fetch", { worker = "w", topics = { "ocr" } })
    local job = fetched.jobs[1]
    local status, refused = ask(("POST /v1/jobs/%d/complete"):format(job.id),
      { token = job.token + 1 })
    assert.same({ "409", "conflict" }, { status, refused.code })
    assert.equal("200", (ask(("POST /v1/jobs/%d/complete"):format(job.id), { token = job.token })))
    assert.equal("404", (ask("GET /v1/jobs/" .. job.id)))
  end)
end)
