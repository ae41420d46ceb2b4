-- One reader for each element that becomes a node of the graph.
local elements = require "moonshift.process.bpmn.elements"
local events = require "moonshift.process.bpmn.events"
local extensions = require "moonshift.process.bpmn.extensions"

local nodes = {}

local extension, extension_text = elements.extension, elements.extension_text

-- ---- services ----

-- Kinds of services that this project has handlers of its own for.
local STOCK = { mail = true, shell = true, http = true }

local function check_mail(element, fields, report)
  if not fields.to then
    report:refuse(element, 'a mail has no field "to"')
  end
  if not (fields.text or fields.html or fields.textVar or fields.htmlVar) then
    report:refuse(element, 'a mail has no field "text" and no field "html" (expected one)')
  end
end

local function check_shell(element, fields, report)
  if not fields.command then
    report:refuse(element, 'a shell task has no field "command"')
  end
  for _, name in ipairs { "wait", "redirectError", "cleanEnv" } do
    local value = fields[name]
    if value and value:lower() ~= "true" and value:lower() ~= "false" then
      report:refuse(element, ('the field "%s" is "%s" (expected true or false)'):format(name,
        value))
    end
  end
  if fields.wait and fields.wait:lower() == "false" then
    report:warn(element, 'the field "wait" is "false", which is ignored (a command is waited for)')
  end
end

-- A decision of Flowable: its fields say which, and its entries become variables.
local function table_of_flowable(element, node, report)
  local fields = node.fields or {}
  local name = fields.decisionTableReferenceKey or fields.decisionServiceReferenceKey
  node.fields = nil
  if not name then
    report:refuse(element, 'a decision has no field "decisionTableReferenceKey"')
  elseif (fields.decisionTaskThrowErrorOnNoHits or ""):lower() == "true" then
    return { decision = name, map = "hit" }
  end
  return { decision = name, map = "variables" }
end

-- A behaviour by the attribute `type`.
local function typed(element, kind, node, report)
  local lower = kind:lower()
  if lower == "mail" then
    check_mail(element, node.fields or {}, report)
  elseif lower == "shell" then
    check_shell(element, node.fields or {}, report)
  end
  if lower == "external" or lower == "external-worker" then
    local topic = extension_text(element, "topic")
    if not topic then
      report:refuse(element, 'an external task has no attribute "topic"')
    end
    return { topic = topic }
  elseif STOCK[lower] then
    return { run = lower }
  elseif lower == "dmn" then
    return table_of_flowable(element, node, report)
  end
  if extensions.has_refused(element) then
    return nil
  end
  report:refuse(element, ('type="%s" (expected external, mail, shell, http or dmn)'):format(kind))
end

local MAPPINGS = { singleEntry = true, singleResult = true, collectEntries = true,
  resultList = true }

local function decision(element, node, report)
  local map = extension(element, "mapDecisionResult")
  if map and not MAPPINGS[map] then
    report:refuse(element, ('mapDecisionResult="%s" (expected singleEntry, singleResult, '
      .. "collectEntries or resultList)"):format(map))
  end
  if node.result == "decisionResult" then
    report:refuse(element, 'resultVariable="decisionResult" (expected another name)')
  end
  nodes.binding(element, "decisionRef", report)
  return { decision = extension_text(element, "decisionRef"), map = map }
end

local NEITHER = "has nothing to call (expected class, delegateExpression, expression or type%s)"

-- True if an attribute says what a send task or a thrown message calls.
local function is_service(element)
  for _, name in ipairs { "class", "delegateExpression", "expression", "type" } do
    if extension_text(element, name) then
      return true
    end
  end
  return elements.extensions(element, "connector")[1] ~= nil
end

-- The behaviour of a service, by the attributes of `holder`; problems are told of `element`.
local function behaviour_of(element, holder, node, report)
  local kind, class = extension(holder, "type"), extension_text(holder, "class")
  local delegate = extension_text(holder, "delegateExpression")
  local expression = extension_text(holder, "expression")
  local rule = holder.name == "businessRuleTask"
  if rule and extension_text(holder, "decisionRef") then
    return decision(holder, node, report)
  elseif kind then
    return typed(holder, kind, node, report)
  elseif class or delegate then
    if node.result then
      report:refuse(element, ("resultVariable is not supported beside %s (expected it beside "
        .. "expression)"):format(class and "class" or "delegateExpression"))
    end
    return { class = class, delegate = not class and delegate or nil }
  elseif expression then
    return { expression = expression }
  elseif rule and (extension_text(holder, "rules") or extension_text(holder, "ruleVariablesInput"))
  then
    return nil -- told already
  end
  report:refuse(element, NEITHER:format(rule and ", or decisionRef" or ""))
end

-- The variable of what a call returns, and where it is.
local function result(node, holder)
  node.result = extension_text(holder, "resultVariable")
    or extension_text(holder, "resultVariableName")
  if elements.extension_flag(holder, "storeResultVariableAsTransient", false) then
    node.result_in = "transient"
  elseif elements.extension_flag(holder, "useLocalScopeForResultVariable", false) then
    node.result_in = "local"
  end
end

-- Puts fields, result and behaviour into the node.
local function service(node, element, holder, report)
  node.fields = extensions.fields(holder, report, element)
  result(node, holder)
  local behaviour
  if elements.extensions(holder, "connector")[1] then
    behaviour, node.fields, node.output = extensions.connector(holder, element, report)
  else
    behaviour = behaviour_of(element, holder, node, report)
  end
  if behaviour then
    behaviour.line, behaviour.column = element.line, element.column
    node.external_priority = behaviour.topic and extension(holder, "taskPriority") or nil
  end
  node.behaviour = behaviour
end

-- ---- tasks ----

local readers = {}

local function reader_of_service(kind)
  return function(node, element, context)
    node.kind = kind
    service(node, element, element, context.report)
  end
end

readers.serviceTask = reader_of_service("service")
readers.businessRuleTask = reader_of_service("rule")
readers.sendTask = reader_of_service("send")

local function plain(kind)
  return function(node)
    node.kind = kind
  end
end

readers.task, readers.manualTask = plain("task"), plain("manual")

function readers.scriptTask(node, element, context)
  node.kind = "script"
  result(node, element)
  local text = elements.child_text(element, "script")
  node.behaviour = extensions.script(element, context.report, text or "")
end

function readers.receiveTask(node, element, context)
  node.kind = "receive"
  if element.attributes.messageRef then
    node.event = events.message(element, element, context)
  end
end

-- "user(a), group(b), c" of the standard's resources -> users and groups, appended.
local function add_resources(text, users, groups)
  for word in text:gmatch("[^,]+") do
    local user, group = word:match("user%((.-)%)"), word:match("group%((.-)%)")
    if user then
      users[#users + 1] = elements.trim(user)
    else
      groups[#groups + 1] = elements.trim(group or word)
    end
  end
end

local function assignment_text(element)
  local assignment = elements.child(element, "resourceAssignmentExpression")
  return assignment and elements.child_text(assignment, "formalExpression")
end

local function read_assignment(node, element, report)
  local performers = elements.children(element, "humanPerformer")
  local users, groups = {}, {}
  if #performers > 1 then
    report:refuse(element, "has more than one <humanPerformer>")
  end
  local performer = performers[1] and assignment_text(performers[1])
  for _, owner in ipairs(elements.children(element, "potentialOwner")) do
    add_resources(assignment_text(owner) or "", users, groups)
  end
  users[#users + 1] = extension_text(element, "candidateUsers")
  groups[#groups + 1] = extension_text(element, "candidateGroups")
  node.assignee = extension_text(element, "assignee") or performer
  if users[1] or groups[1] then
    node.candidates = {
      users = users[1] and table.concat(users, ",") or nil,
      groups = groups[1] and table.concat(groups, ",") or nil,
    }
  end
end

local BINDINGS = { deployment = true, latest = true, version = true }

-- A start event or a user task has a form by its key or by a reference, with a binding.
local function read_form(node, element, report)
  local key, ref = extension_text(element, "formKey"), extension_text(element, "formRef")
  local binding = extension(element, "formRefBinding")
  if key and ref then
    report:refuse(element, "has formKey and formRef (expected one)")
  elseif ref and not BINDINGS[binding or ""] then
    report:refuse(element, ('formRefBinding="%s" (expected deployment, latest or version)'):format(
      binding or ""))
  elseif binding == "version" and not extension_text(element, "formRefVersion") then
    report:refuse(element, 'formRefBinding="version", but there is no formRefVersion')
  end
  node.form = key or ref
end

local function check_form_fields(element, report)
  for _, data in ipairs(elements.extensions(element, "formData")) do
    for _, field in ipairs(elements.own_children(data, "formField")) do
      if not field.attributes.id or field.attributes.id == "" then
        report:refuse(element, "a <formField> has no id")
      elseif not field.attributes.type then
        report:refuse(element, ('the <formField> "%s" has no type'):format(field.attributes.id))
      end
    end
  end
end

function readers.userTask(node, element, context)
  node.kind = "user"
  read_assignment(node, element, context.report)
  node.due = extension_text(element, "dueDate")
  node.follow_up = extension_text(element, "followUpDate")
  node.task_priority = extension_text(element, "priority")
  node.timeouts = extensions.timeouts(element, context.report, function(definition)
    return events.timer(definition, element, context).timer
  end)
  node.description = elements.child_text(element, "documentation")
  read_form(node, element, context.report)
  check_form_fields(element, context.report)
end

-- ---- calls ----

local KINDS = { latest = true, deployment = true, version = true, versionTag = true }

-- binding(element, name, report) -> the binding and its version, by <name>Binding and <name>Version
-- or <name>VersionTag.
function nodes.binding(element, name, report)
  local binding = extension_text(element, name .. "Binding") or "latest"
  local attribute = name .. (binding == "versionTag" and "VersionTag" or "Version")
  local version = extension_text(element, attribute)
  if not KINDS[binding] then
    report:refuse(element, ('%sBinding="%s" (expected latest, deployment, version or versionTag)')
      :format(name, binding))
  elseif (binding == "version" or binding == "versionTag") and not version then
    report:refuse(element, ('%sBinding="%s", but there is no %s'):format(name, binding, attribute))
  end
  return binding, (binding == "version" or binding == "versionTag") and version or nil
end

local ALL = { all = true }

function readers.callActivity(node, element, context)
  local report = context.report
  local into, key = extensions.passed(element, "in", report)
  local process = element.attributes.calledElement
  node.kind = "call"
  if (not process or process == "") and not extension_text(element, "caseRef") then
    report:refuse(element, 'has no attribute "calledElement"')
  end
  local binding, version = nodes.binding(element, "calledElement", report)
  if elements.extension_flag(element, "sameDeployment", false) then
    binding = "deployment"
  end
  if elements.extension_flag(element, "inheritVariables", false) then
    into = into or {}
    table.insert(into, 1, ALL)
  end
  if elements.extension_flag(element, "inheritBusinessKey", false) then
    key = "${execution.processBusinessKey}"
  end
  node.call = {
    process = process,
    binding = binding,
    version = version,
    key = key or extension_text(element, "businessKey"),
    into = into,
    back = extensions.passed(element, "out", report),
  }
  local class = extension_text(element, "variableMappingClass")
  local delegate = extension_text(element, "variableMappingDelegateExpression")
  if class or delegate then
    node.call.mapping = { class = class, delegate = not class and delegate or nil,
      line = element.line, column = element.column }
  end
end

-- ---- gateways and scopes ----

readers.exclusiveGateway, readers.parallelGateway = plain("exclusive"), plain("parallel")
readers.inclusiveGateway = plain("inclusive")

function readers.eventBasedGateway(node, element, context)
  node.kind = "event_gateway"
  if node.after then
    context.report:refuse(element, "asyncAfter is not supported in an event-based gateway")
  end
end

function readers.subProcess(node, element)
  node.kind = elements.flag(element, "triggeredByEvent", false) and "event_subprocess"
    or "subprocess"
end

readers.transaction = plain("transaction")

-- ---- events ----

-- Reads the event of a node that waits. A timer's job is exclusive by its own definition.
local function read_event(node, element, context)
  local definition
  node.event, definition = events.read(element, context)
  if node.event.timer and not elements.extension_flag(definition, "exclusive", true) then
    node.exclusive = false
  end
end

local function reader_of_event(kind)
  return function(node, element, context)
    node.kind = kind
    read_event(node, element, context)
  end
end

readers.intermediateCatchEvent = reader_of_event("catch")

function readers.startEvent(node, element, context)
  node.kind = "start"
  read_event(node, element, context)
  if not elements.flag(element, "isInterrupting", true) then
    node.event.interrupting = false
  end
  read_form(node, element, context.report)
  check_form_fields(element, context.report)
end

function readers.boundaryEvent(node, element, context)
  node.kind = "boundary"
  read_event(node, element, context)
  node.attached = elements.unqualified(element.attributes.attachedToRef)
  if not elements.flag(element, "cancelActivity", true) and node.event.kind ~= "error" then
    node.event.interrupting = false
  end
end

-- A thrown message is a service if anything says what it calls, else it does nothing.
local function throws(kind)
  return function(node, element, context)
    local definition
    node.kind = kind
    node.event, definition = events.read(element, context)
    if node.event.kind == "message" and is_service(definition) then
      service(node, element, definition, context.report)
      extensions.continuations(definition, node)
    end
  end
end

readers.intermediateThrowEvent, readers.endEvent = throws("throw"), throws("end")

local SERVICES = { serviceTask = true, sendTask = true, businessRuleTask = true }

-- ---- several turns ----

-- The collection of a multi-instance activity: an expression, or the name of a variable.
local function collection_of(loop)
  local text = elements.child_text(loop, "loopDataInputRef") or extension_text(loop, "collection")
  if not text or text == "" then
    return nil
  end
  return text:find("{", 1, true) and text or ("${%s}"):format(text)
end

local function check_loop(node, element, loop, context)
  local item, multi, report = elements.child(loop, "inputDataItem"), node.multi, context.report
  if item and not item.attributes.name then
    report:refuse(element, "<inputDataItem> has no name")
  end
  if extensions.has_refused(loop) then
    return
  elseif elements.child(loop, "loopCardinality") and not multi.count
    and not (context.passes_over and multi.collection) then
    report:refuse(element, "<loopCardinality> is empty")
  elseif not multi.count and not multi.collection then
    report:refuse(element, "says neither how many turns nor of what (expected <loopCardinality>, "
      .. "<loopDataInputRef> or collection)")
  elseif multi.element and not multi.collection then
    report:refuse(element, "names an element, but no collection (expected <loopDataInputRef> or "
      .. "collection)")
  end
end

-- The attributes of the activity are those of the body; those of the loop are of each turn.
local function read_loop(node, element, loop, context)
  local item = elements.child(loop, "inputDataItem")
  local count = elements.child_text(loop, "loopCardinality")
  local finish = elements.child_text(loop, "completionCondition")
  node.multi = {
    parallel = not elements.flag(loop, "isSequential", false),
    count = count ~= "" and count or nil,
    collection = collection_of(loop),
    element = item and item.attributes.name or extension_text(loop, "elementVariable"),
    index = extension_text(loop, "elementIndexVariable"),
    ["until"] = finish ~= "" and finish or nil,
    before = node.before,
    after = node.after,
    exclusive = node.exclusive,
    retry = node.retry,
  }
  node.before, node.after, node.exclusive = nil, nil, nil
  extensions.continuations(loop, node)
  node.retry = extensions.retry(loop)
  check_loop(node, element, loop, context)
end

-- ---- all ----

-- What a connector gives is read before the activity's own outputs.
local function read_mapping(node, element, report)
  local input, output = extensions.mapping(element, report)
  local of_connector = node.output
  node.input, node.output = input, output
  if of_connector then
    node.output = table.move(output or {}, 1, #(output or {}), #of_connector + 1, of_connector)
  end
  if elements.extensions(element, "connector")[1] and not node.behaviour
    and not SERVICES[element.name] then
    report:warn(element, ("a <connector> means nothing in <%s>"):format(element.name))
  end
end


-- reads(element): true if the element becomes a node.
function nodes.reads(element)
  return elements.is_model(element) and readers[element.name] ~= nil
end

-- read(element, context, scope) -> a node without its flows. `context` = { report, known }.
function nodes.read(element, context, scope)
  local report = context.report
  local node = {
    id = element.attributes.id,
    name = element.attributes.name,
    scope = scope,
    line = element.line,
    column = element.column,
    out = {},
    into = {},
    priority = extension_text(element, "jobPriority"),
    retry = extensions.retry(element),
    listeners = extensions.listeners(element, report),
    properties = extensions.properties(element),
    compensates = elements.flag(element, "isForCompensation", false) or nil,
  }
  extensions.continuations(element, node)
  readers[element.name](node, element, context)
  read_mapping(node, element, report)
  local loop = elements.child(element, "multiInstanceLoopCharacteristics")
  if loop and node.kind ~= "event_subprocess" then
    read_loop(node, element, loop, context)
  end
  return node
end

return nodes
