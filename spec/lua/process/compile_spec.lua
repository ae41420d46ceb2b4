-- Plans of real graphs: a file of a modeler and a list of words give the same run.
local driver = require "spec.lua.process.driver"
local models = require "spec.support.models"
local places = require "moonshift.process.places"
local processes = require "spec.support.processes"

local BPMN = models.process([[
<startEvent id="start"/>
<serviceTask id="reserve" c:class="org.shop.Reserve" c:asyncBefore="true">
  <extensionElements><c:inputOutput>
    <c:inputParameter name="sku">${order.sku}</c:inputParameter>
  </c:inputOutput></extensionElements>
</serviceTask>
<exclusiveGateway id="check" default="small"/>
<userTask id="approve"/>
<boundaryEvent id="late" attachedToRef="approve">
  <timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>
</boundaryEvent>
<serviceTask id="ship" c:class="org.shop.Ship">
  <multiInstanceLoopCharacteristics c:collection="${order.lines}" c:elementVariable="line"
    c:asyncBefore="true"/>
</serviceTask>
<endEvent id="end"/>
<sequenceFlow id="a" sourceRef="start" targetRef="reserve"/>
<sequenceFlow id="b" sourceRef="reserve" targetRef="check"/>
<sequenceFlow id="large" sourceRef="check" targetRef="approve">
  <conditionExpression>${order.sum > 100}</conditionExpression>
</sequenceFlow>
<sequenceFlow id="small" sourceRef="check" targetRef="ship"/>
<sequenceFlow id="c" sourceRef="approve" targetRef="ship"/>
<sequenceFlow id="d" sourceRef="late" targetRef="ship"/>
<sequenceFlow id="e" sourceRef="ship" targetRef="end"/>
]])

local WORDS = [[
return {
  step "reserve" { run = "Reserve", async = true,
    input = { sku = "${order.sku}" } },
  choose {
    { when = function(v) return v.order.sum > 100 end,
      task "approve" { within = { "PT1H", to = "ship" } } },
    { otherwise = true },
  },
  step "ship" { run = "Ship", async = true,
    each = { of = "${order.lines}", as = "line", parallel = true } },
}]]

-- Runs an order; gives the lines that were shipped, in order, and the instance's history.
local function run(graph, sum, act)
  places.resolve(graph)
  local d = driver.new { graph }
  local shipped = {}
  d.handlers.Reserve = function(job)
    job.variables.stock = { sku = job.payload.sku, count = #job.variables.order.lines }
  end
  d.handlers.Ship = function(job)
    shipped[#shipped + 1] = job.variables.line
  end
  local id = d:start("p", { order = { sku = "x1", sum = sum, lines = { "a", "b" } } })
  d:drain()
  if act then
    act(d)
    d:drain()
  end
  assert.equal("completed", d:ended(id))
  assert.same({ sku = "x1", count = 2 }, d:variables(id).stock)
  return shipped, d:history(id)
end

local function late(d)
  d:advance(3600000)
end

local function approve(d)
  d:complete("approve")
end

describe("a plan", function()
  for form, graph in pairs {
    BPMN = function()
      return models.graph(BPMN)
    end,
    words = function()
      return processes.graph(WORDS)
    end,
  } do
    it("of a graph in " .. form .. " takes the default", function()
      local shipped, ended = run(graph(), 50)
      assert.same({ "a", "b" }, shipped)
      assert.same({ 1, nil, 2 }, { ended.reserve, ended.approve, ended.ship })
    end)

    it("of a graph in " .. form .. " waits for people, or until it is late", function()
      local shipped, ended = run(graph(), 500, approve)
      assert.same({ "a", "b" }, shipped)
      assert.equal(1, ended.approve)
      local _, without = run(graph(), 500, late)
      assert.is_nil(without.approve)
      assert.equal(2, without.ship)
    end)
  end
end)
