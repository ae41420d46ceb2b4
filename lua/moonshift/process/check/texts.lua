-- Rules of texts: every expression can be read, and every constant time, retry and priority.
local expression = require "moonshift.expression"
local rules = require "moonshift.rules"

local texts = {}

local PURE, FREE, DELEGATE = { pure = true }, { pure = false }, { pure = false, is_name = true }

local Texts = {}
Texts.__index = Texts

-- ---- expressions ----

-- The beans that it calls are noted; a delegate only names one.
function Texts:compile(at, text, rule)
  local beans, names = {}, {}
  local fine, message, position = expression.compile(text, nil, { pure = rule.pure, beans = beans })
  for name in pairs(rule.is_name and {} or beans) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    self.report:needs(at, name)
  end
  return fine, message, position
end

-- Checks a text, or what lies in a list or map; functions and numbers are fine.
function Texts:value(at, value, what, rule)
  if type(value) == "table" and (value.script or value.resource) then
    self:behaviour(at, value, what)
  elseif type(value) == "table" then
    for _, part in pairs(value.list or value.map or {}) do
      self:value(at, part, what, rule)
    end
  elseif expression.is(value) then
    local fine, message, position = self:compile(at, value, rule or PURE)
    if not fine then
      self.report:refuse(at, ("%s %s: %s%s"):format(what, value, message, position
        and not message:find("(position", 1, true) and (" (position %d)"):format(position) or ""))
    end
  end
end

function Texts:fields(at, fields, what)
  for name, value in pairs(fields or {}) do
    self:value(at, value, ('%s "%s"'):format(what, name))
  end
end

local function check_lua(text)
  local fine, message = load("local job = ... " .. text, "=script", "t")
  return fine or message
end

-- Checks what a behaviour calls. Problems are told of the node or flow `at`.
function Texts:behaviour(at, behaviour, what)
  self:value(at, behaviour.expression, what, FREE)
  self:value(at, behaviour.delegate, what, DELEGATE)
  self:value(at, behaviour.topic, what)
  self:value(at, behaviour.decision, what)
  self:fields(at, behaviour.fields, what .. ": the field")
  if behaviour.script and behaviour.language == "juel" then
    self:value(at, behaviour.script, what, FREE)
  elseif behaviour.script and behaviour.language == "lua" then
    local message = check_lua(behaviour.script)
    if type(message) == "string" then
      self.report:refuse(at, ("%s: %s"):format(what, message))
    end
  end
end

function Texts:timeouts(node)
  for _, one in ipairs(node.timeouts or {}) do
    self:timer(node, one.timer)
    self:behaviour(node, one.behaviour, 'the listener of "timeout"')
  end
end

function Texts:listeners(at, listeners)
  for event, list in pairs(listeners or {}) do
    for _, behaviour in ipairs(list) do
      self:behaviour(at, behaviour, ('the listener of "%s"'):format(event))
    end
  end
end

-- A condition: no other text than one with an expression gives true or false.
function Texts:condition(at, value)
  local word = type(value) == "string" and value:match("^%s*(.-)%s*$")
  if word and not expression.is(value) and word ~= "true" and word ~= "false" then
    self.report:refuse(at, ('the condition "%s" is a text (expected an expression: ${…})'):format(
      value))
  else
    self:value(at, value, "the condition")
  end
end

-- ---- constants ----

function Texts:priority(at, value, what)
  if type(value) == "string" and not expression.is(value) and not value:find("^%s*[+-]?%d+%s*$")
  then
    self.report:refuse(at, ('%s "%s" (expected a whole number or an expression)'):format(what,
      value))
  else
    self:value(at, value, what)
  end
end

function Texts:retry(at, value)
  if type(value) == "string" and not expression.is(value) then
    local fine, message = rules.retry(value)
    if not fine then
      self.report:refuse(at, ("its %s"):format(message))
    end
  else
    self:value(at, value, "its retry")
  end
end

-- Months have a length once there is a date.
local function is_duration(text)
  return rules.add_duration(0, text)
end

-- As Camunda reads them: a span where a date is expected, a cycle where a span is.
local function is_date(text)
  return (text:find("^P") and is_duration or rules.time)(text)
end

local function is_span(text)
  return (text:find("^R") and rules.cycle or is_duration)(text)
end

local TIMERS = {
  date = { is_date, "a date such as 2026-12-24T18:00:00Z" },
  duration = { is_span, "a duration such as PT5M" },
  cycle = { rules.cycle, 'a cycle such as R3/PT5M, or a cron text such as "0 8 * * mon-fri"' },
}

function Texts:timer(at, timer)
  if type(timer.text) == "string" and not expression.is(timer.text) then
    local read, expected = table.unpack(TIMERS[timer.kind])
    local fine, message = read(timer.text)
    if not fine then
      self.report:refuse(at, ('the time "%s" cannot be read%s (expected %s)'):format(timer.text,
        message and ": " .. message or "", expected))
    end
  else
    self:value(at, timer.text, "the time")
  end
end

-- ---- nodes ----

function Texts:multi(node)
  local multi = node.multi
  if type(multi.count) == "string" and not expression.is(multi.count)
    and not multi.count:find("^%s*%d+%s*$") then
    self.report:refuse(node, ('the number of turns is "%s" (expected a whole number or an '
      .. "expression)"):format(multi.count))
  end
  self:value(node, multi.count, "the number of turns")
  self:value(node, multi.collection, "the collection")
  self:value(node, multi["until"], "the completion condition")
  self:retry(node, multi.retry)
end

function Texts:event(node)
  local event = node.event
  self:value(node, event.name, "the name")
  self:value(node, event.key, "the key")
  self:value(node, event.when, "the condition")
  for _, mapping in ipairs(event.into or {}) do
    self:value(node, mapping.value, "the mapping")
  end
  if event.timer then
    self:timer(node, event.timer)
  end
end

function Texts:call(node)
  local call = node.call
  self:value(node, call.process, "calledElement")
  self:value(node, call.version, "the version")
  self:value(node, call.key, "the business key")
  if call.mapping then
    self:behaviour(node, call.mapping, "its mapping")
  end
  for _, list in ipairs { call.into or {}, call.back or {} } do
    for _, mapping in ipairs(list) do
      self:value(node, mapping.value, "the mapping")
    end
  end
end

function Texts:task(node)
  self:value(node, node.assignee, "the assignee")
  self:value(node, node.due, "the due date")
  self:value(node, node.follow_up, "the follow-up date")
  self:value(node, node.kind == "user" and node.name or nil, "the task's name")
  self:value(node, node.task_priority, "the task's priority")
  self:fields(node, node.candidates, "the candidate")
end

function Texts:parameters(node, list, what)
  for _, parameter in ipairs(list or {}) do
    self:value(node, parameter.value, ('%s "%s"'):format(what, parameter.name))
  end
end

function Texts:node(node)
  self:priority(node, node.priority, "its job priority")
  self:priority(node, node.external_priority, "its task priority")
  self:retry(node, node.retry)
  self:listeners(node, node.listeners)
  self:timeouts(node)
  self:parameters(node, node.input, "the input")
  self:parameters(node, node.output, "the output")
  self:fields(node, node.fields, "the field")
  self:task(node)
  for _, name in ipairs { "multi", "event", "call" } do
    if node[name] then
      self[name](self, node)
    end
  end
  if node.behaviour then
    self:behaviour(node, node.behaviour, "its behaviour")
  end
  for _, flow in ipairs(node.out) do
    self:condition(flow, flow.when)
    self:listeners(flow, { take = flow.listeners })
  end
end

function texts.check(graph, report)
  local self = setmetatable({ report = report }, Texts)
  local at = { id = graph.key, line = graph.line, column = graph.column }
  self:priority(at, graph.priority, "its job priority")
  self:priority(at, graph.external_priority, "its task priority")
  self:listeners(at, graph.listeners)
  for _, id in ipairs(graph.order) do
    self:node(graph.nodes[id])
  end
end

return texts
