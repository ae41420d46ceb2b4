-- Boxes in layers, from the left to the right, and the order in each layer.
--
--     item = { width, top, bottom = how far it reaches above and below its ports }
--     edge = { from, to = items, offset = of the port it leaves from, label = { width, height } }
--     cell = { item, or edge that passes through here, layer, position, top, bottom, width,
--       left, right = { link, … } to the layers beside it }
--     segment = { a, b = cells, a_side, b_side = 1 (right) or -1 (left), offset = of a's port,
--       edge }
--
-- A segment lies in a channel between two layers, the first one (0) before the first layer. So each
-- line has a cell of its own in all layers through which it passes, and no box is in its way.
local layers = {}

local SWEEPS, WORK = 12, 60000 -- how often layers are sorted at most, and cells and segments in all
local THIN = 7 -- how far a line keeps from what is above and below it
local LABEL_GAP = 6

-- ---- which layer ----

-- Visits what follows an item: edges that lead back to where the way came from are turned.
local function visit(item, state)
  item.seen, state.count = state.count, state.count + 1
  state.open[item] = true
  for _, edge in ipairs(state.out[item]) do
    edge.back = state.open[edge.to] == true
    if not edge.to.seen then
      visit(edge.to, state)
    end
  end
  state.open[item] = nil
  table.insert(state.done, 1, item)
end

local function out_of(items, edges)
  local out, into = {}, {}
  for _, item in ipairs(items) do
    out[item], into[item] = {}, 0
  end
  for _, edge in ipairs(edges) do
    table.insert(out[edge.from], edge)
    into[edge.to] = into[edge.to] + (edge.to ~= edge.from and 1 or 0)
  end
  return out, into
end

-- What is before everything that it leads to, and as near to the left as that allows.
local function assign(items, edges)
  local out, into = out_of(items, edges)
  local state = { out = out, open = {}, done = {}, count = 1 }
  for _, first in ipairs { true, false } do
    for _, item in ipairs(items) do
      if not item.seen and (into[item] == 0 or not first) then
        visit(item, state)
      end
    end
  end
  for _, item in ipairs(state.done) do
    item.layer = item.layer or 1
    for _, edge in ipairs(out[item]) do
      if not edge.back then
        local layer = item.layer + (edge.label and 2 or 1)
        edge.to.layer = math.max(edge.to.layer or 1, layer)
      end
    end
  end
end

-- ---- cells ----

local function add_cell(plan, cell)
  local layer = plan.layers[cell.layer] or {}
  plan.layers[cell.layer] = layer
  layer[#layer + 1] = cell
  cell.left, cell.right = {}, {}
  plan.count = plan.count + 1
  return cell
end

local function pass(plan, edge, layer, label)
  local rank = edge.back and edge.from.seen + 0.7 or edge.from.seen + 0.3
  local above = label and label.height + LABEL_GAP or THIN
  return add_cell(plan, { edge = edge, layer = layer, rank = rank, top = above, bottom = THIN,
    width = label and label.width or 0, label = label })
end

local function add_segment(plan, channel, segment)
  local list = plan.channels[channel] or {}
  plan.channels[channel] = list
  list[#list + 1] = segment
  plan.count = plan.count + 1
  if segment.a_side ~= segment.b_side then
    local left, right = segment.a, segment.b
    local by = segment.offset
    if segment.a_side < 0 then
      left, right, by = right, left, -by
    end
    table.insert(left.right, { cell = right, by = by })
    table.insert(right.left, { cell = left, by = -by })
  end
end

local function add_forward(plan, edge)
  local before, offset = edge.from.cell, edge.offset or 0
  local label = edge.label
  for layer = edge.from.layer + 1, edge.to.layer do
    local cell = layer == edge.to.layer and edge.to.cell or pass(plan, edge, layer, label)
    label = nil
    add_segment(plan, layer - 1, { a = before, b = cell, a_side = 1, b_side = -1, offset = offset,
      edge = edge })
    before, offset = cell, 0
  end
end

local function add_back(plan, edge)
  local before, offset, label = edge.from.cell, edge.offset or 0, edge.label
  for layer = edge.from.layer, edge.to.layer, -1 do
    local cell, is_first = pass(plan, edge, layer, label), layer == edge.from.layer
    label = nil
    add_segment(plan, layer, { a = before, b = cell, a_side = is_first and 1 or -1, b_side = 1,
      offset = offset, edge = edge })
    before, offset = cell, 0
  end
  add_segment(plan, edge.to.layer - 1, { a = before, b = edge.to.cell, a_side = -1, b_side = -1,
    offset = 0, edge = edge })
end

local function cells_of(items, edges, most)
  local plan = { layers = {}, channels = {}, count = 0 }
  for _, item in ipairs(items) do
    item.cell = add_cell(plan, { item = item, layer = item.layer, rank = item.seen,
      top = item.top, bottom = item.bottom, width = item.width })
  end
  for _, edge in ipairs(edges) do
    local add = edge.back and add_back or add_forward
    add(plan, edge)
    if plan.count > most then
      return nil
    end
  end
  return plan
end

-- ---- order ----

local function number(layer)
  for position, cell in ipairs(layer) do
    cell.position = position
  end
end

local function sort(layer, key)
  for _, cell in ipairs(layer) do
    cell.key = key(cell)
  end
  table.sort(layer, function(a, b)
    if a.key ~= b.key then
      return a.key < b.key
    end
    return a.position < b.position
  end)
  number(layer)
end

local function mean_of(side)
  return function(cell)
    local sum, links = 0, cell[side]
    for _, link in ipairs(links) do
      sum = sum + link.cell.position - link.by / 10000
    end
    return links[1] and sum / #links or cell.position
  end
end

-- How many numbers of a list stand behind a larger one; they are at most `most`.
local function inversions(list, most)
  local tree, count = {}, 0
  for seen, value in ipairs(list) do
    local smaller, at = 0, value
    while at > 0 do
      smaller, at = smaller + (tree[at] or 0), at - (at & -at)
    end
    count, at = count + seen - 1 - smaller, value
    while at <= most do
      tree[at], at = (tree[at] or 0) + 1, at + (at & -at)
    end
  end
  return count
end

-- How many lines cross between a layer and the next one.
local function crossings_behind(layer, next_layer)
  local ends = {}
  for _, cell in ipairs(layer) do
    local own = {}
    for _, link in ipairs(cell.right) do
      own[#own + 1] = link.cell.position
    end
    table.sort(own)
    table.move(own, 1, #own, #ends + 1, ends)
  end
  return inversions(ends, #next_layer)
end

local function crossings(plan)
  local count = 0
  for i = 1, #plan.layers - 1 do
    count = count + crossings_behind(plan.layers[i], plan.layers[i + 1])
  end
  return count
end

local function keep(plan)
  local kept = {}
  for i, layer in ipairs(plan.layers) do
    kept[i] = table.move(layer, 1, #layer, 1, {})
  end
  return kept
end

local function sweep(plan, forward)
  local from, to, step = 2, #plan.layers, 1
  if not forward then
    from, to, step = #plan.layers - 1, 1, -1
  end
  for i = from, to, step do
    sort(plan.layers[i], mean_of(forward and "left" or "right"))
  end
end

-- Sorts the cells of each layer so that few lines cross.
local function order(plan)
  for _, layer in ipairs(plan.layers) do
    number(layer)
    sort(layer, function(cell)
      return cell.rank
    end)
  end
  local best, fewest = keep(plan), crossings(plan)
  local sweeps = math.max(2, math.min(SWEEPS, WORK // plan.count))
  for i = 1, fewest > 0 and sweeps or 0 do
    sweep(plan, i % 2 == 1)
    local count = crossings(plan)
    if count < fewest then
      best, fewest = keep(plan), count
    end
  end
  plan.layers = best
  for _, layer in ipairs(best) do
    number(layer)
  end
end

-- of(items, edges, most) -> { layers = { { cell, … }, … }, channels = { [0…] = { segment, … } } };
-- nil if it has more than `most` cells and segments
function layers.of(items, edges, most)
  assign(items, edges)
  local plan = cells_of(items, edges, most)
  if plan then
    order(plan)
  end
  return plan
end

return layers
