-- What an event waits for or throws: the definitions in an event's element.
local elements = require "moonshift.process.bpmn.elements"
local expression = require "moonshift.expression"
local extensions = require "moonshift.process.bpmn.extensions"
local weekdays = require "moonshift.process.weekdays"

local events = {}

local extension, extension_text = elements.extension, elements.extension_text

-- ---- what stands beside the processes ----

-- 'the escalation "late" has no id', by its name or code; "an escalation has no id" without either
local function refuse_nameless(report, element, word, code)
  local name = element.attributes.name or (code and element.attributes[code])
  report:refuse(element, name and ('the %s "%s" has no id'):format(element.name, name)
    or ("%s %s has no id"):format(word, element.name))
end

local function read_messages(root, known)
  for _, message in ipairs(elements.children(root, "message")) do
    if message.attributes.id then
      known.message[message.attributes.id] = message.attributes
    end
  end
end

local function read_signals(root, known, report)
  local names = {}
  for _, signal in ipairs(elements.children(root, "signal")) do
    local id, name = signal.attributes.id, signal.attributes.name
    if not id then
      refuse_nameless(report, signal, "a")
    elseif not name or name == "" then
      report:refuse(signal, "the signal has no name")
    elseif names[name] then
      report:refuse(signal, ('the name "%s" belongs to the signal "%s", too'):format(name,
        names[name]))
    end
    names[name or ""] = id
    known.signal[id or ""] = signal.attributes
  end
end

local function read_errors(root, known, report)
  for _, one in ipairs(elements.children(root, "error")) do
    local id, code = one.attributes.id, one.attributes.errorCode
    if not id or id == "" then
      refuse_nameless(report, one, "an", "errorCode")
    elseif code == "" then
      report:refuse(one, "the errorCode is empty")
    else
      known.error[id] = { code = code, message = extension(one, "errorMessage") }
    end
  end
end

local function read_escalations(root, known, report)
  for _, one in ipairs(elements.children(root, "escalation")) do
    local id = one.attributes.id
    if not id or id == "" then
      refuse_nameless(report, one, "an", "escalationCode")
    else
      known.escalation[id] = { code = one.attributes.escalationCode }
    end
  end
end

-- known(root, report) -> the messages, signals, errors and escalations of a file by their ids.
function events.known(root, report)
  local known = { message = {}, signal = {}, error = {}, escalation = {} }
  read_messages(root, known)
  read_signals(root, known, report)
  read_errors(root, known, report)
  read_escalations(root, known, report)
  return known
end

-- ---- definitions ----

local readers = {}

local BY_EXPRESSION = { message = "messageExpression", signal = "signalExpression" }

-- What the attribute of a definition refers to; nil with a problem. `owner` is the event. In
-- Flowable and Activiti an expression may give the name of a message or signal instead.
local function referred(definition, owner, context, kind, attribute)
  local id = definition.attributes[attribute]
  local name = BY_EXPRESSION[kind] and extension_text(definition, BY_EXPRESSION[kind])
  if name and (not id or id == "") then
    return { name = elements.trim(name) }
  end
  if not id or id == "" then
    context.report:refuse(owner, ('<%s> has no attribute "%s"'):format(definition.name, attribute))
    return nil
  end
  local found = context.known[kind][elements.unqualified(id)]
  if not found then
    context.report:refuse(owner, ('%s="%s", but there is no %s of that id'):format(attribute, id,
      kind))
  end
  return found
end

-- message(definition, owner, context) -> an event; also for a receive task.
function events.message(definition, owner, context)
  local message = referred(definition, owner, context, "message", "messageRef")
  if message and not (message.name and message.name:find("%S")) then
    context.report:refuse(owner, ('the message "%s" has no name'):format(message.id))
  end
  return { kind = "message", name = message and message.name }
end

function readers.messageEventDefinition(definition, owner, context, throws)
  if throws then
    return { kind = "message" }
  end
  return events.message(definition, owner, context)
end

local TIMERS = { { "timeDate", "date" }, { "timeCycle", "cycle" }, { "timeDuration", "duration" } }

-- The text of a cycle with the end that its attribute endDate names, as the third part of an ISO
-- repetition. No other cycle has a place for an end: it is refused.
local function with_end(text, element, owner, context)
  local last = extension_text(element, "endDate")
  if not last then
    return text
  elseif text:find("^R[^/]*/P[^/]*$") then
    return text .. "/" .. elements.trim(last)
  end
  context.report:refuse(owner, ('endDate="%s" of the cycle "%s" means nothing '
    .. "(expected a cycle such as R/PT5M)"):format(last, text))
  return text
end

local AMBIGUOUS = 'the cron text "%s" counts weekdays: it is "%s" here and "%s" in Quartz '
  .. "(expected names, or the setting cron)"

-- A cycle of the model as it is meant here. Numbers of weekdays become names where the file counts
-- as Quartz does; where that is not known, a warning says both.
local function cycle_timer(text, owner, context)
  local quartz = context.cron == "quartz"
  if expression.is(text) then
    return { kind = "cycle", text = text, quartz = quartz and not text:find("^R") or nil }
  end
  local there, message = weekdays.named(text, weekdays.QUARTZ)
  if quartz and not there then
    context.report:refuse(owner, message)
  elseif context.cron == "auto" then
    local here = weekdays.named(text, weekdays.UNIX)
    if here and there and here ~= there then
      context.report:warn(owner, AMBIGUOUS:format(text, here, there))
    end
  end
  return { kind = "cycle", text = quartz and there or text }
end

-- timer(definition, owner, context) -> an event; also of a listener.
function events.timer(definition, owner, context)
  for _, one in ipairs(TIMERS) do
    local text, element = elements.child_text(definition, one[1])
    if text and text ~= "" then
      local timer = { kind = one[2], text = text }
      if one[2] == "cycle" then
        timer = cycle_timer(with_end(text, element, owner, context), owner, context)
      end
      return { kind = "timer", timer = timer }
    end
  end
  context.report:refuse(owner,
    "the timer says no time (expected <timeDate>, <timeDuration> or <timeCycle>)")
  return { kind = "timer" }
end

readers.timerEventDefinition = events.timer

-- An errorRef that refers to no error is itself the code.
function readers.errorEventDefinition(definition, owner, context, throws)
  local ref = definition.attributes.errorRef
  local one = ref and context.known.error[elements.unqualified(ref)]
  local code = ref
  if one then
    code = one.code
  end
  if throws and (not ref or ref == "") then
    context.report:refuse(owner, 'a thrown error has no attribute "errorRef"')
  elseif throws and not code then
    context.report:refuse(owner, ('the error "%s" is thrown and has no errorCode'):format(ref))
  end
  return {
    kind = "error",
    code = code ~= "" and code or nil,
    message = one and one.message,
    code_variable = extension_text(definition, "errorCodeVariable"),
    message_variable = extension_text(definition, "errorMessageVariable"),
  }
end

function readers.escalationEventDefinition(definition, owner, context, throws)
  local event = {
    kind = "escalation",
    code_variable = extension_text(definition, "escalationCodeVariable"),
  }
  if throws or definition.attributes.escalationRef then
    local ref = definition.attributes.escalationRef
    local one = referred(definition, owner, context, "escalation", "escalationRef")
      or { code = ref }
    event.code = one.code ~= "" and one.code or nil
    event.refused = not ref or ref == "" or nil
  end
  return event
end

function readers.signalEventDefinition(definition, owner, context)
  local signal = referred(definition, owner, context, "signal", "signalRef")
  return {
    kind = "signal",
    name = signal and signal.name,
    async = elements.extension_flag(definition, "async", false) or nil,
    into = extensions.passed(definition, "in", context.report),
  }
end

-- Comma-separated words as a list; nil without any.
local function word_list(text)
  local list = {}
  for word in (text or ""):gmatch("[^,%s]+") do
    list[#list + 1] = word
  end
  return list[1] and list or nil
end

local CHANGES = { create = true, update = true, delete = true }

function readers.conditionalEventDefinition(definition, owner, context)
  local condition = elements.child(definition, "condition")
  local changes = word_list(extension(definition, "variableEvents"))
  for _, change in ipairs(changes or {}) do
    if not CHANGES[change] then
      context.report:warn(owner, ('variableEvents has "%s", which is ignored (expected create, '
        .. "update, delete)"):format(change))
    end
  end
  local when = condition and events.condition(condition, owner, context)
  return {
    kind = "conditional",
    when = when,
    variable = extension_text(definition, "variableName"),
    changes = changes,
  }
end

function readers.compensateEventDefinition(definition, owner, context)
  if not elements.flag(definition, "waitForCompletion", true) then
    context.report:warn(owner, 'waitForCompletion="false" is ignored (what throws waits)')
  end
  return { kind = "compensation",
    activity = elements.unqualified(definition.attributes.activityRef) }
end

function readers.cancelEventDefinition()
  return { kind = "cancel" }
end

function readers.terminateEventDefinition()
  return { kind = "terminate" }
end

function readers.linkEventDefinition(definition)
  return { kind = "link", name = definition.attributes.name or "" }
end

-- condition(element, owner, context) -> a condition: its text, or a script; nil with a problem.
function events.condition(element, owner, context)
  local language = element.attributes.language
  local resource = extension(element, "resource")
  local text = elements.trim(element.text)
  if text == "" and not resource then
    context.report:refuse(owner, ("<%s> is empty (expected an expression)"):format(element.name))
    return nil
  elseif language and language ~= "" then
    return { script = text, language = language:lower(), resource = resource,
      line = element.line, column = element.column }
  end
  return text
end

-- The definitions of an event in the order of the file.
local function definitions_of(element)
  local list = {}
  for _, child in ipairs(element.children) do
    if elements.is_model(child) and readers[child.name] then
      list[#list + 1] = child
    end
  end
  return list
end

-- Which definitions an event may have, by its element.
local ALLOWED = {
  startEvent = "message timer signal conditional error escalation compensation",
  intermediateCatchEvent = "message timer signal conditional link",
  intermediateThrowEvent = "message signal escalation compensation link",
  endEvent = "message signal escalation compensation error cancel terminate",
  boundaryEvent = "message timer signal conditional error escalation compensation cancel",
}

local WAITS = { intermediateCatchEvent = true, boundaryEvent = true }

-- Marks an event as refused if its element may have none of its kind.
local function check_allowed(element, event, report)
  local allowed = ALLOWED[element.name]
  local told = extensions.has_refused(element)
  event.refused = event.refused or told or nil
  if event.kind ~= "none" and not (" " .. allowed .. " "):find(" " .. event.kind .. " ", 1, true)
  then
    report:refuse(element, ("an event of the kind %s is not supported as <%s> (expected %s)")
      :format(event.kind, element.name, allowed:gsub(" ", ", ")))
    event.kind, event.refused = "none", true
  elseif event.kind == "none" and WAITS[element.name] and not told then
    report:refuse(element, ("<%s> waits for nothing (expected %s)"):format(element.name,
      allowed:gsub(" ", ", ")))
  end
end

-- read(element, context) -> the event of this element, and the element of its definition.
function events.read(element, context)
  local list = definitions_of(element)
  local throws = element.name == "endEvent" or element.name == "intermediateThrowEvent"
  local event = { kind = "none" }
  if #list > 1 then
    context.report:refuse(element, ("has %d event definitions (expected one)"):format(#list))
    return { kind = "none", refused = true }
  elseif list[1] then
    event = readers[list[1].name](list[1], element, context, throws)
  end
  check_allowed(element, event, context.report)
  return event, list[1]
end

return events
