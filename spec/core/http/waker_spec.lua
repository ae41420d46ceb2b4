-- What has a fetch that waits asked again: work that any program makes, and dates.
local faces = require "spec.support.faces"
local json = require("moonshift").json
local process = require "spec.support.process"

-- Ends with 0 once no thread of the process $1 has gone on for a while; with 1 if one goes on.
local STILL = [[
count() { cat /proc/%d/task/*/status | grep -h ^voluntary; }
for i in 1 2 3 4 5 6 7 8 9 10; do
  before=$(count); sleep 2.2; [ "$before" = "$(count)" ] && exit 0
done; exit 1]]

describe("fetches that wait", function()
  local folder, store, face, runner

  before_each(function()
    folder = process.folder {
      ["handlers/topic/ocr.lua"] = "return { retry = 'R1/PT1H' }",
      ["handlers/make.lua"] = "return function(job) job:enqueue('topic/ocr') end",
    }
    store = "sqlite:" .. folder .. "/moonshift.db"
    face = faces.start(folder, "serve", "--http", "unix:" .. folder .. "/socket", "--open")
  end)

  after_each(function()
    process.kill(face.pid)
    if runner then
      process.kill(runner)
      process.await_end(runner, 60)
      runner = nil
    end
    process.remove(folder)
  end)

  local function fetch(worker, topic, lock)
    return faces.post("/v1/fetch",
      { worker = worker, topics = { topic or "ocr" }, wait = "PT20M", lock = lock })
  end

  local function enqueue(...)
    return process.command("enqueue", "--store", store, ...)
  end

  -- Steps by which so many workers wait for the topic and have asked the store.
  local function parked(count)
    local steps = {}
    for i = 1, count do
      steps[#steps + 1] = { "on", "w" .. i }
      steps[#steps + 1] = { "send", fetch("w" .. i) }
    end
    steps[#steps + 1] = { "on", "asker" }
    steps[#steps + 1] = { "shows", faces.head "GET /v1/executors", '"name":"w', count }
    return steps
  end

  local function add(steps, more)
    return table.move(more, 1, #more, #steps + 1, steps)
  end

  -- The job of an answer to a fetch.
  local function job(answer)
    local jobs = assert(json.decode((answer:match("^200 (.*)$")))).jobs
    assert.equal(1, #jobs)
    return jobs[1]
  end

  it("are answered one for each job that another program creates", function()
    local steps = parked(20)
    for _ = 1, 10 do
      add(steps, { { "shell", enqueue "topic/ocr" .. " >/dev/null" }, { "first" }, { "read" },
        { "send", fetch "again" } })
    end
    add(steps, { { "on", "asker" }, { "quiet" } })
    local said = face:talk(steps)
    local seen = {}
    for i = 2, 11 do
      seen[job(said[i]).id] = true
    end
    local count = 0
    for _ in pairs(seen) do
      count = count + 1
    end
    assert.equal(10, count)
    assert.equal("20", said[12])
  end)

  it("are answered with jobs that an executor's handlers create", function()
    runner = process.start_watched(folder .. "/log-run", "run", folder, "--store", store,
      "--workers", "4")
    local steps = parked(20)
    steps[#steps + 1] = { "shell", enqueue("make", "--count", "15") .. " >/dev/null" }
    for _ = 1, 15 do
      add(steps, { { "first" }, { "read" }, { "close" } })
    end
    add(steps, { { "on", "asker" }, { "quiet" } })
    local said = face:talk(steps)
    for i = 2, 16 do
      assert.equal("topic/ocr", job(said[i]).handler)
    end
    assert.equal("5", said[17])
  end)

  it("leave the store alone until then", function()
    local steps = parked(50)
    add(steps, { { "shell", STILL:format(face.pid) },
      { "shell", enqueue "topic/ocr" .. " >/dev/null" }, { "first" }, { "read" } })
    local said = face:talk(steps)
    assert.equal(2, #said)
    assert.equal("topic/ocr", job(said[2]).handler)
  end)

  -- Some kilobytes are for what all of them share.
  it("take little memory until then", function()
    local resident = "echo $(grep VmRSS /proc/%d/status | tr -dc 0-9) >>%s/kilobytes"
    local steps = parked(20)
    steps[#steps + 1] = { "shell", resident:format(face.pid, folder) }
    for i = 21, 320 do
      add(steps, { { "on", "w" .. i }, { "send", fetch "w" } })
    end
    add(steps, { { "shell", STILL:format(face.pid) },
      { "shell", resident:format(face.pid, folder) } })
    face:talk(steps)
    local before, after = process.read(folder .. "/kilobytes"):match("(%d+)%s+(%d+)")
    assert.truthy(after - before < 300 * 4, before .. " kB, and then " .. after)
  end)

  it("are answered when a date has come", function()
    local steps = parked(1)
    add(steps, { { "shell", enqueue("topic/ocr", "--in", "PT0.7S") .. " >/dev/null" },
      { "first" }, { "read" } })
    assert.equal("topic/ocr", job(face:talk(steps)[2]).handler)
  end)

  it("are answered behind many dates that nobody moves", function()
    local steps = parked(1)
    local file = assert(io.open(folder .. "/many.jsonl", "w"))
    file:write(('{"handler":"make","after":"PT0.1S"}\n'):rep(300), '{"handler":"topic/ocr",'
      .. '"after":"PT0.2S"}\n')
    file:close()
    add(steps, { { "shell", enqueue("--from", folder .. "/many.jsonl") .. " >/dev/null" },
      { "first" }, { "read" } })
    assert.equal("topic/ocr", job(face:talk(steps)[2]).handler)
  end)

  it("are answered when another worker's lock has run out", function()
    local held = job(face:talk({ { "send", faces.post("/v1/jobs", { handler = "topic/ocr" }) },
      { "read" }, { "send", fetch("holder", "ocr", "PT1S") }, { "read" } })[2])
    local steps = parked(1)
    add(steps, { { "first" }, { "read" } })
    assert.equal(held.id, job(face:talk(steps)[2]).id)
  end)

  -- One that waits for jobs of a tenant.
  local function of_tenant(worker, tenant)
    local topic = { topic = "ocr", tenant = tenant }
    local wanted = { worker = worker, wait = "PT20M", topics = { topic } }
    return { { "on", worker }, { "send", faces.post("/v1/fetch", wanted) } }
  end

  it("are asked for what they want themselves, whoever stands before them", function()
    local steps = of_tenant("w1", "acme")
    add(steps, of_tenant("w2", "other"))
    add(steps, { { "on", "asker" },
      { "shows", faces.head "GET /v1/executors", '"name":"w', 2 },
      { "shell", enqueue("topic/ocr", "--tenant", "other") .. " >/dev/null" },
      { "on", "w2" }, { "read" } })
    assert.equal("other", job(face:talk(steps)[2]).tenant)
  end)

  it("are no executors to anybody", function()
    local steps = parked(2)
    add(steps, { { "send", faces.head "GET /v1/executors" }, { "read" } })
    local items = json.decode((face:talk(steps)[2]:match("^200 (.*)$"))).items
    assert.equal(2, #items)
    local status, _, errors = process.moonshift("check", "--store", store)
    assert.equal(0, status, errors)
    process.kill(face.pid)
    process.await_status(face.pid, 60)
    face = faces.start(folder, "serve", "--http", "unix:" .. folder .. "/socket2", "--open")
    assert.equal("topic/ocr", job(face:talk(add(parked(2), {
      { "shell", enqueue "topic/ocr" .. " >/dev/null" }, { "first" }, { "read" } }))[2]).handler)
  end)

  -- Of each second; a thread that goes round and round does so thousands of times.
  it("keep no thread busy for jobs that none of them may have", function()
    local steps = of_tenant("w1", "acme")
    add(steps, { { "on", "asker" },
      { "shows", faces.head "GET /v1/executors", '"name":"w', 1 },
      { "shell", enqueue("topic/ocr", "--tenant", "other") .. " >/dev/null" },
      { "shell", ([[count() { cat /proc/%d/task/*/status | grep -h ctxt | awk '{ n += $2 }
        END { print n }'; }
        before=$(count); sleep 3; test $(($(count) - before)) -lt 300]]):format(face.pid) },
      { "shell", enqueue("topic/ocr", "--tenant", "acme") .. " >/dev/null" },
      { "on", "w1" }, { "read" } })
    local said = face:talk(steps)
    assert.equal("acme", job(said[#said]).tenant)
    assert.equal(2, #said)
  end)

  -- On a server a killed program counts as dead once its session was away for ten seconds.
  it("leave nothing behind in the store, however their program ends", function()
    local rows = "SELECT count(*) FROM executor WHERE kind=2 AND state<>0"
    face:talk(parked(1))
    process.await("a row that listens", 60, function()
      return process.sql(folder .. "/moonshift.db", rows)[1] == "1"
    end)
    process.kill(face.pid)
    process.await_status(face.pid, 60)
    face = faces.start(folder, "serve", "--http", "unix:" .. folder .. "/socket2", "--open")
    local tries = 0
    process.await("the row of the killed one to go", 60, function()
      tries = tries + 1
      face:talk { { "send", fetch("w", "topic" .. tries) } }
      return process.sql(folder .. "/moonshift.db", rows)[1] == "1"
    end)
  end)
end)
