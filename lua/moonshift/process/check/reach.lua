-- Where tokens can come to in a graph. `next` maps the id of each node to the ids that follow it.
local reach = {}

local WORD = 62 -- marks in one integer
local NONE = {}

-- ---- what follows ----

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

-- Where a token may go on from a node: by its flows, its links, its boundary events.
local function followers(node, links)
  local list = {}
  for _, flow in ipairs(node.kind ~= "end" and node.out or NONE) do
    list[#list + 1] = flow.to
  end
  for _, id in ipairs(node.boundaries or NONE) do
    list[#list + 1] = id
  end
  if node.kind == "throw" and node.event.kind == "link" then
    list[#list + 1] = links[node.event.name]
  end
  return list
end

-- next(graph) -> what follows each node
function reach.next(graph)
  local next, links = {}, links_of(graph)
  for _, id in ipairs(graph.order) do
    next[id] = followers(graph.nodes[id], links)
  end
  return next
end

-- turned(next) -> the same ways backwards
function reach.turned(next)
  local back = {}
  for id, list in pairs(next) do
    for _, to in ipairs(list) do
      back[to] = back[to] or {}
      table.insert(back[to], id)
    end
  end
  return back
end

-- closure(from, next) -> the ids that are reached from one of the list `from`, as a set
function reach.closure(from, next)
  local seen, open = {}, {}
  for _, id in ipairs(from) do
    seen[id] = true
    open[#open + 1] = id
  end
  while open[1] do
    for _, id in ipairs(next[table.remove(open)] or NONE) do
      if not seen[id] then
        seen[id] = true
        open[#open + 1] = id
      end
    end
  end
  return seen
end

-- ---- cycles ----

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

-- components(order, next) -> a number for each id; ids that reach each other have the same one (the
-- components of Kosaraju's algorithm). What follows another component has a lower number.
function reach.components(order, next)
  local seen, left, back, numbers = {}, {}, reach.turned(next), {}
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
      for _, from in ipairs(back[id] or NONE) do
        open[#open + 1] = not numbers[from] and from or nil
      end
    end
  end
  return numbers
end

-- ---- many questions at once ----

-- The ids of each component, by its number.
local function members_of(order, numbers)
  local members = {}
  for _, id in ipairs(order) do
    local number = numbers[id]
    members[number] = members[number] or {}
    table.insert(members[number], id)
  end
  return members
end

-- For each component the bits of the ids that are reached from it; own: the bits of each id.
local function spread(members, count, next, numbers, own)
  local sums = {}
  for number = 1, count do
    local bits = 0
    for _, id in ipairs(members[number] or NONE) do
      bits = bits | (own[id] or 0)
      for _, to in ipairs(next[id]) do
        bits = bits | (sums[numbers[to]] or 0)
      end
    end
    sums[number] = bits
  end
  return sums
end

-- place(i) -> the word and the bit of mark i
function reach.place(i)
  return (i - 1) // WORD + 1, 1 << (i - 1) % WORD
end

-- marks(order, next, list) -> words(id): for a list of ids, which of them are reached from an id.
-- The answer is a list of integers, in which reach.place says where each mark stands. The cost is
-- that of one look at all nodes for 62 marks.
function reach.marks(order, next, list)
  local numbers = reach.components(order, next)
  local members, own, words = members_of(order, numbers), {}, {}
  for i, id in ipairs(list) do
    local word, bit = reach.place(i)
    own[word] = own[word] or {}
    own[word][id] = (own[word][id] or 0) | bit
  end
  for word, bits in ipairs(own) do
    words[word] = spread(members, #order, next, numbers, bits)
  end
  return function(id)
    local found = {}
    for word, sums in ipairs(words) do
      found[word] = sums[numbers[id]]
    end
    return found
  end, numbers
end

return reach
