-- Processes of a folder that lacks what they call, and where their instances stand.
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = "local step, task, choose, parallel, each, receive, call = "
  .. 'require "moonshift.process".words()\n'

local MODEL = [[
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="shop"
    xmlns:camunda="http://camunda.org/schema/1.0/bpmn">
  <process id="sale">
    <startEvent id="begin"/>
    <sequenceFlow id="f1" sourceRef="begin" targetRef="charge"/>
    <serviceTask id="charge" camunda:class="org.shop.ChargeCard">
      <extensionElements>
        <camunda:executionListener event="end" delegateExpression="${tell}"/>
      </extensionElements>
    </serviceTask>
    <sequenceFlow id="f2" sourceRef="charge" targetRef="done"/>
    <endEvent id="done"/>
  </process>
</definitions>]]

local files = {
  ["processes/sale.bpmn"] = MODEL,
  ["processes/parcel.lua"] = WORDS .. [[return {
    step "weigh" { run = "weigh", result = "grams" },
    step "stamp" { run = "stamp" },
    each "line" { of = "lines", parallel = true, task "check" {} },
  }]],
  ["processes/two.lua"] = WORDS .. [[return {
    parallel { { task "pack" {} }, { task "invoice" {} } },
  }]],
  ["handlers/stamp.lua"] = "return function(job) job.variables.stamped = true end",
}

describe("a process whose handlers are not there", function()
  local folder

  before_each(function()
    folder = process.folder(files)
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function open(missing)
    return testing.engine { scripts = folder, missing = missing }
  end

  it("is refused", function()
    local opened, message = pcall(open)
    assert.is_false(opened)
    assert.truthy(message:find('there is no handler "weigh"', 1, true), message)
  end)

  it("calls the function `missing` of an engine for specs", function()
    local said = {}
    local engine = open(function(name, job)
      said[#said + 1] = ("%s at %s %s"):format(name, job.activity, job.event or "")
      return name == "weigh" and 7 or nil
    end)
    local id = assert(engine:start("parcel", { variables = { lines = {} } }))
    assert.same({ grams = 7, stamped = true, lines = {} },
      engine:past_instances({ id = id }):one().variables)
    assert(engine:start "sale")
    assert.same({ "weigh at weigh ", "org/shop/ChargeCard at charge ", "tell at charge end" }, said)
  end)

  it("fails as the function `missing` fails", function()
    local engine = open(function(name)
      error("no " .. name, 0)
    end)
    local id, message, code = engine:start "sale"
    assert.is_nil(id)
    assert.equal("failed", code)
    assert.truthy(message:find("no org/shop/ChargeCard", 1, true), message)
  end)

  it("takes nothing but a function", function()
    local opened, message = pcall(open, "weigh")
    assert.is_false(opened)
    assert.truthy(message:find("missing is a string (expected a function)", 1, true), message)
  end)

  it("says where an instance stands, once for each branch", function()
    local engine = open(function() end)
    local two = assert(engine:start "two")
    assert.same({ "invoice", "pack" }, engine:at(two))
    assert(engine:complete(engine:tasks({ activity = "pack" }):one().id))
    assert.same({ "invoice", "pack.parallel.join" }, engine:at(two))
    local turns = assert(engine:start("parcel", { variables = { lines = { 1, 2, 3 } } }))
    assert.same({ "check", "check", "check" }, engine:at(turns))
    assert(engine:complete(engine:tasks({ instance = two }):one().id))
    assert.same({}, engine:at(two))
    local none, message = engine:at(99)
    assert.is_nil(none)
    assert.equal("no instance 99 of a process", message)
  end)
end)
