-- Graphs for specs, as short texts: graphs.make("key", nodes, flows, more).
--
-- nodes: { id = { kind = …, … } or "kind", … }; those that are not named are service tasks without
-- a handler, but "s…" is a start and "e…" an end event. flows: texts "a -> b -> c", or
-- { "a -> b", when =, default =, listeners = }.
local graphs = {}

local function kind_of(id)
  return id:find("^s%d*$") and "start" or id:find("^e%d*$") and "end" or "task"
end

local function node_of(graph, id, given)
  local node = graph.nodes[id]
  if not node then
    given = type(given) == "string" and { kind = given } or given or {}
    node = { id = id, kind = given.kind or kind_of(id), out = {}, into = {} }
    for name, value in pairs(given) do
      node[name] = value
    end
    graph.nodes[id] = node
    graph.order[#graph.order + 1] = id
  end
  return node
end

local function add_flow(graph, from, to, given)
  graph.flows = graph.flows + 1
  local flow = { id = from .. ">" .. to, from = from, to = to }
  for name, value in pairs(given) do
    flow[name] = type(name) == "string" and value or flow[name]
  end
  table.insert(node_of(graph, from).out, flow)
  table.insert(node_of(graph, to).into, flow)
end

local function add_flows(graph, line)
  local given = type(line) == "table" and line or {}
  local from
  for to in (given[1] or line):gmatch("[%w_]+") do
    if from then
      add_flow(graph, from, to, given)
    end
    from = to
  end
end

local function sorted_keys(nodes)
  local ids = {}
  for id in pairs(nodes) do
    ids[#ids + 1] = id
  end
  table.sort(ids)
  return ids
end

local function place(graph, node)
  local around = node.scope and graph.nodes[node.scope] or graph
  if node.kind == "event_subprocess" then
    around.events = around.events or {}
    table.insert(around.events, node.id)
  elseif node.kind == "start" and not around.start then
    around.start = node.id
  elseif node.kind == "boundary" then
    local host = graph.nodes[node.attached]
    host.boundaries = host.boundaries or {}
    table.insert(host.boundaries, node.id)
  end
end

function graphs.make(key, nodes, flows, more)
  local graph = { key = key, nodes = {}, order = {}, flows = 0, path = key .. ".lua" }
  for name, value in pairs(more or {}) do
    graph[name] = value
  end
  for _, id in ipairs(sorted_keys(nodes)) do
    node_of(graph, id, nodes[id])
  end
  for _, line in ipairs(flows) do
    add_flows(graph, line)
  end
  for _, id in ipairs(graph.order) do
    place(graph, graph.nodes[id])
  end
  return graph
end

-- ---- drawing ----

local Random = {}
Random.__index = Random

-- random(seed) -> numbers that are the same on every machine
function graphs.random(seed)
  return setmetatable({ state = seed }, Random)
end

-- upto(n) -> 1 to n
function Random:upto(n)
  self.state = (self.state * 1103515245 + 12345) % 2147483648
  return (self.state >> 8) % n + 1
end

local function is_gateway(node)
  return node == "parallel" or node == "inclusive"
end

-- Draws a process: nodes in a row, flows only forwards, each node of one of these kinds (a text or
-- a function that makes a node). Gateways may fork. Every way ends in the one end event.
function graphs.draw(r, kinds)
  local count = 4 + r:upto(6)
  local nodes, flows = {}, { "s -> n01" }
  for i = 1, count do
    local kind = kinds[r:upto(#kinds)]
    nodes[("n%02d"):format(i)] = type(kind) == "function" and kind() or kind
  end
  for i = 1, count do
    local from = ("n%02d"):format(i)
    local fork = is_gateway(nodes[from]) and r:upto(3) or 1
    local seen = {}
    for _ = 1, fork do
      local to = i + r:upto(4)
      to = to > count and "e" or ("n%02d"):format(to)
      if not seen[to] then
        flows[#flows + 1] = from .. " -> " .. to
        seen[to] = true
      end
    end
  end
  return graphs.make("p", nodes, flows)
end

return graphs
