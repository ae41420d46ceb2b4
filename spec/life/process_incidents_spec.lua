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
