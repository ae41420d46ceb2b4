-- Bodies of many turns: these stand outside of the frame of their instance, each with a row of its
-- own. What they wait for, see and set is the same as within a frame.
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local N = 70 -- more than stand in a frame

local WORDS = ([[local process = require "moonshift.process"
local step, task, _, _, each, receive, call = process.words()
local sub, wait, throw = process.sub, process.wait, process.throw
local parallel, choose = process.parallel, process.choose
local N = %d
]]):format(N)

local MODELS = {
  jobs = [[step "work" { run = "count", async = true, exclusive = false, each = MANY },
    step "behind" { run = "note" }]],
  lane = [[step "work" { run = "count", async = true, async_after = true, each = MANY },
    step "behind" { run = "note" }]],
  direct = [[step "work" { run = "count", each = MANY }, step "behind" { run = "note" }]],
  tasks = [[task "look" { assignee = "user${loopCounter}", each = MANY },
    step "behind" { run = "note" }]],
  calls = [[call "below" { with = { "loopCounter" }, each = MANY },
    step "behind" { run = "note" }]],
  asking = [[call "below" { process = "asks", each = MANY }, step "behind" { run = "note" }]],
  asking_inside = [[each "one" { times = N, parallel = true, call "below" { process = "asks",
      within = { "PT1H", step "late" { run = "note" } } } }, step "behind" { run = "note" }]],
  asks = [[task "look" {}]],
  below = [[step "work" { run = "count", async = true }, task "look" {}]],
  messages = [[receive "come" { message = "come", key = "${loopCounter}", each = MANY },
    step "behind" { run = "note" }]],
  subs = [[each "one" { times = N, parallel = true,
      parallel { { step "left" { run = "count", async = true, exclusive = false } },
        { wait "while" { after = "PT1H" } }, { task "look" {} } } },
    step "behind" { run = "note" }]],
  lists = [[each "line" { of = "lines", parallel = true, step "add" { run = "add", async = true } },
    step "behind" { run = "note" }]],
  stops = [[step "work" { run = "count", async = true, each = { times = N, parallel = true,
      stop = "${nrOfCompletedInstances >= 20}" } }, step "behind" { run = "note" }]],
  counters = [[step "work" { run = "counters", async = true, each = MANY }]],
  late = [[sub "all" { within = { "PT1H", step "late" { run = "note" } },
      step "first" { run = "note" }, call "below" { each = MANY } },
    step "behind" { run = "note" }]],
  throws = [[step "work" { run = "throw", async = true, each = MANY,
      on_error = { "E", step "caught" { run = "note" } } }, step "behind" { run = "note" }]],
  breaks = [[step "work" { run = "break", async = true, each = MANY },
    step "behind" { run = "note" }]],
  caller = [[call "call" { process = "broken", each = MANY }]],
  broken = [[step "work" { run = "fail", async = true }]],
  triggers = [[receive "go" { each = MANY }, step "behind" { run = "note" }]],
  sized = [[task "look" { each = { times = "${n}", parallel = true } }]],
  naps = [[each "one" { times = N, parallel = true,
      wait "nap" { after = "PT${loopCounter + hours}H" } }, step "behind" { run = "note" }]],
  loud = [[sub "all" { within = { "PT1H", step "late" { run = "note" } },
      task "look" { each = MANY, on_delete = "left", on_end = "left",
        input = { own = "${loopCounter}" }, output = { last = "${own}" } } },
    step "behind" { run = "note" }]],
  listed = [[sub "all" { on_message = { "stop", step "late" { run = "note" } },
      receive "come" { message = "come", key = "${loopCounter}", each = MANY, on_end = "left" } },
    step "behind" { run = "note" }]],
  louder = [[each "one" { times = N, parallel = true,
      on_error = { "E", step "late" { run = "note" } },
      parallel { { task "look" { on_end = "left" } },
        { call "below" {} }, { step "work" { run = "throw", async = true } } } },
    step "behind" { run = "note" }]],
  undone = [[step "book" { run = "note", undo = "unbook" },
    step "work" { run = "count", async = true, each = MANY },
    throw "back" { undo = true }, step "behind" { run = "note" }]],
  nested = [[each "one" { times = N, parallel = true, task "first" {},
      each "two" { times = N, parallel = true, task "look" {} } }, step "behind" { run = "note" }]],
  one_by_one = [[step "work" { run = "alone", async = true, each = { times = N } },
    step "behind" { run = "note" }]],
  watched = [[each "one" { times = N, parallel = true,
      wait "ready" { when = "${ready > loopCounter}" } }, step "behind" { run = "note" }]],
  on_delete = [[sub "all" { within = { "PT1H", step "late" { run = "note" } },
      task "look" { each = MANY, on_delete = "left" } }, step "behind" { run = "note" }]],
  output = [[sub "all" { within = { "PT1H", step "late" { run = "note" } },
      task "look" { each = MANY, output = { left = "${left + 1}" } } },
    step "behind" { run = "note" }]],
  remembered = [[step "work" { run = "count", async = true, undo = "unbook", each = MANY },
    throw "back" { undo = true }, step "behind" { run = "note" }]],
}

local FILES = {
  ["handlers/count.lua"] = "return function(job) print(job.activity) end",
  ["handlers/note.lua"] = "return function(job) job.variables[job.activity] = true end",
  ["handlers/add.lua"] = [[return function(job)
      job.variables.sum = job.variables.sum + job.variables.line
      job:set_local("own", job.variables.loopCounter)
    end]],
  ["handlers/counters.lua"] = [[return function(job)
      local loop = job.loop
      job.variables.seen = (job.variables.seen or "") .. loop.done .. "/" .. loop.open .. " "
    end]],
  ["handlers/break.lua"] = [[return function(job)
      if job.variables.loopCounter == 7 and not job.variables.fine then error "broken" end
    end]],
  ["handlers/left.lua"] = [[return function(job)
      job.variables.left = (job.variables.left or 0) + 1
    end]],
  ["handlers/unbook.lua"] = [[return function(job)
      job.variables.unbooked = (job.variables.unbooked or 0) + 1
    end]],
  ["handlers/alone.lua"] = [[return function(job)
      local v, i = job.variables, job.variables.loopCounter
      v.order = (v.order or 0) == i and i + 1 or "turn " .. i .. " out of order"
    end]],
  ["handlers/fail.lua"] = "return function() error 'failed' end",
  ["handlers/throw.lua"] = [[return function(job)
      if job.variables.loopCounter == 50 then job:throw "E" end
    end]],
}
for key, text in pairs(MODELS) do
  FILES["processes/" .. key .. ".lua"] = WORDS .. "local MANY = { times = N, parallel = true }\n"
    .. "return { " .. text .. " }"
end

describe("a body of many turns", function()
  local folder, engine

  before_each(function()
    folder = process.folder(FILES)
    engine = testing.engine { scripts = folder, store = "sqlite:" .. folder .. "/jobs.db" }
  end)

  after_each(function()
    local status, output, errors = process.moonshift("check", "--store",
      "sqlite:" .. folder .. "/jobs.db")
    engine:close()
    engines.clean()
    process.remove(folder)
    assert.same({ 0, "" }, { status, errors }, output)
  end)

  local function start(key, variables)
    return assert(engine:start(key, { variables = variables }))
  end

  local function state(id)
    local found = engine:instance(id)
    return found.state, found.variables.behind
  end

  -- How often the trail tells this of an activity: "s" (it has begun), "c" (it was cancelled).
  local function told(id, what, activity)
    local count = 0
    for _, row in ipairs(engine:trail({ instance = id }):list()) do
      for _, event in ipairs(row.events) do
        count = count + (event[1] == what and event[3] == activity and 1 or 0)
      end
    end
    return count
  end

  local function begun(id, activity)
    return told(id, "s", activity)
  end

  for _, key in ipairs { "jobs", "lane" } do
    it("calls the handler of each turn once: " .. key, function()
      local id = start(key)
      assert.equal(N, engine:jobs({ instance = tostring(id) }):count())
      engine:drain()
      assert.same({ "completed", true }, { state(id) })
      assert.same({ N, 1, 1 }, { begun(id, "work"), begun(id, "work#multiInstanceBody"),
        begun(id, "behind") })
    end)
  end

  it("ends in the unit that begins it if nothing waits", function()
    local id = start "direct"
    assert.same({ "completed", true }, { state(id) })
    assert.same({ N, 1 }, { begun(id, "work"), begun(id, "behind") })
    assert.equal(0, engine:jobs():count())
  end)

  it("makes a thousand turns a unit", function()
    local id = start("lists", { sum = 0, lines = require("moonshift.rules").array {} })
    assert.equal("completed", (state(id)))
    local lines = {}
    for i = 1, 1100 do
      lines[i] = i
    end
    id = start("lists", { sum = 0, lines = lines })
    engine:drain()
    assert.same({ "completed", true }, { state(id) })
    assert.equal(1100 * 1101 // 2, engine:instance(id).variables.sum)
  end)

  it("has a task for each turn, with what the turn knows", function()
    local id = start "tasks"
    local tasks = engine:tasks({ instance = id }):list()
    assert.equal(N, #tasks)
    assert.equal("user0", tasks[1].assignee)
    for i = 2, N do
      assert(engine:complete(tasks[i].id))
    end
    engine:drain()
    assert.equal("active", (state(id)))
    assert.is_nil(engine:complete(tasks[2].id))
    assert(engine:complete(tasks[1].id, { from = "me" }))
    engine:drain()
    assert.same({ "completed", true }, { state(id) })
    assert.equal("me", engine:instance(id).variables.from)
  end)

  it("takes commands for several turns as one list", function()
    local id = start "messages"
    local commands = {}
    for i = 1, N do
      commands[i] = { "come", { key = tostring(i - 1), variables = { sum = i } } }
    end
    assert(engine:correlate(commands))
    engine:drain()
    assert.same({ "completed", true, N }, { state(id), true, engine:instance(id).variables.sum })
  end)

  -- The frame of a turn, that of its instance, and whether that is written as a turn ends.
  local function sizes(n)
    local id = start("sized", { n = n })
    engine:drain()
    local store = folder .. "/jobs.db"
    local function rev()
      return process.sql(store, "SELECT rev FROM instance WHERE id=" .. id)[1]
    end
    local frames = process.sql(store, "SELECT max(length(t.frame)), length(i.frame) FROM instance i"
      .. " JOIN body b ON b.instance=i.id JOIN body_turn t ON t.body=b.id WHERE i.id=" .. id
      .. " GROUP BY i.frame")[1]
    local turn, around = frames:match("(%d+)|(%d+)")
    local before = rev()
    assert(engine:complete(engine:tasks({ instance = id }):list()[1].id))
    assert.equal(before, rev())
    return tonumber(turn), tonumber(around)
  end

  it("reads and writes as much for a turn in a large body as in a small one", function()
    local turn, around = sizes(100)
    local turn_of_many, around_of_many = sizes(1000)
    assert.is_true(turn_of_many - turn <= 2, turn_of_many .. " bytes of " .. turn)
    assert.is_true(around_of_many - around <= 20, around_of_many .. " bytes of " .. around)
  end)

  it("gives a message to the token of a turn that is named", function()
    local id = start "messages"
    local subscriptions = engine:subscriptions({ instance = id }):list()
    assert.truthy(subscriptions[7].token < 0)
    local key, token = subscriptions[7].key, subscriptions[7].token
    assert.is_nil(engine:correlate("come", { instance = id, token = token - 1, key = key }))
    assert(engine:correlate("come", { instance = id, token = token, key = key }))
    assert.is_nil(engine:correlate("come", { key = key }))
    assert.equal(N - 1, engine:subscriptions({ instance = id }):count())
  end)

  it("counts the due date of a turn's timer anew, by what the turn knows", function()
    local id = start("naps", { hours = 1 })
    local jobs = engine:jobs({ instance = tostring(id) }):list()
    table.sort(jobs, function(a, b)
      return a.due < b.due
    end)
    assert.same({ "2026-01-01T01:00:00.000Z", "2026-01-01T08:00:00.000Z" }, { jobs[1].due,
      jobs[8].due })
    engine:advance "PT30M"
    engine:set_variables(id, { hours = 2 })
    assert.equal(1, engine:recalculate_due(jobs[8].id))
    assert.same({ "2026-01-01T01:00:00.000Z", "2026-01-01T09:30:00.000Z" },
      { engine:job(jobs[1].id).due, engine:job(jobs[8].id).due })
  end)

  it("waits for the processes that its turns call", function()
    local id = start "calls"
    assert.equal(N, engine:instances({ parent = id }):count())
    engine:drain()
    assert.same({ "active", N }, { (state(id)), engine:tasks():count() })
    for _, row in ipairs(engine:tasks():list()) do
      assert(engine:complete(row.id))
    end
    engine:drain()
    assert.same({ "completed", true }, { state(id) })
  end)

  -- Such a turn counts as one that has ended, and leaves nothing that would move it again.
  for key, timers in pairs { asking = 0, asking_inside = 1 } do
    it("goes on without the turns whose called instances are cancelled: " .. key, function()
      local id = start(key)
      assert.same({ N, timers * N }, { engine:tasks():count(), engine:jobs():count() })
      for i, row in ipairs(engine:instances({ parent = id }):list()) do
        if i % 2 == 0 then
          assert(engine:cancel_instance(row.id, { reason = "fraud" }))
        end
      end
      assert.same({ N // 2, timers * N // 2, N, N // 2 }, { engine:tasks():count(),
        engine:jobs():count(), begun(id, "below"), told(id, "c", "below") })
      assert(engine:suspend_instance(id))
      local left = engine:instances({ parent = id }):list()[1].id
      assert.equal("conflict", (select(3, engine:cancel_instance(left))))
      assert(engine:activate_instance(id))
      for _, task in ipairs(engine:tasks():list()) do
        assert(engine:complete(task.id))
      end
      engine:drain()
      assert.same({ "completed", true }, { state(id) })
      assert.same({ 0, N }, { engine:jobs():count(),
        engine:past_instances({ parent = id }):count() })
    end)
  end

  it("gives a message to the turn that has its key", function()
    local id = start "messages"
    assert.equal(N, engine:subscriptions({ instance = id }):count())
    assert.is_nil(engine:correlate("come", { key = tostring(N) }))
    for i = 0, N - 1 do
      assert(engine:correlate("come", { key = tostring(i) }))
      assert.is_nil(engine:correlate("come", { key = tostring(i) }))
    end
    engine:drain()
    assert.same({ "completed", true }, { state(id) })
  end)

  it("has all that a turn is made of within the turn", function()
    local id = start "subs"
    engine:drain()
    assert.equal(N, begun(id, "left"))
    for _, row in ipairs(engine:tasks():list()) do
      assert(engine:complete(row.id))
    end
    engine:drain()
    assert.equal("active", (state(id)))
    engine:advance "PT2H"
    engine:drain()
    assert.same({ "completed", true }, { state(id) })
    assert.equal(N, begun(id, "while"))
  end)

  it("loses no change of a variable outside of its turns", function()
    local lines = {}
    for i = 1, N do
      lines[i] = i
    end
    local id = start("lists", { sum = 0, lines = lines })
    engine:drain()
    local found = engine:instance(id)
    assert.same({ "completed", N * (N + 1) // 2 }, { found.state, found.variables.sum })
    assert.is_nil(found.variables.own)
  end)

  it("ends by its completion condition, and its other turns go", function()
    local id = start "stops"
    engine:drain()
    assert.same({ "completed", true }, { state(id) })
    assert.equal(20, begun(id, "work"))
    assert.equal(0, engine:jobs():count())
  end)

  it("counts for those who ask, one end at a time", function()
    local id = start "counters"
    engine:drain()
    local seen, expected = engine:instance(id).variables.seen, {}
    for i = 0, N - 1 do
      expected[i + 1] = ("%d/%d "):format(i, N - i)
    end
    assert.equal(table.concat(expected), seen)
  end)

  it("is closed by what interrupts it, with what its turns have called", function()
    local id = start "late"
    engine:drain()
    assert.equal(N, engine:tasks():count())
    engine:advance "PT2H"
    engine:drain()
    local found = engine:instance(id)
    assert.same({ "completed", true, true }, { found.state, found.variables.late,
      found.variables.behind })
    assert.same({ 0, 0, 0 }, { engine:tasks():count(), engine:jobs():count(),
      engine:instances():count() })
    assert.equal(N, engine:past_instances({ parent = id, how = "terminated" }):count())
  end)

  it("is left by an error that a turn throws", function()
    local id = start "throws"
    engine:drain()
    local found = engine:instance(id)
    assert.same({ "completed", true, true }, { found.state, found.variables.caught,
      found.variables.behind })
    assert.equal(0, engine:jobs():count())
  end)

  -- The handler `left` counts in the instance: what is cancelled calls it once for each turn.
  it("walks each turn that calls or sets something as it is interrupted", function()
    local id = start "loud"
    assert.truthy(engine:tasks({ instance = id }):list()[1].token < 0)
    assert(engine:complete(engine:tasks({ instance = id }):list()[1].id))
    assert.equal(1, engine:instance(id).variables.left)
    engine:advance "PT2H"
    engine:drain()
    local found = engine:instance(id)
    assert.same({ "completed", true, true }, { found.state, found.variables.late,
      found.variables.behind })
    -- on_end of the one that ended, on_delete and on_end of the others
    assert.same({ 1 + 2 * (N - 1), 0 }, { found.variables.left, engine:tasks():count() })
    assert.truthy(math.type(found.variables.last) == "integer")
  end)

  for _, key in ipairs { "on_delete", "output" } do
    it("walks each turn that has but this as it is interrupted: " .. key, function()
      local id = start(key, { left = 0 })
      engine:advance "PT2H"
      engine:drain()
      local found = engine:instance(id)
      assert.same({ "completed", true, N }, { found.state, found.variables.late,
        found.variables.left })
    end)
  end

  it("has its turns one by one where it says so", function()
    local id = start "one_by_one"
    assert.equal(1, engine:jobs():count())
    assert.same({ done = N, failed = 0 }, engine:drain())
    assert.same({ "completed", N }, { (state(id)), engine:instance(id).variables.order })
  end)

  it("has turns that wait for a condition on what is written around them", function()
    local id = start("watched", { ready = 0 })
    assert.equal(N, #engine:instance(id).at)
    for _, ready in ipairs { 10, N } do
      assert(engine:set_variables(id, { ready = ready }))
      assert.equal(N - ready, #(engine:instance(id).at or {}))
    end
    assert.same({ "completed", true }, { state(id) })
  end)

  it("walks them when its instance is cancelled", function()
    local id = start "loud"
    assert(engine:cancel_instance(id))
    assert.same({ "cancelled", 2 * N }, { (state(id)), engine:instance(id).variables.left })
    engine:drain()
    assert.same({ 0, 0 }, { engine:tasks():count(), engine:jobs():count() })
  end)

  it("walks them as one of them ends it, with what they have called", function()
    local id = start "louder"
    assert.equal(N, engine:tasks({ instance = id }):count())
    engine:drain()
    local found = engine:instance(id)
    assert.same({ "completed", true, N }, { found.state, found.variables.late,
      found.variables.left })
    assert.same({ 0, N }, { engine:tasks():count(),
      engine:past_instances({ parent = id }):count() })
  end)

  it("walks them in a list of commands as those before have left them", function()
    local id = start "listed"
    assert(engine:correlate { { "come", { key = "0" } }, { "come", { key = "1" } }, { "stop" } })
    engine:drain()
    local found = engine:instance(id)
    assert.same({ "completed", true, N }, { found.state, found.variables.late,
      found.variables.left })
  end)

  it("stands outside if nothing in it is taken back", function()
    local function stands_outside(id)
      for _, place in ipairs(engine:instance(id).at) do
        if place.state == "turns" then
          return true
        end
      end
      return false
    end
    local id = start "undone"
    assert.is_true(stands_outside(id))
    engine:drain()
    assert.same({ "completed", true, 1 }, { (state(id)), true,
      engine:instance(id).variables.unbooked })
    id = start "remembered"
    assert.is_false(stands_outside(id))
    engine:drain()
    assert.same({ "completed", N }, { (state(id)), engine:instance(id).variables.unbooked })
  end)

  it("keeps a body in one of its turns within the frame of that turn", function()
    local id = start "nested"
    engine:drain()
    assert(engine:complete(engine:tasks({ activity = "first" }):list()[1].id))
    local tasks = {}
    for i, task in ipairs(engine:tasks({ activity = "look" }):list()) do
      tasks[i] = { task.id }
    end
    assert.equal(N, #tasks)
    local bodies = "SELECT count(*), max(ended) FROM body"
    assert.same({ "1|0" }, process.sql(folder .. "/jobs.db", bodies))
    assert(engine:complete(tasks))
    assert.same({ "1|1" }, process.sql(folder .. "/jobs.db", bodies))
    assert.equal(N - 1, engine:tasks():count())
    assert.equal("active", (state(id)))
  end)

  it("goes with its instance", function()
    for _, key in ipairs { "jobs", "tasks", "messages", "calls", "subs" } do
      local id = start(key)
      assert(engine:cancel_instance(id))
      assert.same({ 0, 0 }, { engine:tasks():count(), engine:subscriptions():count() }, key)
      assert.is_nil(engine:correlate("come", { key = "1" }))
      engine:drain()
      assert.same({ 0, 0 }, { engine:jobs():count(), engine:instances():count() }, key)
    end
  end)

  it("shows some of its turns, and counts the others", function()
    local id = start "tasks"
    local at = engine:instance(id).at
    assert.same({ "look", "task", 51 }, { at[1].activity, at[1].state, #at })
    assert.same({ activity = "look", state = "turns", count = N - 50, token = at[51].token },
      at[51])
    local why = engine:why_instance(id)
    assert.truthy(tostring(why.text or why):find('"look" waits for its user task', 1, true))
    assert.truthy(tostring(why.text or why):find('"look": 20 more turns', 1, true))
  end)

  it("has turns that wait to be triggered", function()
    local id = start "triggers"
    for _ = 1, N do
      assert(engine:trigger(id, "go"))
    end
    engine:drain()
    assert.same({ "completed", true }, { state(id) })
  end)

  -- Runs jobs until those that fail have no retries left.
  local function fail()
    for _ = 1, 4 do
      engine:drain()
      engine:advance "PT1H"
    end
  end

  it("has an incident for each turn that fails, and for its callers", function()
    local id = start "breaks"
    fail()
    assert.same({ N - 1, 1 }, { begun(id, "work"), engine:incidents({ open = true,
      instance = tostring(id) }):count() })
    assert.equal("active", (state(id)))
    local above = start("caller")
    fail()
    local found = engine:incidents({ open = true, instance = tostring(above) }):list()
    assert.same({ N, "call" }, { #found, found[1].activity })
    engine:set_variables(id, { fine = true })
    engine:retry(engine:jobs({ instance = tostring(id) }))
    engine:drain()
    assert.same({ "completed", true, 0 }, { (state(id)), engine:instance(id).variables.behind,
      engine:incidents({ open = true, instance = tostring(id) }):count() })
  end)

  it("waits while its instance is suspended", function()
    local id = start "jobs"
    engine:suspend_instance(id)
    engine:drain()
    assert.equal(0, begun(id, "work"))
    engine:activate_instance(id)
    engine:drain()
    assert.same({ "completed", true }, { state(id) })
    id = start "tasks"
    engine:suspend_instance(id)
    assert.is_nil(engine:complete(engine:tasks({ instance = id }):list()[1].id))
  end)
end)
