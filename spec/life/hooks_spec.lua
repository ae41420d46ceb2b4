-- Hooks: called with what happens to jobs; what they enqueue is written with it.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local program = require "spec.support.program"

-- A hook that notes every event of jobs other than its own.
local NOTES = [[
local function note(event)
  if event.job.handler == "note" then return end
  event:enqueue("note", {
    event = event.name, job = event.job.id, handler = event.job.handler, message = event.message,
    reason = event.reason, retries = event.retries, before = event.before, due = event.due,
    outcome = event.outcome, permanent = event.permanent, at = event.at,
  })
end
return { created = note, failed = note, dead = note, retries = note, ended = note }
]]
local HANDLERS = {
  ["handlers/note.lua"] = "return function(job) return job.payload end",
  ["handlers/fine.lua"] = "return function() return 5 end",
  ["handlers/fail.lua"] = "return { retry = 'R2/PT1M', run = function() error('broken', 0) end }",
  ["handlers/make.lua"] = [[return function(job)
    job:enqueue("fine")
    if job.payload.fails then error("no", 0) end
  end]],
  ["handlers/refused.lua"] = [[return { retry = 'R2/PT1M', run = function(job)
    job:operate { verb = "delete", ids = { 4711 } }
  end }]],
  ["handlers/sleep.lua"] = "return function(job) job:snooze('PT1H') end",
}

describe("hooks", function()
  local engine

  local function open(hooks, settings)
    local files = {}
    for path, text in pairs(HANDLERS) do
      files[path] = text
    end
    for path, text in pairs(hooks) do
      files[path] = text
    end
    engine = engines.private(files, settings)
  end

  after_each(function()
    if engine then
      engine:close()
      engine = nil
    end
    engines.clean()
  end)

  -- What was noted, in the order in which the notes were created: "event job outcome".
  local function noted()
    local list = {}
    engine:drain()
    for _, entry in ipairs(engine:log({ handler = "note", outcome = "successful" }):list()) do
      list[#list + 1] = entry
    end
    table.sort(list, function(a, b) return a.job < b.job end)
    local texts = {}
    for i, entry in ipairs(list) do
      local result = entry.result
      texts[i] = ("%s %s"):format(result.event, result.handler)
    end
    return texts, list
  end

  it("are told of a success on its worker, with it", function()
    open { ["hooks/notes.lua"] = NOTES:gsub("created = note, ", "") }
    local id = engine:enqueue("fine")
    engine:execute(id)
    local waiting = engine:jobs({ handler = "note" }):one()
    local payload = engine:job(waiting.id).payload
    assert.equal("ended", payload.event)
    assert.equal(id, payload.job)
    assert.equal("successful", payload.outcome)
    assert.equal(0, engine:jobs({ handler = "moonshift/hook" }):count())
  end)

  it("are told of failures and of the last one, with what went wrong", function()
    open { ["hooks/notes.lua"] = NOTES:gsub("created = note, ", "") }
    engine:enqueue("fail")
    engine:drain()
    engine:advance("PT1M")
    local texts, list = noted()
    assert.same({ "failed fail", "failed fail", "dead fail" }, texts)
    local first, last = list[1].result, list[3].result
    assert.same({ "broken", "error", 1, false },
      { first.message, first.reason, first.retries, first.permanent })
    assert.equal("2026-01-01T00:01:00.000Z", first.due)
    assert.equal(0, last.retries)
  end)

  it("are told of a run that the store refuses as of one that fails", function()
    open { ["hooks/notes.lua"] = NOTES:gsub("created = note, ", "") }
    engine:enqueue("refused")
    engine:drain()
    engine:advance("PT1M")
    local texts, list = noted()
    assert.same({ "failed refused", "failed refused", "dead refused" }, texts)
    assert.equal("no job 4711", list[3].result.message)
  end)

  it("are told of jobs that a handler creates, only if they are written", function()
    open { ["hooks/notes.lua"] = NOTES:gsub("failed = note, ", "") }
    engine:enqueue("make", {}, { retries = 1 })
    local texts = noted()
    table.sort(texts)
    assert.same({ "created fine", "created make", "ended fine", "ended make" }, texts)
    engine:close()
    open { ["hooks/notes.lua"] = NOTES:gsub("failed = note, ", "") }
    engine:enqueue("make", { fails = true }, { retries = 1 })
    texts = noted()
    table.sort(texts)
    assert.same({ "created make", "dead make" }, texts)
  end)

  it("are told by a job of what happens without Lua", function()
    open { ["hooks/notes.lua"] = NOTES }
    local ids = {}
    for i = 1, 4 do
      ids[i] = engine:enqueue("fine", nil, { after = "P1D" })
    end
    assert.equal(4, engine:jobs({ handler = "moonshift/hook" }):count())
    noted()
    engine:set_retries(ids[1], 7)
    engine:dead_letter(ids[2])
    engine:delete(ids[3])
    engine:cancel(ids[4])
    local texts, list = noted()
    assert.same({ "retries fine", "retries fine", "dead fine", "ended fine", "ended fine" },
      { table.unpack(texts, 5) })
    assert.same({ 7, 3 }, { list[5].result.retries, list[5].result.before })
    assert.same({ ids[3], "deleted" }, { list[8].result.job, list[8].result.outcome })
    assert.same({ ids[4], "cancelled" }, { list[9].result.job, list[9].result.outcome })
  end)

  it("are told of many jobs by one", function()
    open { ["hooks/notes.lua"] = NOTES:gsub("ended = note", "") }
    local list = {}
    for i = 1, 1200 do
      list[i] = { "fine", nil, { after = "P1D" } }
    end
    engine:enqueue_many(list)
    assert.equal(3, engine:jobs({ handler = "moonshift/hook" }):count())
    assert.equal(1200, #noted())
  end)

  it("are not told of what they enqueue themselves as it is created, nor of the product's own",
    function()
    open { ["hooks/a.lua"] = [[return { created = function(event)
      event:enqueue(event.job.handler == "note" and "fail" or "note")
    end }]] }
    engine:enqueue("fine")
    engine:enqueue("make")
    assert.equal(0, engine:drain().failed)
    assert.equal(3, engine:log({ handler = "note", outcome = "successful" }):count())
    assert.equal(2, engine:log({ handler = "moonshift/hook", outcome = "successful" }):count())
    assert.equal(0, engine:jobs():count())
  end)

  it("cannot enqueue the handler that they are told of", function()
    open { ["hooks/a.lua"] = [[return { ended = function(event)
      event:enqueue(event.job.handler)
    end }]] }
    local id = engine:enqueue("fine")
    assert.same({ done = 1, failed = 0 }, engine:drain())
    assert.same({ 'hooks/a.lua failed at "ended" and is left out: hooks/a.lua:2: event:enqueue: a '
      .. 'hook told of "fine" cannot enqueue "fine" (it would be told again)' },
      engine:log({ job = id, outcome = "successful" }):one().lines)
  end)

  it("are left out where they raise, and the others are called", function()
    open {
      ["hooks/a.lua"] = [[return { ended = function(event)
        event:enqueue("note", { event = "lost" })
        error("no such luck", 0)
      end }]],
      ["hooks/b.lua"] = NOTES:gsub("created = note, ", ""),
    }
    local id = engine:enqueue("fine")
    assert.same({ "ended fine" }, (noted()))
    assert.same({ 'hooks/a.lua failed at "ended" and is left out: no such luck' },
      engine:log({ job = id, outcome = "successful" }):one().lines)
  end)

  it("are left out where they take more than a second, or too much memory", function()
    open {
      ["hooks/a.lua"] = [[return { ended = function(event)
        if event.job.handler == "fine" then while true do end end
        if event.job.handler == "make" then
          local t = {}
          while true do t[#t + 1] = ("x"):rep(10000000) .. #t end
        end
      end }]],
    }
    local slow, hungry = engine:enqueue("fine"), engine:enqueue("make")
    engine:drain()
    assert.same({ 'hooks/a.lua failed at "ended" and is left out: it took longer than PT1S' },
      engine:log({ job = slow, outcome = "successful" }):one().lines)
    assert.same({
      'hooks/a.lua failed at "ended" and is left out: it needed more than the memory limit' },
      engine:log({ job = hungry, outcome = "successful" }):one().lines)
  end)

  it("are left out in the job that tells them, too", function()
    open {
      ["hooks/a.lua"] = "return { retries = function() while true do end end }",
      ["hooks/b.lua"] = NOTES:gsub("created = note, ", ""),
    }
    local id = engine:enqueue("fine", nil, { after = "P1D" })
    engine:set_retries(id, 2)
    assert.same({ "retries fine" }, (noted()))
    assert.same({ 'hooks/a.lua failed at "retries" and is left out: it took longer than PT1S' },
      engine:log({ handler = "moonshift/hook", outcome = "successful" }):one().lines)
  end)

  it("need too much memory there without harm to the others, for one event of many", function()
    open {
      ["hooks/a.lua"] = [[return { created = function(event)
        local t = {}
        while event.job.payload == 3 do t[#t + 1] = ("x"):rep(10000000) .. #t end
      end }]],
      ["hooks/b.lua"] = NOTES:gsub("failed = note.-ended = note", ""),
    }
    for i = 1, 5 do
      engine:enqueue("fine", i)
    end
    assert.equal(0, engine:drain().failed)
    assert.equal(5, engine:log({ handler = "note", outcome = "successful" }):count())
    assert.equal(0, engine:jobs():count())
    local lines = {}
    local tellers = engine:log({ handler = "moonshift/hook", outcome = "successful" })
    for _, row in ipairs(tellers:list()) do
      table.move(row.lines or {}, 1, #(row.lines or {}), #lines + 1, lines)
    end
    assert.same({
      'hooks/a.lua failed at "created" and is left out: it needed more than the memory limit' },
      lines)
  end)

  it("never fail a job by what they enqueue", function()
    open {
      ["handlers/full.lua"] = "return { backlog = 1, run = function() end }",
      ["hooks/a.lua"] = [[return {
        ended = function(event) if event.job.handler == "fine" then event:enqueue("full") end end,
        failed = function(event) event:enqueue("full") end,
      }]],
    }
    engine:enqueue("full", nil, { after = "P1D" })
    local fine, fail = engine:enqueue("fine"), engine:enqueue("fail")
    assert.same({ done = 1, failed = 1 }, engine:drain())
    assert.equal(1, engine:log({ job = fine, outcome = "successful" }):count())
    assert.equal("broken", engine:job(fail).message)
    assert.equal(1, engine:jobs({ handler = "full" }):count())
  end)

  it("see the job's fields, and what they enqueue inherits its tenant and root", function()
    open { ["hooks/a.lua"] = [[return { ended = function(event)
      if event.job.handler == "fine" then
        event:enqueue("note", { amount = event.job.payload.amount, lane = event.job.lane })
      end
    end }]] }
    engine:enqueue("fine", { amount = 9 }, { tenant = "acme", instance = "o1" })
    engine:turn()
    engine:turn()
    local row = engine:log({ handler = "note", outcome = "created" }):one()
      or engine:jobs({ handler = "note" }):one()
    assert.is_not_nil(row)
    engine:drain()
    local result = engine:log({ handler = "note", outcome = "successful" }):one().result
    assert.same({ amount = 9, lane = "o1" }, result)
  end)

  it("are refused when they are none", function()
    local function refusal(text)
      return select(2, moonshift.open { store = "sqlite::memory:",
        scripts = engines.folder { ["hooks/a.lua"] = text } })
    end
    assert.equal("hooks/a.lua:1: returned a function (expected a table of functions by event, such "
      .. "as { failed = … })", refusal "return function() end")
    assert.equal('hooks/a.lua:1: unknown key "faild" (did you mean "failed"?)',
      refusal "return { faild = print }")
    assert.equal("hooks/a.lua:1: dead: got 5 (expected a function)", refusal "return { dead = 5 }")
  end)

  it("are told of the lines of a file once they are released", function()
    local files = { ["hooks/notes.lua"] = NOTES:gsub("ended = note", "") }
    for path, text in pairs(HANDLERS) do
      files[path] = text
    end
    local place = program.place(files)
    assert.equal(0, (place.run("run", "--drain")))
    local lines = {}
    for i = 1, 5 do
      lines[i] = '{"handler":"fine"}\n'
    end
    local input = table.concat(lines)
    local function feed(text)
      return (program.run({ "enqueue", "--from", "-" }, { dir = place.path, stdin = text }))
    end
    assert.equal(0, feed(input))
    assert.is_true(feed(input .. "no JSON\n") ~= 0)
    assert.equal(0, (place.run("run", "--drain")))
    local _, output = place.run("log", "--handler", "note", "--outcome", "successful", "--json")
    local _, count = output:gsub('"event":"created"', "")
    assert.equal(5, count)
    place.clean()
  end)

  it("are told across processes: a command creates and cancels, an executor tells", function()
    local files = { ["hooks/notes.lua"] = NOTES }
    for path, text in pairs(HANDLERS) do
      files[path] = text
    end
    local place = program.place(files)
    assert.equal(0, (place.run("run", "--drain")))
    local _, id = place.run("enqueue", "fine", "--at", "2999-01-01")
    assert.equal(0, (place.run("job", "cancel", (id:gsub("\n", "")))))
    assert.equal(0, (place.run("run", "--drain")))
    local _, output = place.run("log", "--handler", "note", "--outcome", "successful", "--json")
    assert.matches('"event":"created"', output, 1, true)
    assert.matches('"outcome":"cancelled"', output, 1, true)
    place.clean()
  end)

  describe("for processes", function()
    local PROCESS = {
      ["hooks/notes.lua"] = NOTES:gsub("event = event.name", "event = event.name, "
        .. "activity = event.job.activity, instance = event.job.instance"),
      ["processes/trip.lua"] = [[
        local step, task = require "moonshift.process".words()
        return {
          step "book" { run = "fine", async = true },
          step "pay" { run = "pay", async = true, retry = "R2/PT0S" },
          task "confirm" { within = { "P1D" } },
        }]],
      ["handlers/pay.lua"] = [[return function(job)
        if job.variables.poor then error("poor", 0) end
      end]],
    }

    -- "event activity" of what was told of jobs of processes, and the instances that were named.
    local function told()
      local texts, instances, list = {}, {}, select(2, noted())
      for _, entry in ipairs(list) do
        local result = entry.result
        if result.handler:find("^process/") then
          texts[#texts + 1] = ("%s %s"):format(result.outcome or result.event, result.activity)
          instances[result.instance or "none"] = true
        end
      end
      return texts, instances
    end

    it("are told of jobs that a command, a unit and a timer make, and how these end", function()
      open(PROCESS)
      local id = tostring(engine:start "trip")
      local texts, instances = told()
      assert.same({ [id] = true }, instances)
      table.sort(texts)
      assert.same({ "created book", "created confirm.within", "created pay", "successful book",
        "successful pay" }, texts)
      assert(engine:complete(engine:tasks():one().id))
      texts, instances = told()
      assert.equal("cancelled confirm.within", texts[6])
      assert.same({ [id] = true }, instances)
    end)

    it("are told of failures, and of retries that an operator gives", function()
      open(PROCESS)
      engine:start("trip", { variables = { poor = true } })
      engine:drain()
      engine:set_retries(engine:jobs({ activity = "pay" }):one().id, 1)
      engine:drain()
      local texts, counts = told(), {}
      for _, text in ipairs(texts) do
        counts[text] = (counts[text] or 0) + 1
      end
      assert.same({ ["created book"] = 1, ["successful book"] = 1, ["created pay"] = 1,
        ["failed pay"] = 3, ["dead pay"] = 2, ["retries pay"] = 1 }, counts)
    end)
  end)

  it("are told of a job with a unique key only if there is one", function()
    open {
      ["handlers/make.lua"] = [[return function(job)
        for _, how in ipairs { "keep", "keep", "replace" } do
          job:enqueue("fine", nil, { unique = "one", on_conflict = how, after = "P1D" })
        end
      end]],
      ["hooks/notes.lua"] = NOTES,
    }
    engine:enqueue("make")
    engine:enqueue("make")
    local count = 0
    for _, entry in ipairs(select(2, noted())) do
      local result = entry.result
      if result.event == "created" and result.handler == "fine" then
        count = count + 1
        assert.equal("fine", engine:job(result.job).handler)
      end
    end
    assert.equal(1, count)
  end)
end)
