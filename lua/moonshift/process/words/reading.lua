-- A reading of the Lua form: makes nodes and flows of a graph. What each word means stands in
-- activities.lua, hosts.lua, scopes.lua and blocks.lua of this folder.
local options = require "moonshift.process.words.options"
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local reading = {}

local DEPTH_MAX = 100 -- blocks in each other

-- A reading has the graph, the report and the functions of all words (`readers`). `scope` is the id
-- of the sub-process around, `flows` has those with a target, `boundaries` the boundary events that
-- name their host. `pending` is a list of ends that wait for the next node: flows
-- without a target.
local Reading = {}
Reading.__index = Reading

-- ---- nodes and flows ----

local NAME = "^[%a_\128-\255][%w_.\128-\255-]*$"

function Reading:node(kind, id, at)
  local node = { id = id, kind = kind, scope = self.scope, line = at.line, out = {}, into = {} }
  if type(id) ~= "string" or not id:find(NAME) then
    self.report:refuse(at,
      ("%s: the name is %s (expected letters, digits, _, - and points)"):format(
      at.word or kind, show(id)))
    node.id = ("%s.%d"):format(kind, #self.graph.order + 1)
  elseif self.graph.nodes[id] then
    self.report:refuse(node, ("the name is taken by the %s of line %s"):format(
      self.graph.nodes[id].kind, tostring(self.graph.nodes[id].line)))
    node.id = ("%s.%d"):format(id, #self.graph.order + 1)
  end
  self.graph.nodes[node.id] = node
  self.graph.order[#self.graph.order + 1] = node.id
  return node
end

-- ending(node, given) -> an end of the node: a flow that has no target yet. Flows leave a node in
-- the order in which they are made here.
function Reading:ending(node, given)
  self.count = self.count + 1
  local one = { from = node.id, line = node.line, number = self.count }
  if type(given) == "string" then
    one.id = given
  elseif type(given) == "table" then
    one.id, one.name, one.when, one.default = given.id, given.name, given.when, given.default
    one.listeners = given.listeners
  end
  return one
end

function Reading:flow(one, to)
  one.to = to
  self.flows[#self.flows + 1] = one
end

-- Lets the pending ends lead to a node.
function Reading:enter(pending, id)
  for _, one in ipairs(pending) do
    self:flow(one, id)
  end
end

-- One end of many: a gateway where they meet, if there are several.
function Reading:merge(pending, id, kind, at)
  if #pending < 2 then
    return pending
  end
  local node = self:node(kind, id, { line = at.line, word = at.word })
  self:enter(pending, node.id)
  return { self:ending(node) }
end

-- ---- `to` ----

function Reading:target(node, one)
  local report = self.report
  if type(one) == "string" then
    one = { one }
  elseif type(one) ~= "table" or type(one[1]) ~= "string" then
    report:refuse(node, ("to: got %s (expected the name of a node)"):format(show(one)))
    return
  end
  local known = {}
  for name, value in pairs(one) do
    known[name] = name ~= 1 and value or nil
  end
  options.check("to", known, node, report)
  options.values({}, { when = one.when }, node, report, "when")
  local flow = self:ending(node, one)
  flow.listeners = one.listeners and options.behaviours(one.listeners, node, report)
  self:flow(flow, one[1])
end

-- leave(node, content) -> the ends of a node: none if it says where it leads.
function Reading:leave(node, content)
  local to = content.to
  if to == nil then
    local flow = content.flow
    if type(flow) == "table" and flow.listeners then
      flow = setmetatable({ listeners = options.behaviours(flow.listeners, node, self.report) },
        { __index = flow })
    end
    return { self:ending(node, flow) }
  end
  for _, one in ipairs(type(to) == "table" and type(to[2]) ~= "string" and type(to[1]) == "string"
    and { to } or type(to) == "table" and to or { to }) do
    self:target(node, one)
  end
  return {}
end

-- ---- sequences ----

-- sequence(items, pending) -> the ends of the last item
function Reading:sequence(items, pending)
  if self.depth > DEPTH_MAX then
    self.report:refuse(items[1] or {}, "stands in too many blocks (expected at most 100)")
    return {}
  end
  self.depth = self.depth + 1
  for _, item in ipairs(items) do
    item.content = item.content or {}
    pending = self.readers[item.word](self, item, pending)
  end
  self.depth = self.depth - 1
  return pending
end

-- after(node, content, items) -> the ends of the list behind an event. Its `to` says where the list
-- leads; without a list, where the event does.
function Reading:after(node, content, items)
  local to = content.to
  if to == nil or #items == 0 then
    return self:sequence(items, self:leave(node, content))
  end
  local open = self:sequence(items, { self:ending(node, content.flow) })
  if type(to) ~= "string" then
    self.report:refuse(node, ("to: got %s (expected the name of a node behind a list)"):format(
      show(to)))
    return {}
  end
  self:enter(open, to)
  return {}
end

-- body(items, at, prefix): a whole scope with its start and its end.
function Reading:body(items, at, prefix)
  local pending = {}
  if #items == 0 then
    self.report:refuse(at, "has nothing in it (expected words such as step)")
  elseif items[1].word ~= "start" then
    local start = self:node("start", prefix .. "start", { line = at.line, word = at.word })
    start.event = { kind = "none" }
    pending = { self:ending(start) }
  end
  pending = self:sequence(items, pending)
  if #pending > 0 then
    local finish = self:node("end", prefix .. "end", { line = at.line, word = at.word })
    finish.event = { kind = "none" }
    self:enter(pending, finish.id)
  end
end

-- inside(id, read): reads what lies in a sub-process.
function Reading:inside(id, read)
  local outer = self.scope
  self.scope = id
  read()
  self.scope = outer
end

-- ---- joining ----

local function unused(ids, one)
  local id = one.id or ("%s->%s"):format(one.from, one.to)
  while ids[id] and not one.id do
    id = id .. "+"
  end
  ids[id] = true
  return id
end

-- Gives flows their ids and puts them into the nodes.
function Reading:join_flows()
  local ids, nodes = {}, self.graph.nodes
  table.sort(self.flows, function(a, b)
    return a.number < b.number
  end)
  for _, one in ipairs(self.flows) do
    local from, to = nodes[one.from], nodes[one.to]
    if not to then
      local names = table.move(self.graph.order, 1, #self.graph.order, 1, {})
      local meant = rules.suggest(one.to, names)
      self.report:refuse(from, ('leads to "%s", which is no node%s'):format(one.to,
        meant and (' (did you mean "%s"?)'):format(meant) or ""))
    elseif to.scope ~= from.scope then
      self.report:refuse(from, ('leads to "%s" in another scope (a flow stays in its scope)')
        :format(one.to))
    else
      one.id, one.number = unused(ids, one), nil
      table.insert(from.out, one)
      table.insert(to.into, one)
    end
  end
end

function Reading:join_boundaries()
  for _, node in ipairs(self.boundaries) do
    local host = node.attached and self.graph.nodes[node.attached]
    if not host or host.scope ~= node.scope then
      self.report:refuse(node, ("on: %s is no activity of its scope"):format(show(node.attached)))
    else
      host.boundaries = host.boundaries or {}
      table.insert(host.boundaries, node.id)
    end
  end
end

-- new(graph, report, readers) -> a reading
function reading.new(graph, report, readers)
  return setmetatable({ graph = graph, report = report, readers = readers, flows = {},
    boundaries = {}, depth = 0, count = 0 }, Reading)
end

return reading
