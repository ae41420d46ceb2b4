-- What happens in the store, as it happens (GET /v1/events).
local faces = require "spec.support.faces"
local json = require("moonshift").json
local process = require "spec.support.process"

local KINDS = "GET /v1/events?kinds=job.failed,job.ended,incident.opened"

describe("events over HTTP", function()
  local folder, store, face, executor, authorization

  local function serve()
    face = faces.start(folder, "serve", "--http", "127.0.0.1:0", "--open")
  end

  setup(function()
    folder = process.folder {
      ["handlers/work.lua"] = "return { retry = 'R1/PT1H', run = function(job)\n"
        .. "  if job.payload and job.payload.bad then error('no luck') end end }",
    }
    store = "sqlite:" .. folder .. "/moonshift.db"
    executor = process.start_watched(folder .. "/log", "run", folder, "--store", store)
    serve()
  end)

  teardown(function()
    process.kill(executor)
    process.kill(face.pid)
    process.remove(folder)
  end)

  -- The words that make a job of the payload, for a shell.
  local function enqueue(...)
    return process.command("enqueue", "--store", store, ...)
  end

  local function await_all()
    process.await("all jobs have run", 60, function()
      local _, stats = process.moonshift("stats", "--json", "--store", store)
      local jobs = json.decode(stats).jobs
      return jobs.ready + jobs.locked == 0
    end)
  end

  -- "job.ended 7" of each line of an event, and the id of each.
  local function told(lines)
    local words, ids = {}, {}
    for _, line in ipairs(lines) do
      local id, kind, data = line:match("^(%S+) ([%l.]+) (%b{})$")
      if kind then
        words[#words + 1] = ("%s %d"):format(kind, json.decode(data).job)
        ids[#ids + 1] = id
      end
    end
    return words, ids
  end

  it("are told once each, over a kill of the face and from behind each of them", function()
    local bad = '{"bad":true}'
    local words, ids = told(face:talk {
      { "send", faces.head(KINDS) }, { "read" }, { "events", "None None" },
      { "shell", enqueue("work") }, { "shell", enqueue("work", bad) },
      { "events", "incident.opened" },
      { "shell", "kill -9 " .. face.pid }, { "shell", enqueue("work", bad) },
      { "events", "that will not come" } })
    assert.equal(3, #words)
    for i = 1, 3 do
      process.run(enqueue("work", i == 2 and bad or "null"))
    end
    serve()
    await_all()
    local _, last = process.run(enqueue("work"))
    local part = ('"job":%d,'):format(tonumber(last))
    local function behind(id)
      return told(face:talk { { "send", faces.head(KINDS, "Last-Event-ID: " .. id) }, { "read" },
        { "events", part } })
    end
    local more, places = behind(ids[#ids])
    table.move(more, 1, #more, #words + 1, words)
    table.move(places, 1, #places, #ids + 1, ids)
    local sorted = table.move(words, 1, #words, 1, {})
    table.sort(sorted)
    local first = tonumber(last) - 6
    local expected = {}
    for i, ends in ipairs { true, false, false, true, false, true, true } do
      local job = first + i - 1
      expected[#expected + 1] = (ends and "job.ended %d" or "job.failed %d"):format(job)
      expected[#expected + 1] = not ends and ("incident.opened %d"):format(job) or nil
    end
    table.sort(expected)
    assert.same(expected, sorted)
    for i, id in ipairs(ids) do
      if i % 4 == 1 and i < #ids then
        assert.same(table.move(words, i + 1, #words, 1, {}), (behind(id)))
      end
    end
  end)

  it("are those that were asked for", function()
    local lines = face:talk {
      { "send", faces.head("GET /v1/events?handler=other*,more&kinds=job.ended,stats") },
      { "read" }, { "events", "None None" }, { "shell", enqueue("work") },
      { "shell", enqueue("work", "--tenant", "acme") }, { "close" },
      { "send", faces.head "GET /v1/events?tenant=acme&kinds=job.ended" }, { "read" },
      { "events", "None None" }, { "shell", enqueue("work") },
      { "shell", enqueue("work", "--tenant", "acme") }, { "events", "acme" } }
    local words = told(lines)
    assert.equal(1, #words, table.concat(lines, "\n"))
    assert.matches("^400 .*did you mean \\\"job.failed",
      face:ask(faces.head "GET /v1/events?kinds=job.fail"))
    assert.matches("^400 .*expected the id of an event",
      face:ask(faces.head("GET /v1/events", "Last-Event-ID: [1,2]")))
  end)

  it("have the figures of the store each second", function()
    local lines = face:talk { { "send", faces.head "GET /v1/events?kinds=stats" }, { "read" },
      { "events", "stats {" }, { "events", "stats {" } }
    assert.equal("200", lines[1])
    assert.truthy(json.decode((lines[#lines]:match "%b{}$")).jobs)
  end)

  it("of other tenants and of the whole store are not for a token of one", function()
    process.kill(face.pid)
    face = faces.start(folder, "serve", "--http", "127.0.0.1:0")
    local _, printed = process.moonshift("token", "create", "acme", "--scope", "read", "--tenant",
      "acme", "--store", store)
    authorization = "Authorization: Bearer " .. printed:match "ms_%w+"
    local lines = face:talk {
      { "send", faces.head("GET /v1/events", authorization) },
      { "read" }, { "events", "None None" }, { "shell", enqueue("work", "--tenant", "other") },
      { "shell", enqueue("work") }, { "shell", enqueue("work", "--tenant", "acme") },
      { "events", "acme" } }
    assert.equal(1, #(told(lines)), table.concat(lines, "\n"))
    assert.matches("^401", face:ask(faces.head "GET /v1/events"))
  end)

  it("end with their token, also while wrong ones come from the same address", function()
    local _, printed = process.moonshift("token", "create", "leaves", "--scope", "read", "--rate",
      "1/PT1H", "--store", store)
    local steps = { { "on", "reads" },
      { "send", faces.head(KINDS, "Authorization: Bearer " .. printed:match "ms_%w+") },
      { "read" }, { "events", "None None" }, { "on", "guesses" } }
    for _ = 1, 21 do
      steps[#steps + 1] = { "send", faces.head(KINDS, "Authorization: Bearer ms_wrong") }
      steps[#steps + 1] = { "read" }
    end
    table.move({ { "shell", process.command("token", "revoke", "leaves", "--store", store) },
      { "on", "reads" }, { "events", "that will not come" }, { "on", "guesses" },
      { "send", faces.head(KINDS, "Authorization: Bearer ms_wrong") }, { "read" } }, 1, 6,
      #steps + 1, steps)
    local lines = face:talk(steps)
    assert.matches("^401", lines[22])
    assert.matches("^429", lines[23])
    assert.equal("end", lines[#lines - 1])
    assert.matches("^429", lines[#lines])
  end)

  it("cost nothing while nobody reads", function()
    local function files()
      local _, text = process.run(("ls /proc/%d/fd | wc -l"):format(face.pid))
      return tonumber(text)
    end
    local count = folder .. "/count"
    local lines = face:talk { { "send", faces.head(KINDS, authorization) }, { "read" },
      { "events", "None None" },
      { "shell", ("ls /proc/%d/fd | wc -l > %s"):format(face.pid, count) } }
    assert.equal(2, #lines, table.concat(lines, "\n"))
    local while_read = tonumber(process.read(count))
    process.await("the connection and the store are closed", 60, function()
      return files() <= while_read - 2
    end)
  end)
end)
