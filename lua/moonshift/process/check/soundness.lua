-- What is doubtful about a graph: it can be run, and it may not end as its author thinks.
local soundness = {}

local CONDITIONAL = { exclusive = true, inclusive = true }

-- ---- reaching ----

-- Where a token may go on from a node: by its flows, its links, its boundary events.
local function followers(node, links)
  local list = {}
  for _, flow in ipairs(node.kind ~= "end" and node.out or {}) do
    list[#list + 1] = flow.to
  end
  for _, id in ipairs(node.boundaries or {}) do
    list[#list + 1] = id
  end
  if node.kind == "throw" and node.event.kind == "link" then
    list[#list + 1] = links[node.event.name]
  end
  return list
end

local function links_of(graph)
  local links = {}
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    if node.kind == "catch" and node.event.kind == "link" then
      links[node.event.name] = id
    end
  end
  return links
end

-- The ids that are reached from `from` by `next`, which maps an id to a list of ids.
local function closure(from, next)
  local seen, open = {}, {}
  for _, id in ipairs(from) do
    seen[id] = true
    open[#open + 1] = id
  end
  while open[1] do
    for _, id in ipairs(next[table.remove(open)] or {}) do
      if not seen[id] then
        seen[id] = true
        open[#open + 1] = id
      end
    end
  end
  return seen
end

local function turned(next)
  local back = {}
  for id, list in pairs(next) do
    for _, to in ipairs(list) do
      back[to] = back[to] or {}
      table.insert(back[to], id)
    end
  end
  return back
end

-- Nothing leads to these, and tokens stand there none the less.
local function is_source(node)
  return node.kind == "start" or node.kind == "event_subprocess" or node.compensates
end

-- A token that has no flow to go on by ends there.
local function is_last(node)
  local links = node.kind == "throw" and node.event.kind == "link"
  return node.kind == "end" or (#node.out == 0 and not links)
end

local function check_reach(graph, next, report)
  local sources, last = {}, {}
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    sources[#sources + 1] = is_source(node) and id or nil
    last[#last + 1] = is_last(node) and id or nil
  end
  local reached, ends = closure(sources, next), closure(last, turned(next))
  for _, id in ipairs(graph.order) do
    if not reached[id] then
      report:warn(graph.nodes[id], "nothing leads to it")
    elseif not ends[id] then
      report:warn(graph.nodes[id], "no end can be reached from it")
    end
  end
end

-- ---- cycles ----

-- Nodes at which an instance waits, or a unit ends.
local function waits(node)
  local kind = node.kind
  if node.before or node.after or (node.multi and node.multi.before) then
    return true
  elseif kind == "catch" then
    return node.event.kind ~= "link"
  end
  return kind == "user" or kind == "receive" or kind == "event_gateway" or kind == "call"
    or kind == "subprocess" or kind == "transaction"
    or (node.behaviour ~= nil and node.behaviour.topic ~= nil)
end

-- `next` between the nodes that `keep` says.
local function between(graph, next, keep)
  local inside = {}
  for id, list in pairs(next) do
    inside[id] = keep(graph.nodes[id]) and {} or nil
    for _, to in ipairs(inside[id] and list or {}) do
      inside[id][#inside[id] + 1] = keep(graph.nodes[to]) and to or nil
    end
  end
  return inside
end

-- Walks in depth from `from` and appends each id to `left` as it is left for good.
local function leave(from, next, seen, left)
  local stack = { { id = from, at = 0 } }
  seen[from] = true
  while stack[1] do
    local top = stack[#stack]
    top.at = top.at + 1
    local to = next[top.id][top.at]
    if not to then
      left[#left + 1] = table.remove(stack).id
    elseif not seen[to] then
      seen[to] = true
      stack[#stack + 1] = { id = to, at = 0 }
    end
  end
end

-- The ids that reach each other: a number for each (the components of Kosaraju's algorithm).
local function components(order, next)
  local seen, left, back, numbers = {}, {}, turned(next), {}
  for _, id in ipairs(order) do
    if next[id] and not seen[id] then
      leave(id, next, seen, left)
    end
  end
  for number = #left, 1, -1 do
    local open = { not numbers[left[number]] and left[number] or nil }
    while open[1] do
      local id = table.remove(open)
      numbers[id] = number
      for _, from in ipairs(back[id] or {}) do
        open[#open + 1] = not numbers[from] and from or nil
      end
    end
  end
  return numbers
end

local function has(list, id)
  for _, one in ipairs(list) do
    if one == id then
      return true
    end
  end
  return false
end

-- For each node of a cycle, the first node of it in the file. Only nodes with `keep` count.
local function cycles(graph, next, keep)
  local inside, first, found = between(graph, next, keep), {}, {}
  local numbers, sizes = components(graph.order, inside), {}
  for _, id in ipairs(graph.order) do
    local number = numbers[id]
    if number then
      first[number] = first[number] or id
      sizes[number] = (sizes[number] or 0) + 1
    end
  end
  for id, number in pairs(numbers) do
    local cycle = sizes[number] > 1 or has(inside[id], id)
    found[id] = cycle and first[number] or nil
  end
  return found
end

local function check_cycles(graph, next, report)
  local busy = cycles(graph, next, function(node)
    return not waits(node)
  end)
  local any = cycles(graph, next, function()
    return true
  end)
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    if busy[id] == id then
      report:warn(node, "begins a cycle in which nothing waits (expected asyncBefore in it)")
    end
    if node.kind == "inclusive" and #node.into > 1 and any[id] then
      report:warn(node, "is an inclusive join inside a cycle")
    end
  end
end

-- ---- forks and joins ----

-- For each flow out of a node, { flow, reached = the ids that a token on it can come to }.
local function branches(node, next)
  local list = {}
  for i, flow in ipairs(node.out) do
    list[i] = { flow = flow, reached = closure({ flow.to }, next) }
  end
  return list
end

-- Of how many flows into the join a token of this branch can be.
local function fed(branch, join)
  local count = 0
  for _, flow in ipairs(join.into) do
    count = count + ((branch.reached[flow.from] or flow == branch.flow) and 1 or 0)
  end
  return count
end

-- How many branches reach the node.
local function reaching(list, id)
  local count = 0
  for _, branch in ipairs(list) do
    count = count + (branch.reached[id] and 1 or 0)
  end
  return count
end

-- True if a branch reaches the join and brings too few tokens, and never comes back to the split.
local function is_starved(join, split, list)
  if reaching(list, join.id) < 2 then
    return false
  end
  for _, branch in ipairs(list) do
    local passes = branch.reached[join.id] and not branch.reached[split.id]
    if passes and fed(branch, join) < #join.into then
      return true
    end
  end
  return false
end

-- A join that waits for all of its flows, of which a split chooses only some.
local function check_starved(graph, next, split, report)
  local list = branches(split, next)
  for _, id in ipairs(graph.order) do
    local join = graph.nodes[id]
    local joins = join.kind == "parallel" and #join.into > 1 and join.scope == split.scope
    if joins and is_starved(join, split, list) then
      report:warn(join, ('is a parallel join that "%s" can starve: it sends a token to one of its '
        .. "flows alone"):format(split.id))
      return
    end
  end
end

-- Branches of a fork that come to one end without a join between.
local function check_unjoined(graph, unjoined, fork, report)
  local list = branches(fork, unjoined)
  for _, id in ipairs(graph.order) do
    local last = graph.nodes[id]
    local count = last.kind == "end" and last.scope == fork.scope and last.event.kind == "none"
      and reaching(list, id) or 0
    if count > 1 then
      report:warn(fork, ('%d of its branches reach the end "%s" without a join'):format(count, id))
      return
    end
  end
end

-- `next` without the ways through joins.
local function without_joins(graph, next)
  local some = {}
  for id, list in pairs(next) do
    local kind = graph.nodes[id].kind
    some[id] = kind ~= "parallel" and kind ~= "inclusive" and list or nil
  end
  return some
end

local function check_splits(graph, next, report)
  local unjoined = without_joins(graph, next)
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    if node.kind == "exclusive" and #node.out > 1 then
      check_starved(graph, next, node, report)
    elseif node.kind == "parallel" and #node.out > 1 then
      check_unjoined(graph, unjoined, node, report)
    end
  end
end

local function check_default(node, report)
  if not CONDITIONAL[node.kind] or #node.out < 2 then
    return
  end
  for _, flow in ipairs(node.out) do
    if flow.default or flow.when == nil then
      return
    end
  end
  report:warn(node, ("an %s gateway without a default flow"):format(node.kind))
end

local function check_dead_flows(node, report)
  if node.kind == "end" and node.out[1] then
    report:warn(node, "an end event has outgoing flows, which nothing takes")
  elseif node.kind == "start" and node.into[1] then
    report:warn(node, "a start event has incoming flows")
  end
end

-- check(graph, report): warns of what can be run and is doubtful.
function soundness.check(graph, report)
  local next, links = {}, links_of(graph)
  for _, id in ipairs(graph.order) do
    next[id] = followers(graph.nodes[id], links)
  end
  check_reach(graph, next, report)
  check_cycles(graph, next, report)
  check_splits(graph, next, report)
  for _, id in ipairs(graph.order) do
    check_default(graph.nodes[id], report)
    check_dead_flows(graph.nodes[id], report)
  end
end

return soundness
