-- What specs of expressions share: a scope over variables, values of texts, what texts raise.
require "spec.support.scripts"
local assert = require "luassert"
local expression = require "moonshift.expression"
local rules = require "moonshift.rules"

local expressions = {}

-- A scope over a table of variables, with a bean and an execution.
function expressions.scope_of(variables)
  local scope = { variables = variables, called = {}, now = 0 }
  function scope:get(name)
    return self.variables[name], self.variables[name] ~= nil
  end
  local prices = {
    rate = function(_, x) return x * 2 end,
    seen = function(_, value) table.insert(scope.called, value) end,
    order = function()
      return { total = 7, twice = function(order) return order.total * 2 end }
    end,
  }
  local execution = {
    getVariable = function(_, name) return (scope:get(name)) end,
    getVariables = function() return variables end,
    hasVariable = function(_, name) return select(2, scope:get(name)) end,
    getBusinessKey = function() return "key-1" end,
    getProcessInstanceId = function() return "4711" end,
    setVariable = function(_, name, value) variables[name] = value end,
    setVariableLocal = function(_, name, value) variables[name] = { value } end,
    removeVariable = function(_, name) variables[name] = nil end,
    getAssignee = function() return "kermit" end,
    setAssignee = function(_, name) scope.assigned = name end,
    setDue = function(_, due) scope.due = due end,
  }
  scope.objects = { prices = prices, execution = execution, task = execution }
  function scope:object(name)
    return self.objects[name]
  end
  return scope
end

function expressions.data()
  return {
    n = 5, half = 0.5, text = "Hello", empty_text = "", yes = true, no = false, null = rules.null,
    list = rules.array { 10, "b", rules.null }, none = rules.array {}, order = { total = 12,
      lines = rules.array { { sku = "a" }, { sku = "b" } } }, digits = "12", prices = "a text",
    again = "${n}", umlaut = "äbc",
  }
end

function expressions.value_of(text, scope)
  return assert(expression.compile(text))(scope or expressions.scope_of(expressions.data()))
end

function expressions.check_values(expected)
  for text, value in pairs(expected) do
    assert.equal(value, expressions.value_of(text), text)
    assert.equal(math.type(value), math.type(expressions.value_of(text)), text)
  end
end

-- What an evaluation of the text raises.
function expressions.raised(text, scope)
  local fn = assert(expression.compile(text, { file = "p.bpmn", line = 7 }))
  local fine, message = pcall(fn, scope or expressions.scope_of(expressions.data()))
  assert.is_false(fine, text)
  return message
end

return expressions
