-- What expressions know of the instance around them: the objects execution, task, instance and job,
-- with a closed list of facts and methods. The scope of an evaluation answers them.
local coerce = require "moonshift.expression.coerce"

local objects = {}

-- Facts by the names that models use for them; the scope is asked for the name on the right.
local place = {
  id = "id", processInstanceId = "instance", rootProcessInstanceId = "root", parentId = "parent",
  processBusinessKey = "key", processInstanceBusinessKey = "key", businessKey = "key", key = "key",
  processDefinitionId = "version", processDefinitionKey = "process", process = "process",
  version = "version", currentActivityId = "activity", currentActivityName = "activity_name",
  activityInstanceId = "token", eventName = "event", tenantId = "tenant", tenant = "tenant",
  parent = "parent", root = "root", activity = "activity",
}
local task = {
  id = "id", name = "name", description = "description", assignee = "assignee", owner = "owner",
  dueDate = "due", due = "due", priority = "priority", taskDefinitionKey = "activity",
  formKey = "form", createTime = "created", eventName = "event", processInstanceId = "instance",
  executionId = "token", processDefinitionId = "version", tenantId = "tenant",
}
objects.facts = { execution = place, instance = place, task = task }

local WRITABLE = {
  task = { name = true, description = true, assignee = true, owner = true, due = true,
    priority = true },
}

local function plain_name(value, fail)
  return type(value) == "string" and value ~= "" and value
    or fail("expected the name of a variable, got " .. coerce.show(value))
end

-- ---- methods that read variables: (scope, fail, …) ----

local reading = {}

function reading.getVariable(scope, fail, name)
  return (scope:get(plain_name(name, fail)))
end

function reading.getVariableLocal(scope, fail, name)
  return (scope:get(plain_name(name, fail), true))
end

function reading.hasVariable(scope, fail, name)
  local _, found = scope:get(plain_name(name, fail))
  return found and true or false
end

function reading.hasVariableLocal(scope, fail, name)
  local _, found = scope:get(plain_name(name, fail), true)
  return found and true or false
end

function reading.getVariables(scope)
  return scope:all()
end

-- ---- methods that write: refused where an expression must be pure ----

local writing = {}

function writing.setVariable(scope, fail, name, value)
  scope:set(plain_name(name, fail), value)
end

function writing.setVariableLocal(scope, fail, name, value)
  scope:set(plain_name(name, fail), value, true)
end

function writing.setVariables(scope, fail, values)
  if type(values) ~= "table" then
    fail("expected a map of variables, got " .. coerce.show(values))
  end
  for name, value in next, values do
    scope:set(plain_name(name, fail), value)
  end
end

function writing.removeVariable(scope, fail, name)
  scope:remove(plain_name(name, fail))
end

function writing.removeVariableLocal(scope, fail, name)
  scope:remove(plain_name(name, fail), true)
end

-- ---- variables:get(x) and its like ----

local function compared(compare)
  return function(scope, fail, name, value)
    return compare((scope:get(plain_name(name, fail))), value, fail)
  end
end

local prefixed = {
  get = reading.getVariable,
  exists = reading.hasVariable,
  getOrDefault = function(scope, fail, name, otherwise)
    local value = scope:get(plain_name(name, fail))
    if value == nil then
      return otherwise
    end
    return value
  end,
  isEmpty = compared(coerce.is_empty),
  isNotEmpty = compared(function(value)
    return not coerce.is_empty(value)
  end),
  equals = compared(coerce.operator "=="),
  notEquals = compared(coerce.operator "!="),
  lowerThan = compared(coerce.operator "<"),
  lowerThanOrEquals = compared(coerce.operator "<="),
  greaterThan = compared(coerce.operator ">"),
  greaterThanOrEquals = compared(coerce.operator ">="),
}
for short, long in pairs {
  eq = "equals", ne = "notEquals", lt = "lowerThan", lte = "lowerThanOrEquals", gt = "greaterThan",
  gte = "greaterThanOrEquals", empty = "isEmpty", notEmpty = "isNotEmpty",
} do
  prefixed[short] = prefixed[long]
end
prefixed.set = writing.setVariable
objects.prefixed = prefixed

-- ---- finding ----

-- "getBusinessKey" -> "businessKey", after the pattern of the prefix.
local function without(name, prefix)
  local first, rest = name:match("^" .. prefix .. "(%u)(.*)$")
  return first and first:lower() .. rest
end

local function fact_method(object, name)
  local fact = objects.facts[object][without(name, "get") or ""]
  return fact and function(scope)
    return scope:fact(object, fact)
  end
end

local function write_method(object, name)
  local fact = objects.facts[object][without(name, "set") or ""]
  return fact and WRITABLE[object] and WRITABLE[object][fact] and function(scope, _, value)
    scope:set_fact(object, fact, value)
  end
end

-- method(object, name) -> function(scope, fail, …), writes; or nil.
function objects.method(object, name)
  if object == "job" then
    return nil
  end
  local found = reading[name] or fact_method(object, name)
  if found then
    return found, false
  end
  return writing[name] or write_method(object, name), true
end

-- names(object): what can be written after "object.", for suggestions.
function objects.names(object)
  local names = {}
  for name in pairs(objects.facts[object] or {}) do
    names[#names + 1] = name
  end
  for _, from in ipairs { reading, writing } do
    for name in pairs(object ~= "job" and from or {}) do
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

return objects
