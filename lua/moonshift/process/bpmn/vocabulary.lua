-- Every element and attribute of the standard and of the products, and what becomes of it: used,
-- kept (it is in the graph, and nothing runs by it), ignored, or refused. docs/bpmn.md is this.
local vocabulary = {}

local function words(text)
  local list = {}
  for word in text:gmatch("%S+") do
    list[#list + 1] = word
  end
  return list
end

-- "a b:ignored" -> { a = "used", b = "ignored" }
local function states(text, into)
  for _, word in ipairs(words(text or "")) do
    local name, state = word:match("^([^:]+):?(%a*)$")
    into[name] = state ~= "" and state or "used"
  end
  return into
end

-- ---- the standard ----

local BASE = { attributes = "id", children = "documentation extensionElements" }
local FLOW_ELEMENT = { attributes = "name", children = "auditing monitoring categoryValueRef" }
local FLOW_NODE = { children = "incoming outgoing" }
local ACTIVITY = {
  attributes = "isForCompensation startQuantity:ignored completionQuantity:ignored default",
  children = "ioSpecification property dataInputAssociation dataOutputAssociation resourceRole "
    .. "performer humanPerformer potentialOwner multiInstanceLoopCharacteristics "
    .. "standardLoopCharacteristics",
}
local EVENT = {
  children = "property dataInput dataOutput dataInputAssociation dataOutputAssociation inputSet "
    .. "outputSet eventDefinitionRef messageEventDefinition timerEventDefinition "
    .. "errorEventDefinition escalationEventDefinition signalEventDefinition "
    .. "conditionalEventDefinition compensateEventDefinition cancelEventDefinition "
    .. "linkEventDefinition terminateEventDefinition",
}
local CATCH = { attributes = "parallelMultiple:ignored" }
local GATEWAY = { attributes = "gatewayDirection:ignored" }
local CONTAINER = {
  children = "laneSet startEvent endEvent intermediateCatchEvent intermediateThrowEvent "
    .. "boundaryEvent task serviceTask sendTask receiveTask userTask manualTask scriptTask "
    .. "businessRuleTask callActivity subProcess transaction adHocSubProcess exclusiveGateway "
    .. "parallelGateway inclusiveGateway eventBasedGateway complexGateway sequenceFlow "
    .. "dataObject dataObjectReference dataStoreReference association group textAnnotation "
    .. "implicitThrowEvent callChoreography choreographyTask subChoreography",
}
local TEXT = { text = true, attributes = "language:ignored evaluatesToTypeRef:ignored" }
local REFERENCE = { text = true, bare = true }

local ELEMENTS = {}
vocabulary.elements = ELEMENTS

-- Adds an element of the standard. Each group and `more` may have attributes, children and text.
local function element(name, state, groups, more)
  local one = { state = state, attributes = {}, children = {} }
  local all = { BASE, table.unpack(groups or {}) }
  all[#all + 1] = more
  for _, group in ipairs(all) do
    states(group.attributes, one.attributes)
    states(group.children, one.children)
    one.text = one.text or group.text
    one.required = group.required and words(group.required) or one.required
    one.wanted = group.wanted or one.wanted
    one.needs = group.needs or one.needs
  end
  ELEMENTS[name] = one
end

local function several(text, state, groups, more)
  for _, name in ipairs(words(text)) do
    element(name, state, groups, more)
  end
end

element("definitions", "used", {}, {
  attributes = "name:ignored targetNamespace:ignored expressionLanguage:ignored "
    .. "typeLanguage:ignored exporter:ignored exporterVersion:ignored",
  wanted = "targetNamespace",
  children = "import extension relationship process message error signal escalation category "
    .. "collaboration choreography conversation correlationProperty dataStore endPoint "
    .. "globalBusinessRuleTask globalChoreographyTask globalConversation globalManualTask "
    .. "globalScriptTask globalTask globalUserTask interface itemDefinition partnerEntity "
    .. "partnerRole resource timerEventDefinition messageEventDefinition signalEventDefinition "
    .. "errorEventDefinition escalationEventDefinition conditionalEventDefinition "
    .. "compensateEventDefinition cancelEventDefinition linkEventDefinition "
    .. "terminateEventDefinition",
})
element("process", "used", { CONTAINER }, {
  attributes = "name processType:ignored isClosed:ignored isExecutable "
    .. "definitionalCollaborationRef:ignored",
  children = "auditing monitoring property ioSpecification ioBinding resourceRole performer "
    .. "humanPerformer potentialOwner correlationSubscription supports supportedInterfaceRef",
})
element("message", "used", {}, { attributes = "name itemRef:ignored" })
element("error", "used", {}, { attributes = "name:ignored errorCode structureRef:ignored" })
element("escalation", "used", {}, {
  attributes = "name:ignored escalationCode structureRef:ignored",
})
element("signal", "used", {}, { attributes = "name structureRef:ignored" })

local TASK = { FLOW_ELEMENT, FLOW_NODE, ACTIVITY }
several("task manualTask", "used", TASK)
several("serviceTask", "used", TASK, { attributes = "implementation:ignored operationRef:ignored" })
element("businessRuleTask", "used", TASK, { attributes = "implementation:ignored" })
element("sendTask", "used", TASK, {
  attributes = "implementation:ignored operationRef:ignored messageRef:ignored",
})
element("receiveTask", "used", TASK, {
  attributes = "implementation:ignored operationRef:ignored messageRef instantiate:ignored",
})
element("userTask", "used", TASK, {
  attributes = "implementation:ignored", children = "rendering",
})
element("scriptTask", "used", TASK, { attributes = "scriptFormat", children = "script" })
element("callActivity", "used", TASK, { attributes = "calledElement" })
element("subProcess", "used", { FLOW_ELEMENT, FLOW_NODE, ACTIVITY, CONTAINER }, {
  attributes = "triggeredByEvent",
})
element("transaction", "used", { FLOW_ELEMENT, FLOW_NODE, ACTIVITY, CONTAINER }, {
  attributes = "triggeredByEvent method:ignored",
})
element("adHocSubProcess", "refused")
element("complexGateway", "refused")
element("startEvent", "used", { FLOW_ELEMENT, FLOW_NODE, EVENT, CATCH }, {
  attributes = "isInterrupting",
})
element("intermediateCatchEvent", "used", { FLOW_ELEMENT, FLOW_NODE, EVENT, CATCH })
element("boundaryEvent", "used", { FLOW_ELEMENT, FLOW_NODE, EVENT, CATCH }, {
  attributes = "attachedToRef cancelActivity", required = "attachedToRef",
})
several("endEvent intermediateThrowEvent", "used", { FLOW_ELEMENT, FLOW_NODE, EVENT })
several("exclusiveGateway inclusiveGateway", "used", { FLOW_ELEMENT, FLOW_NODE, GATEWAY }, {
  attributes = "default",
})
element("parallelGateway", "used", { FLOW_ELEMENT, FLOW_NODE, GATEWAY })
element("eventBasedGateway", "used", { FLOW_ELEMENT, FLOW_NODE, GATEWAY }, {
  attributes = "instantiate:ignored eventGatewayType:ignored",
})
element("sequenceFlow", "used", { FLOW_ELEMENT }, {
  attributes = "sourceRef targetRef isImmediate:ignored", required = "sourceRef targetRef",
  children = "conditionExpression",
})
element("association", "used", {}, {
  attributes = "sourceRef targetRef associationDirection:ignored", required = "sourceRef targetRef",
})

element("messageEventDefinition", "used", {}, {
  attributes = "messageRef", children = "operationRef",
})
element("timerEventDefinition", "used", {}, { children = "timeDate timeDuration timeCycle" })
element("errorEventDefinition", "used", {}, { attributes = "errorRef" })
element("escalationEventDefinition", "used", {}, { attributes = "escalationRef" })
element("signalEventDefinition", "used", {}, { attributes = "signalRef" })
element("conditionalEventDefinition", "used", {}, {
  children = "condition", needs = "condition",
})
element("compensateEventDefinition", "used", {}, { attributes = "activityRef waitForCompletion" })
several("cancelEventDefinition terminateEventDefinition", "used")
element("linkEventDefinition", "used", {}, {
  attributes = "name", required = "name", children = "source target",
})
element("multiInstanceLoopCharacteristics", "used", {}, {
  attributes = "isSequential behavior:ignored oneBehaviorEventRef:ignored "
    .. "noneBehaviorEventRef:ignored",
  children = "loopCardinality loopDataInputRef loopDataOutputRef inputDataItem outputDataItem "
    .. "complexBehaviorDefinition completionCondition",
})
element("standardLoopCharacteristics", "refused")
element("inputDataItem", "used", {}, {
  attributes = "name itemSubjectRef:ignored isCollection:ignored", children = "dataState",
})
several("conditionExpression condition timeDate timeDuration timeCycle loopCardinality "
  .. "completionCondition formalExpression expression", "used", { TEXT })
several("script loopDataInputRef", "used", { REFERENCE })
several("humanPerformer potentialOwner", "used", {}, {
  attributes = "name:ignored",
  children = "resourceRef resourceParameterBinding resourceAssignmentExpression",
})
element("resourceAssignmentExpression", "used", {}, { children = "formalExpression expression" })
element("documentation", "kept", {}, { text = true, attributes = "textFormat:ignored" })
element("extensionElements", "used", {}, { text = true })

-- For the picture, or for other programs; nothing in them is looked at.
several("auditing monitoring categoryValueRef incoming outgoing ioSpecification property "
  .. "dataInputAssociation dataOutputAssociation resourceRole performer dataInput dataOutput "
  .. "inputSet outputSet laneSet dataObject dataObjectReference dataStoreReference group "
  .. "textAnnotation import extension relationship category collaboration "
  .. "conversation correlationProperty dataStore endPoint interface itemDefinition partnerEntity "
  .. "partnerRole resource ioBinding correlationSubscription supports supportedInterfaceRef "
  .. "rendering operationRef source target loopDataOutputRef outputDataItem dataState "
  .. "resourceRef resourceParameterBinding", "ignored")
several("choreography globalBusinessRuleTask globalChoreographyTask globalConversation "
  .. "globalManualTask globalScriptTask globalTask globalUserTask", "ignored")
several("eventDefinitionRef complexBehaviorDefinition implicitThrowEvent callChoreography "
  .. "choreographyTask subChoreography", "refused")

-- Ignored without a word: every modeler writes them.
vocabulary.silent = {}
for _, name in ipairs(words("documentation incoming outgoing laneSet textAnnotation association "
  .. "group collaboration itemDefinition import category dataState")) do
  vocabulary.silent[name] = true
end

-- What to use instead of what is refused.
vocabulary.instead = {
  adHocSubProcess = "a subProcess",
  complexGateway = "an inclusiveGateway, or a scriptTask before an exclusiveGateway",
  standardLoopCharacteristics = "multiInstanceLoopCharacteristics, or a flow that leads back",
  complexBehaviorDefinition = "a boundary event",
  eventDefinitionRef = "the event's definition in the event itself",
  implicitThrowEvent = "an intermediateThrowEvent",
  callChoreography = "a process",
  choreographyTask = "a process",
  subChoreography = "a process",
}

vocabulary.flags = {}
for _, name in ipairs(words("isForCompensation isExecutable isClosed triggeredByEvent "
  .. "isInterrupting cancelActivity isSequential waitForCompletion instantiate "
  .. "parallelMultiple isImmediate")) do
  vocabulary.flags[name] = true
end

vocabulary.choices = {
  gatewayDirection = words("Unspecified Converging Diverging Mixed"),
  eventGatewayType = words("Exclusive Parallel"),
  processType = words("None Public Private"),
  behavior = words("None One All Complex"),
  associationDirection = words("None One Both"),
}

-- ---- the products ----

local NODES = "startEvent endEvent intermediateCatchEvent intermediateThrowEvent boundaryEvent "
  .. "task serviceTask sendTask receiveTask userTask manualTask scriptTask businessRuleTask "
  .. "callActivity subProcess transaction exclusiveGateway parallelGateway inclusiveGateway "
  .. "eventBasedGateway"
local SERVICES = "serviceTask sendTask businessRuleTask messageEventDefinition"
local ASYNC = NODES .. " multiInstanceLoopCharacteristics signalEventDefinition"
local LISTENERS = " executionListener taskListener variableListener"

vocabulary.extension_attributes = {}

-- on: the elements where they count; nil: wherever they stand. Elsewhere they are ignored.
local function attributes(text, state, on)
  for _, name in ipairs(words(text)) do
    vocabulary.extension_attributes[name] = { state = state, on = on and states(on, {}) }
  end
end

attributes("async asyncBefore asyncAfter asyncLeave", "used", ASYNC)
attributes("exclusive", "used", ASYNC .. " timerEventDefinition")
attributes("jobPriority", "used", NODES .. " process")
attributes("class delegateExpression expression", "used", SERVICES .. LISTENERS .. " field")
attributes("type topic resultVariable resultVariableName", "used", SERVICES .. " scriptTask")
attributes("useLocalScopeForResultVariable storeResultVariableAsTransient", "used",
  "serviceTask sendTask businessRuleTask scriptTask")
attributes("decisionRef decisionRefBinding decisionRefVersion decisionRefVersionTag "
  .. "mapDecisionResult", "used", "businessRuleTask")
attributes("resource", "used", "scriptTask conditionExpression condition script")
attributes("calledElementBinding calledElementVersion calledElementVersionTag "
  .. "variableMappingClass variableMappingDelegateExpression inheritVariables "
  .. "inheritBusinessKey businessKey sameDeployment", "used", "callActivity in")
attributes("assignee candidateUsers candidateGroups dueDate priority formKey", "used", "userTask")
attributes("formKey", "used", "userTask startEvent:kept")
attributes("formRef formRefBinding formRefVersion", "kept", "userTask startEvent")
attributes("followUpDate", "kept", "userTask")
attributes("collection elementVariable elementIndexVariable", "used",
  "multiInstanceLoopCharacteristics")
attributes("endDate", "used", "timeCycle")
attributes("versionTag historyTimeToLive", "used", "process")
attributes("initiator", "used", "startEvent")
attributes("taskPriority", "kept", "process serviceTask sendTask businessRuleTask "
  .. "messageEventDefinition")
attributes("errorCodeVariable errorMessageVariable", "used", "errorEventDefinition")
attributes("errorMessage", "used", "error")
attributes("escalationCodeVariable", "used", "escalationEventDefinition")
attributes("variableName variableEvents", "used", "conditionalEventDefinition")
attributes("messageExpression", "used", "messageEventDefinition")
attributes("signalExpression", "used", "signalEventDefinition")
attributes("formHandlerClass businessCalendarName skipExpression category owner "
  .. "isStartableInTasklist candidateStarterUsers candidateStarterGroups autoStoreVariables "
  .. "useLocalScopeForOutParameters processInstanceName processInstanceIdVariableName "
  .. "processInstanceVariable "
  .. "fallbackToDefaultTenant calledElementTenantId decisionRefTenantId completeAsync "
  .. "calledElementType asyncLeaveExclusive parallelInSameTransaction taskIdVariableName "
  .. "formFieldValidation taskCompleterVariableName idVariableName isEagerExecutionFetching "
  .. "isStartableInForms "
  .. "historyLevel errorVariableName errorVariableTransient errorVariableLocalScope diagram "
  .. "modelId modelVersion tenantId localScope sameScope", "ignored")
attributes("caseRef caseBinding caseVersion caseTenantId ruleVariablesInput rules exclude "
  .. "triggerable eventType", "refused")

vocabulary.extension_elements = {}
local function extension_elements(text, state)
  for _, name in ipairs(words(text)) do
    vocabulary.extension_elements[name] = { state = state }
  end
end
extension_elements("executionListener taskListener variableListener inputOutput field "
  .. "failedJobRetryTimeCycle in out connector", "used")
extension_elements("properties", "kept")
extension_elements("errorEventDefinition formData formProperty potentialStarter eventListener "
  .. "localization customResource mapException variableAggregation validation constraint "
  .. "taskCategory historyTimeToLive conditionTargetScope executionMode",
  "ignored")
extension_elements("eventType eventInParameter eventOutParameter channelKey "
  .. "triggerEventType triggerChannelKey eventCorrelationParameter sendSynchronously "
  .. "collection variableListenerEventDefinition", "refused")

-- What lies in those that are used: attributes without a namespace, and elements.
vocabulary.extension_parts = {}

local function parts(name, own, children)
  vocabulary.extension_parts[name] = {
    attributes = states(own, {}),
    children = states(children, {}),
  }
end

parts("executionListener", "class expression delegateExpression event id:ignored "
  .. "type:ignored onTransaction:ignored customPropertiesResolverClass:ignored "
  .. "customPropertiesResolverExpression:ignored "
  .. "customPropertiesResolverDelegateExpression:ignored", "script field")
parts("taskListener", "class expression delegateExpression event id type:ignored "
  .. "onTransaction:ignored "
  .. "customPropertiesResolverClass:ignored customPropertiesResolverExpression:ignored "
  .. "customPropertiesResolverDelegateExpression:ignored", "script field")
parts("variableListener", "class expression delegateExpression event", "script field")
parts("inputOutput", "", "inputParameter outputParameter")
parts("inputParameter", "name", "script list map")
parts("outputParameter", "name", "script list map")
parts("list", "", "value script list map")
parts("map", "", "entry")
parts("entry", "key", "script list map")
parts("value", "id:ignored name:ignored", "")
parts("script", "scriptFormat language resource", "")
parts("field", "name stringValue expression", "string expression")
parts("in", "source sourceExpression target variables businessKey local transient:ignored", "")
parts("out", "source sourceExpression target variables local transient:ignored", "")
parts("failedJobRetryTimeCycle", "", "")
parts("connector", "", "inputOutput connectorId")
parts("properties", "", "property")
parts("property", "id:ignored name value", "")

vocabulary.says_more = { caseBinding = "caseRef", caseVersion = "caseRef",
  caseTenantId = "caseRef", ruleVariablesInput = "rules", exclude = "rules" }
vocabulary.instead.caseRef = "calledElement: case models are not run"
vocabulary.instead.triggerable = "a receiveTask behind the serviceTask"
vocabulary.instead.rules = "decisionRef, or a class"
vocabulary.instead.ruleVariablesInput = vocabulary.instead.rules
vocabulary.instead.exclude = vocabulary.instead.rules
vocabulary.instead.eventType = "a message event"
vocabulary.instead.collection = "the attribute collection"
vocabulary.instead.variableListenerEventDefinition = "a conditional event"

-- names(table) -> its keys, sorted.
function vocabulary.names(table_)
  local names = {}
  for name in pairs(table_) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

return vocabulary
