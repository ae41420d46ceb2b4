-- Creations over HTTP that come at the same time: the clerk writes them together.
local faces = require "spec.support.faces"
local json = require("moonshift").json
local process = require "spec.support.process"

local CLIENTS = 64
-- Whether a file is there.
local function there(path)
  local file = io.open(path)
  return file and file:close()
end

local HOLD = "touch held; until [ -e free -o ! -e handlers ]; do sleep 0.01; done"

describe("the clerk of the network face", function()
  local folder, store, face, program

  -- Its program notes each commit of a creation in the file `passed`.
  setup(function()
    program = process.program
    folder = process.folder {
      ["handlers/plain.lua"] = "return function() end",
      ["handlers/asked.lua"] = "return { priority = function(job) return job.payload.n end,\n"
        .. "  run = function() end }",
      ["handlers/slow.lua"] = "return { priority = function() while true do end end,\n"
        .. "  run = function() end }",
      ["handlers/full.lua"] = "return { backlog = 1, run = function() end }",
      ["processes/p.lua"] = "local p = require 'moonshift.process'\n"
        .. "return { p.step 'x' { topic = 'charge' } }",
    }
    store = folder .. "/moonshift.db"
    process.program = process.testing
    process.environment = "CRASH_LOG=" .. folder .. "/passed"
    face = faces.start(folder, "serve", "--http", "unix:" .. folder .. "/socket")
  end)

  teardown(function()
    process.program, process.environment = program, ""
    process.kill(face.pid)
    process.remove(folder)
  end)

  before_each(function()
    os.remove(folder .. "/free")
    os.remove(folder .. "/held")
  end)

  local function post(job, ...)
    return faces.post("/v1/jobs", job, ...)
  end

  local function answer_of(text)
    local status, content = text:match("^(%d+) (.*)$")
    return status, json.decode(content)
  end

  local function passed(point)
    local _, count = (process.read(folder .. "/passed") or ""):gsub(point, "")
    return count
  end

  -- Sends each request on a connection of its own while nobody may write; then reads the answers.
  -- One more is answered by the thread with the sockets before the store is free.
  local function together(requests)
    local probe, steps = faces.head("GET /health/live"), {}
    local function add(...)
      steps[#steps + 1] = { ... }
    end
    for i = 0, #requests do
      add("on", tostring(i))
      add("send", probe)
      add("read")
    end
    os.execute(("cd %s && %s &"):format(folder, process.holding(store, HOLD)))
    process.await("the store to be held", 60, function()
      return there(folder .. "/held")
    end)
    for i, request in ipairs(requests) do
      add("on", tostring(i))
      add("send", request)
    end
    add("on", "0")
    add("send", probe)
    add("read")
    add("shell", "touch " .. folder .. "/free")
    for i = 1, #requests do
      add("on", tostring(i))
      add("read")
    end
    return table.move(face:talk(steps), #requests + 3, 2 * #requests + 2, 1, {})
  end

  local function ids_of(answers)
    local ids, count = {}, 0
    for _, answer in ipairs(answers) do
      local status, made = answer_of(answer)
      assert.equal("201", status, answer)
      count = count + (ids[made.id] and 0 or 1)
      ids[made.id] = true
    end
    return ids, count
  end

  it("writes what many connections ask for in one transaction", function()
    local requests = {}
    for i = 1, CLIENTS do
      requests[i] = post({ handler = "plain", payload = { n = i } })
    end
    face:ask(requests[1]) -- its engine is open, and its ids are drawn
    local before = passed("enqueue_committed")
    local answers = together(requests)
    assert.equal(CLIENTS, #answers)
    assert.equal(CLIENTS, select(2, ids_of(answers)))
    assert.is_true(passed("enqueue_committed") - before <= 3, passed("enqueue_committed") - before)
  end)

  it("writes what functions have said", function()
    local requests, questions = {}, {}
    for i = 1, CLIENTS do
      requests[i] = post({ handler = i % 2 == 0 and "asked" or "plain", payload = { n = i } })
    end
    local ids, count = ids_of(together(requests))
    assert.equal(CLIENTS, count)
    for id in pairs(ids) do
      questions[#questions + 1] = faces.head("GET /v1/jobs/" .. id)
    end
    for _, answer in ipairs(face:ask_all(questions)) do
      local _, job = answer_of(answer)
      assert.equal(job.handler == "asked" and job.payload.n or 0, job.priority)
    end
  end)

  it("leaves out what is refused, and goes on with the others", function()
    local requests = {}
    for i = 1, 12 do
      requests[i] = post({ handler = ({ "plain", "full", "nobody" })[i % 3 + 1] })
    end
    local told = {}
    for _, answer in ipairs(together(requests)) do
      local status, content = answer_of(answer)
      local what = status .. (content.code and " " .. content.code or "")
      told[what] = (told[what] or 0) + 1
    end
    assert.same({ ["201"] = 5, ["429 backlog"] = 3, ["404 not_found"] = 4 }, told)
    local headers = face:talk { { "send", post { handler = "full" } }, { "headers" } }
    assert.matches("^429\n.*retry%-after: 1", table.concat(headers, "\n"))
  end)

  it("answers one key alike, however many ask at once", function()
    local requests, ids = {}, {}
    for i = 1, CLIENTS do
      requests[i] = post({ handler = "plain", payload = { n = i % 4 } },
        "Idempotency-Key: key" .. i % 4)
    end
    local before = passed("create_begun")
    for i, answer in ipairs(together(requests)) do
      local status, made = answer_of(answer)
      assert.equal("201", status, answer)
      assert.equal(ids[i % 4] or made.id, made.id)
      ids[i % 4] = made.id
    end
    assert.equal(4, passed("create_begun") - before)
    assert.matches('^409 .*"conflict"', face:ask(post({ handler = "plain" },
      "Idempotency-Key: key1")))
  end)

  it("leaves more than a thousand jobs to a walker, under a key too", function()
    local jobs = {}
    for i = 1, 1500 do
      jobs[i] = { handler = "plain" }
    end
    local answers = face:ask_all { post(jobs, "Idempotency-Key: many"),
      post(jobs, "Idempotency-Key: many") }
    local status, made = answer_of(answers[1])
    assert.equal("201", status)
    assert.equal(1500, #made.items)
    assert.equal(answers[1], answers[2])
  end)

  it("holds up nobody for a slow function of a definition", function()
    local slow, plain = post({ handler = "slow" }), post({ handler = "plain" })
    local order
    for _ = 1, 20 do -- an order that a busy machine may turn round now and then
      order = face:talk { { "on", "slow" }, { "send", slow }, { "on", "plain" }, { "send", plain },
        { "on", "none" }, { "first" }, { "read" }, { "on", "none" }, { "first" }, { "read" } }
      if order[1]:find("^201") then
        break
      end
    end
    assert.matches("^201", order[1])
    assert.matches("^500 .*took longer than PT1S", order[2])
  end)

  local function outcome(job, given)
    local one = { id = job.id, token = job.token, outcome = "complete" }
    for key, value in pairs(given or {}) do
      one[key] = value
    end
    return one
  end

  it("settles and fetches for many workers in one transaction, and refuses each alone", function()
    local WORKERS, jobs, requests = 32, {}, {}
    local function few(count) -- threads that a busy machine lets wait have theirs later
      assert.is_true(count <= WORKERS // 4, count)
    end
    for i = 1, 2 * WORKERS do
      jobs[i] = { handler = "topic/ocr", payload = { n = i } }
    end
    face:ask(faces.post("/v1/jobs", jobs))
    for i = 1, WORKERS do
      requests[i] = faces.post("/v1/fetch", { worker = "w" .. i, topics = { "ocr" } })
    end
    local before, held, seen = passed("work_committed"), {}, {}
    for i, answer in ipairs(together(requests)) do
      held[i] = select(2, answer_of(answer)).jobs[1]
      assert.is_nil(seen[held[i].id])
      seen[held[i].id] = i
    end
    few(passed("work_committed") - before)
    for i = 1, WORKERS do
      local given = i == 2 and { token = held[i].token + 100000 }
        or i == 3 and { create = { { handler = "plain" } } }
        or i == 4 and { outcome = "extend", lock = "PT1H" }
      requests[i] = faces.post("/v1/settle", { outcomes = { outcome(held[i], given) },
        fetch = { worker = "w" .. i, topics = { "ocr" } } })
    end
    before = passed("work_committed")
    for i, answer in ipairs(together(requests)) do
      local status, said = answer_of(answer)
      assert.equal("200", status, answer)
      assert.equal(i == 2 and "conflict" or nil, said.outcomes[1].code)
      assert.equal(i == 3 and 1 or nil, said.outcomes[1].created and #said.outcomes[1].created)
      assert.is_nil(seen[said.jobs[1].id])
      seen[said.jobs[1].id] = i
    end
    few(passed("work_committed") - before)
    assert.same({ "30" }, process.sql(store, "SELECT count(*) FROM ended e JOIN stream s"
      .. " ON s.id=e.stream WHERE s.topic='ocr' AND e.outcome=1"))
    assert.same({ "34" }, process.sql(store, "SELECT count(*) FROM locked k JOIN stream s"
      .. " ON s.id=k.stream WHERE s.topic='ocr'"))
  end)

  it("takes back once what is handed back on many connections", function()
    local JOBS, ids, requests = 8, {}, {}
    for _ = 1, JOBS do
      ids[#ids + 1] = { handler = "topic/twice" }
    end
    face:ask(faces.post("/v1/jobs", ids))
    local _, fetched = answer_of(face:ask(faces.post("/v1/fetch",
      { worker = "w", topics = { "twice" }, max = JOBS })))
    for i = 1, 3 * JOBS do
      local job = fetched.jobs[(i - 1) % JOBS + 1]
      requests[i] = faces.post("/v1/jobs/" .. job.id .. "/complete",
        { token = job.token, worker = "w" })
    end
    local told = {}
    for _, answer in ipairs(together(requests)) do
      local status = answer_of(answer)
      told[status] = (told[status] or 0) + 1
    end
    assert.same({ ["200"] = JOBS, ["409"] = 2 * JOBS }, told)
    assert.same({ tostring(JOBS) }, process.sql(store, "SELECT count(*) FROM ended e JOIN stream s"
      .. " ON s.id=e.stream WHERE s.topic='twice' AND e.outcome=1"))
  end)

  -- As many instances whose tasks are completed at once, but one; how many commits that took.
  local function complete_together(count)
    for _ = 1, count do
      assert.matches("^200", face:ask(faces.post("/v1/processes/p/start", json.decode "{}")))
    end
    local _, fetched = answer_of(face:ask(faces.post("/v1/fetch",
      { worker = "w", topics = { "charge" }, max = count, lock = "PT1H" })))
    local requests = {}
    for i, job in ipairs(fetched.jobs) do
      requests[i] = faces.post("/v1/settle", { outcomes = { outcome(job,
        i == 2 and { token = job.token + 100000 } or nil) } })
    end
    assert.equal(count, #requests)
    local before = passed("externals_committed")
    for i, answer in ipairs(together(requests)) do
      local _, said = answer_of(answer)
      assert.equal(i == 2 and "conflict" or nil, said.outcomes[1].code, answer)
    end
    return passed("externals_committed") - before
  end

  it("has external tasks of several requests walked and written together", function()
    local WORKERS, tries, count = 32, 0
    repeat -- on a busy machine a walk may seem slow, and then goes by itself
      tries = tries + 1
      count = complete_together(WORKERS)
    until count <= WORKERS * 2 // 3 or tries == 20
    assert.is_true(count <= WORKERS * 2 // 3, count)
    assert.same({ tostring(tries) }, process.sql(store, "SELECT count(*) FROM instance"))
  end)
end)

describe("what takes long over the network", function()
  local folder, face

  local function write(name, text)
    local file = assert(io.open(folder .. "/" .. name, "w"))
    file:write(text)
    file:close()
  end

  -- Loading `loop.lua` and running `long` end when the file `go` is there, or their limits do.
  before_each(function()
    folder = process.folder { ["handlers/plain.lua"] = "return function() end",
      ["moonshift.lua"] = "return { workers = 2 }" }
    local wait = ("local function open(name, mode) return io.open('%s/' .. name, mode) end\n"
      .. "local function wait(name) open(name, 'w'):close() repeat until open('go') end\n"):format(
      folder)
    write("handlers/long.lua", wait
      .. "return { timeout = 'PT1M', run = function(job) wait('runs' .. job.id) end }")
    write("loop", wait .. "wait('reads')\nreturn function() end")
    face = faces.start(folder, "serve", "--http", "unix:" .. folder .. "/socket")
  end)

  after_each(function()
    process.kill(face.pid)
    process.remove(folder)
  end)

  local function told(path, body)
    local status, content = face:ask(faces.post(path, body)):match("^(%d+) (.*)$")
    return status, json.decode(content)
  end

  local function create(handler)
    local status, made = told("/v1/jobs", { handler = handler })
    assert.equal("201", status)
    return made.id
  end

  it("holds up neither workers nor commands, though many run jobs by hand", function()
    local steps = {}
    for i = 1, 4 do
      steps[2 * i - 1] = { "on", tostring(i) }
      local path = "/v1/jobs/" .. create("long") .. "/execute"
      steps[2 * i] = { "send", faces.post(path, json.decode "{}") }
    end
    local shell = "until [ -e %s/runs1 ] && [ -e %s/runs2 ]; do sleep 0.01; done"
    steps[#steps + 1] = { "shell", shell:format(folder, folder) }
    local other, job = create("plain"), create("topic/ocr")
    local fetch = { worker = "w", topics = { "ocr" } }
    local settle = { outcomes = { { id = job, token = 1000000, outcome = "complete" } } }
    steps[#steps + 1] = { "on", "other" }
    for _, request in ipairs { faces.post("/v1/fetch", fetch), faces.post("/v1/settle", settle),
      faces.post("/v1/jobs/" .. other .. "/suspend", json.decode "{}") } do
      steps[#steps + 1] = { "send", request }
      steps[#steps + 1] = { "read" }
    end
    steps[#steps + 1] = { "shell", "touch " .. folder .. "/go" }
    for i = 1, 4 do
      steps[#steps + 1] = { "on", tostring(i) }
      steps[#steps + 1] = { "read" }
    end
    local answers = face:talk(steps)
    assert.matches("^200 .*" .. job, answers[1])
    assert.matches('^200 .*"conflict"', answers[2]) -- another has it
    for i = 3, 7 do
      assert.matches("^200 ", answers[i])
    end
  end)

  -- Each of the two ends with its external task; the slow one waits for the file `go` before.
  it("is no completion of another instance: it is written before the slow one ends", function()
    local step = "local p = require 'moonshift.process'\n"
      .. "return { p.step 'x' { topic = 'charge' }%s }"
    local slow = (", p.step 'y' { run = function() repeat until "
      .. "io.open('%s/go') end }"):format(folder)
    process.run(("mkdir %s/processes"):format(folder))
    write("processes/quick.lua", step:format(""))
    write("processes/slow.lua", step:format(slow))
    process.kill(face.pid)
    face = faces.start(folder, "serve", "--http", "unix:" .. folder .. "/socket")
    local outcomes = {}
    for _, name in ipairs { "quick", "slow" } do
      assert.equal("200", (told("/v1/processes/" .. name .. "/start", json.decode "{}")))
      local _, fetched = told("/v1/fetch", { worker = "w", topics = { "charge" } })
      outcomes[#outcomes + 1] = { id = fetched.jobs[1].id, token = fetched.jobs[1].token,
        outcome = "complete" }
    end
    local list = faces.head "GET /v1/process-instances"
    assert.matches('^200 .*"quick"', face:ask(list))
    local answers = face:talk { { "on", "worker" },
      { "send", faces.post("/v1/settle", { outcomes = outcomes }) },
      { "on", "other" }, { "shows", list, '"quick"', 0 },
      { "shell", "touch " .. folder .. "/go" }, { "on", "worker" }, { "read" } }
    assert.equal("shown", answers[1])
    assert.matches("^200 ", answers[2])
    assert.is_nil(answers[2]:find('"code"', 1, true), answers[2])
  end)

  it("is no reading of the files: requests find those before", function()
    create("plain")
    process.run(("mv %s/loop %s/handlers/loop.lua"):format(folder, folder))
    process.kill(face.pid, "HUP")
    process.await("the files to be read", 60, function()
      return there(folder .. "/reads")
    end)
    create("plain")
    assert.equal("404", (told("/v1/jobs", { handler = "loop" })))
    write("go", "")
    process.await("the new file", 60, function()
      return told("/v1/jobs", { handler = "loop" }) == "201"
    end)
  end)

  it("is no reading of the files for one that ends: they are left to themselves", function()
    process.run(("mv %s/loop %s/handlers/loop.lua"):format(folder, folder))
    process.kill(face.pid, "HUP")
    process.await("the files to be read", 60, function()
      return there(folder .. "/reads")
    end)
    assert.equal(0, face:stop())
    local log = process.read(face.log)
    assert.is_nil(log:find("http keeps the files it has", 1, true), log)
  end)

  it("leaves the files as they are where the new ones do not end", function()
    process.run(("mv %s/loop %s/handlers/loop.lua"):format(folder, folder))
    process.kill(face.pid, "HUP")
    process.await("the files to be refused", 60, function()
      create("plain")
      return (process.read(face.log) or ""):find("http keeps the files it has", 1, true)
    end)
    create("plain")
    assert.equal("404", (told("/v1/jobs", { handler = "loop" })))
  end)
end)

describe("a key over the death of the network face", function()
  local folder, program

  setup(function()
    program = process.program
    process.program = process.testing
  end)

  before_each(function()
    folder = process.folder { ["handlers/plain.lua"] = "return function() end" }
  end)

  after_each(function()
    process.environment = ""
    process.remove(folder)
  end)

  teardown(function()
    process.program = program
  end)

  -- What a face answers to jobs under one key; nil: it has died at the point.
  local function ask(point, job)
    process.environment = point and "CRASH_AT=" .. point or ""
    local face = faces.start(folder, "serve", "--http", "unix:" .. folder .. "/socket")
    local answer = face:ask(faces.post("/v1/jobs", job, "Idempotency-Key: order-7"))
    if point then
      assert.equal(137, process.await_status(face.pid, 60))
      assert.equal("end", answer)
      return nil
    end
    process.kill(face.pid)
    process.await_status(face.pid, 60)
    return answer
  end

  local function count()
    local status, output = process.moonshift("job", "list", "--json", "--store",
      "sqlite:" .. folder .. "/moonshift.db")
    assert.equal(0, status)
    return select(2, output:gsub('"handler"', ""))
  end

  for _, point in ipairs { "create_begun:1", "request_kept:1", "enqueue_committed:1" } do
    it("is answered as if nothing had been: " .. point, function()
      local jobs = { { handler = "plain" }, { handler = "plain", priority = 2 } }
      assert.is_nil(ask(point, jobs))
      assert.equal(point == "enqueue_committed:1" and 2 or 0, count())
      local first = ask(nil, jobs)
      assert.matches("^201 ", first)
      assert.equal(first, ask(nil, jobs))
      assert.equal(2, count())
      assert.matches("^409 ", ask(nil, { handler = "plain" }))
    end)
  end
end)
