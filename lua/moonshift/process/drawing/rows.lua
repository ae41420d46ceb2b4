-- The heights of the cells of layers: each as near as may be to what its lines come from, and none
-- over another.
local rows = {}

local GAP = 22 -- between two boxes of a layer
local LINE_GAP = 4 -- beside a line that passes
local PASSES = 7 -- an odd number: the last one goes from the left to the right

-- How far two cells that stand one above the other keep from each other, port from port.
local function distance(above, below)
  local gap = (above.item and below.item) and GAP or LINE_GAP
  return above.bottom + gap + below.top
end

local function middle(list)
  table.sort(list)
  local half = #list // 2
  if #list % 2 == 1 then
    return list[half + 1]
  end
  return (list[half] + list[half + 1]) / 2
end

-- Where a cell would be without the others of its layer, and how much that counts.
local function wish(cell, side)
  local places = {}
  for _, link in ipairs(cell[side]) do
    places[#places + 1] = link.cell.y - link.by
  end
  if not places[1] then
    return cell.y, 0.1
  end
  return middle(places), cell.item and 4 or 3
end

-- ---- blocks ----

-- A block: cells that stand as near to one another as they may. { at = height of the first one,
-- size = down to where the next one may stand, weight, wishes = { { at, weight }, … } in order,
-- cells }

local function add_wish(wishes, one)
  local low, high = 1, #wishes + 1
  while low < high do
    local half = (low + high) // 2
    if wishes[half].at < one.at then
      low = half + 1
    else
      high = half
    end
  end
  table.insert(wishes, low, one)
end

-- The height that is too low for half of a block, and too high for the other half: one of its cells
-- stands exactly where it would like to.
local function settle_block(block)
  local left = block.weight / 2
  for i, one in ipairs(block.wishes) do
    left = left - one.weight
    if left < -1e-9 then
      block.at = one.at
      return
    elseif left < 1e-9 then
      block.at = (one.at + block.wishes[i + 1].at) / 2
      return
    end
  end
end

-- Puts a block below another one: they move as one from now on.
local function merge(above, below)
  for _, one in ipairs(below.wishes) do
    add_wish(above.wishes, { at = one.at - above.size, weight = one.weight })
  end
  table.move(below.cells, 1, #below.cells, #above.cells + 1, above.cells)
  above.weight, above.size = above.weight + below.weight, above.size + below.size
  settle_block(above)
end

-- Gives the cells of a layer their heights: their wishes, as far as the distances allow.
local function settle(layer, side)
  local blocks = {}
  for i, cell in ipairs(layer) do
    local at, weight = wish(cell, side)
    local size = layer[i + 1] and distance(cell, layer[i + 1]) or 0
    local block = { at = at, size = size, weight = weight, cells = { cell },
      wishes = { { at = at, weight = weight } } }
    while blocks[1] and blocks[#blocks].at + blocks[#blocks].size > block.at do
      local above = table.remove(blocks)
      merge(above, block)
      block = above
    end
    blocks[#blocks + 1] = block
  end
  for _, block in ipairs(blocks) do
    local y = block.at
    for i, cell in ipairs(block.cells) do
      cell.y = math.floor(y + 0.5)
      y = y + (block.cells[i + 1] and distance(cell, block.cells[i + 1]) or 0)
    end
  end
end

-- Rounding may have taken a pixel.
local function part(layer)
  for i = 2, #layer do
    local least = layer[i - 1].y + distance(layer[i - 1], layer[i])
    layer[i].y = math.max(layer[i].y, math.ceil(least))
  end
end

-- of(plan): gives each cell `y`, the height of its ports; the topmost reaches up to 0. Returns how
-- high it all is.
function rows.of(plan)
  for _, layer in ipairs(plan.layers) do
    for i, cell in ipairs(layer) do
      cell.y = i == 1 and 0 or layer[i - 1].y + distance(layer[i - 1], cell)
    end
  end
  for pass = 1, PASSES do
    local forward = pass % 2 == 1
    for i = 1, #plan.layers do
      local layer = plan.layers[forward and i or #plan.layers + 1 - i]
      settle(layer, forward and "left" or "right")
      part(layer)
    end
  end
  local top, bottom = math.huge, -math.huge
  for _, layer in ipairs(plan.layers) do
    top = math.min(top, layer[1].y - layer[1].top)
    bottom = math.max(bottom, layer[#layer].y + layer[#layer].bottom)
  end
  for _, layer in ipairs(plan.layers) do
    for _, cell in ipairs(layer) do
      cell.y = cell.y - top
    end
  end
  return bottom - top
end

return rows
