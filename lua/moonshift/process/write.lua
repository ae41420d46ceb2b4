-- Writes a graph in the Lua form, so that reading the text gives an equal graph. What follows one
-- another stands in sequence, gateways whose branches meet again become blocks; `to` says the rest.
local graphs = require "moonshift.process.graph"
local literal = require "moonshift.process.write.literal"
local options = require "moonshift.process.write.options"
local outline = require "moonshift.process.write.outline"

local WORDS = {
  start = "start", ["end"] = "finish", service = "step", send = "send", rule = "rule",
  script = "script", user = "task", manual = "manual", task = "pass", receive = "receive",
  exclusive = "gateway", parallel = "gateway", inclusive = "gateway", event_gateway = "gateway",
  subprocess = "sub", event_subprocess = "handle", transaction = "sub", call = "call",
  catch = "wait", throw = "throw", boundary = "boundary",
}
local BLOCKS = { exclusive = "choose", parallel = "parallel", inclusive = "inclusive",
  event_gateway = "first" }

-- A writing: { graph, outline, done = { [id] = true }, used = { [word] = true } }.
local Writing = {}
Writing.__index = Writing

function Writing:item(word, node, block)
  self.done[node.id] = true
  self.used[word] = true
  return { word = word, id = node.id, options = options.of(node, block), items = {} }
end

-- ---- where a node leads ----

-- Puts the flow to the next item of the list into the options, as far as it says anything besides
-- what is `known`.
local function write_next(list, flow, known)
  local made = options.flow(flow, known)
  local bare = made and made.id and next(made, next(made)) == nil
  options.add(list, "flow", bare and made.id or made or nil)
end

local function write_to(list, node)
  local targets = {}
  for i, flow in ipairs(node.out) do
    local made = options.flow(flow)
    targets[i] = made or flow.to
    if made then
      made[1] = flow.to
    end
  end
  if #targets == 1 and type(targets[1]) == "string" then
    targets = targets[1]
  end
  options.add(list, "to", targets)
end

-- follow(item, node, stop) -> the id with which the list goes on; nil if it ends here. A
-- branch ends before the node `stop`, where the branches meet.
function Writing:follow(item, node, stop)
  local flow = node.out[1]
  if node.kind == "end" and not flow then
    return nil
  elseif #node.out == 1 and (flow.to == stop or not self.done[flow.to]) then
    write_next(item.options, flow)
    return flow.to ~= stop and flow.to or nil
  end
  write_to(item.options, node)
  return nil
end

-- ---- items ----

function Writing:branch(flow, join)
  local branch = { options = {}, items = {} }
  options.add(branch.options, "when", flow.when)
  options.add(branch.options, "otherwise", flow.default)
  write_next(branch.options, flow, { "when", "default" })
  if flow.to ~= join then
    self:chain(branch.items, flow.to, join)
  end
  return branch
end

-- A gateway whose branches meet again at `join` -> the id of what follows.
function Writing:block(list, node, join, stop)
  local item = self:item(BLOCKS[node.kind], node, true)
  list[#list + 1] = item
  for _, flow in ipairs(node.out) do
    item.items[#item.items + 1] = self:branch(flow, join.id)
  end
  self.done[join.id] = true
  local joined = { options = options.of(join, true) }
  table.insert(joined.options, 1, { "id", literal.value(join.id) })
  local following = self:follow(joined, join, stop)
  item.options[#item.options + 1] = { "join", literal.item(joined, "") }
  return following
end

function Writing:single(list, node, stop)
  local item = self:item(WORDS[node.kind], node)
  list[#list + 1] = item
  if graphs.SCOPES[node.kind] then
    self:scope(item.items, node.id)
  end
  if node.kind == "event_subprocess" then
    return nil
  end
  return self:follow(item, node, stop)
end

-- Puts the node and what follows it into the list, up to `stop` or to what stands elsewhere.
function Writing:chain(list, id, stop)
  while id do
    local node = self.graph.nodes[id]
    local join = self.outline:join_of(node)
    if join and not self.done[join.id] then
      id = self:block(list, node, join, stop)
    else
      id = self:single(list, node, stop)
    end
  end
end

-- A boundary event holds what follows it, unless that stands elsewhere.
function Writing:boundary(list, node)
  local item = self:item("boundary", node)
  list[#list + 1] = item
  local following = self:follow(item, node)
  if following then
    self:chain(item.items, following)
  end
end

-- Puts what lies in a scope into the list: from its starts on, then its boundary events, its event
-- sub-processes, and what nothing leads to.
function Writing:scope(list, scope)
  local inner = self.outline.scopes[scope or ""] or {}
  for _, kind in ipairs { "start", "boundary", "event_subprocess", "any" } do
    for _, node in ipairs(inner) do
      if (node.kind == kind or kind == "any") and not self.done[node.id] then
        local write = kind == "boundary" and self.boundary or self.chain
        write(self, list, kind == "boundary" and node or node.id)
      end
    end
  end
end

-- ---- the file ----

local function head(used)
  local words, fields = {}, {}
  for word in pairs(used) do
    words[#words + 1] = word
  end
  table.sort(words)
  for i, word in ipairs(words) do
    fields[i] = "process." .. word
  end
  return ('local process = require "moonshift.process"\nlocal %s =\n  %s\n'):format(
    table.concat(words, ", "), table.concat(fields, ", "))
end

local function text_of(graph)
  local self = setmetatable({ graph = graph, outline = outline.new(graph), done = {}, used = {} },
    Writing)
  local file = { options = options.graph(graph), items = {} }
  self:scope(file.items, nil)
  return ("%s\nreturn %s\n"):format(head(self.used), literal.item(file, ""))
end

-- write(graph) -> the text of a file that gives an equal graph; or nil, message: a graph with
-- functions has no text but its own file's.
return function(graph)
  local fine, text = pcall(text_of, graph)
  if fine then
    return text
  end
  return nil, ("%s: %s"):format(graph.key, tostring(text))
end
