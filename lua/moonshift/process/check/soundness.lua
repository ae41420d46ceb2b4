-- What is doubtful about a graph: it can be run, and it may not end as its author thinks.
local forks = require "moonshift.process.check.forks"
local graph_of = require "moonshift.process.graph"
local reach = require "moonshift.process.check.reach"

local soundness = {}

local CONDITIONAL = { exclusive = true, inclusive = true }

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
  local reached, ends = reach.closure(sources, next), reach.closure(last, reach.turned(next))
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
  if graph_of.begins_in_job(node) or node.after or (node.multi and node.multi.before) then
    return true
  elseif kind == "catch" then
    return node.event.kind ~= "link"
  end
  return kind == "user" or kind == "receive" or kind == "event_gateway" or kind == "call"
    or kind == "subprocess" or kind == "transaction"
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
  local numbers, sizes = reach.components(graph.order, inside), {}
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
      report:warn(node,
        "begins a cycle in which nothing waits (expected a job or another wait in it)")
    end
    if node.kind == "inclusive" and #node.into > 1 and any[id] then
      report:warn(node, "is an inclusive join inside a cycle")
    end
  end
end

-- Signs of which one holds where the other does not.
local OPPOSITE = { ["=="] = "!=", ["<"] = ">=", [">"] = "<=", eq = "ne", lt = "ge", gt = "le" }

-- What a condition says, without blanks and what is around it; nil: it is no single expression.
local function said(when)
  local inner = type(when) == "string" and when:match "^%s*[$#]{([^{}]*)}%s*$"
  return inner and inner:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")
end

-- One comparison as its parts, or nil.
local function comparison(text)
  local left, sign, right = text:match "^([%w_.]+) ?([=!<>]=?) ?([%w_.'\"-]+)$"
  if not left then
    left, sign, right = text:match "^([%w_.]+) (%l%l) ([%w_.'\"-]+)$"
  end
  return left, sign, right
end

-- True if `b` holds wherever `a` does not: `x` and `!x`, `n > 1` and `n <= 1`.
local function is_opposite(a, b)
  if b == "!" .. a or b == "! " .. a or b == "not " .. a then
    return a:find "^[%w_.]+$" ~= nil
  elseif b == "!(" .. a .. ")" or b == "not (" .. a .. ")" then
    return true
  end
  local left, sign, right = comparison(a)
  local other, turned, same = comparison(b)
  return left ~= nil and left == other and right == same and OPPOSITE[sign] == turned
end

-- True if two of the conditions leave nothing over.
local function covers_all(flows)
  for i, one in ipairs(flows) do
    local a = said(one.when)
    for k = 1, a and #flows or 0 do
      local b = k ~= i and said(flows[k].when)
      if b and is_opposite(a, b) then
        return true
      end
    end
  end
  return false
end

local function check_default(node, report)
  if not CONDITIONAL[node.kind] or #node.out < 2 then
    return
  end
  for _, flow in ipairs(node.out) do
    if flow.default or flow.when == nil or flow.when == "${true}" then
      return
    end
  end
  if covers_all(node.out) then
    return
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
  local next = reach.next(graph)
  check_reach(graph, next, report)
  check_cycles(graph, next, report)
  forks.check(graph, next, report)
  for _, id in ipairs(graph.order) do
    check_default(graph.nodes[id], report)
    check_dead_flows(graph.nodes[id], report)
  end
end

return soundness
