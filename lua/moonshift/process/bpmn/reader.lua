-- BPMN 2.0 files as graphs (see graph.lua), with the attributes of Camunda, Flowable and Activiti.
local elements = require "moonshift.process.bpmn.elements"
local events = require "moonshift.process.bpmn.events"
local extensions = require "moonshift.process.bpmn.extensions"
local flows = require "moonshift.process.bpmn.flows"
local graph_of = require "moonshift.process.graph"
local nodes = require "moonshift.process.bpmn.nodes"
local origin = require "moonshift.process.bpmn.origin"
local rules = require "moonshift.rules"
local schema = require "moonshift.process.bpmn.schema"
local xml = require "moonshift.xml"

local reader = {}

local CONTAINERS = { subProcess = true, transaction = true }

local function add_node(graph, element, scope, parts, context)
  local node = nodes.read(element, context, scope)
  if not node.id then
    context.report:refuse(element, ("<%s> has no id"):format(element.name))
    return
  elseif graph.nodes[node.id] then
    return -- told already
  end
  graph.nodes[node.id] = node
  graph.order[#graph.order + 1] = node.id
  parts.nodes[#parts.nodes + 1] = { node = node, element = element }
  if CONTAINERS[element.name] then
    reader.contents(graph, element, node.id, parts, context)
  end
end

-- Reads what lies in a process or sub-process.
function reader.contents(graph, element, scope, parts, context)
  for _, child in ipairs(element.children) do
    if nodes.reads(child) then
      add_node(graph, child, scope, parts, context)
    elseif elements.is_model(child) and child.name == "sequenceFlow" then
      table.insert(parts.flows, { element = child, scope = scope })
    elseif elements.is_model(child) and child.name == "association" then
      table.insert(parts.associations, { element = child, scope = scope })
    end
  end
end

-- A number of days, or a duration; nil with a problem.
local function time_to_live(element, report)
  local text = elements.extension_text(element, "historyTimeToLive")
  if not text then
    return nil
  elseif text:find("^%d+$") then
    return ("P%sD"):format(text)
  elseif not rules.duration(text) then
    local what = rules.add_duration(0, text)
      and "such as P30D: months and years have no fixed length" or "such as P30D"
    report:refuse(element, ('historyTimeToLive="%s" (expected days, or a duration %s)')
      :format(text, what))
    return nil
  end
  return text
end

-- The names in the extension property "search", with commas between them; nil for none.
local function search_of(element)
  local names = {}
  for name in ((extensions.properties(element) or {}).search or ""):gmatch "[^,%s]+" do
    names[#names + 1] = name
  end
  table.sort(names)
  return names[1] and names
end

-- The variable that gets who has started an instance: the attribute of a start event.
local function initiator_of(element)
  for _, start in ipairs(elements.children(element, "startEvent")) do
    local name = elements.extension_text(start, "initiator")
    if name then
      return name
    end
  end
end

local function read_process(element, path, context)
  local given = element.attributes
  local graph = graph_of.new {
    key = given.id,
    name = given.name,
    path = path,
    line = element.line,
    column = element.column,
    tag = elements.extension_text(element, "versionTag"),
    history_time_to_live = time_to_live(element, context.report),
    search = search_of(element),
    initiator = initiator_of(element),
    priority = elements.extension_text(element, "jobPriority"),
    external_priority = elements.extension_text(element, "taskPriority"),
    listeners = extensions.listeners(element, context.report) or {},
  }
  local parts = { nodes = {}, flows = {}, associations = {} }
  reader.contents(graph, element, nil, parts, context)
  flows.join(graph, parts, context)
  graph_of.complete(graph)
  return graph
end

local function read_processes(root, path, context)
  local graphs = {}
  for _, element in ipairs(elements.children(root, "process")) do
    if not element.attributes.id then
      context.report:refuse(element, "<process> has no id")
    elseif not elements.flag(element, "isExecutable", true) then
      context.report:warn(element, 'is not loaded: isExecutable="false"')
    else
      graphs[#graphs + 1] = read_process(element, path, context)
    end
  end
  return graphs
end

local function is_executable(root)
  for _, element in ipairs(elements.children(root, "process")) do
    if elements.flag(element, "isExecutable", true) then
      return true
    end
  end
end

-- read(text, path, report, cron) -> the graphs of the file. Problems are in the report; graphs of a
-- file that has any are not complete. `cron`: the setting.
function reader.read(text, path, report, cron)
  local root, message, line, column = xml.read(text)
  if not root then
    report:refuse({ line = line, column = column }, message)
    return {}
  end
  if origin.is_camunda_8(root) and is_executable(root) then
    report:refuse(root, "was made for Camunda 8, whose task definitions and conditions in FEEL "
      .. 'are not run (expected a model for Camunda 7; see "Models of Camunda 8" in docs/bpmn.md)')
    return {}
  end
  local ids = schema.check(root, report)
  if not ids then
    return {}
  end
  local context = { report = report, ids = ids, known = events.known(root, report),
    cron = origin.cron(root, cron or "auto"), passes_over = origin.passes_over(root) }
  local graphs = read_processes(root, path, context)
  if #elements.children(root, "process") == 0 then
    report:warn(root, "the file has no <process>")
  end
  return graphs
end

return reader
