-- Batches on instances of processes (rules §17): one command for each id, by ids or by a query.
-- What one instance refuses fails its job, and no other one.
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = 'local process = require "moonshift.process"\n'
  .. "local step, task, choose, parallel, each, receive, call = process.words()\n"

local FILES = {
  ["processes/order.lua"] = WORDS
    .. 'return { search = { "n" }, task "a" {}, step "b" { run = "note" }, task "c" {} }',
  ["processes/paid.lua"] = WORDS .. [[
    return { parallel { { receive "one" { message = "paid" } },
      { receive "two" { message = "paid", key = "${n}" } } }, task "c" {} }]],
  ["processes/beside.lua"] = WORDS .. [[
    return { task "a" { on_message = { "paid", interrupting = false, task "c" {} } } }]],
  ["processes/outer.lua"] = WORDS .. 'return { call "in" { process = "order" }, task "z" {} }',
  ["handlers/note.lua"] = "return function(job) job.variables.noted = true end",
}

local TO_C = { { start_before = "b" }, { cancel = "a" } }

describe("a batch on instances", function()
  local folder, engine, ids

  before_each(function()
    folder = process.folder(FILES)
    engine = testing.engine { scripts = folder, who = "eve", failed_job_wait = "PT0S" }
    ids = {}
    for i = 1, 5 do
      ids[i] = assert(engine:start("order", { variables = { n = i }, key = "k" .. i }))
    end
  end)

  after_each(function()
    engine:close()
    process.remove(folder)
  end)

  -- Makes it and runs all of it.
  local function run(type, of, config, more)
    local spec = { type = type, ids = of, config = config }
    for key, value in pairs(more or {}) do
      spec[key] = value
    end
    local id = assert(engine:batch(spec))
    engine:drain()
    return engine:batch(id)
  end

  local function places()
    local list = {}
    for i, id in ipairs(ids) do
      list[i] = table.concat(engine:at(id), ",")
    end
    return table.concat(list, " ")
  end

  local function failures(batch)
    local list = {}
    for i, failed in ipairs(batch:failures()) do
      list[i] = failed.id .. ": " .. failed.message
    end
    table.sort(list)
    return list
  end

  local function completed(batch)
    assert.same({}, failures(batch))
    assert.equal("completed", batch.state)
  end

  for _, invocations in ipairs { 1, 2, 100 } do
    local more = { invocations = invocations }

    it(("with %d in a job sets variables"):format(invocations), function()
      completed(run("set-variables", ids, { variables = { x = { 1, 2 }, n = 9 } }, more))
      assert.same({ 1, 2 }, engine:instance(ids[5]).variables.x)
      assert.equal(5, engine:instances({ variables = { n = 9 } }):count())
    end)

    it(("with %d in a job modifies"):format(invocations), function()
      completed(run("modify", engine:instances { process = "order" }, { operations = TO_C }, more))
      assert.equal("c c c c c", places())
      assert.is_true(engine:instance(ids[1]).variables.noted)
    end)

    it(("with %d in a job cancels"):format(invocations), function()
      completed(run("cancel-instances", ids, { reason = "why" }, more))
      assert.equal(0, engine:instances({}):count())
      assert.equal("why", engine:instance(ids[3]).reason)
    end)

    it(("with %d in a job suspends and activates"):format(invocations), function()
      completed(run("suspend-instances", engine:instances { process = "order" }, nil, more))
      assert.equal(5, engine:instances({ suspended = true }):count())
      completed(run("activate-instances", ids, nil, more))
      assert.equal(0, engine:instances({ suspended = true }):count())
    end)

    it(("with %d in a job restarts what has ended"):format(invocations), function()
      completed(run("cancel-instances", ids))
      completed(run("restart", engine:past_instances { process = "order" },
        { operations = { { start_before = "c" } } }, more))
      local again = engine:instances({}):sort("id"):list()
      assert.equal(5, #again)
      assert.same({ "k2", 2 }, { again[2].key, engine:instance(again[2].id).variables.n })
      assert.same({ "c" }, engine:at(again[2].id))
    end)

    it(("with %d in a job deletes what has ended"):format(invocations), function()
      completed(run("cancel-instances", ids))
      completed(run("delete-instances", engine:past_instances {}, nil, more))
      assert.equal(0, engine:past_instances({}):count())
      assert.equal(0, engine:trail({ instance = ids[1] }):count())
    end)
  end

  describe("of migrations", function()
    local plan

    before_each(function()
      local file = assert(io.open(folder .. "/processes/order.lua", "w"))
      file:write(WORDS .. 'return { task "look" {}, task "d" {} }')
      file:close()
      assert(engine:reload())
      plan = { process = "order", from = 1, to = 2, activities = { { from = "a", to = "look" } } }
    end)

    it("moves what fits, and names the rest", function()
      assert(engine:complete(engine:tasks({ instance = ids[2] }):one().id))
      local batch = run("migrate", engine:instances { process = "order" }, { plan = plan })
      assert.equal("look c look look look", places())
      assert.equal(1, #failures(batch))
      assert.matches(("instance %d cannot be migrated: .*c"):format(ids[2]), failures(batch)[1])
      assert.equal(4, engine:instances({ version = 2 }):count())
      local again = failures(run("migrate", { ids[1] }, { plan = plan }))
      assert.equal(1, #again)
      assert.matches("order:1", again[1], 1, true)
    end)

    it("moves several in a job, all or none", function()
      completed(run("migrate", ids, { plan = { to = 2, activities = plan.activities } },
        { invocations = 5 }))
      assert.equal("look look look look look", places())
      assert.equal(1, engine:batches({}):count())
    end)

    it("is refused whole for a plan that cannot be", function()
      table.insert(plan.activities, { from = "b", to = "nowhere" })
      local id, message, code = engine:batch { type = "migrate", ids = ids,
        config = { plan = plan } }
      assert.is_nil(id)
      assert.matches('config of "migrate": the plan cannot be: .*nowhere', message)
      assert.equal("invalid", code)
      assert.equal('config of "migrate": plan is missing',
        (select(2, engine:batch { type = "migrate", ids = ids })))
      assert.equal(0, engine:batches({}):count())
    end)
  end)

  it("gives a message to all that waits for it", function()
    local paid = { assert(engine:start("paid", { variables = { n = "7" } })), ids[1] }
    completed(run("correlate", paid, { message = "paid", variables = { v = 2 } }))
    assert.same({ "one.parallel.join", "two" }, engine:at(paid[1]))
    completed(run("correlate", engine:instances {}, { message = "paid", key = "7" }))
    assert.same({ "c" }, engine:at(paid[1]))
    assert.equal(2, engine:instance(paid[1]).variables.v)
    assert.equal("a a a a a", places())
    local beside = assert(engine:start "beside")
    completed(run("correlate", { beside }, { message = "paid" }))
    assert.same({ "a", "c" }, engine:at(beside))
  end)

  it("says when ended instances go from the history", function()
    completed(run("cancel-instances", ids))
    completed(run("set-removal-time", engine:past_instances {},
      { removal_time = "2030-01-01T00:00:00Z" }))
    assert.equal("2030-01-01T00:00:00.000Z", engine:instance(ids[2]).removal_time)
  end)

  it("takes restarts back to the variables of their begin", function()
    assert(engine:set_variables(ids[1], { n = 99 }))
    completed(run("cancel-instances", ids))
    completed(run("restart", { ids[1] }, { operations = { { start_before = "c" } }, initial = true,
      no_key = true, version = 1 }))
    local again = engine:instances({}):one()
    assert.equal(1, engine:instance(again.id).variables.n)
    assert.is_nil(again.key)
  end)

  describe("fails for", function()
    it("the one that refuses, and for no other", function()
      assert(engine:complete(engine:tasks({ instance = ids[2] }):one().id))
      local batch = run("modify", ids, { operations = { { start_before = "b", ["in"] = "a#1" },
        { cancel = "a" } } })
      assert.equal(5, batch.failed)
      batch = run("modify", ids, { operations = TO_C, process = "order", version = 2 })
      assert.equal(ids[1] .. ": instance " .. ids[1]
        .. " runs on version 1 of order (expected version 2 of order)", failures(batch)[1])
      assert.equal("a c a a a", places())
    end)

    it("a suspended instance, beside others that go on", function()
      assert(engine:suspend_instance(tostring(ids[2])))
      assert.same({ ids[2] .. ": instance " .. ids[2] .. " is suspended" },
        failures(run("modify", ids, { operations = TO_C })))
      assert.equal("c a c c c", places())
      completed(run("set-variables", ids, { variables = { x = 1 } }, { invocations = 5 }))
      assert.equal(2, #failures(run("modify", { ids[1], ids[2] }, { operations = { { start_before =
        "c" } } }, { invocations = 2 })))
      assert.equal("c a c c c", places())
      completed(run("cancel-instances", ids))
    end)

    it("one that has not ended, where the history is deleted", function()
      assert(engine:cancel_instance(ids[1]))
      assert.same({ ids[2] .. ": instance " .. ids[2] .. " has not ended" },
        failures(run("delete-instances", { ids[1], ids[2] })))
      assert.equal(0, engine:past_instances({}):count())
    end)

    it("one that has ended, unless its command passes over it", function()
      assert(engine:cancel_instance(ids[1]))
      local ended = { ids[1] }
      completed(run("set-variables", ended, { variables = { x = 1 } }))
      completed(run("cancel-instances", ended))
      completed(run("suspend-instances", ended))
      completed(run("activate-instances", ended))
      completed(run("correlate", ended, { message = "paid" }))
      assert.equal(1, #failures(run("cancel-instances", ended, { ignore_missing = false })))
      assert.equal(1, #failures(run("modify", ended, { operations = TO_C })))
      assert.equal(1, #failures(run("restart", { ids[2] }, { operations = { { start_before =
        "c" } } })))
    end)
  end)

  it("suspends called instances where it is told to", function()
    local outer = assert(engine:start("outer"))
    completed(run("suspend-instances", { outer }, { hierarchy = true }))
    assert.equal(2, engine:instances({ suspended = true }):count())
    completed(run("activate-instances", engine:instances { suspended = true }))
    assert.equal(0, engine:instances({ suspended = true }):count())
  end)

  it("cancels a called instance with the activity that called it", function()
    local outer = assert(engine:start("outer"))
    completed(run("cancel-instances", engine:instances { parent = outer }))
    assert.equal(0, engine:instances({ id = outer }):count())
    assert.equal(0, engine:tasks({ instance = outer }):count())
  end)

  it("is refused whole for what cannot be", function()
    local function refused(message, type, config, of)
      local id, why, code = engine:batch { type = type, ids = of or ids, config = config }
      assert.same({ nil, message, "invalid" }, { id, why, code })
    end
    refused('config of "modify": operations is missing', "modify")
    refused('config of "modify": unknown key "operatons" (did you mean "operations"?)', "modify",
      { operatons = TO_C })
    refused('config of "modify": operation 1: unknown key "start_befor" (did you mean '
      .. '"start_before"?); operation 2: expected one of start_before, start_after, start_flow and '
      .. "cancel", "modify", { operations = { { start_befor = "b" }, { variables = {} } } })
    refused('config of "restart": operation 1: expected one of start_before, start_after, '
      .. "start_flow", "restart", { operations = { { cancel = "a" } } })
    refused('config of "set-variables": variables is missing', "set-variables")
    refused('config of "cancel-instances": skip_listeners 1: expected true or false',
      "cancel-instances", { skip_listeners = 1 })
    refused('config of "correlate": unknown key "keep"', "correlate", { message = "m", keep = 1 })
    refused('config of "suspend-instances": unknown key "at_once"', "suspend-instances",
      { at_once = true })
    refused('batch "correlate": ids is a query of jobs (expected one of instances)', "correlate",
      { message = "paid" }, engine:jobs {})
    refused('batch "restart": ids is a query of instances (expected one of past instances)',
      "restart", { operations = { { start_before = "c" } } }, engine:instances {})
    for type, of in pairs { suspend = "jobs", ["delete-jobs"] = "jobs", ["set-due-date"] = "jobs",
      ["suspend-instances"] = "instances", ["activate-instances"] = "instances" } do
      refused(('batch "%s": ids is a query of past instances (expected one of %s)'):format(type,
        of), type, nil, engine:past_instances {})
    end
    refused("no ids (a batch needs at least one)", "delete-history", nil,
      engine:past_instances { process = "none" })
    refused("no ids (a batch needs at least one)", "modify", { operations = TO_C },
      engine:instances { process = "none" })
    assert.equal(0, engine:batches({}):count())
  end)

  it("stands in the log of operations once", function()
    local batch = run("cancel-instances", engine:instances { key = "k1" })
    local entry = engine:operations({}):sort("id", "desc"):list()[1]
    assert.same({ "create_batch", "eve", "cancel-instances" }, { entry.verb, entry.who,
      entry.new })
    assert.same({ key = "k1" }, entry.query)
    assert.equal(batch.id, entry.batch)
  end)

  it("can be suspended, and goes on", function()
    local id = assert(engine:batch { type = "modify", ids = ids, config = { operations = TO_C },
      jobs_per_seed = 2 })
    local batch = engine:batch(id)
    batch:suspend { jobs_only = true }
    engine:drain()
    assert.equal("a a a a a", places())
    batch:activate()
    engine:drain()
    completed(engine:batch(id))
    assert.equal("c c c c c", places())
  end)

  it("has each of its jobs in the lane of its instance", function()
    local batch = assert(engine:batch { type = "set-variables", ids = ids,
      config = { variables = { x = 1 } } })
    engine:execute(engine:jobs({ handler = "moonshift/batch_seed" }):one().id)
    for _, job in ipairs(engine:jobs({ batch = batch, handler = "batch/set-variables" }):list()) do
      assert.is_true(job.exclusive)
    end
  end)
end)
