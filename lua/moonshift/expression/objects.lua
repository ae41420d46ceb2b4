-- What expressions know of the instance around them: execution, instance and task, each with a
-- closed list of fields and methods. The scope gives the objects that have the methods.
local coerce = require "moonshift.expression.coerce"
local methods = require "moonshift.expression.methods"
local rules = require "moonshift.rules"

local objects = {}

-- The methods behind the fields of each object, by the names that models use.
local place = {
  id = "getId", processInstanceId = "getProcessInstanceId", key = "getBusinessKey",
  businessKey = "getBusinessKey", processBusinessKey = "getBusinessKey",
  processInstanceBusinessKey = "getBusinessKey", processDefinitionId = "getProcessDefinitionId",
  activity = "getCurrentActivityId", currentActivityId = "getCurrentActivityId",
  currentActivityName = "getCurrentActivityName", activityInstanceId = "getActivityInstanceId",
  eventName = "getEventName", tenant = "getTenantId", tenantId = "getTenantId",
}
local task = {
  name = "getName", assignee = "getAssignee", priority = "getPriority", due = "getDue",
  dueDate = "getDue", activity = "getTaskDefinitionKey",
  taskDefinitionKey = "getTaskDefinitionKey",
}
for name, method in pairs(place) do
  task[name] = task[name] or method
end
objects.fields = { execution = place, instance = place, task = task }

-- Methods that take something: false reads, true writes and is refused where nothing may change.
local METHODS = {
  getVariable = false, hasVariable = false, getVariables = false, getVariableNames = false,
  getProcessInstance = false, setVariable = true, setVariableLocal = true, setVariables = true,
  removeVariable = true, setTransientVariable = true,
}

-- What is made of other methods of the object.
local MADE = {}

function MADE.getProcessInstance(target)
  return target
end

function MADE.getVariableNames(target)
  local names = {}
  for name in pairs(target:getVariables()) do
    names[#names + 1] = name
  end
  table.sort(names)
  return rules.array(names)
end

function MADE.setVariables(target, fail, values)
  if type(values) ~= "table" then
    fail(("setVariables: got %s (expected a map)"):format(coerce.show(values)))
  end
  for name, value in next, values do
    target:setVariable(name, value)
  end
end

-- call(target, method, fail, …): calls a method of the scope's object.
function objects.call(target, method, fail, ...)
  if MADE[method] then
    return MADE[method](target, fail, ...)
  elseif not target[method] then
    return fail(method .. "() is not known here")
  end
  return target[method](target, ...)
end
local TASK_METHODS = { setName = true, setAssignee = true, setPriority = true, setDue = true }
local SAME = { setDueDate = "setDue" }

-- "getBusinessKey" -> "businessKey"
local function field_of(method)
  local first, rest = method:match "^get(%u)(.*)$"
  return first and first:lower() .. rest
end

-- method(object, name) -> the method of the scope's object, whether it writes; or nil.
function objects.method(object, name)
  name = SAME[name] or name
  if METHODS[name] ~= nil then
    return name, METHODS[name]
  elseif object == "task" and TASK_METHODS[name] then
    return name, true
  end
  return objects.fields[object] and objects.fields[object][field_of(name) or ""]
end

-- names(object): what can be written after "object.", for suggestions.
function objects.names(object)
  local names = {}
  for _, from in ipairs { objects.fields[object] or {}, METHODS } do
    for name in pairs(from) do
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

-- ---- variables:get(x) and its like ----

local function plain_name(value, fail)
  return type(value) == "string" and value ~= "" and value
    or fail("expected the name of a variable, got " .. coerce.show(value))
end

local function variable(scope, fail, name)
  return coerce.plain((scope:get(plain_name(name, fail))))
end

local function compared(compare)
  return function(scope, fail, name, value)
    return compare(variable(scope, fail, name), value, fail)
  end
end

-- How many of the given values a variable contains, a list as elements and a text as parts; and
-- how many were given. Nothing contains none.
local function contained(scope, fail, name, ...)
  local value, wanted, found = variable(scope, fail, name), { ... }, 0
  local contains = value ~= nil and methods.kind(value).contains
  for i = 1, contains and #wanted or 0 do
    found = found + (contains(value, fail, wanted[i]) and 1 or 0)
  end
  return found, #wanted
end

local prefixed = {
  get = variable,
  exists = function(scope, fail, name)
    local _, found = scope:get(plain_name(name, fail))
    return found and true or false
  end,
  getOrDefault = function(scope, fail, name, otherwise)
    local value = variable(scope, fail, name)
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
  contains = function(...)
    local found, wanted = contained(...)
    return wanted > 0 and found == wanted
  end,
  containsAny = function(...)
    return (contained(...)) > 0
  end,
}
for short, long in pairs {
  eq = "equals", ne = "notEquals", lt = "lowerThan", lte = "lowerThanOrEquals", gt = "greaterThan",
  gte = "greaterThanOrEquals", empty = "isEmpty", notEmpty = "isNotEmpty",
} do
  prefixed[short] = prefixed[long]
end
objects.prefixed = prefixed

return objects
