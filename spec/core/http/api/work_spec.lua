-- Fetches that wait at the door, and what answers them.
local faces = require "spec.support.faces"
local json = require("moonshift").json
local process = require "spec.support.process"

local NOTHING = '200 {"jobs":[]}'

describe("a fetch that waits", function()
  local folder, store, face

  before_each(function()
    folder = process.folder { ["handlers/topic/ocr.lua"] = "return { retry = 'R1/PT1H' }" }
    store = "sqlite:" .. folder .. "/moonshift.db"
    face = faces.start(folder, "serve", "--http", "127.0.0.1:0", "--open")
  end)

  after_each(function()
    process.kill(face.pid)
    process.remove(folder)
  end)

  local function fetch(worker, given)
    local body = { worker = worker, topics = { "ocr" } }
    for key, value in pairs(given or {}) do
      body[key] = value
    end
    return faces.post("/v1/fetch", body)
  end

  local CREATE = faces.post("/v1/jobs", { handler = "topic/ocr" })
  local EXECUTORS = faces.head "GET /v1/executors"

  -- What an answer says, after its status.
  local function said(answer)
    return assert(json.decode((answer:gsub("^%d+ ", ""))))
  end

  -- The jobs of an answer to a fetch.
  local function jobs(answer)
    assert.matches("^200 ", answer)
    return said(answer).jobs
  end

  -- Steps by which these workers wait, each on a connection of its name, and have asked the store.
  local function parked(...)
    local steps = {}
    for _, worker in ipairs { ... } do
      steps[#steps + 1] = { "on", worker }
      steps[#steps + 1] = { "send", fetch(worker, { wait = "PT10M" }) }
    end
    steps[#steps + 1] = { "on", "asker" }
    steps[#steps + 1] = { "shows", EXECUTORS, '"name":"w', select("#", ...) }
    return steps
  end

  local function talk(steps, more)
    table.move(more, 1, #more, #steps + 1, steps)
    return face:talk(steps)
  end

  it("is answered with a job that is created over HTTP", function()
    local said_all = talk(parked "w1", {
      { "send", CREATE }, { "read" }, { "on", "w1" }, { "read" },
    })
    assert.equal("shown", said_all[1])
    assert.matches("^201 ", said_all[2])
    assert.equal("topic/ocr", jobs(said_all[3])[1].handler)
  end)

  it("is answered with a job that another program creates", function()
    local said_all = talk(parked "w1", {
      { "shell", process.command("enqueue", "topic/ocr", "--store", store) },
      { "on", "w1" }, { "read" },
    })
    assert.equal(2, #said_all)
    assert.equal("topic/ocr", jobs(said_all[2])[1].handler)
  end)

  -- Creates a job, which the worker "holder" gets.
  local function held()
    local job = jobs(face:talk({
      { "send", CREATE }, { "read" }, { "send", fetch "holder" }, { "read" },
    })[2])[1]
    return job, "/v1/jobs/" .. job.id
  end

  it("is answered with a job that is given back", function()
    local job, path = held()
    local said_all = talk(parked "w1", {
      { "send", faces.post(path .. "/release", { token = job.token }) }, { "read" },
      { "on", "w1" }, { "read" },
    })
    assert.matches("^200 ", said_all[2])
    assert.equal(job.id, jobs(said_all[3])[1].id)
  end)

  it("is answered with a job that is retried", function()
    local job, path = held()
    local said_all = talk(parked "w1", {
      { "send", faces.post(path .. "/fail", { token = job.token, permanent = true }) }, { "read" },
      { "send", faces.post(path .. "/retry", {}) }, { "read" }, { "on", "w1" }, { "read" },
    })
    assert.matches("^200 ", said_all[2])
    assert.matches("^200 ", said_all[3])
    assert.equal(job.id, jobs(said_all[4])[1].id)
  end)

  it("is answered for one of fifty, where there is one job", function()
    local names, steps = {}, {}
    for i = 1, 50 do
      names[i] = "w" .. i
      steps[#steps + 1] = { "on", names[i] }
      steps[#steps + 1] = { "read" }
    end
    local before = talk(parked(table.unpack(names)), {
      { "send", CREATE }, { "read" }, { "first" }, { "read" }, { "on", "asker" },
      { "quiet" }, { "terminate", face.pid }, table.unpack(steps),
    })
    assert.equal("shown", before[1])
    assert.equal(1, #jobs(before[3]))
    assert.equal("50", before[4])
    local empty, ended = 0, 0
    for i = 5, 54 do
      empty = empty + (before[i] == NOTHING and 1 or 0)
      ended = ended + (before[i] == "end" and 1 or 0)
    end
    assert.same({ 49, 1 }, { empty, ended })
  end)

  it("gets nothing for a client that has gone", function()
    local names, steps = {}, {}
    for i = 1, 20 do
      names[i] = "w" .. i
      steps[#steps + 1] = { "on", names[i] }
      steps[#steps + 1] = { "close" }
    end
    steps[#steps + 1] = { "on", "asker" }
    for _ = 1, 20 do
      steps[#steps + 1] = { "send", CREATE }
      steps[#steps + 1] = { "read" }
    end
    steps[#steps + 1] = { "send", fetch("late", { max = 50 }) }
    steps[#steps + 1] = { "read" }
    local said_all = talk(parked(table.unpack(names)), steps)
    assert.equal(20, #jobs(said_all[22]))
  end)

  it("is refused with topics that are no texts, and harms nobody if its client has gone", function()
    for i, topics in ipairs { { 5 }, { json.null }, { { topic = 5 } } } do
      local bad = faces.post("/v1/fetch", { worker = "w", topics = topics, wait = "PT5S" })
      face:talk { { "on", "a" .. i }, { "send", bad }, { "close" } }
      assert.matches("^400 ", face:ask(bad))
    end
    face:talk { { "on", "b" }, { "send", fetch("w", { wait = "PT10M" }) }, { "close" } }
    assert.matches("^200 ", face:ask(EXECUTORS))
  end)

  it("is answered at once when the face stops", function()
    local said_all = talk(parked("w1", "w2"), {
      { "terminate", face.pid },
      { "on", "w1" }, { "read" }, { "read" }, { "on", "w2" }, { "read" }, { "read" },
    })
    assert.same({ "shown", NOTHING, "end", NOTHING, "end" }, said_all)
    assert.equal(0, process.await_status(face.pid, 60))
  end)

  it("is answered with nothing when its time has passed", function()
    assert.equal(NOTHING, face:ask(fetch("w1", { wait = "PT0.05S" })))
    assert.equal(NOTHING, face:ask(fetch("w1", { wait = "PT0S" })))
    assert.equal(NOTHING, face:ask(fetch("w1", { wait = json.null })))
  end)

  it("refuses a wait that is none", function()
    for value, reason in pairs {
      soon = 'wait: duration "soon"', [""] = 'wait: duration ""',
      ["-PT1S"] = 'wait: duration "-PT1S"',
      ["PT30M1S"] = "30 minutes at most",
      [5] = "wait 5: expected a span", [true] = "wait true: expected a text",
    } do
      local answer = face:ask(fetch("w1", { wait = value }))
      assert.matches("^400 ", answer)
      assert.truthy(said(answer).detail:find(reason, 1, true), answer)
    end
  end)

  it("is no part of a settlement", function()
    local answer = face:ask(faces.post("/v1/settle", { worker = "w1", outcomes = json.array {},
      fetch = { worker = "w1", topics = { "ocr" }, wait = "PT1S" } }))
    assert.matches("^400 ", answer)
    assert.truthy(said(answer).detail:find('unknown key "wait"', 1, true), answer)
  end)
end)

describe("a worker's token", function()
  local folder, store, face

  before_each(function()
    folder = process.folder {}
    store = "sqlite:" .. folder .. "/moonshift.db"
    face = faces.start(folder, "serve", "--http", "127.0.0.1:0")
  end)

  after_each(function()
    process.kill(face.pid)
    process.remove(folder)
  end)

  -- A function that asks with a new token; it gives the status, and the answer.
  local function token(name, ...)
    local _, printed = process.moonshift("token", "create", name, "--store", store, ...)
    return function(path, body)
      local answer = face:ask(faces.post(path, body,
        "Authorization: Bearer " .. printed:match("ms_%w+")))
      return answer:match("^%d+"), assert(json.decode((answer:gsub("^%d+ ", ""))))
    end
  end

  it("creates jobs with what it completes if it may create", function()
    process.moonshift("enqueue", "topic/ocr", "--tenant", "acme", "--store", store)
    local works = token("works", "--scope", "work")
    local creates = token("creates", "--scope", "work", "--scope", "enqueue", "--tenant", "acme")
    local job = select(2, works("/v1/fetch", { worker = "w", topics = { "ocr" } })).jobs[1]
    local path = "/v1/jobs/" .. job.id
    assert.equal("200", (works(path .. "/progress", { token = job.token, fraction = 0.5 })))
    local back = { token = job.token, create = { { handler = "topic/ocr" } } }
    local status, said = works(path .. "/complete", back)
    assert.equal("403", status)
    assert.matches("expected the scope enqueue", said.detail, 1, true)
    back.create[2] = { handler = "topic/ocr", tenant = "other" }
    assert.equal("403", (creates(path .. "/complete", back)))
    back.create[2] = { handler = "nobody" }
    assert.equal("404", (creates(path .. "/complete", back)))
    back.create[2] = nil
    status, said = creates(path .. "/complete", back)
    assert.same({ "200", "created" }, { status, said.created[1].outcome })
    assert.equal("409", (creates(path .. "/complete", back)))
    assert.equal("409", (works(path .. "/progress", { token = job.token, fraction = 1 })))
    assert.equal("conflict", select(2, creates("/v1/settle", { outcomes = { { id = 99, token = 5,
      outcome = "release" } } })).outcomes[1].code)
    local jobs = select(2, creates("/v1/fetch", { worker = "w", topics = { "ocr" }, max = 9 })).jobs
    assert.same({ 1, "acme", said.created[1].id }, { #jobs, jobs[1].tenant, jobs[1].id })
  end)

  it("of one tenant fetches jobs of that tenant alone", function()
    local ask = token("ours", "--scope", "work", "--scope", "read", "--tenant", "acme")
    for _, tenant in ipairs { "other", "acme", "other" } do
      process.moonshift("enqueue", "topic/ocr", "--tenant", tenant, "--store", store)
    end
    local status, said = ask("/v1/fetch", { worker = "w", topics = { "ocr" }, max = 10 })
    assert.same({ "200", 1, "acme" }, { status, #said.jobs, said.jobs[1].tenant })
    local job = said.jobs[1]
    status, said = ask("/v1/settle", { worker = "w", outcomes = {
      { id = job.id, token = job.token, outcome = "complete" } },
      fetch = { worker = "w", topics = { { topic = "ocr" } }, max = 10 } })
    assert.same({ "200", 0 }, { status, #said.jobs })
    status, said = ask("/v1/fetch",
      { worker = "w", topics = { { topic = "ocr", tenant = "other" } } })
    assert.equal("403", status)
    assert.matches('tenant "other": the caller may not ask for it', said.detail, 1, true)
  end)
end)

describe("a completion over HTTP", function()
  it("whose walk fails is told why, and the worker keeps the task", function()
    local folder = process.folder { ["processes/p.lua"] = [[
local p = require "moonshift.process"
return {
  p.step "x" { topic = "charge" },
  p.step "z" { run = function(job)
    if job.variables.v ~= 2 then
      error("v is wrong", 0)
    end
  end },
}
]] }
    local face = faces.start(folder, "serve", "--http", "127.0.0.1:0", "--open")
    finally(function()
      process.kill(face.pid)
      process.remove(folder)
    end)
    local function ask(path, body)
      local answer = face:ask(faces.post(path, body))
      return answer:match("^%d+"), assert(json.decode((answer:gsub("^%d+ ", ""))))
    end
    assert.equal("200", (ask("/v1/processes/p/start", json.decode "{}")))
    local job = select(2, ask("/v1/fetch", { worker = "w", topics = { "charge" } })).jobs[1]
    local path = "/v1/jobs/" .. job.id .. "/complete"
    local status, said = ask(path, { token = job.token, variables = { v = 1 } })
    assert.equal("500", status)
    assert.matches("v is wrong", said.detail, 1, true)
    assert.equal("200", (ask(path, { token = job.token, variables = { v = 2 } })))
    assert.equal("409", (ask(path, { token = job.token })))
  end)
end)
