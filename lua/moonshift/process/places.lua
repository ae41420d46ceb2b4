-- Where the foreign names of a process lead: a class, a delegate, a topic, a decision or a script
-- in another language is a file of the folder (docs/bpmn.md).
--
-- A name is "activities/order/charge", "decisions/discount", or that of a handler.
local expression = require "moonshift.expression"

local places = {}

-- ---- names ----

-- ChargeCard and chargeCard are charge_card.
local function snake(name)
  return (name:gsub("(%l)(%u)", "%1_%2"):gsub("(%u)(%u%l)", "%1_%2"):lower())
end

local function add(names, name)
  for _, known in ipairs(names) do
    if known == name then
      return
    end
  end
  names[#names + 1] = name
end

local function add_class(names, class)
  if expression.is(class) then
    return
  end
  local simple = class:match("[^.$]*$")
  add(names, (class:gsub("%.", "/")))
  add(names, simple)
  add(names, snake(simple))
end

-- Only ${name} leads to a handler.
local function add_delegate(names, delegate)
  local name = delegate:match("^%s*[$#]{%s*([%a_][%w_]*)%s*}%s*$")
  if name then
    add(names, name)
    add(names, snake(name))
  end
end

local function is_ours(behaviour)
  local language = behaviour.language
  return behaviour.script and (language == "juel" or language == "lua" or language == nil)
end

-- What is looked for, in words; nil if the behaviour needs no file.
local function wanted(behaviour)
  if behaviour.class then
    return ('class "%s"'):format(behaviour.class)
  elseif behaviour.delegate then
    return ('delegate "%s"'):format(behaviour.delegate)
  elseif behaviour.topic then
    return ('topic "%s"'):format(behaviour.topic)
  elseif behaviour.decision then
    return ('decision "%s"'):format(behaviour.decision)
  elseif behaviour.run then
    return ('handler "%s"'):format(behaviour.run)
  elseif behaviour.resource then
    return ('script "%s"'):format(behaviour.resource)
  elseif behaviour.script and not is_ours(behaviour) then
    return ("script in %s"):format(behaviour.language)
  end
end

-- names(behaviour, place) -> the names to try in turn; `place` is "order/charge", or with the event
-- of a listener "order/charge/start".
function places.names(behaviour, place)
  local names = { "activities/" .. place }
  if behaviour.class then
    add_class(names, behaviour.class)
  elseif behaviour.delegate then
    add_delegate(names, behaviour.delegate)
  elseif behaviour.topic and not expression.is(behaviour.topic) then
    add(names, "topic/" .. behaviour.topic)
  elseif behaviour.decision and not expression.is(behaviour.decision) then
    add(names, "decisions/" .. behaviour.decision)
  elseif behaviour.run then
    add(names, behaviour.run)
  end
  return names
end

-- ---- what calls something ----

local function visit_value(value, visit, at, place)
  if type(value) ~= "table" then
    return
  elseif value.script or value.resource then
    visit(value, at, place)
  end
  for _, part in pairs(value.list or value.map or {}) do
    visit_value(part, visit, at, place)
  end
end

local function visit_listeners(listeners, visit, at, place)
  for event, list in pairs(listeners or {}) do
    for _, behaviour in ipairs(list) do
      visit(behaviour, at, place .. "/" .. event)
    end
  end
end

local function visit_node(key, node, visit)
  local place = key .. "/" .. node.id
  if node.behaviour then
    visit(node.behaviour, node, place)
  end
  if node.call and node.call.mapping then
    visit(node.call.mapping, node, place)
  end
  visit_listeners(node.listeners, visit, node, place)
  for _, timeout in ipairs(node.timeouts or {}) do
    visit(timeout.behaviour, node, place .. "/timeout")
  end
  for _, list in ipairs { node.input or {}, node.output or {} } do
    for _, parameter in ipairs(list) do
      visit_value(parameter.value, visit, node, place .. "/" .. parameter.name)
    end
  end
  visit_value(node.event and node.event.when, visit, node, place)
  for _, flow in ipairs(node.out) do
    visit_value(flow.when, visit, flow, key .. "/" .. flow.id)
    visit_listeners({ take = flow.listeners }, visit, flow, key .. "/" .. flow.id)
  end
end

-- each(graph, visit): calls visit(behaviour, at, place) for all that is called; `at` is the node or
-- flow that calls it.
function places.each(graph, visit)
  visit_listeners(graph.listeners, visit,
    { id = graph.key, line = graph.line, column = graph.column }, graph.key)
  for _, id in ipairs(graph.order) do
    visit_node(graph.key, graph.nodes[id], visit)
  end
end

-- ---- files ----

-- find(loaded, names) -> the first function that is there and its name, or nil. `loaded` has
-- handlers and behaviours by their names.
function places.find(loaded, names)
  for _, name in ipairs(names) do
    local found = loaded.behaviours[name] or loaded.handlers[name]
    if found then
      return found, name
    end
  end
end

-- file(name) -> the file that a name leads to
function places.file(name)
  local own = name:find("^activities/") or name:find("^decisions/")
  return (own and "%s.lua" or "handlers/%s.lua"):format(name)
end

local function files_of(names)
  local files = {}
  for i, name in ipairs(names) do
    files[i] = places.file(name)
  end
  return table.concat(files, ", ")
end

-- Stock handlers that a type of a service task leads to.
local STOCK = { http = true, mail = true, shell = true }

-- The files that were looked for, and what else would help.
local function looked_for(behaviour)
  local files = files_of(behaviour.names)
  return STOCK[behaviour.run] and ('%s; the stock one is there with stock = { "%s" } in '
    .. "moonshift.lua"):format(files, behaviour.run) or files
end

-- resolve(graph, loaded, tell): gives every behaviour that needs a file its `names`, and calls
-- tell(at, message) for each of which no file is there. Without `loaded` nothing is told. Workers
-- outside do what has a topic and no file.
function places.resolve(graph, loaded, tell)
  places.each(graph, function(behaviour, at, place)
    local what = wanted(behaviour)
    if not what then
      return
    end
    behaviour.names = places.names(behaviour, place)
    if loaded and not behaviour.topic and not places.find(loaded, behaviour.names) then
      tell(at, ("there is no %s%s (looked for %s)"):format(behaviour.run and "" or
        "handler for its ", what, looked_for(behaviour)))
    end
  end)
end

return places
