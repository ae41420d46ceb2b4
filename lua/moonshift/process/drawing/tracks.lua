-- The upright parts of lines, side by side in the channels between layers. Lines of one source or
-- of one target share theirs; others never lie on one another.
local tracks = {}

local STEP = 14 -- between two of them
local BEFORE, BEHIND = 18, 32 -- room beside them; behind them there are arrowheads
local TURNS = 8 -- how often all neighbours are compared at most
local PAIRS_MAX = 2500 -- of the lines of two bundles that are compared
local NEAR = 3 -- heights that look the same

-- ---- bundles ----

local function ends(segment)
  segment.from = segment.a.y + segment.offset
  segment.to = segment.b.y
end

local function count_sources(channel)
  local count = {}
  for _, segment in ipairs(channel) do
    local source = segment.edge.port or segment.a
    segment.source = source
    count[source] = (count[source] or 0) + 1
  end
  return count
end

-- The bundle of a segment: with others of its source if there are any, else of its target.
local function bundle_of(by, segment, count)
  local is_shared = count[segment.source] > 1
  local key = is_shared and segment.source or segment.b
  local kind = (is_shared and "source" or "target") .. segment.a_side .. segment.b_side
  by[kind] = by[kind] or {}
  by[kind][key] = by[kind][key] or { top = math.huge, bottom = -math.huge }
  return by[kind][key]
end

-- The bundles of a channel that need an upright part.
local function bundles_of(channel)
  local list, by, count = {}, {}, count_sources(channel)
  for _, segment in ipairs(channel) do
    ends(segment)
    if segment.from ~= segment.to or segment.a_side == segment.b_side then
      local bundle = bundle_of(by, segment, count)
      if not bundle[1] then
        list[#list + 1] = bundle
      end
      bundle[#bundle + 1], segment.bundle = segment, bundle
      bundle.top = math.min(bundle.top, segment.from, segment.to)
      bundle.bottom = math.max(bundle.bottom, segment.from, segment.to)
    end
  end
  return list
end

-- ---- order ----

-- The heights at which a bundle has level parts on one side of its upright one.
local function levels(bundle)
  if not bundle.levels then
    bundle.levels = { [1] = {}, [-1] = {} }
    for _, segment in ipairs(bundle) do
      table.insert(bundle.levels[-segment.a_side], segment.from)
      table.insert(bundle.levels[-segment.b_side], segment.to)
    end
  end
  return bundle.levels
end

-- What it costs that a bundle stands left of another: crossings, and level parts on one another.
local function cost(left, right)
  local sum = 0
  if #left * #right > PAIRS_MAX then
    return sum
  end
  for _, height in ipairs(levels(left)[1]) do
    sum = sum + (height >= right.top and height <= right.bottom and 1 or 0)
    for _, other in ipairs(levels(right)[-1]) do
      sum = sum + (math.abs(height - other) < NEAR and 1000 or 0)
    end
  end
  for _, height in ipairs(levels(right)[-1]) do
    sum = sum + (height >= left.top and height <= left.bottom and 1 or 0)
  end
  return sum
end

local function order(list)
  for _ = 1, TURNS do
    local is_changed = false
    for i = 1, #list - 1 do
      if cost(list[i + 1], list[i]) < cost(list[i], list[i + 1]) then
        list[i], list[i + 1], is_changed = list[i + 1], list[i], true
      end
    end
    if not is_changed then
      return
    end
  end
end

local function touches(a, b)
  return a.top <= b.bottom + NEAR and b.top <= a.bottom + NEAR
end

-- Numbers the bundles; those that do not touch may have the same number. Returns the largest one.
local function pack(list)
  local most = 0
  for i, bundle in ipairs(list) do
    bundle.track = 1
    for j = 1, i - 1 do
      if touches(list[j], bundle) then
        bundle.track = math.max(bundle.track, list[j].track + 1)
      end
    end
    most = math.max(most, bundle.track)
  end
  return most
end

-- ---- places ----

local function widest(layer)
  local width = 0
  for _, cell in ipairs(layer) do
    width = math.max(width, cell.width)
  end
  return width
end

-- Segments of a source that has several know the last upright part of them.
local function note_forks(channel)
  local last = {}
  for _, segment in ipairs(channel) do
    local bundle, far = segment.bundle, last[segment.source]
    if bundle and segment.a_side == 1 and (not far or bundle.x > far.x) then
      last[segment.source] = bundle
    end
  end
  for _, segment in ipairs(channel) do
    segment.fork = segment.b_side == -1 and last[segment.source] or segment.bundle
  end
end

-- of(plan): gives each layer `x` and `width`, each bundle `x`. Returns how wide it all is.
function tracks.of(plan)
  local x = 0
  for i = 0, #plan.layers do
    local channel = plan.channels[i] or {}
    local list = bundles_of(channel)
    order(list)
    local count = pack(list)
    for _, bundle in ipairs(list) do
      bundle.x = x + BEFORE + (bundle.track - 0.5) * STEP
    end
    note_forks(channel)
    x = x + (channel[1] and BEFORE + count * STEP + BEHIND or 0)
    local layer = plan.layers[i + 1]
    if layer then
      layer.x, layer.width = x, widest(layer)
      x = x + layer.width
    end
  end
  return x
end

return tracks
