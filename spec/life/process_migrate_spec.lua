-- Operators who migrate instances, in the module and on the command line: from each kind of place,
-- also of suspended instances and with dead jobs. Afterwards the store is as it should be.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local rules = require("moonshift.core").rules

local WORDS = [[
local step, task, choose, parallel, each, receive, call = require "moonshift.process".words()
local wait = require "moonshift.process".wait
]]

local function model(text)
  return WORDS .. "return { " .. text .. " }"
end

local BROKEN = 'return function() error("broken", 0) end'

-- Processes before and after, with what the plan says and where the instance stands then.
local places = {
  task = { 'task "a" { assignee = "ann" }', 'task "b" {}', { { "a", "b" } }, "b" },
  ["job before"] = { 'step "a" { run = "work", async = true, priority = 7 }',
    'step "b" { run = "work", async = true }', { { "a", "b" } }, "b" },
  ["job after"] = { 'step "a" { run = "work", async_after = true }, task "t" {}',
    'step "a" { run = "work", async_after = true }, task "t" {}, task "u" {}', { { "a", "a" } },
    "a" },
  timer = { 'wait "a" { after = "PT1H" }', 'wait "b" { after = "PT2H" }', { { "a", "b" } }, "b" },
  ["timer anew"] = { 'wait "a" { after = "PT1H" }', 'wait "b" { after = "PT2H" }',
    { { "a", "b", true } }, "b" },
  ["boundary timer"] = { 'task "a" { within = { "PT1H", step "late" { run = "work" } } }',
    'task "b" { within = { "PT2H", step "late" { run = "work" } } }, task "c" {}',
    { { "a", "b" } }, "b" },
  message = { 'receive "a" { message = "m", key = "k" }', 'receive "b" { message = "n" }',
    { { "a", "b" } }, "b" },
  trigger = { 'receive "a" {}', 'receive "b" { message = "n" }', { { "a", "b" } }, "b" },
  signal = { 'wait "a" { signal = "s" }', 'wait "b" { signal = "s2" }', { { "a", "b" } },
    "b" },
  condition = { 'wait "a" { when = "${x > 1}" }', 'wait "b" { when = "${x > 2}" }',
    { { "a", "b", true } }, "b" },
  call = { 'call "inner" {}', 'call "inner" {}, task "then" {}', { { "inner", "inner" } },
    "inner" },
  ["tasks side by side"] = { 'parallel { { task "a" {} }, { task "b" {} } }',
    'parallel { { task "b" {} }, { task "a" {} } }, task "c" {}', { { "a", "a" }, { "b", "b" } },
    "a b" },
  ["a body"] = { 'each "a" { times = 3, parallel = true, task "t" {} }',
    'each "a" { times = 3, parallel = true, task "u" {} }, task "c" {}',
    { { "a#multiInstanceBody", "a#multiInstanceBody" }, { "a", "a" }, { "t", "u" } }, "u u u" },
  ["turns in jobs"] = { 'each "a" { times = 3, parallel = true, step "s" { run = "work", '
    .. 'async = true } }', 'each "a" { times = 3, parallel = true, step "z" { run = "work", '
    .. 'async = true } }',
    { { "a#multiInstanceBody", "a#multiInstanceBody" }, { "a", "a" }, { "s", "z" } }, "z z z" },
  ["many turns"] = { 'each "a" { times = 70, parallel = true, task "t" {} }',
    'each "a" { times = 70, parallel = true, task "u" {} }, task "c" {}',
    { { "a#multiInstanceBody", "a#multiInstanceBody" }, { "a", "a" }, { "t", "u" } }, "a" },
}

describe("a migration of an instance", function()
  local place, engine

  before_each(function()
    place = executors.place {}
    place.write("handlers/work.lua", "return function() end")
    place.write("processes/inner.lua", model 'task "look" {}')
  end)

  after_each(function()
    if engine then
      engine:close()
      engine = nil
    end
    place.remove()
  end)

  local function open()
    engine = assert(moonshift.open { store = place.url, scripts = place.path, who = "ada",
      clock = moonshift.clock.virtual("2026-01-01T00:00:00.000Z") })
  end

  local function check()
    local status, output, errors = process.moonshift("check", "--store", place.url)
    assert.equal(0, status, output .. errors)
  end

  -- Starts an instance of the first process, and loads the second.
  local function start(first, second)
    place.write("processes/p.lua", model(first))
    open()
    local id = assert(engine:start("p", { variables = { x = 0 } }))
    place.write("processes/p.lua", model(second))
    assert(engine:reload())
    return id
  end

  local function plan_of(list)
    local activities = {}
    for i, pair in ipairs(list) do
      activities[i] = { from = pair[1], to = pair[2], update = pair[3] }
    end
    return { process = "p", from = 1, to = 2, activities = activities }
  end

  local function at(id)
    local names = {}
    for _, name in ipairs(engine:at(id)) do
      names[#names + 1] = name
    end
    return table.concat(names, " ")
  end

  for name, case in pairs(places) do
    for _, state in ipairs { "runs", "is suspended" } do
      it(("takes along %s while it %s"):format(name, state), function()
        local id = start(case[1], case[2])
        local there = at(id)
        if state ~= "runs" then
          assert(engine:suspend_instance(tostring(id)))
        end
        assert.equal("failed", select(3, engine:migrate_instance(id, plan_of {})))
        assert.equal(there, at(id))
        assert(engine:migrate_instance(id, plan_of(case[3]), { dry_run = true }))
        assert.equal(there, at(id))
        assert.equal(id, assert(engine:migrate_instance(id, plan_of(case[3]))))
        assert.equal(2, engine:instance(id).version)
        if name ~= "many turns" then
          assert.equal(case[4], at(id))
        end
        assert.equal(state ~= "runs" or nil, engine:instance(id).suspended or nil)
        check()
        if state ~= "runs" then
          assert(engine:activate_instance(tostring(id)))
        end
        check()
      end)
    end
  end

  it("keeps an assignee, a due date, retries and an incident", function()
    place.write("handlers/work.lua", BROKEN)
    local id = start(places["job before"][1], places["job before"][2])
    for _ = 1, 3 do
      pcall(engine.execute, engine, engine:jobs({ instance = tostring(id) }):one().id)
    end
    assert.equal(1, engine:incidents({ open = true }):count())
    local rev = engine:jobs({ instance = tostring(id) }):one().rev
    assert(engine:migrate_instance(id, plan_of { { "a", "b" } }))
    local job = engine:jobs({ instance = tostring(id) }):one()
    assert.equal(rev + 1, job.rev)
    assert.same({ "process/p/b", 0, 7, "b" },
      { job.handler, job.retries, job.priority, job.activity })
    local incident = engine:incidents({ open = true }):one()
    assert.same({ "b", "process/p/b", job.id }, { incident.activity, incident.handler,
      incident.job })
    check()
    assert(engine:set_retries(job.id, 1))
    place.write("handlers/work.lua", "return function() end")
    assert(engine:reload())
    engine.clock:advance "P1D"
    engine:drain()
    assert.equal("completed", engine:instance(id).how)
    assert.equal(0, engine:incidents({ open = true }):count())
    check()
  end)

  it("keeps the timers of a task's listeners, and begins none anew that has come", function()
    place.write("handlers/nag.lua", "return function(job) "
      .. "job.variables.nags = (job.variables.nags or 0) + 1 end")
    local nags = '{ { after = "PT1M", run = "nag", id = "once" }, { after = "PT3M", run = "nag", '
      .. 'id = "later" }%s }'
    local more = ', { after = "PT5M", run = "nag", id = "new" }'
    local id = start(('task "a" { on_timeout = %s }'):format(nags:format ""),
      ('task "b" { on_timeout = %s }'):format(nags:format(more)))
    engine.clock:advance "PT2M"
    engine:drain()
    assert.equal(1, engine:instance(id).variables.nags)
    assert(engine:migrate_instance(id, plan_of { { "a", "b" } }))
    local due = {}
    for i, job in ipairs(engine:jobs({ instance = tostring(id) }):sort("due"):list()) do
      due[i] = job.handler .. job.due:match "T00:(%d+)"
    end
    assert.same({ "process/p/b#timeout-later:timer03", "process/p/b#timeout-new:timer07" }, due)
    check()
    engine.clock:advance "PT5M"
    engine:drain()
    assert.equal(3, engine:instance(id).variables.nags)
    check()
  end)

  it("goes to another process, whose handlers run then", function()
    place.write("processes/q.lua", model 'step "b" { run = "note", async = true }')
    place.write("handlers/note.lua", 'return function(job) job.variables.heard = job.process end')
    place.write("processes/p.lua", model 'step "a" { run = "work", async = true }')
    open()
    local id = assert(engine:start "p")
    assert(engine:migrate_instance(id, { process = "p", from = 1, to_process = "q", to = 1,
      activities = { { from = "a", to = "b" } }, variables = { y = 1 } }))
    check()
    assert.same({ "q", 1 }, { engine:instance(id).process, engine:instance(id).variables.y })
    engine:drain()
    assert.equal("completed", engine:instance(id).how)
    check()
  end)

  it("stays suspended where its version was, and is activated by itself then", function()
    local id = start('step "a" { run = "work", async = true }', 'step "b" { run = "work", '
      .. 'async = true }')
    assert(engine:suspend_process("p", { version = 1, include_instances = true }))
    assert(engine:migrate_instance(id, plan_of { { "a", "b" } }))
    assert.is_true(engine:instance(id).suspended)
    engine:drain()
    assert.equal("b", at(id))
    check()
    assert(engine:activate_instance(tostring(id)))
    engine:drain()
    assert.equal("completed", engine:instance(id).how)
    check()
  end)

  it("is refused by a version that is suspended with its instances", function()
    local id = start('task "a" {}', 'task "a" {}, task "b" {}')
    assert(engine:suspend_process("p", { version = 2, include_instances = true }))
    local told = { engine:migrate_instance(id, plan_of { { "a", "a" } }) }
    assert.same({ ("instance %d: the version is suspended with its instances (expected its "
      .. "activation)"):format(id), "conflict" }, { told[2], told[3] })
    assert.equal(1, engine:instance(id).version)
    check()
  end)

  it("is told by its plan in the log, and by its places in the trail", function()
    local id = start('task "a" {}', 'task "b" {}')
    local plan = plan_of { { "a", "b" } }
    assert(engine:migrate_instance(id, plan))
    local entry = engine:operations({ verb = "migrate_instance" }):one()
    assert.same({ "ada", id, ('instance "%d"'):format(id), "p:1" },
      { entry.who, entry.instance, entry.entity, entry.old })
    assert.same(plan, rules.decode(entry.new))
    local units = engine:trail({ instance = id }):list()
    local moves = {}
    for _, event in ipairs(units[#units].events) do
      moves[#moves + 1] = event[1] == "m" and event[3] .. " " .. event[5] or nil
    end
    assert.same({ "p:1 p:2", "a b" }, moves)
  end)

  it("is refused as a whole, with each pair and each place", function()
    local id = start('parallel { { task "a" {} }, { receive "r" { message = "m" } } }',
      'parallel { { task "a" {} }, { task "r" {} } }')
    local told = { engine:migrate_instance(id, plan_of { { "a", "zz" }, { "r", "r" } }) }
    assert.same({ "the plan cannot be: a=zz: the process p has no activity zz; r=r: r is a receive "
      .. "task, and r a user task (expected a receive task)", "failed" }, { told[2], told[3] })
    told = { engine:migrate_instance(id, plan_of { { "a", "a" } }) }
    assert.same({ ("instance %d cannot be migrated: at r: no pair leads from r (expected one)")
      :format(id), "failed" }, { told[2], told[3] })
    assert.equal("not_found", select(3, engine:migrate_instance(id, { to = 9 })))
    assert.equal("not_found", select(3, engine:migrate_instance(99, { to = 2 })))
    assert.has_error(function()
      engine:migrate_instance(id, {}, { skip_listener = true })
    end, 'migrate_instance: unknown key "skip_listener" (did you mean "skip_listeners"?)')
    assert.equal("a r", at(id))
    local list = engine:migration_plan("p", 1, 2)
    assert.same({ "p", 1, 2, 3 }, { list.process, list.from, list.to, #list.activities })
    check()
  end)

  it("finds by the searched variables of the new version", function()
    local id = start('search = { "w", "x" }, task "a" {}', 'search = { "w", "y" }, task "a" {}')
    assert(engine:set_variables(id, { w = 3 }))
    assert(engine:migrate_instance(id, { to = 2, activities = { { from = "a", to = "a" } },
      variables = { y = 5 } }))
    assert.equal(id, engine:instances({ variables = { y = 5 } }):one().id)
    assert.equal(id, engine:instances({ variables = { w = 3 } }):one().id)
    assert.equal(0, engine:instances({ variables = { x = 0 } }):count())
    check()
  end)

  it("of turns outside of the frame goes on to the end", function()
    local case = places["many turns"]
    local id = start(case[1], case[2])
    assert(engine:migrate_instance(id, plan_of(case[3])))
    assert.equal(70, engine:tasks({ activity = "u" }):count())
    for _, task in ipairs(engine:tasks({ activity = "u" }):list()) do
      assert(engine:complete(task.id))
    end
    engine:drain()
    assert.equal("c", at(id))
    check()
    local told = select(2, engine:migrate_instance(id, { to = 1, activities = {} }))
    assert.matches("at c: no pair leads from c", told)
  end)
end)

describe("instance migrate", function()
  local place, ids

  before_each(function()
    place = executors.place { ["processes/p.lua"] = model 'task "a" {}, task "b" {}' }
    ids = {}
    for i = 1, 2 do
      ids[i] = place.moonshift("process", "start", "p", "-C", place.path):match "%d+"
    end
    place.write("processes/p.lua", model 'task "b" {}, task "a" {}, task "c" {}')
  end)

  after_each(function()
    place.remove()
  end)

  -- What the verb prints, and its errors.
  local function migrate(...)
    local status, output, errors = process.moonshift("instance", "migrate", "-C", place.path,
      "--store", place.url, ...)
    return status, output .. errors
  end

  local function at(id)
    return place.moonshift("instance", "show", id, "--json")
  end

  it("pairs equal activities, and says first what it would do", function()
    assert.same({ 0, "plan: a=a, b=b\na would become a\n" },
      { migrate(ids[1], "--to", "2", "--dry-run") })
    local _, told = migrate(ids[1], "--to", "2", "--dry-run", "--json")
    local trial = rules.decode(told)
    assert.same({ true, { { from = "a", to = "a" } } }, { trial.dry_run, trial.migration.moves })
    assert.same({ 0, ("instance %s migrated\n"):format(ids[1]) }, { migrate(ids[1], "--to", "2") })
    assert.equal(2, rules.decode(at(ids[1])).version)
    assert.matches("p:1 becomes p:2", place.moonshift("instance", "trail", ids[1]))
    place.moonshift("check")
  end)

  it("takes pairs, alone or beside equal ones, for several instances", function()
    assert.same({ 0, ("instance %s migrated\ninstance %s migrated\n"):format(ids[1], ids[2]) },
      { migrate(ids[1], ids[2], "--to", "2", "a=c", "--equal") })
    assert.matches('"activity":"c"', at(ids[2]))
    local status, told = migrate(ids[1], ids[2], "--to", "1", "--from-version", "2", "b=b")
    assert.equal(1, status)
    assert.matches(("instance %s cannot be migrated: at c: no pair leads from c"):format(ids[1]),
      told)
    assert.matches("2 of 2 instances did not migrate", told)
    place.moonshift("check")
  end)

  it("reads a plan from a file", function()
    place.write("plan.json", '{"to":2,"activities":[{"from":"a","to":"b"}],"variables":{"x":1}}')
    assert.equal(0, (migrate(ids[1], "--plan", place.path .. "/plan.json")))
    assert.matches('"x":1', at(ids[1]))
    place.write("plan.json", '{"to":2,"activites":[]}')
    local status, told = migrate(ids[2], "--plan", place.path .. "/plan.json")
    assert.equal(1, status)
    assert.matches('plan: unknown key "activites" %(did you mean "activities"%?%)', told)
    place.write("plan.json", "[]")
    assert.matches("expected an object", (select(2, migrate(ids[2], "--plan", place.path
      .. "/plan.json"))))
  end)

  it("refuses what is no pair, and no version", function()
    local status, told = migrate(ids[1], "a=", "--to", "2")
    assert.same({ 2, true }, { status, told:find('"a=" (expected two activities', 1, true) ~= nil })
    status, told = migrate(ids[1])
    assert.same({ 2, true }, { status, told:find("expected --to with a version", 1, true) ~= nil })
    status, told = migrate("a=a", "--to", "2")
    assert.same({ 2, true }, { status, told:find("expected the id", 1, true) ~= nil })
    assert.matches("a waits for no event", (select(2, migrate(ids[1], "--to", "2", "--update",
      "a"))))
  end)

  it("is done by a job where the folder is not", function()
    migrate(ids[2], "--to", "2", "a=a")
    local status, output = process.moonshift("instance", "migrate", ids[1], "--store", place.url,
      "--to", "2", "a=b")
    assert.equal(0, status)
    assert.matches("job %d+ does it, on an executor with the process", output)
    place.moonshift("run", "-C", place.path, "--drain")
    assert.matches('"activity":"b"', at(ids[1]))
    place.moonshift("check")
  end)
end)
