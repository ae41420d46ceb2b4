-- Why a job is suspended (rules §12): each reason is kept apart, and a job runs when none is left.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local testing = require "moonshift.testing"

-- Every list of the same elements, in every order; of every subset with two or more of them.
local function orders(list)
  if #list == 0 then
    return { {} }
  end
  local found = {}
  for i = 1, #list do
    local rest = table.move(list, 1, #list, 1, {})
    local first = table.remove(rest, i)
    for _, order in ipairs(orders(rest)) do
      found[#found + 1] = { first, table.unpack(order) }
    end
  end
  return found
end

local function subsets(list)
  local found = {}
  for mask = 1, (1 << #list) - 1 do
    local set = {}
    for i, one in ipairs(list) do
      set[#set + 1] = mask & 1 << (i - 1) ~= 0 and one or nil
    end
    found[#found + 1] = set
  end
  return found
end

local RANK = { job = 1, definition = 2, instance = 3, batch = 4, schedule = 5, process = 6 }

local function names_of(set)
  local names = {}
  for name in pairs(set) do
    names[#names + 1] = name
  end
  table.sort(names, function(a, b)
    return RANK[a] < RANK[b]
  end)
  return names
end

-- Puts each set of reasons in every order and takes it away in every order; looks at each step.
-- subject: make() -> job id; put, take: verbs by reason. `activate ID` takes more than one away.
local BY_NAME = { job = true, definition = true, batch = true, schedule = true }

local function released(held, reason)
  for name in pairs(held) do
    if name == reason or (reason == "job" and BY_NAME[name]) then
      held[name] = nil
    end
  end
end

local function check(engine, subject, id, held, when)
  local job = engine:job(id)
  local names = names_of(held)
  assert.same(#names > 0 and names or nil, job.suspended_by, when)
  assert.equal(#names > 0, job.suspended, when)
  assert.equal(#names > 0 and "suspended" or subject.state, job.state, when)
end

local function try(engine, subject, put, take)
  local id, held = subject.make(), {}
  for _, reason in ipairs(put) do
    subject.put[reason](id)
    held[reason] = true
    check(engine, subject, id, held, "put " .. table.concat(put, ", "))
  end
  for _, reason in ipairs(take) do
    subject.take[reason](id)
    released(held, reason)
    check(engine, subject, id, held,
      ("put %s, take %s"):format(table.concat(put, ", "), table.concat(take, ", ")))
  end
  engine:delete(id)
end

local function all_orders(engine, subject, reasons)
  local count = 0
  for _, set in ipairs(subsets(reasons)) do
    for _, put in ipairs(orders(set)) do
      for _, take in ipairs(orders(set)) do
        try(engine, subject, put, take)
        count = count + 1
      end
    end
  end
  return count
end

describe("the reasons of a suspension", function()
  local engine

  before_each(function()
    engine = testing.engine {
      handlers = { work = function() end, ["batch/note"] = function() end },
    }
  end)

  after_each(function()
    engine:close()
    engines.clean()
  end)

  local function operation()
    return engine:operations():sort("id", "desc"):list()[1]
  end

  local function of_job()
    return {
      state = "ready",
      put = {
        job = function(id) engine:suspend(id) end,
        definition = function(id)
          engine:definition(engine:job(id).handler):suspend { include_jobs = true }
        end,
        instance = function() engine:suspend_instance("order-7") end,
      },
      take = {
        job = function(id) engine:activate(id) end,
        definition = function(id)
          engine:definition(engine:job(id).handler):activate { include_jobs = true }
        end,
        instance = function() engine:activate_instance("order-7") end,
      },
    }
  end

  it("of a job of an instance are kept apart, whatever the order", function()
    local subject = of_job()
    function subject.make()
      return (engine:enqueue("work", nil, { instance = "order-7" }))
    end
    assert.equal(51, all_orders(engine, subject, { "job", "definition", "instance" }))
  end)

  it("of a batch's job are kept apart, whatever the order", function()
    local subject, batch = of_job(), nil
    function subject.make()
      batch = engine:batch { type = "note", ids = { 1 } }
      engine:execute(engine:jobs({ handler = "moonshift/batch_seed" }):one().id)
      return engine:batch(batch):jobs({ handler = "batch/note" }):one().id
    end
    function subject.put.batch()
      engine:batch(batch):suspend()
    end
    function subject.take.batch()
      engine:batch(batch):activate()
    end
    assert.equal(51, all_orders(engine, subject, { "job", "definition", "batch" }))
  end)

  it("of a schedule's job are kept apart, whatever the order", function()
    local folder = engines.folder {
      ["handlers/tick.lua"] = "return function() end\n",
      ["schedules/hourly.lua"] = 'return { handler = "tick", cycle = "R/PT1H" }\n',
    }
    engine:close()
    engine = moonshift.open { store = "sqlite::memory:", scripts = folder,
      clock = moonshift.clock.virtual("2026-01-01T00:00:00Z") }
    local subject = of_job()
    subject.state = "scheduled"
    function subject.make()
      assert(engine:reload())
      return engine:jobs({ handler = "tick" }):one().id
    end
    function subject.put.schedule()
      engine:pause_schedule("hourly")
    end
    function subject.take.schedule()
      engine:resume_schedule("hourly")
    end
    assert.equal(51, all_orders(engine, subject, { "job", "definition", "schedule" }))
  end)

  it("are put on jobs that are created meanwhile", function()
    engine:definition("work"):suspend()
    engine:suspend_instance("order-7")
    local id = engine:enqueue("work", nil, { instance = "order-7" })
    assert.same({ "definition", "instance" }, engine:job(id).suspended_by)
    local list = engine:enqueue_many { { "work" }, { "work", nil, { instance = "order-7" } } }
    assert.same({ "definition" }, engine:job(list[1]).suspended_by)
    assert.same({ "definition", "instance" }, engine:job(list[2]).suspended_by)
  end)

  it("stay of an instance when a job is activated by its id, and the answer says so", function()
    local first = engine:enqueue("work", nil, { instance = "order-7" })
    local second = engine:enqueue("work")
    engine:suspend { first, second }
    engine:suspend_instance("order-7")
    local touched, held = engine:activate { first, second }
    assert.same({ 2, { jobs = 1, instance = 1 } }, { touched, held })
    assert.same({ "suspended", "ready" }, { engine:job(first).state, engine:job(second).state })
    local entry = operation()
    assert.same({ 2, "active, 1 stays suspended: instance 1" }, { entry.count, entry.new })
  end)

  it("of the jobs themselves are told when their definition or instance is activated", function()
    local id = engine:enqueue("work", nil, { instance = "order-7" })
    engine:suspend(id)
    engine:suspend_instance("order-7")
    engine:definition("work"):suspend { include_jobs = true }
    local touched, held = engine:definition("work"):activate { include_jobs = true }
    assert.same({ 1, { jobs = 1, job = 1, instance = 1 } }, { touched, held })
    assert.equal("active, 1 stays suspended: job 1, instance 1", operation().new)
    touched, held = engine:activate_instance("order-7")
    assert.same({ 1, { jobs = 1, job = 1 } }, { touched, held })
    touched, held = engine:activate(id)
    assert.same({ 1, nil }, { touched, held })
    assert.equal("active", operation().new)
  end)

  it("are filters of jobs", function()
    local first = engine:enqueue("work", nil, { instance = "order-7" })
    local second = engine:enqueue("work")
    engine:suspend_instance("order-7")
    engine:suspend(second)
    local function found(by)
      local ids = {}
      for _, job in ipairs(engine:jobs({ suspended_by = by }):list()) do
        ids[#ids + 1] = job.id
      end
      return ids
    end
    assert.same({ first }, found("instance"))
    assert.same({ second }, found { "job", "batch" })
    assert.same({}, found("definition"))
    local list, message = engine:jobs({ suspended_by = "operator" }):list()
    assert.is_nil(list)
    assert.equal('filter "suspended_by": "operator" (expected job, definition, instance, batch, '
      .. "schedule or process)", message)
  end)

  it("are named by why", function()
    local id = engine:enqueue("work", nil, { instance = "order-7" })
    engine:suspend(id)
    engine:definition("work"):suspend { include_jobs = true }
    engine:suspend_instance("order-7")
    local text, facts = engine:why(id)
    assert.equal(('job %d is suspended by itself, by its definition "work", by its instance '
      .. '"order-7"'):format(id), text)
    assert.same({ "job", "definition", "instance" }, facts.by)
  end)

  it("are only a yes or no to the handler", function()
    local seen
    local tries = testing.engine { handlers = { work = function(job) seen = job.suspended end } }
    local id = tries:enqueue("work")
    tries:suspend(id)
    tries:execute(id)
    assert.is_true(seen)
    tries:close()
  end)

  it("outlive a retry, new retries and a new date", function()
    local id = engine:enqueue("work", nil, { instance = "order-7" })
    engine:suspend_instance("order-7")
    engine:dead_letter(id)
    engine:retry(id)
    engine:set_due(id, "2030-01-01T00:00:00Z")
    assert.same({ "instance" }, engine:job(id).suspended_by)
    engine:activate_instance("order-7")
    assert.equal("scheduled", engine:job(id).state)
  end)

  it("are one each where a batch suspends and activates the jobs of a definition", function()
    local list = {}
    for i = 1, 1200 do
      list[i] = { "work", nil, { after = "P1D" } }
    end
    local ids = engine:enqueue_many(list)
    engine:suspend(ids[1])
    assert(engine:definition("work"):suspend { include_jobs = true })
    engine:drain()
    assert.same({ "job", "definition" }, engine:job(ids[1]).suspended_by)
    assert.same({ "definition" }, engine:job(ids[2]).suspended_by)
    assert(engine:definition("work"):activate { include_jobs = true })
    engine:drain()
    assert.same({ "job" }, engine:job(ids[1]).suspended_by)
    assert.equal(1199, engine:jobs({ suspended = false }):count())
  end)

  local function later(count, options)
    local list = {}
    for i = 1, count do
      list[i] = { "work", nil, options }
    end
    return engine:enqueue_many(list)
  end

  it("hold no job whose definition was activated before the batch came to it", function()
    later(1200, { after = "P1D" })
    assert(engine:definition("work"):suspend { include_jobs = true })
    assert(engine:definition("work"):activate { include_jobs = true })
    engine:drain()
    assert.equal(1200, engine:jobs({ suspended = false }):count())
  end)

  it("hold no job whose instance was activated before the batch came to it", function()
    later(1200, { after = "P1D", instance = "order-7" })
    assert(engine:suspend_instance("order-7"))
    assert(engine:activate_instance("order-7"))
    engine:drain()
    assert.equal(1200, engine:jobs({ suspended = false }):count())
  end)

  it("stay where the definition was suspended again before the batch came to it", function()
    local ids = later(1200, { after = "P1D" })
    assert(engine:definition("work"):suspend { include_jobs = true })
    engine:drain()
    assert(engine:definition("work"):activate { include_jobs = true })
    assert(engine:definition("work"):suspend { include_jobs = true })
    engine:drain()
    assert.equal(1200, engine:jobs({ suspended = true }):count())
    assert.same({ "definition" }, engine:job(ids[1]).suspended_by)
  end)
end)
