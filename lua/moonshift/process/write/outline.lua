-- What of a graph can be written in blocks: gateways whose branches all meet again, without another
-- way in or out.
local outline = {}

local JOINS = { exclusive = "exclusive", parallel = "parallel", inclusive = "inclusive",
  event_gateway = "exclusive" }
local BRANCHED = { exclusive = true, inclusive = true }

local Outline = {}
Outline.__index = Outline

-- Conditions must stand on the branches of a choice, and nowhere else.
local function flows_fit(node)
  local conditional = BRANCHED[node.kind]
  for _, flow in ipairs(node.out) do
    local asked = flow.when ~= nil or flow.default
    if (conditional and not asked) or (not conditional and asked)
      or (flow.when ~= nil and flow.default) then
      return false
    end
  end
  return true
end

-- The next node of a branch behind this one; nil if it leaves in another way.
function Outline:behind(node)
  local join = self:join_of(node)
  local last = join or node
  if #last.out == 1 and last.out[1].when == nil and not last.out[1].default then
    return self.graph.nodes[last.out[1].to]
  end
end

-- The gateway at which a branch ends that begins with `node`; nil if it never comes to one.
function Outline:end_of_branch(node, kind)
  local seen = {}
  while node and not seen[node] do
    if node.kind == kind and #node.into > 1 then
      return node
    elseif #node.into ~= 1 or node.kind == "end" then
      return nil
    end
    seen[node] = true
    node = self:behind(node)
  end
end

local function find(self, node)
  local kind = JOINS[node.kind]
  if not kind or #node.out < 2 or not flows_fit(node) then
    return false
  end
  local join
  for _, flow in ipairs(node.out) do
    local met = self:end_of_branch(self.graph.nodes[flow.to], kind)
    if not met or met == node or (join and join ~= met) then
      return false
    end
    join = met
  end
  return #join.into == #node.out and #join.out == 1 and join or false
end

-- join_of(node) -> the gateway where the branches of this one meet; false if they do not.
function Outline:join_of(node)
  local known = self.joins[node.id]
  if known == nil then
    self.joins[node.id] = false -- a branch that leads back here does not end
    known = find(self, node)
    self.joins[node.id] = known
  end
  return known
end

-- new(graph) -> { graph, scopes = { [id of a scope, "" for the process] = nodes in order } }
function outline.new(graph)
  local scopes = {}
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    local scope = node.scope or ""
    scopes[scope] = scopes[scope] or {}
    table.insert(scopes[scope], node)
  end
  return setmetatable({ graph = graph, scopes = scopes, joins = {} }, Outline)
end

return outline
