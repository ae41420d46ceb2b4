-- Splits and joins of a graph that do not fit together. All of them are looked at together, so the
-- cost does not grow with the square of their number.
local reach = require "moonshift.process.check.reach"

local forks = {}

-- Kinds of nodes at which more than one flow begins, or ends.
local function splits(node, kind)
  return node.kind == kind and #node.out > 1
end

local function joins(node)
  return node.kind == "parallel" and #node.into > 1
end

-- Ids of nodes by the scope in which they lie; false for the process.
local function by_scope(graph, wanted)
  local scopes = {}
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    if wanted(node) then
      local scope = node.scope or false
      scopes[scope] = scopes[scope] or {}
      table.insert(scopes[scope], node)
    end
  end
  return scopes
end

-- ---- joins that starve ----

-- The flows into joins: { from = the ids of their sources, at = the place of each flow }, and for
-- each join the bits of its flows by their words.
local function flows_of(graph)
  local from, at, masks = {}, {}, {}
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    for _, flow in ipairs(joins(node) and node.into or {}) do
      from[#from + 1], at[flow] = flow.from, #from + 1
      local word, bit = reach.place(#from)
      masks[id] = masks[id] or {}
      masks[id][word] = (masks[id][word] or 0) | bit
    end
  end
  return from, at, masks
end

-- Ends that do not end what is around them.
local LOUD = { terminate = true, error = true, escalation = true, cancel = true }

-- The ids from which a token may come to a place where it is gone and others stay.
local function fading(graph, next)
  local last = {}
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    local ends = node.kind == "end" and not LOUD[node.event.kind]
    local stops = node.kind ~= "end" and node.kind ~= "event_subprocess" and not next[id][1]
    last[#last + 1] = (ends or stops) and id or nil
  end
  return reach.closure(last, reach.turned(next))
end

-- For each flow out of a split, { words = the flows into joins on which its token can be, fades =
-- its token may be gone before it comes to any of them }.
local function branches(split, words, fades, at)
  local list = {}
  for i, flow in ipairs(split.out) do
    local found = words(flow.to)
    if at[flow] then
      local word, bit = reach.place(at[flow])
      found[word] = found[word] | bit
    end
    list[i] = { words = found, fades = fades[flow.to] }
  end
  return list
end

-- The flows of a join that any of the branches reaches, by their words; whether these are all.
local function fed_by(list, mask)
  local fed, all = {}, true
  for word, bits in pairs(mask) do
    local found = 0
    for _, branch in ipairs(list) do
      found = found | branch.words[word] & bits
    end
    fed[word], all = found, all and found == bits
  end
  return fed, all
end

-- Whether a branch reaches some of these flows, and whether it reaches all of them.
local function share(branch, fed)
  local some, all = false, true
  for word, bits in pairs(fed) do
    local found = branch.words[word] & bits
    some, all = some or found ~= 0, all and found == bits
  end
  return some, all
end

local ALONE = 'is a parallel join that "%s" can starve: it sends a token to one of its flows alone'
local PAST = 'is a parallel join that "%s" can starve: a way from there passes it by'

-- How a split starves a join, or nil. A branch that leads to some of the flows which the split
-- feeds leaves the others without a token. So does one that leads to none, where other flows of the
-- join are fed from elsewhere. One that leads to none of all is no harm: nothing waits there.
local function starves(mask, list)
  local fed, whole = fed_by(list, mask)
  local past = false
  for _, branch in ipairs(list) do
    local some, all = share(branch, fed)
    if some and not all then
      return ALONE
    end
    past = past or not all and not whole and branch.fades
  end
  return past and PAST or nil
end

-- A join that waits for all of its flows, to which a split may send too few tokens.
local function check_starved(graph, next, report)
  local from, at, masks = flows_of(graph)
  local words = reach.marks(graph.order, next, from)
  local scopes, fades = by_scope(graph, joins), fading(graph, next)
  for _, id in ipairs(graph.order) do
    local split = graph.nodes[id]
    local near = splits(split, "exclusive") and scopes[split.scope or false] or {}
    local list = near[1] and branches(split, words, fades, at)
    for _, join in ipairs(near) do
      local how = starves(masks[join.id], list)
      if how then
        report:warn(join, how:format(id))
        break
      end
    end
  end
end

-- ---- forks without a join ----

-- `next` without the ways through joins.
local function without_joins(graph, next)
  local some = {}
  for id, list in pairs(next) do
    local kind = graph.nodes[id].kind
    some[id] = kind ~= "parallel" and kind ~= "inclusive" and list or {}
  end
  return some
end

-- How many of the branches come to the mark.
local function reaching(list, i)
  local word, bit = reach.place(i)
  local count = 0
  for _, words in ipairs(list) do
    count = count + (words[word] & bit ~= 0 and 1 or 0)
  end
  return count
end

local function plain_end(node)
  return node.kind == "end" and node.event.kind == "none"
end

-- Branches of a fork that come to one end without a join between.
local function check_fork(fork, ends, marks, words, report)
  local list = {}
  for i, flow in ipairs(fork.out) do
    list[i] = words(flow.to)
  end
  for _, last in ipairs(ends) do
    local count = reaching(list, marks[last.id])
    if count > 1 then
      report:warn(fork, ('%d of its branches reach the end "%s" without a join'):format(count,
        last.id))
      return
    end
  end
end

local function check_unjoined(graph, next, report)
  local ids, marks, scopes = {}, {}, by_scope(graph, plain_end)
  for _, id in ipairs(graph.order) do
    if plain_end(graph.nodes[id]) then
      ids[#ids + 1], marks[id] = id, #ids + 1
    end
  end
  local words = reach.marks(graph.order, without_joins(graph, next), ids)
  for _, id in ipairs(graph.order) do
    local fork = graph.nodes[id]
    if splits(fork, "parallel") then
      check_fork(fork, scopes[fork.scope or false] or {}, marks, words, report)
    end
  end
end

-- check(graph, next, report): warns of joins that starve, and of forks without a join.
function forks.check(graph, next, report)
  check_starved(graph, next, report)
  check_unjoined(graph, next, report)
end

return forks
