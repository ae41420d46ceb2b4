-- What starts a process by itself: its start timers and start events, as the store keeps them for
-- the newest version (core/store/store.h, struct store_deployment).
local expression = require "moonshift.expression"
local retry = require "moonshift.retry"
local rules = require "moonshift.rules"
local weekdays = require "moonshift.process.weekdays"

local starts = {}

local KEYS = { date = "at", duration = "after", cycle = "cycle" }

-- What a start timer's expressions see: no instance, and the time.
local function scope_at(now)
  return {
    now = now,
    lenient = true,
    get = function()
      return nil, false
    end,
  }
end

-- The value of a text, asked now. nil: it gives nothing; with a message, it cannot be asked.
local function ask(value, scope)
  if not expression.is(value) then
    return value
  end
  local compiled, message = expression.compile(value, { pure = true })
  if not compiled then
    return nil, message
  end
  local fine, result = pcall(compiled, scope)
  if not fine then
    return nil, tostring(result)
  end
  return result
end

local function key_of(kind, text)
  if text:find("^R") then
    return "cycle"
  elseif text:find("^P") then
    return "after"
  end
  return KEYS[kind]
end

-- A priority is 0 where its expression gives no whole number.
local function priority_of(graph, node, scope)
  local given = node.priority == nil and graph.priority or node.priority
  if given == nil then
    return nil
  end
  local value = ask(given, scope)
  return math.tointeger(tonumber(value)) or 0
end

local function runs_of(node)
  local strategy = node.retry and retry.resolve(node.retry, {})
  return strategy and strategy.runs or nil
end

-- The spec of the job that a start timer waits with; nil with a message if its text says no time.
local function spec_of(graph, node, scope)
  local timer = node.event.timer
  local text, message = ask(timer.text, scope)
  if timer.quartz and type(text) == "string" then
    text, message = weekdays.named(text, weekdays.QUARTZ)
  end
  if type(text) ~= "string" then
    return nil, message or "its time is no text"
  end
  local spec = { priority = priority_of(graph, node, scope), retries = runs_of(node) }
  spec[key_of(timer.kind, text)] = text
  return spec
end

local function each_start(graph, visit)
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    if node.kind == "start" and not node.scope then
      visit(node)
    end
  end
end

-- timers(graph, now, refuse) -> { { activity, text, spec }, … }. Calls refuse(node, message) for a
-- timer whose expression gives no time.
function starts.timers(graph, now, refuse)
  local list, scope = rules.array {}, scope_at(now)
  each_start(graph, function(node)
    if not (node.event and node.event.timer) then
      return
    end
    local spec, message = spec_of(graph, node, scope)
    if spec then
      list[#list + 1] = { activity = node.id, text = tostring(node.event.timer.text), spec = spec }
    else
      refuse(node, ("the start timer %s cannot be asked: %s"):format(
        tostring(node.event.timer.text), message))
    end
  end)
  return list
end

-- events(graph, now) -> { { kind, name, key, activity, priority }, … }; a condition has the name of
-- its activity
function starts.events(graph, now)
  local list, scope = rules.array {}, scope_at(now)
  each_start(graph, function(node)
    local event = node.event
    if event and event.kind == "conditional" then
      list[#list + 1] = { kind = "condition", name = node.id, key = "", activity = node.id }
    elseif event and (event.kind == "message" or event.kind == "signal") then
      list[#list + 1] = { kind = event.kind, name = event.name, key = event.key or "",
        activity = node.id,
        priority = event.kind == "signal" and priority_of(graph, node, scope) or nil }
    end
  end)
  return list
end

return starts
