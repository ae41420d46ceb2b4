-- What the products add to an element: fields, listeners, mappings, retries, continuations.
local connectors = require "moonshift.process.connectors"
local elements = require "moonshift.process.bpmn.elements"
local vocabulary = require "moonshift.process.bpmn.vocabulary"

local extensions = {}

local extension, text_of = elements.extension, elements.extension_text

-- True if an extension element in it is refused, which is told of that.
function extensions.has_refused(element)
  for name, known in pairs(vocabulary.extension_elements) do
    if known.state == "refused" and elements.extensions(element, name)[1] then
      return true
    end
  end
  return false
end

-- ---- scripts ----

-- The language of a script; in Flowable a listener says it by another name.
local function language_of(element)
  return element.attributes.scriptFormat or element.attributes.language
end

-- script(element, report, source) -> a behaviour of the script in `element`; nil with a problem.
-- A script that lies in a resource has no text here.
function extensions.script(element, report, source)
  local language = language_of(element)
  local resource = element.attributes.resource or extension(element, "resource")
  local text = elements.trim(source or element.text)
  if text == "" and not resource then
    report:refuse(element, "has no script (expected its text, or the attribute resource)")
    return nil
  end
  return {
    script = text ~= "" and text or nil,
    resource = resource,
    language = (language or "juel"):lower(),
    line = element.line,
    column = element.column,
  }
end

-- The script of a listener or parameter, whose language must be said.
local function nested_script(element, report)
  local language = language_of(element)
  if not language or language == "" then
    report:refuse(element, 'a script without "scriptFormat" (expected a language such as lua)')
    return nil
  end
  return extensions.script(element, report)
end

-- ---- fields ----

local function field_value(element, report, attribute, child)
  local given = element.attributes[attribute]
  local list = elements.own_children(element, child)
  if #list > 1 then
    report:refuse(element, ("a field has <%s> twice"):format(child))
  elseif given and list[1] then
    report:refuse(element, ("a field has the attribute %s and <%s> (expected one)"):format(
      attribute, child))
  elseif list[1] and not list[1].text:find("%S") then
    report:refuse(element, ("the <%s> of a field is empty"):format(child))
  elseif list[1] then
    return list[1].text
  end
  return given ~= "" and given or nil
end

local function read_field(element, owner, report)
  local name = element.attributes.name
  local value = field_value(element, report, "stringValue", "string")
    or field_value(element, report, "expression", "expression")
  if not name or name == "" then
    report:refuse(owner, "a field has no name")
  elseif value == nil then
    report:refuse(owner, ('the field "%s" has no value (expected stringValue or expression)')
      :format(name))
  end
  return name, value
end

-- fields(element, report, owner) -> { name = value }, or nil. Problems are told of the owner.
function extensions.fields(element, report, owner)
  local fields
  for _, field in ipairs(elements.extensions(element, "field")) do
    local name, value = read_field(field, owner or element, report)
    if name and value then
      fields = fields or {}
      fields[name] = value
    end
  end
  return fields
end

-- ---- listeners ----

-- An attribute with or without a namespace; nil if it is blank.
local function own_text(element, name)
  local value = element.attributes[name]
  return value and value:find("%S") and value or text_of(element, name)
end

-- The class, delegateExpression, expression or script of a listener.
local function listener_behaviour(element, owner, report)
  local class = own_text(element, "class")
  local delegate = own_text(element, "delegateExpression")
  local expression = own_text(element, "expression")
  local script = elements.own_children(element, "script")[1]
  if not (class or delegate or expression or script) then
    report:refuse(owner, ("<%s> has nothing to call (expected class, delegateExpression, "
      .. "expression or <script>)"):format(element.name))
    return nil
  elseif script then
    return nested_script(script, report)
  end
  return {
    class = class,
    delegate = not class and delegate or nil,
    expression = not class and not delegate and expression or nil,
    fields = extensions.fields(element, report, owner),
    line = element.line,
    column = element.column,
  }
end

-- The events that a listener's attribute stands for.
local function events_of(element, owner, report, known)
  local event = element.attributes.event
  if not event and element.name == "variableListener" then
    return known
  elseif not event or event == "" then
    report:refuse(owner, ("<%s> has no event (expected %s)"):format(element.name,
      table.concat(known, ", ")))
    return {}
  elseif event == "all" and element.name == "taskListener" then
    return known
  end
  for _, one in ipairs(known) do
    if one == event then
      return { event }
    end
  end
  report:refuse(owner, ('<%s> has the event "%s" (expected %s)'):format(element.name, event,
    known.names or table.concat(known, ", ")))
  return {}
end

local EXECUTION = { "start", "end" }
local VARIABLE = { "create", "update", "delete" }
local TASK = { "create", "assignment", "update", "complete", "delete" }
local TIMEOUT = "timeout" -- of a timer, which is read apart
TASK.names = table.concat(TASK, ", ") .. ", " .. TIMEOUT

local function add_listeners(into, element, name, known, report)
  for _, listener in ipairs(elements.extensions(element, name)) do
    local timed = known == TASK and listener.attributes.event == TIMEOUT
    local behaviour = not timed and listener_behaviour(listener, element, report)
    for _, event in ipairs(timed and {} or events_of(listener, element, report, known)) do
      event = known == VARIABLE and "variable_" .. event or event
      into[event] = into[event] or {}
      table.insert(into[event], behaviour)
    end
  end
end

-- timeouts(element, report, timer_of) -> { { id, timer, behaviour }, … }, or nil: the listeners of
-- a user task that a timer calls. timer_of(definition) -> the timer
function extensions.timeouts(element, report, timer_of)
  local list = {}
  for _, listener in ipairs(elements.extensions(element, "taskListener")) do
    local id = listener.attributes.id
    local definition = elements.child(listener, "timerEventDefinition")
    local timed = listener.attributes.event == TIMEOUT
    if timed and not (id and definition) then
      report:refuse(element, ('a <taskListener> of the event "timeout" has no %s'):format(
        id and "<timerEventDefinition>" or 'attribute "id"'))
    elseif timed then
      list[#list + 1] = { id = id, timer = timer_of(definition),
        behaviour = listener_behaviour(listener, element, report) }
    end
  end
  return list[1] and list or nil
end

-- listeners(element, report) -> { start = { behaviour, … }, … }, or nil. Those of a task count only
-- in a user task.
function extensions.listeners(element, report)
  local listeners = {}
  add_listeners(listeners, element, "executionListener", EXECUTION, report)
  add_listeners(listeners, element, "variableListener", VARIABLE, report)
  if element.name == "userTask" then
    add_listeners(listeners, element, "taskListener", TASK, report)
  end
  for _, listener in ipairs(elements.extensions(element, "taskListener")) do
    if element.name ~= "userTask" then
      report:warn(listener, "a <taskListener> means nothing outside a userTask")
    end
  end
  return next(listeners) and listeners or nil
end

-- flow_listeners(element, report) -> the behaviours that are called when a flow is taken, or nil.
function extensions.flow_listeners(element, report)
  local list = {}
  for _, listener in ipairs(elements.extensions(element, "executionListener")) do
    list[#list + 1] = listener_behaviour(listener, element, report)
  end
  return list[1] and list or nil
end

-- ---- mappings ----

local parameter_value

local function list_of(element, report)
  local list = {}
  for _, child in ipairs(element.children) do
    list[#list + 1] = parameter_value(child, report)
  end
  return { list = list }
end

local function map_of(element, report)
  local map, order = {}, {}
  for _, entry in ipairs(elements.own_children(element, "entry")) do
    local key = entry.attributes.key
    if not key or key == "" then
      report:refuse(entry, "<entry> has no key")
    else
      order[#order + 1] = key
      map[key] = parameter_value(entry, report)
    end
  end
  return { map = map, order = order }
end

local READERS = { list = list_of, map = map_of, script = nested_script }

-- The value of a parameter, an entry or an element of a list: its text, or what lies in it.
function parameter_value(element, report)
  local reader = READERS[element.name]
  if reader then
    return reader(element, report)
  end
  for _, child in ipairs(element.children) do
    reader = elements.is_extension(child.ns) and READERS[child.name]
    if reader then
      return reader(child, report)
    elseif elements.is_extension(child.ns) then
      report:refuse(child, ("<%s> in <%s> (expected text, <list>, <map> or <script>)"):format(
        child.name, element.name))
    end
  end
  local text = elements.trim(element.text)
  return text ~= "" and text or "${null}"
end

local function parameters(holder, name, owner, report)
  local list = {}
  for _, parameter in ipairs(elements.own_children(holder, name)) do
    local target = parameter.attributes.name
    if not target or target == "" then
      report:refuse(owner, ("<%s> has no name"):format(name))
    else
      list[#list + 1] = { name = target, value = parameter_value(parameter, report) }
    end
  end
  return list[1] and list or nil
end

-- Where inputs and outputs mean something (the rules of Camunda).
local function check_mapping(element, output, report)
  local name = element.name
  local able = name:lower():find("task", 1, true) or name:find("Event$")
    or name == "transaction" or name == "subProcess" or name == "callActivity"
  if not able or name == "startEvent" or name == "boundaryEvent" then
    report:refuse(element, ("<inputOutput> is not supported in <%s>"):format(name))
  elseif elements.flag(element, "triggeredByEvent", false) then
    report:refuse(element, "<inputOutput> is not supported in an event sub-process")
  elseif output and name == "endEvent" then
    report:refuse(element, "<outputParameter> is not supported in an endEvent")
  elseif output and elements.child(element, "multiInstanceLoopCharacteristics") then
    report:refuse(element, "<outputParameter> is not supported in a multi-instance activity")
  end
end

-- The connector of a service and its id; nil without one.
local function connector_of(element)
  local connector = elements.extensions(element, "connector")[1]
  local id = connector and elements.own_children(connector, "connectorId")[1]
  return connector, id and elements.trim(id.text)
end

-- connector(element, owner, report) -> a behaviour, its fields and outputs; nil without one, or for
-- one that is not known, with a problem.
function extensions.connector(element, owner, report)
  local connector, id = connector_of(element)
  if not connector then
    return nil
  elseif id ~= connectors.HTTP then
    local name = (id or "call"):gsub("%W", "_")
    report:refuse(owner, ('the connector "%s" is not run (expected %s, or class="%s" and '
      .. "handlers/%s.lua)"):format(id or "", connectors.HTTP, name, name))
    return nil
  end
  local holder = elements.own_children(connector, "inputOutput")[1]
  local fields, read = {}, holder and parameters(holder, "inputParameter", owner, report)
  for name, value in pairs(connectors.FIELDS) do
    fields[name] = value
  end
  for _, input in ipairs(read or {}) do
    local name = connectors.INPUTS[input.name]
    if name then
      fields[name] = input.value
    else
      report:warn(owner, ('the input "%s" of the connector is ignored (expected url, method, '
        .. "headers, payload)"):format(input.name))
    end
  end
  if fields.url == nil then
    report:refuse(owner, 'the connector has no input "url"')
  end
  return { run = connectors.HANDLER, map = "response" }, fields,
    holder and parameters(holder, "outputParameter", owner, report)
end

-- mapping(element, report) -> input, output: lists of { name, value }, or nil.
function extensions.mapping(element, report)
  local holder = elements.extensions(element, "inputOutput")[1]
  if not holder then
    return nil
  end
  local input = parameters(holder, "inputParameter", element, report)
  local output = parameters(holder, "outputParameter", element, report)
  check_mapping(element, output, report)
  return input, output
end

-- ---- variables of called processes ----

local function check_source(element, owner, report, attribute)
  if element.attributes[attribute] == "" then
    report:refuse(owner, ('<%s> has an empty attribute "%s"'):format(element.name, attribute))
  end
end

local function pass(element, owner, report)
  local given = element.attributes
  local value = given.sourceExpression
  local mapping = {
    from = given.source ~= "" and given.source or nil,
    value = value ~= "" and value or nil,
    to = given.target ~= "" and given.target or nil,
    all = given.variables == "all" or nil,
    ["local"] = elements.flag(element, "local", false) or nil,
  }
  if mapping.all then
    return mapping
  end
  check_source(element, owner, report, "source")
  check_source(element, owner, report, "sourceExpression")
  if given.source == nil and value == nil then
    report:refuse(owner, ('<%s> passes nothing (expected source, sourceExpression, or '
      .. 'variables="all")'):format(element.name))
  elseif not mapping.to then
    report:refuse(owner, ('<%s> has no attribute "target"'):format(element.name))
  end
  return mapping
end

-- passed(element, name, report) -> a list of { from, to, all, value, local }, or nil; and the
-- business key, of <in>.
function extensions.passed(element, name, report)
  local list, key = {}, nil
  for _, one in ipairs(elements.extensions(element, name)) do
    local given = one.attributes.businessKey
    if given and given ~= "" then
      key = given
    end
    if not given or one.attributes.source or one.attributes.variables then
      list[#list + 1] = pass(one, element, report)
    end
  end
  return list[1] and list or nil, key
end

-- properties(element) -> { name = value } of the extension element of that name, or nil.
function extensions.properties(element)
  local properties
  for _, holder in ipairs(elements.extensions(element, "properties")) do
    for _, one in ipairs(elements.own_children(holder, "property")) do
      properties = properties or {}
      properties[one.attributes.name or ""] = one.attributes.value
    end
  end
  return properties
end

-- ---- jobs ----

-- The retry configuration of an element; nil if it has none.
function extensions.retry(element)
  local one = elements.extensions(element, "failedJobRetryTimeCycle")[1]
  local text = one and elements.trim(one.text)
  return text ~= "" and text or nil
end

-- Puts before, after and exclusive into `into`.
function extensions.continuations(element, into)
  local flag = elements.extension_flag
  if flag(element, "asyncBefore", false) or flag(element, "async", false) then
    into.before = true
  end
  if flag(element, "asyncAfter", false) or flag(element, "asyncLeave", false) then
    into.after = true
  end
  if not flag(element, "exclusive", true) then
    into.exclusive = false
  end
end

return extensions
