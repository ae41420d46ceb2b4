-- The engine that a file was drawn for, as far as it says so.
local elements = require "moonshift.process.bpmn.elements"

local origin = {}

local ZEEBE = "http://camunda.org/schema/zeebe/1.0"
local PLATFORM = "http://camunda.org/schema/modeler/1.0 executionPlatform"
local CAMUNDA = "http://camunda.org/schema/1.0/bpmn"
local FLOWABLE = { "http://flowable.org/bpmn", "http://activiti.org/bpmn" }

local function has_extensions(namespaces)
  for ns in pairs(namespaces) do
    if elements.is_extension(ns) then
      return true
    end
  end
end

-- True for a model of Camunda 8: its platform, or where none is said its namespace alone, beside
-- none of those that mean something here.
function origin.is_camunda_8(root)
  local platform = root.attributes[PLATFORM]
  if platform then
    return platform == "Camunda Cloud" or platform == "Camunda 8"
  end
  return root.namespaces[ZEEBE] and not has_extensions(root.namespaces) or false
end

-- True for a model of Flowable or Activiti, by its namespaces.
local function is_flowable(root)
  for _, ns in ipairs(FLOWABLE) do
    if root.namespaces[ns] then
      return true
    end
  end
  return false
end

-- True if a drawing that is wrong and a text that is empty are passed over, as Flowable and
-- Activiti do, but not Camunda.
function origin.passes_over(root)
  return is_flowable(root) and not root.namespaces[CAMUNDA]
end

-- cron(root, setting) -> "quartz", "unix", or "auto" where neither the setting nor the file says
-- which day the weekday 1 is.
function origin.cron(root, setting)
  return setting == "auto" and is_flowable(root) and "quartz" or setting
end

return origin
