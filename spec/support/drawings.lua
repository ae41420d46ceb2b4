-- Looks at drawings as a person would: no line leads through a box, no label stands over another
-- one, over a line or over a box.
local drawings = {}

local NEAR = 0.5 -- pixels that nobody sees

local function overlap(a, b)
  return a.x + NEAR < b.x + b.width and b.x + NEAR < a.x + a.width and a.y + NEAR < b.y + b.height
    and b.y + NEAR < a.y + a.height
end

local function holds(outer, inner)
  return outer.x <= inner.x + NEAR and outer.y <= inner.y + NEAR
    and inner.x + inner.width <= outer.x + outer.width + NEAR
    and inner.y + inner.height <= outer.y + outer.height + NEAR
end

-- The boxes that the parts of a line cover; they are level or upright.
local function parts_of(line)
  local list = {}
  for i = 2, #line.points do
    local a, b = line.points[i - 1], line.points[i]
    list[#list + 1] = { x = math.min(a[1], b[1]) - 0.1, y = math.min(a[2], b[2]) - 0.1,
      width = math.abs(a[1] - b[1]) + 0.2, height = math.abs(a[2] - b[2]) + 0.2,
      is_straight = a[1] == b[1] or a[2] == b[2] }
  end
  return list
end

-- All that stands in a drawing: { { what, box, shape } … } of shapes, and of labels.
local function things_of(drawing)
  local boxes, labels = {}, {}
  for _, shape in ipairs(drawing.shapes) do
    boxes[#boxes + 1] = { what = shape.id, box = shape, shape = shape }
    if shape.label then
      labels[#labels + 1] = { what = "the label of " .. shape.id, box = shape.label }
    end
  end
  for _, line in ipairs(drawing.lines) do
    if line.label then
      labels[#labels + 1] = { what = "the label of " .. line.id, box = line.label }
    end
  end
  return boxes, labels
end

local Look = {}
Look.__index = Look

function Look:tell(form, ...)
  self.troubles[#self.troubles + 1] = form:format(...)
end

function Look:line(line, boxes, labels)
  for _, part in ipairs(parts_of(line)) do
    if not part.is_straight then
      self:tell("%s is neither level nor upright", line.id)
    end
    for _, thing in ipairs(boxes) do
      local is_around = thing.shape.form == "scope" and holds(thing.box, part)
      if overlap(part, thing.box) and not is_around then
        self:tell("%s leads through %s", line.id, thing.what)
      end
    end
    for _, thing in ipairs(labels) do
      if overlap(part, thing.box) then
        self:tell("%s leads through %s", line.id, thing.what)
      end
    end
  end
end

-- A boundary event stands on the edge of its host, and a sub-process holds what is in it.
local function may_overlap(a, b)
  return a.shape.kind == "boundary" or b.shape.kind == "boundary"
    or a.shape.form == "scope" and holds(a.box, b.box)
    or b.shape.form == "scope" and holds(b.box, a.box)
end

function Look:pairs_of(boxes, labels)
  for i, a in ipairs(boxes) do
    for j = i + 1, #boxes do
      if overlap(a.box, boxes[j].box) and not may_overlap(a, boxes[j]) then
        self:tell("%s stands over %s", a.what, boxes[j].what)
      end
    end
    for _, label in ipairs(labels) do
      local is_around = a.shape.form == "scope" and holds(a.box, label.box)
      if overlap(a.box, label.box) and not is_around then
        self:tell("%s stands over %s", label.what, a.what)
      end
    end
  end
  for i, a in ipairs(labels) do
    for j = i + 1, #labels do
      if overlap(a.box, labels[j].box) then
        self:tell("%s stands over %s", a.what, labels[j].what)
      end
    end
  end
end

-- troubles(drawing) -> { sentence, … } of a drawing that was laid out
function drawings.troubles(drawing)
  local self = setmetatable({ troubles = {} }, Look)
  local boxes, labels = things_of(drawing)
  for _, line in ipairs(drawing.lines) do
    self:line(line, boxes, labels)
  end
  self:pairs_of(boxes, labels)
  return self.troubles
end

return drawings
