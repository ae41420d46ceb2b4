-- Incidents of processes: the step that failed, and the callers of an instance that cannot go on.
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = "local step, task, choose, parallel, each, receive, call = "
  .. 'require "moonshift.process".words()\n'

-- Each fails at `bad`, another step than that of its job.
local LATER = {
  ["behind an asynchronous step"] = [[return {
    step "first" { run = "fine", async = true }, step "bad" { run = "fail" } }]],
  ["behind an asynchronous end"] = [[return {
    step "first" { run = "fine", async_after = true }, step "bad" { run = "fail" } }]],
  ["behind two synchronous ones"] = [[return {
    step "first" { run = "fine", async = true }, step "second" { run = "fine" },
    step "bad" { run = "fail" } }]],
  ["on the way out of a timer"] = [[return {
    task "first" { within = { "PT1H", step "bad" { run = "fail" } } } }]],
  ["in a condition"] = [[return {
    step "first" { run = "fine", async = true },
    choose "bad" { { when = "${nothing > 1}", step "x" { run = "fine" } },
      { otherwise = true } } }]],
  ["in an input"] = [[return {
    step "first" { run = "fine", async = true },
    step "bad" { run = "fine", input = { n = "${nothing}" } } }]],
  ["in a listener"] = [[return {
    step "first" { run = "fine", async = true },
    step "bad" { run = "fine", on_end = function() error("broken", 0) end } }]],
  ["in a turn of a body"] = [[return {
    step "first" { run = "fine", async = true },
    each "all" { times = 2, step "bad" { run = "fail" } } }]],
  ["in a follow-up"] = [[return {
    step "zero" { run = "fine", async = true },
    step "first" { run = "fine", async = true }, step "bad" { run = "fail" } }]],
}

local HANDLERS = {
  ["handlers/fine.lua"] = "return function() end",
  ["handlers/fail.lua"] = "return function() error('broken', 0) end",
}

-- A folder with the handlers and these processes: { key = text behind the words }.
local function folder_of(processes)
  local files = {}
  for path, text in pairs(HANDLERS) do
    files[path] = text
  end
  for key, text in pairs(processes) do
    files["processes/" .. key .. ".lua"] = WORDS .. text
  end
  return process.folder(files)
end

describe("the failed activity of a job of a process", function()
  local folder, engine

  local function open(processes)
    folder = folder_of(processes)
    engine = testing.engine { scripts = folder, retry = "R1/PT1S" }
  end

  after_each(function()
    engine:close()
    engines.clean()
    process.remove(folder)
  end)

  for where, text in pairs(LATER) do
    it("is the step that failed " .. where, function()
      open { late = text }
      assert(engine:start "late")
      engine:drain()
      engine:advance "PT1H"
      engine:drain()
      local incident = engine:incidents({ open = true }):one()
      assert.equal("bad", incident.failed_activity)
      assert.matches("^first", incident.activity)
      assert.equal("bad", engine:job(incident.job).failed_activity)
      assert.equal("bad", engine:jobs({ id = incident.job }):one().failed_activity)
    end)
  end

  it("is the job's own where that one fails", function()
    open { own = [[return { step "bad" { run = "fail", async = true } }]] }
    assert(engine:start "own")
    engine:drain()
    local incident = engine:incidents({ open = true }):one()
    assert.same({ "bad", "bad" }, { incident.activity, incident.failed_activity })
  end)

  it("is told anew by each attempt", function()
    open { own = [[return {
      step "first" { run = function(job) if job.variables.now then error("here", 0) end end,
        async = true },
      step "bad" { run = "fail" } }]] }
    local id = assert(engine:start "own")
    engine:drain()
    local job = engine:jobs():one().id
    assert.equal("bad", engine:job(job).failed_activity)
    assert(engine:set_variables(id, { now = true }))
    engine:set_retries(job, 1)
    engine:advance "PT1S"
    engine:drain()
    assert.equal("first", engine:job(job).failed_activity)
  end)
end)

describe("the incident of a called instance", function()
  local folder, engine, top

  before_each(function()
    folder = folder_of {
      top = [[return { call "middle" { process = "middle" } }]],
      middle = [[return { parallel { { call "low" { process = "low" } }, { task "beside" {} } } }]],
      low = [[return { step "bad" { run = "fail", async = true } }]],
      waits = [[return { task "t" {} }]],
      both = [[return { parallel { { call "first" { process = "waits" } },
        { call "second" { process = "low" } }, { call "third" { process = "waits" } } } }]],
    }
    engine = testing.engine { scripts = folder, retry = "R1/PT1S" }
    top = assert(engine:start("top", { key = "k" }))
    engine:drain()
  end)

  after_each(function()
    engine:close()
    engines.clean()
    process.remove(folder)
  end)

  -- Open ones, those that were opened last first.
  local function open_ones()
    local list = engine:incidents({ open = true }):list()
    table.sort(list, function(a, b) return a.id > b.id end)
    return list
  end

  it("opens one in each caller, with cause and root cause", function()
    local list = open_ones()
    assert.equal(3, #list)
    local upper, middle, root = list[1], list[2], list[3]
    assert.same({ "bad", "low", "middle" }, { root.activity, middle.activity, upper.activity })
    assert.same({ root.id, root.id, middle.id }, { root.cause, middle.cause, upper.cause })
    assert.same({ root.id, root.id, root.id },
      { root.root_cause, middle.root_cause, upper.root_cause })
    assert.same({ tostring(top), tostring(top) }, { upper.instance, middle.root_instance })
    assert.same({ "failedJob", "failedJob" }, { upper.type, middle.type })
    assert.is_nil(upper.job)
  end)

  it("is at the call of that instance, not at one beside it", function()
    assert(engine:cancel_instance(top))
    local id = assert(engine:start "both")
    engine:drain()
    local list = open_ones()
    assert.same({ "second", tostring(id) }, { list[1].activity, list[1].instance })
    assert.equal(2, #list)
  end)

  it("lets each instance be found", function()
    assert.equal(3, engine:instances({ with_incidents = true }):count())
    assert.equal(1, engine:instances({ with_incidents = true, process = "top" }):count())
  end)

  it("opens none again while they are open", function()
    pcall(engine.execute, engine, engine:jobs():one().id)
    assert.equal(3, #open_ones())
  end)

  it("resolves all when the job has retries again", function()
    engine:set_retries(engine:jobs():one().id, 1)
    assert.equal(0, #open_ones())
    assert.equal(3, engine:incidents({ open = false }):count())
    engine:advance "PT1S"
    engine:drain()
    assert.equal(3, #open_ones())
  end)

  it("resolves all when any of them is resolved", function()
    for i = 1, 3 do
      assert(engine:resolve(open_ones()[i].id))
      assert.equal(0, #open_ones())
      engine:set_retries(engine:jobs():one().id, 1)
      engine:advance "PT1S"
      engine:drain()
    end
  end)

  it("ends with the callers", function()
    assert(engine:cancel_instance(top))
    assert.equal(0, #open_ones())
    assert.equal(0, engine:instances():count())
    for _, row in ipairs(engine:incidents():list()) do
      assert.equal("deleted", row.how)
    end
  end)
end)
