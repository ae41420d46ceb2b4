-- External tasks: the handler of a topic runs as a job of its own.
local models = require "spec.support.models"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local EXTERNAL = '<serviceTask id="x" c:type="external" c:topic="charge" c:taskPriority="7" %s>%s'
  .. "</serviceTask>"

describe("an external task", function()
  local engine, folder

  after_each(function()
    if engine then
      engine:close()
    end
    engine = nil
    process.remove(folder)
  end)

  local function open(task, handler)
    local files = { ["processes/p.bpmn"] = models.line(task),
      ["handlers/topic/charge.lua"] = handler }
    folder = process.folder(files)
    engine = testing.engine { scripts = folder, retry = "R2/PT1M" }
  end

  it("waits for the job of its topic's handler, with the priority of the task", function()
    open(EXTERNAL:format("", ""),
      "return function(job) job.variables.paid = job.variables.n + 1 end")
    local id = engine:start("p", { variables = { n = 1 } })
    local job = engine:jobs({ handler = "process/p/x" }):one()
    assert.same({ 7, "x" }, { job.priority, job.activity })
    engine:drain()
    assert.same({ n = 1, paid = 2 }, engine:instance(id).variables)
    assert.equal("completed", engine:instance(id).how)
  end)

  it("waits for workers outside if its topic's file has nothing to run", function()
    open(EXTERNAL:format("", ""), "return { timeout = 'PT7M' }")
    local id = engine:start("p")
    engine:drain()
    local jobs = engine:fetch { worker = "w", topics = { "charge" } }
    assert.equal("x", jobs[1].activity)
    assert.equal("active", engine:instance(id).state)
  end)

  it("is retried as any job, and leaves an incident", function()
    open(EXTERNAL:format("", ""), "return function() error('no answer', 0) end")
    engine:start("p")
    engine:drain()
    assert.equal(1, engine:jobs({ handler = "process/p/x" }):one().retries)
    engine:advance("PT1M")
    engine:drain()
    assert.equal("no answer", engine:incidents({ open = true }):one().message)
  end)

  it("may throw a BPMN error", function()
    open(EXTERNAL:format("", "") .. '<boundaryEvent id="b" attachedToRef="x">'
      .. '<errorEventDefinition errorRef="refused"/></boundaryEvent><endEvent id="given_up"/>'
      .. '<sequenceFlow id="f3" sourceRef="b" targetRef="given_up"/>',
      "return function(job) job:throw('refused') end")
    local id = engine:start("p")
    engine:drain()
    assert.equal("completed", engine:instance(id).how)
  end)

  it("has a job for each of several turns", function()
    open(EXTERNAL:format("", "<multiInstanceLoopCharacteristics><loopCardinality>3"
      .. "</loopCardinality></multiInstanceLoopCharacteristics>"),
      "return function(job) job.variables['turn' .. job.variables.loopCounter] = true end")
    local id = engine:start("p")
    assert.equal(3, engine:jobs({ handler = "process/p/x" }):count())
    engine:drain()
    assert.equal("completed", engine:instance(id).how)
  end)

  it("waits for a worker outside where no file is its topic's handler", function()
    folder = process.folder {
      ["processes/p.bpmn"] = models.line(EXTERNAL:format("", "")),
      ["handlers/charge.lua"] = "return function() end",
    }
    engine = testing.engine { scripts = folder }
    local id = engine:start("p")
    engine:drain()
    local job = engine:jobs({ topic = "charge" }):one()
    assert.same({ "process/p/x", 7, "x", "ready" },
      { job.handler, job.priority, job.activity, job.state })
    assert.equal("external", engine:instance(id).at[1].state)
  end)

  it("that waits for a worker outside is run once its topic has a handler", function()
    folder = process.folder { ["processes/p.bpmn"] = models.line(EXTERNAL:format("", "")) }
    engine = testing.engine { scripts = folder }
    local id = engine:start("p", { variables = { n = 1 } })
    engine:drain()
    os.execute("mkdir -p " .. process.quote(folder .. "/handlers/topic"))
    local file = assert(io.open(folder .. "/handlers/topic/charge.lua", "w"))
    file:write("return function(job) job.variables.paid = job.variables.n + 1 end")
    file:close()
    assert(engine:reload())
    engine:drain()
    assert.same({ n = 1, paid = 2 }, engine:instance(id).variables)
    assert.equal("completed", engine:instance(id).how)
  end)
end)
