-- A process as a drawing: its own diagram, or one that is laid out.
--
--     drawing = { x, y, width, height, shapes = { shape, … }, lines = { line, … }, laid_out }
--     shape = { id, form = event gateway task scope pool lane data store note group, kind, name,
--       x, y, width, height, label = { x, y, width, height, lines } (beside it),
--       event = kind of what it waits for or throws, beside = true if it interrupts nothing,
--       turns = parallel sequential loop, undoes, triggered (event sub-process), collapsed,
--       foot = room at the lower edge that is taken,
--       fill, stroke = "#rrggbb" }
--     line = { id, kind = flow message association data, from, to, points = { { x, y }, … }, name,
--       label, arrow, both = arrows at both ends, conditional, default, stroke,
--       mark = { x, y, by = 1 or -1 } where the sign of these stands, if not at the beginning }
local diagram = require "moonshift.process.drawing.diagram"
local layout = require "moonshift.process.drawing.layout"
local texts = require "moonshift.process.drawing.texts"

local drawing = {}

local SHAPES_MAX = 10000 -- shapes and lines of a diagram
local POOLS_MAX = 100 -- that are looked into

-- Takes a place into account. What is far out stays in.
local function reach(self, x, y)
  self.left, self.right = math.min(self.left, x), math.max(self.right, x)
  self.top, self.bottom = math.min(self.top, y), math.max(self.bottom, y)
end

local function reach_label(self, thing, x, y)
  local label = thing.label
  if label and label.x then
    reach(self, label.x, label.y)
    reach(self, label.x + label.width, label.y + label.height)
  elseif thing.name and x then
    local lines, widest = texts.lines(thing.name, 90, texts.SMALL, 6)
    reach(self, x - widest / 2, y)
    reach(self, x + widest / 2, y + #lines * texts.SMALL_LINE + 4)
  end
end

-- measure(drawing): gives a drawing its `x`, `y`, `width` and `height`.
local function measure(found)
  local self = { left = math.huge, right = -math.huge, top = math.huge, bottom = -math.huge }
  for _, shape in ipairs(found.shapes) do
    reach(self, shape.x, shape.y)
    reach(self, shape.x + shape.width, shape.y + shape.height)
    local beside = shape.form == "event" or shape.form == "gateway" or shape.form == "data"
    reach_label(self, shape, beside and shape.x + shape.width / 2, shape.y + shape.height)
  end
  for _, line in ipairs(found.lines) do
    reach_label(self, line)
    for _, point in ipairs(line.points) do
      reach(self, point[1], point[2])
    end
  end
  if self.left > self.right then
    self.left, self.right, self.top, self.bottom = 0, 0, 0, 0
  end
  found.x, found.y = self.left, self.top
  found.width, found.height = self.right - self.left, self.bottom - self.top
  return found
end

-- A pool without lanes and nodes has its name in its middle.
local function note_empty(found)
  local pools = 0
  for _, pool in ipairs(found.shapes) do
    pools = pools + (pool.form == "pool" and 1 or 0)
    pool.is_empty = pool.form == "pool" and pools <= POOLS_MAX or nil
    for _, shape in ipairs(pool.is_empty and found.shapes or {}) do
      if shape ~= pool and shape.form ~= "group" and shape.form ~= "pool" and shape.x >= pool.x
        and shape.y >= pool.y and shape.x + shape.width <= pool.x + pool.width
        and shape.y + shape.height <= pool.y + pool.height then
        pool.is_empty = nil
        break
      end
    end
  end
end

-- of(graph, text) -> the drawing of a graph; `text`: of the model that it was read from, nil for
-- none. nil and a message: it is too large for one.
function drawing.of(graph, text)
  local found = text and diagram.of(text, graph.key)
  if found and #found.shapes + #found.lines > SHAPES_MAX then
    return nil, ("the diagram has %d shapes and lines (expected at most %d)"):format(
      #found.shapes + #found.lines, SHAPES_MAX)
  elseif found then
    note_empty(found)
    return measure(found)
  end
  found = layout.of(graph)
  if not found then
    return nil, ("%d activities, or lines over many of them, are too many for a picture"):format(
      #graph.order)
  end
  found.laid_out = true
  return measure(found)
end

return drawing
