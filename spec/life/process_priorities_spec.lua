-- Priorities of the jobs of processes: an override of an activity's definition goes before the
-- model's own.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = "local step, task, choose, parallel, each, receive, call = "
  .. 'require "moonshift.process".words()\n'

local files = {
  ["processes/rank.lua"] = WORDS .. [[return { priority = 40,
    step "first" { run = "ok", async = true },
    step "asked" { run = "ok", async = true, priority = "${rank}" },
    step "behind" { run = "ok", async_after = true, priority = 6 },
  }]],
  ["processes/turns.lua"] = WORDS .. [[return {
    each "plain" { times = 3, parallel = true,
      step "turn" { run = "ok", async = true, priority = 5 } },
    each "named" { times = 2, index = "i", parallel = true, async = true, priority = 4,
      step "count" { run = "ok", async = true, priority = 5 } },
  }]],
  ["processes/late.lua"] = WORDS .. [[return { priority = 3,
    task "wait" { within = { "PT1H", step "over" { run = "ok" } } },
  }]],
  ["processes/broken.lua"] = WORDS .. [[return { priority = 3,
    step "fails" { run = "fail", async = true },
  }]],
  ["handlers/fail.lua"] = "return function() error('no', 0) end",
  ["handlers/ok.lua"] = "return function() end",
}

local TICK = [[<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="t">
    <process id="tick" isExecutable="true" camunda:jobPriority="12">
      <startEvent id="daily"><timerEventDefinition><timeDuration>PT1H</timeDuration>
      </timerEventDefinition></startEvent>
      <sequenceFlow id="f" sourceRef="daily" targetRef="done"/><endEvent id="done"/>
    </process></definitions>]]

describe("the priority of a job of a process", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function definition(name)
    return engine:definition("process/" .. name)
  end

  -- The priorities of the jobs that wait, in the order of their ids.
  local function waiting()
    local list = {}
    for i, id in ipairs(engine:jobs():ids()) do
      list[i] = engine:job(id).priority
    end
    return list
  end

  -- Runs the jobs that wait now.
  local function run()
    for _, id in ipairs(engine:jobs():ids()) do
      pcall(engine.execute, engine, id)
    end
  end

  it("is the override where the activity, the process or an expression has one", function()
    definition("rank/first"):override_priority(71)
    definition("rank/asked"):override_priority(72)
    definition("rank/behind:after"):override_priority(73)
    assert(engine:start("rank", { variables = { rank = 9 } }))
    assert.same({ 71 }, waiting())
    run()
    assert.same({ 72 }, waiting())
    run()
    assert.same({ 73 }, waiting())
  end)

  it("is the model's again once the override is cleared", function()
    definition("rank/asked"):override_priority(72)
    definition("rank/asked"):clear_override()
    assert(engine:start("rank", { variables = { rank = 9 } }))
    assert.same({ 40 }, waiting())
    run()
    assert.same({ 9 }, waiting())
  end)

  it("is the override in every turn of a body, and of the body itself", function()
    definition("turns/turn"):override_priority(50)
    definition("turns/named#multiInstanceBody"):override_priority(51)
    definition("turns/count"):override_priority(52)
    assert(engine:start "turns")
    assert.same({ 50, 50, 50 }, waiting())
    run()
    assert.same({ 51 }, waiting())
    run()
    assert.same({ 52, 52 }, waiting())
  end)

  it("is the override for timers", function()
    definition("late/wait.within:timer"):override_priority(61)
    assert(engine:start "late")
    assert.equal(61, engine:jobs({ activity = "wait.within" }):one().priority)
  end)

  it("is the override for the timer of a start, whose version comes later", function()
    local first, path = engines.durable { ["processes/tick.bpmn"] = TICK }
    local function priority(from)
      return from:jobs({ handler = "process/tick/daily:timer" }):one().priority
    end
    assert.equal(12, priority(first))
    first:definition("process/tick/daily:timer"):override_priority(60)
    local file = assert(io.open(path .. "/processes/tick.bpmn", "w"))
    file:write((TICK:gsub("PT1H", "PT2H")))
    file:close()
    local second = moonshift.open { store = "sqlite:" .. path .. "/jobs.db", scripts = path,
      clock = first.clock }
    assert.equal(60, priority(second))
    second:close()
    first:close()
  end)

  it("is 0 without priorities, whatever the model and an override say", function()
    engine:close()
    engine = testing.engine { scripts = folder, produce_priorities = false }
    definition("rank/first"):override_priority(71)
    assert(engine:start("rank", { variables = { rank = 9 } }))
    assert.same({ 0 }, { engine:jobs({ activity = "first" }):one().priority })
  end)

  it("stays an override when its attempt fails and is tried again", function()
    definition("broken/fails"):override_priority(71)
    assert(engine:start "broken")
    run()
    assert.same({ 71 }, waiting())
  end)
end)
