-- A picture of a graph as the rows of a tree, for people who look at a process in a terminal. What
-- follows one another stands below one another; what leaves an activity stands inside it.
local graphs = require "moonshift.process.graph"
local rules = require "moonshift.rules"

local SPLITS = { exclusive = "choose", parallel = "parallel", inclusive = "inclusive",
  event_gateway = "first of" }

-- ---- texts ----

local function value(given)
  if type(given) == "function" then
    return "a function"
  end
  return type(given) == "table" and "a table" or tostring(given)
end

local CALLED = { "run", "class", "delegate", "expression", "topic", "resource", "decision" }

local function call_text(behaviour)
  if not behaviour then
    return ""
  elseif behaviour.call then
    return " a function"
  end
  for _, kind in ipairs(CALLED) do
    if behaviour[kind] then
      return (" %s"):format(behaviour[kind])
    end
  end
  return (" in %s"):format(behaviour.language or "lua")
end

local TIMERS = { duration = "after", date = "at", cycle = "every" }

local function event_text(event)
  local kind = event and event.kind or "none"
  if kind == "timer" then
    return (" %s %s"):format(TIMERS[event.timer.kind], value(event.timer.text))
  elseif kind == "none" then
    return ""
  end
  local name = event.name or event.code
  return (" %s%s"):format(kind, name ~= nil and " " .. value(name) or "")
end

local texts = {}

for kind, word in pairs { service = "step", send = "send", rule = "rule", script = "script" } do
  texts[kind] = function(node)
    return word .. call_text(node.behaviour)
  end
end

for kind, word in pairs { start = "start", ["end"] = "end", catch = "wait", throw = "throw" } do
  texts[kind] = function(node)
    return word .. event_text(node.event) .. (node.behaviour and call_text(node.behaviour) or "")
  end
end

function texts.boundary(node)
  local text = event_text(node.event)
  return (node.event.kind == "timer" and text:sub(2) or "on" .. text)
    .. (node.event.interrupting == false and ", beside it" or "")
end

function texts.user(node)
  local candidates = node.candidates or {}
  local who = node.assignee or candidates.users or candidates.groups
  return "user task" .. (who ~= nil and " " .. value(who) or "")
end

function texts.receive(node)
  return node.event and "receive" .. event_text(node.event) or "receive, when triggered"
end

function texts.call(node)
  return "call " .. value(node.call.process)
end

for kind, word in pairs { manual = "manual task", task = "task", subprocess = "sub-process",
  transaction = "transaction", event_subprocess = "event sub-process" } do
  texts[kind] = function()
    return word
  end
end

local function turns_text(multi)
  return (", %s %s"):format(multi.parallel and "for each of" or "in turn for each of",
    value(multi.collection or multi.count))
end

local function text_of(node)
  local split = SPLITS[node.kind]
  local text
  if split then
    text = #node.out > 1 and split or "join"
  else
    text = texts[node.kind](node)
  end
  return text .. (node.multi and turns_text(node.multi) or "")
    .. ((node.before or node.multi and node.multi.before) and ", async" or "")
end

local function flow_text(flow)
  local condition = flow.when ~= nil and "if " .. value(flow.when)
    or flow.default and "otherwise"
  if flow.name and condition then
    return ("%s (%s)"):format(condition, flow.name)
  end
  return condition or flow.name or "branch"
end

-- ---- the tree ----

-- A drawing: { graph, done = { [id] = item } }. An item is { row, inside = { item, … } }.
local Drawing = {}
Drawing.__index = Drawing

local function add(list, row)
  local item = { row = row, inside = {} }
  list[#list + 1] = item
  return item
end

-- How far each node is from here, by its id, on ways that come neither through `from` nor through
-- what is done already.
local function distances(graph, from, first, done)
  local far, queue = { [first] = 0 }, { first }
  for _, id in ipairs(queue) do
    for _, flow in ipairs(id ~= from and not done[id] and graph.nodes[id].out or {}) do
      if not far[flow.to] then
        far[flow.to] = far[id] + 1
        queue[#queue + 1] = flow.to
      end
    end
  end
  far[from] = nil
  return far
end

-- The node at which most of the branches of this one meet, the nearest one; nil if none do.
function Drawing:meeting(node)
  local count, sum = {}, {}
  for _, flow in ipairs(node.out) do
    for id, far in pairs(distances(self.graph, node.id, flow.to, self.done)) do
      count[id], sum[id] = (count[id] or 0) + 1, (sum[id] or 0) + far
    end
  end
  local best
  for _, id in ipairs(self.graph.order) do
    if (count[id] or 0) > 1 and not self.done[id] and (not best or count[id] > count[best]
      or count[id] == count[best] and sum[id] < sum[best]) then
      best = id
    end
  end
  return best
end

-- How many nodes a branch has before it comes to what stands elsewhere.
function Drawing:length(from, first)
  local count = 0
  if not self.done[first] then
    for id in pairs(distances(self.graph, from, first, self.done)) do
      count = count + (self.done[id] and 0 or 1)
    end
  end
  return count
end

-- The first node of the longest branch, which goes on where branches do not meet; nil if several
-- are as long.
function Drawing:way_on(node)
  local best, longest = nil, 0
  for _, flow in ipairs(node.out) do
    local length = self:length(node.id, flow.to)
    if length > longest then
      best, longest = flow.to, length
    elseif length == longest and flow.to ~= best then
      best = nil
    end
  end
  return best
end

-- Adds what follows a node, up to where its branches meet -> the id of that node; nil if they do
-- not meet before `stop`.
function Drawing:branches(item, node, stop)
  local meeting = self:meeting(node)
  local on = meeting or not stop and self:way_on(node) or nil
  for _, flow in ipairs(node.out) do
    local branch = add(item.inside, { text = flow_text(flow) })
    if self:chain(branch.inside, flow.to, on or stop) and not meeting then
      add(branch.inside, { to = on or stop })
    end
  end
  return on
end

-- Adds the node and what follows it, and says where the list leads if that stands elsewhere. True:
-- it ends before `stop`, with which a list around it goes on.
function Drawing:chain(list, id, stop)
  while id do
    local node = self.graph.nodes[id]
    if id == stop then
      return true
    elseif self.done[id] then
      add(list, { to = id })
      return false
    end
    local item = add(list, { id = id, kind = node.kind, name = node.name, text = text_of(node) })
    self.done[id] = item
    self.order[#self.order + 1] = node
    if graphs.SCOPES[node.kind] then
      self:scope(item.inside, id)
    end
    local first = node.out[1]
    id = #node.out > 1 and self:branches(item, node, stop) or #node.out == 1 and first.to
  end
  return false
end

function Drawing:boundary(list, event)
  if not self.done[event.id] then
    local item = add(list, { id = event.id, kind = "boundary", name = event.name,
      text = text_of(event) })
    self.done[event.id] = item
    for _, flow in ipairs(event.out) do
      self:chain(item.inside, flow.to)
    end
  end
end

-- Puts the boundary events into their hosts, once all that leads on from the hosts is there.
function Drawing:boundaries(from)
  local i = from
  while self.order[i] do
    local node = self.order[i]
    for _, id in ipairs(node.boundaries or {}) do
      self:boundary(self.done[node.id].inside, self.graph.nodes[id])
    end
    i = i + 1
  end
end

-- All that lies in a scope: from its starts on, then what nothing leads to.
function Drawing:scope(list, scope)
  local from = #self.order + 1
  for _, kind in ipairs { "start", "any" } do
    for _, id in ipairs(self.graph.order) do
      local node = self.graph.nodes[id]
      if node.scope == scope and (node.kind == kind or kind == "any" and node.kind ~= "boundary")
        and not self.done[id] then
        self:chain(list, id)
        self:boundaries(from)
      end
    end
  end
end

-- ---- rows ----

local function flatten(rows, list, before)
  for i, item in ipairs(list) do
    local last = i == #list
    local row = item.row
    row.tree = before .. (last and "└ " or "├ ")
    rows[#rows + 1] = row
    flatten(rows, item.inside, before .. (last and "  " or "│ "))
  end
  return rows
end

-- picture(graph) -> { { tree, id, kind, name, text }, … }: a row for each activity, for each branch
-- (`text` alone), and for each way to what stands elsewhere (`to`). `tree` stands in front.
return function(graph)
  local self = setmetatable({ graph = graph, done = {}, order = {} }, Drawing)
  local list = {}
  self:scope(list, nil)
  return flatten(rules.array {}, list, "")
end
