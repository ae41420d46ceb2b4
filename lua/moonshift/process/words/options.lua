-- What may stand in the table of a word besides its items, and what it means in the graph.
local process = require "moonshift.process"
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local options = {}

-- ---- names ----

local HEARING = " on_variable_create on_variable_update on_variable_delete"
local COMMON = "name async async_after exclusive priority retry on_start on_end to flow"
  .. " properties" .. HEARING
local ACTIVITY = COMMON .. " input output each within every on_error on_escalation"
  .. " on_message on_signal on_when on_cancel undo compensates"
local BEHAVIOUR = " run class delegate expression topic script language resource decision map"
  .. " fields result result_in external_priority"
local EVENT = " message key signal with when variable changes after at every error"
  .. " error_message escalate undo cancel code_variable message_variable terminate link event"
  .. " interrupting"

local KNOWN = {
  process = "key name tag priority retry history_time_to_live search external_priority"
    .. " initiator on_start on_end" .. HEARING,
  step = ACTIVITY .. BEHAVIOUR, send = ACTIVITY .. BEHAVIOUR, rule = ACTIVITY .. BEHAVIOUR,
  script = ACTIVITY .. BEHAVIOUR, manual = ACTIVITY, pass = ACTIVITY,
  task = ACTIVITY .. " assignee candidates due follow_up task_priority form description on_create"
    .. " on_assignment on_update on_complete on_delete on_timeout",
  receive = ACTIVITY .. " message key event",
  call = ACTIVITY .. " process binding version key with back mapping",
  sub = ACTIVITY .. " transaction", handle = COMMON .. EVENT .. " start",
  start = COMMON .. EVENT .. " form", finish = COMMON .. EVENT .. BEHAVIOUR .. " input",
  wait = COMMON .. EVENT .. " input output",
  throw = COMMON .. EVENT .. BEHAVIOUR .. " input output",
  boundary = COMMON .. EVENT .. " on handler",
  choose = COMMON .. " join", parallel = COMMON .. " join", inclusive = COMMON .. " join",
  first = COMMON .. " join", gateway = COMMON .. " kind",
  branch = "when otherwise name flow listeners",
  on = "id name interrupting stop key variable changes code_variable message_variable to flow async"
    .. " exclusive retry",
  to = "id when default name listeners",
}
KNOWN.each = KNOWN.sub .. " of as index times stop parallel"

-- What people write, and what it is called here.
local MEANT = { history = "history_time_to_live", due_date = "due", async_before = "async" }

local sets = {}
for word, names in pairs(KNOWN) do
  sets[word] = {}
  for name in names:gmatch "%S+" do
    sets[word][name] = true
  end
end

-- What an option may be; those that are not here are values, or are checked where they are read.
local TYPES = {
  string = "name tag result result_in id kind on handler start form description binding language"
    .. " as index variable"
    .. " code_variable message_variable error_message link map initiator",
  table = "changes search properties fields input output event with back each within"
    .. " every on_error on_escalation on_message on_signal on_when on_cancel",
  boolean = "transaction compensates terminate cancel otherwise default parallel",
  ["string or table"] = "join to flow candidates",
}
local EXPECTED = { string = "a text", table = "a table", boolean = "true or false",
  ["string or table"] = "a text or a table" }
local HOSTS = { within = true, every = true, on_error = true, on_escalation = true,
  on_message = true, on_signal = true, on_when = true,
  on_cancel = true }

local types = {}
for kind, names in pairs(TYPES) do
  for name in names:gmatch "%S+" do
    types[name] = not HOSTS[name] and kind or nil
  end
end

local function names_of(set)
  local names = {}
  for name in pairs(set) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

-- Tells of values of the wrong type, and takes them away.
local function check_types(content, at, report)
  local wrong = {}
  for name, value in pairs(content) do
    local kind = types[name]
    if kind and not kind:find(type(value), 1, true) then
      wrong[#wrong + 1] = name
    end
  end
  table.sort(wrong)
  for _, name in ipairs(wrong) do
    report:refuse(at, ("%s: got %s (expected %s)"):format(name, show(content[name]),
      EXPECTED[types[name]]))
    content[name] = nil
  end
end

-- " (task has it)" if other words have the option.
local function owners(name)
  local list = {}
  for word, set in pairs(sets) do
    list[#list + 1] = set[name] and rawget(process, word) and word or nil
  end
  table.sort(list)
  return list[1] and (" (%s %s it)"):format(table.concat(list, ", "), list[2] and "have" or "has")
    or ""
end

-- check(word, content, at, report): tells of every key that means nothing there, and takes away
-- what has the wrong type.
function options.check(word, content, at, report)
  check_types(content, at, report)
  for name in pairs(content) do
    local set = sets[word]
    if type(name) == "string" and not set[name] then
      local meant = set[MEANT[name]] and MEANT[name] or rules.suggest(name, names_of(set))
      report:refuse(at, ('%s has no option "%s"%s'):format(word, name,
        meant and (' (did you mean "%s"?)'):format(meant) or owners(name)))
    elseif type(name) ~= "string" and math.type(name) ~= "integer" then
      report:refuse(at, ("%s has the key %s (expected names and items)"):format(word, show(name)))
    end
  end
end

-- names() -> all options of all words.
function options.names()
  local all = {}
  for _, set in pairs(sets) do
    for name in pairs(set) do
      all[name] = true
    end
  end
  return names_of(all)
end

-- has(word, name): true if the word has the option.
function options.has(word, name)
  return sets[word][name] == true
end

-- items(content, at, report) -> the items of a table, in order.
function options.items(content, at, report)
  local list, last = {}, 0
  for key in pairs(content) do
    last = math.type(key) == "integer" and math.max(last, key) or last
  end
  for i = 1, last do
    if process.is_item(content[i]) then
      list[#list + 1] = content[i]
    else
      report:refuse(at, ("item %d is %s (expected a word such as step)"):format(i,
        show(content[i])))
    end
  end
  return list
end

-- ---- values ----

local SCALARS = { string = true, number = true, boolean = true, ["function"] = true }

-- A <value> of the graph: a literal, a text, a function, { list }, { map } or { script }.
local function is_value(value)
  return SCALARS[type(value)] or type(value) == "table"
    and (value.list ~= nil or value.map ~= nil or value.script ~= nil)
end

local function texts(node, content, at, report, names)
  for name in names:gmatch "%S+" do
    local value = content[name]
    if value ~= nil and type(value) ~= "string" then
      report:refuse(at, ("%s: got %s (expected a text)"):format(name, show(value)))
    else
      node[name] = value
    end
  end
end

local function values(node, content, at, report, names)
  for name in names:gmatch "%S+" do
    local value = content[name]
    if value ~= nil and not is_value(value) then
      report:refuse(at, ("%s: got %s (expected a value, an expression or a function)"):format(name,
        show(value)))
    else
      node[name] = value
    end
  end
end
options.values = values

local function flag(value, name, at, report)
  if value ~= nil and type(value) ~= "boolean" then
    report:refuse(at, ("%s: got %s (expected true or false)"):format(name, show(value)))
    return nil
  end
  return value
end
options.flag = flag

-- ---- behaviours ----

local KINDS = { "run", "class", "delegate", "expression", "topic", "script", "resource",
  "decision" }

-- behaviour(content, at, report) -> a behaviour; nil without any.
function options.behaviour(content, at, report)
  local made, found = { line = at.line }, nil
  for _, name in ipairs(KINDS) do
    local value = content[name]
    if value ~= nil and found and not (found == "script" and name == "resource") then
      report:refuse(at, ("has %s and %s (expected one of them)"):format(found, name))
    elseif name == "run" and type(value) == "function" then
      made.call, found = value, name
    elseif value ~= nil and type(value) ~= "string" then
      report:refuse(at, ("%s: got %s (expected a text%s)"):format(name, show(value),
        name == "run" and " or a function" or ""))
      found = name
    elseif value ~= nil then
      made[name], found = value, name
    end
  end
  if made.script or made.resource then
    made.language = content.language or "lua"
  end
  made.map = (found == "decision" or found == "run") and content.map or nil
  return found and made
end

local function one_behaviour(value, at, report)
  if type(value) == "string" then
    return { run = value, line = at.line }
  elseif type(value) == "function" then
    return { call = value, line = at.line }
  elseif type(value) ~= "table" then
    report:refuse(at, ("a listener is %s (expected a handler, a function or a table)"):format(
      show(value)))
    return nil
  end
  local made = options.behaviour(value, at, report)
  if made then
    made.fields = value.fields
  else
    report:refuse(at, "a listener calls nothing (expected run, expression or script)")
  end
  return made
end

-- behaviours(value, at, report) -> a list of behaviours; `value` is one or a list.
function options.behaviours(value, at, report)
  local list = {}
  local many = type(value) == "table" and value[1] ~= nil
  for _, one in ipairs(many and value or { value }) do
    list[#list + 1] = one_behaviour(one, at, report)
  end
  return list
end

local EVENTS = { "start", "end", "create", "assignment", "update", "complete", "delete",
  "variable_create", "variable_update", "variable_delete" }

-- listeners(content, at, report) -> { start = { behaviour, … }, … }, or nil.
function options.listeners(content, at, report)
  local made
  for _, event in ipairs(EVENTS) do
    local value = content["on_" .. event]
    if value ~= nil then
      made = made or {}
      made[event] = options.behaviours(value, at, report)
    end
  end
  return made
end

-- ---- all nodes ----

-- common(node, content, at, report): what every word may have.
function options.common(node, content, at, report)
  texts(node, content, at, report, "name")
  values(node, content, at, report, "priority retry")
  node.before = flag(content.async, "async", at, report) or nil
  node.after = flag(content.async_after, "async_after", at, report) or nil
  if flag(content.exclusive, "exclusive", at, report) == false then
    node.exclusive = false
  end
  node.listeners = options.listeners(content, at, report)
  node.compensates = content.compensates or nil
  node.properties = content.properties
end

-- parameters(value, name, at, report) -> a list of { name, value }, or nil. `value` is a table by
-- names, or a list of such lists where the order matters.
function options.parameters(value, name, at, report)
  if value == nil then
    return nil
  elseif type(value) ~= "table" then
    report:refuse(at, ("%s: got %s (expected a table of values)"):format(name, show(value)))
    return nil
  end
  local list = {}
  for _, one in ipairs(value) do
    local pair = type(one) == "table" and one or { nil, one }
    list[#list + 1] = { name = pair[1], value = pair[2] }
  end
  local keys = {}
  for key in pairs(value) do
    keys[#keys + 1] = type(key) == "string" and key or nil
  end
  table.sort(keys)
  for _, key in ipairs(keys) do
    list[#list + 1] = { name = key, value = value[key] }
  end
  for _, one in ipairs(list) do
    if type(one.name) ~= "string" or not is_value(one.value) then
      report:refuse(at, ("%s: %s is %s (expected a value, an expression or a function)"):format(
        name, tostring(one.name), show(one.value)))
    end
  end
  return list[1] and list
end

-- ---- events ----

local TIMERS = { after = "duration", at = "date", every = "cycle" }
local ONE = { "message", "signal", "when", "after", "at", "every", "error", "escalate", "undo",
  "cancel", "terminate", "link", "event" }

local function timer_of(name, value, at, report)
  if not is_value(value) then
    report:refuse(at, ("%s: got %s (expected a text)"):format(name, show(value)))
  end
  return { kind = "timer", timer = { kind = TIMERS[name], text = value } }
end

-- The one timer of a listener, and its id.
local function timeout(one, i, at, report)
  local made = { id = one.id or "timeout" .. i, behaviour = one_behaviour(one, at, report) }
  for name in pairs(TIMERS) do
    if one[name] ~= nil and not made.timer then
      made.timer = timer_of(name, one[name], at, report).timer
    elseif one[name] ~= nil then
      report:refuse(at, "on_timeout: has two of after, at and every (expected one)")
    end
  end
  if not made.timer then
    report:refuse(at, "on_timeout: says no time (expected after, at or every)")
  elseif type(made.id) ~= "string" or not made.id:find "^[%a_][%w_.-]*$" then
    report:refuse(at, ("on_timeout: its id is %s (expected letters, digits, _, . and -)"):format(
      show(made.id)))
  end
  return made
end

-- timeouts(value, at, report) -> the listeners that timers of a task call, or nil; `value` is one
-- table, or a list of them.
function options.timeouts(value, at, report)
  local list, ids = {}, {}
  for i, one in ipairs(type(value) == "table" and (value[1] and value or { value }) or {}) do
    list[i] = timeout(type(one) == "table" and one or {}, i, at, report)
    if ids[list[i].id] then
      report:refuse(at, ('on_timeout: the id "%s" is used twice'):format(tostring(list[i].id)))
    end
    ids[list[i].id] = true
  end
  if value ~= nil and not list[1] then
    report:refuse(at, ('on_timeout: got %s (expected a table such as { after = "PT1H", run = … })')
      :format(show(value)))
  end
  return list[1] and list
end

local makers = {}

function makers.message(content, at, report)
  local event = { kind = "message" }
  if content.message ~= true then
    values(event, { name = content.message, key = content.key }, at, report, "name key")
  end
  return event
end

-- passed(list, name, at, report) -> the variables that go to another side, as the graph has them:
-- names, or tables as in the graph; nil for none.
function options.passed(list, name, at, report)
  local made, names = {}, {}
  for _, one in ipairs(list or {}) do
    if type(one) == "string" then
      made[#made + 1] = { from = one, to = one }
    elseif type(one) == "table" then
      made[#made + 1] = { from = one.from, to = one.to, all = one.all, value = one.value,
        ["local"] = one["local"] }
    else
      report:refuse(at, ("%s: %s is no variable (expected names, or pairs such as total = "
        .. '"${sum}")'):format(name, show(one)))
    end
  end
  for to in pairs(list or {}) do
    names[#names + 1] = type(to) == "string" and to or nil
  end
  table.sort(names)
  for _, to in ipairs(names) do
    made[#made + 1] = { value = list[to], to = to }
  end
  return made[1] and made
end

function makers.signal(content, at, report)
  local event = { kind = "signal", into = options.passed(content.with, "with", at, report) or nil }
  values(event, { name = content.signal }, at, report, "name")
  return event
end

function makers.when(content, at, report)
  local event = { kind = "conditional", variable = content.variable, changes = content.changes }
  values(event, content, at, report, "when")
  return event
end

function makers.error(content)
  return { kind = "error", code = content.error ~= true and content.error or nil,
    message = content.error_message, code_variable = content.code_variable,
    message_variable = content.message_variable }
end

-- A text, or nil for true.
local function text_or_all(content, name, what, at, report)
  local value = content[name]
  if value ~= true and type(value) ~= "string" then
    report:refuse(at, ("%s: got %s (expected %s, or true for any)"):format(name, show(value), what))
  end
  return value ~= true and value or nil
end

function makers.escalate(content, at, report)
  return { kind = "escalation", code = text_or_all(content, "escalate", "a code", at, report),
    code_variable = content.code_variable }
end

function makers.undo(content, at, report)
  return { kind = "compensation",
    activity = text_or_all(content, "undo", "the name of an activity", at, report) }
end

function makers.cancel()
  return { kind = "cancel" }
end

function makers.terminate()
  return { kind = "terminate" }
end

function makers.link(content)
  return { kind = "link", name = content.link }
end

function makers.event(content, at, report)
  if type(content.event.kind) ~= "string" then
    report:refuse(at, ("event: its kind is %s (expected a text)"):format(show(content.event.kind)))
    return { kind = "none" }
  end
  return content.event
end

for name in pairs(TIMERS) do
  makers[name] = function(content, at, report)
    return timer_of(name, content[name], at, report)
  end
end

-- event(content, at, report) -> an event; { kind = "none" } without any.
function options.event(content, at, report)
  local found
  for _, name in ipairs(ONE) do
    if content[name] ~= nil and found then
      report:refuse(at, ("has %s and %s (expected one of them)"):format(found, name))
    elseif content[name] ~= nil then
      found = name
    end
  end
  local event = found and makers[found](content, at, report) or { kind = "none" }
  if flag(content.interrupting, "interrupting", at, report) == false then
    event.interrupting = false
  end
  return event
end

return options
