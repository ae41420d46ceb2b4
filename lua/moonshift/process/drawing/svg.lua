-- A drawing as SVG that needs nothing else. Texts of a model are escaped, never markup. What is
-- drawn follows the standard; the colours follow whether people like it light or dark.
local symbols = require "moonshift.process.drawing.symbols"
local texts = require "moonshift.process.drawing.texts"

local MARGIN = 24
local SIZE_MAX = 16000 -- pixels; a larger drawing is made smaller
local ROUND, INNER = 10, 3 -- corners of activities; between double lines
local HEADER = 30 -- the band with the name of a pool or lane

local STYLE = [[
svg{background:#fff}
text{font-family:Arial,Helvetica,"DejaVu Sans",sans-serif;font-size:12px;fill:#1b1d21;stroke:none}
.small{font-size:11px}.body,.paper{fill:#fff}.none{fill:none}
.body,.line,.fine,.mark,.bold,.thick,.flow,.none{stroke:#1b1d21;stroke-width:2}
.body,.line,.fine,.mark,.bold,.thick,.flow,.none{stroke-linejoin:round}
.line,.fine,.mark,.bold,.thick,.flow{fill:none}
.fine{stroke-width:1.1;fill:#fff}.line{stroke-width:1.4}
.body.thin,.none.thin{stroke-width:1.5}.bold,.thick,.end{stroke-width:3.5}
.body.end,.body.call{stroke-width:4}
.full,.head{fill:#1b1d21;stroke:none}.tint{fill:#d5d9e0;stroke:none}
.message{stroke-width:1.5;stroke-dasharray:9 6}
.association,.data{stroke-width:1.6;stroke-dasharray:1 4;stroke-linecap:round}
.beside{stroke-dasharray:5 3.5}.triggered{stroke-dasharray:1 4.5;stroke-linecap:round}
.group{stroke-dasharray:10 5 1 5;stroke-linecap:round}
.open{fill:#fff;stroke:#1b1d21;stroke-width:1.4}
.count{fill:#1c7ed6;stroke:none}.trouble{fill:#c92a2a;stroke:none}
.passed{fill:#6b4a08;stroke:none}.on{fill:#fff;font-size:11px;font-weight:bold}
.own text{fill:#1b1d21}
@media(prefers-color-scheme:dark){svg{background:#17191d}text{fill:#e6e8ec}
.body,.paper,.fine,.open{fill:#23262c}.full,.head{fill:#d9dce2}.tint{fill:#4a505b}
.body,.line,.fine,.mark,.bold,.thick,.flow,.none,.open{stroke:#d9dce2}
.line,.mark,.bold,.thick,.flow,.none{fill:none}.on{fill:#fff}.own text{fill:#1b1d21}}]]

-- A page: { out = { text, … } }
local Page = {}
Page.__index = Page

local ESCAPES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

local function escape(text)
  return (text:gsub('[&<>"]', ESCAPES))
end

function Page:add(form, ...)
  self.out[#self.out + 1] = select("#", ...) > 0 and form:format(...) or form
end

-- ---- texts ----

-- Lines of text below one another, each in the middle of x.
function Page:lines(lines, x, y, line, class)
  for i, text in ipairs(lines) do
    self:add('<text%s x="%g" y="%g" text-anchor="middle">%s</text>', class or "", x,
      y + i * line - line * 0.25, escape(text))
  end
end

-- A name in the middle of a box, cut to what has room there; below what is `above` in it, if that
-- leaves enough room.
function Page:name_inside(name, x, y, width, height, above)
  if name then
    local most = math.max(1, math.floor(height / texts.LINE))
    local lines = texts.lines(name, math.max(20, width), texts.SIZE, most)
    local high = #lines * texts.LINE
    local top = (height - high) / 2
    if above and top < above and above + high <= height then
      top = above
    end
    self:lines(lines, x + width / 2, y + top, texts.LINE)
  end
end

-- A label where the diagram has it, else where `x`, `y` say: the middle of its upper edge.
function Page:label(thing, x, y, most)
  local label = thing.label or {}
  if label.lines then
    self:lines(label.lines, label.x + label.width / 2, label.y, texts.SMALL_LINE, ' class="small"')
  elseif thing.name then
    local lines = texts.lines(thing.name, math.max(90, label.width or 0), texts.SMALL, most or 6)
    if label.x then
      x, y = label.x + label.width / 2, label.y
    end
    self:lines(lines, x, y, texts.SMALL_LINE, ' class="small"')
  end
end

-- ---- shapes ----

local shapes = {}

-- The colours that a modeler gave to a shape; they are numbers, never other text.
local function own_colours(shape, filled)
  local style = (filled and shape.fill and "fill:" .. shape.fill .. ";" or "")
    .. (shape.stroke and "stroke:" .. shape.stroke or "")
  return style ~= "" and (' style="%s"'):format(style) or ""
end

function Page:symbol(symbol, x, y, scale)
  if symbol ~= "" then
    self:add('<g transform="translate(%g,%g) scale(%.3g)">%s</g>', x, y, scale or 1, symbol)
  end
end

function Page:box(shape, class, radius, inset)
  inset = inset or 0
  self:add('<rect class="%s" x="%g" y="%g" width="%g" height="%g" rx="%g"%s/>', class,
    shape.x + inset, shape.y + inset, math.max(0, shape.width - 2 * inset),
    math.max(0, shape.height - 2 * inset), math.max(0, radius - inset),
    own_colours(shape, inset == 0 and not class:find "none"))
end

local DOUBLE = { catch = true, throw = true, boundary = true }

function shapes.event(page, shape)
  local x, y = shape.x + shape.width / 2, shape.y + shape.height / 2
  local radius = math.min(shape.width, shape.height) / 2
  local beside = shape.beside and " beside" or ""
  local class = shape.kind == "end" and " end" or DOUBLE[shape.kind] and " thin" or ""
  page:add('<circle class="body%s%s" cx="%g" cy="%g" r="%g"%s/>', class, beside, x, y,
    math.max(0, radius), own_colours(shape, true))
  if DOUBLE[shape.kind] then
    page:add('<circle class="none thin%s" cx="%g" cy="%g" r="%g"%s/>', beside, x, y,
      math.max(0, radius - INNER), own_colours(shape))
  end
  page:symbol(symbols.event(shape.event, shape.kind == "throw" or shape.kind == "end"), x, y,
    radius / 18)
end

function shapes.gateway(page, shape)
  local x, y = shape.x + shape.width / 2, shape.y + shape.height / 2
  page:add('<path class="body" d="M%g,%g L%g,%g L%g,%g L%g,%g Z"%s/>', x, shape.y,
    shape.x + shape.width, y, x, shape.y + shape.height, shape.x, y, own_colours(shape, true))
  if not shape.plain then
    page:symbol(symbols.gateway(shape.kind, shape.instantiates), x, y,
      math.min(shape.width, shape.height) / 50)
  end
end

function Page:marks(shape)
  local list = symbols.marks(shape)
  for i, mark in ipairs(list) do
    self:symbol(mark, shape.x + shape.width / 2 + (i - (#list + 1) / 2) * 18,
      shape.y + shape.height - 10)
  end
  return list[1] ~= nil
end

function shapes.task(page, shape)
  page:box(shape, shape.kind == "call" and "body call" or "body", ROUND)
  local icon = symbols.task(shape.kind)
  page:symbol(icon, shape.x + 16, shape.y + 16)
  local foot = page:marks(shape) and 18 or 2
  page:name_inside(shape.name, shape.x + 4, shape.y + 2, shape.width - 8, shape.height - 2
    - (shape.foot or foot), icon ~= "" and 24 or nil)
end

function shapes.scope(page, shape)
  local is_double = shape.kind == "transaction"
  local class = shape.triggered and "body triggered" or is_double and "body thin" or "body"
  page:box(shape, class, ROUND)
  if is_double then
    page:box(shape, "none thin", ROUND, INNER)
  end
  local foot = page:marks(shape) and 18 or 4
  if shape.collapsed then
    page:name_inside(shape.name, shape.x + 4, shape.y + 4, shape.width - 8,
      shape.height - 4 - foot)
  else
    page:name_inside(shape.name, shape.x + 12, shape.y + 6, shape.width - 24, 2 * texts.LINE - 4)
  end
end

-- The name of a pool or lane stands upright at its left edge, else level at its upper one.
function Page:band(shape)
  if shape.upright then
    return self:name_inside(shape.name, shape.x + 4, shape.y, shape.width - 8, HEADER)
  elseif shape.name then
    local lines = texts.lines(shape.name, math.max(20, shape.height - 8), texts.SIZE, 2)
    self:add('<g transform="translate(%g,%g) rotate(-90)">', shape.x, shape.y + shape.height)
    self:lines(lines, shape.height / 2, (HEADER - #lines * texts.LINE) / 2, texts.LINE)
    self:add "</g>"
  end
end

function shapes.pool(page, shape)
  page:box(shape, "body thin", 0)
  if shape.is_empty then
    page:name_inside(shape.name, shape.x + 6, shape.y + 4, shape.width - 12, shape.height - 8)
  else
    page:add(shape.upright and '<path class="line" d="M%g,%g h%g"/>'
      or '<path class="line" d="M%g,%g v%g"/>', shape.upright and shape.x or shape.x + HEADER,
      shape.upright and shape.y + HEADER or shape.y, shape.upright and shape.width or shape.height)
    page:band(shape)
  end
  if shape.several then
    page:marks { x = shape.x, y = shape.y, width = shape.width, height = shape.height,
      turns = "parallel" }
  end
end

function shapes.lane(page, shape)
  page:box(shape, "none thin", 0)
  page:band(shape)
end

local FOLD, NOTE_LINES = 11, 20

function shapes.data(page, shape)
  local right, bottom = shape.x + shape.width, shape.y + shape.height
  page:add('<path class="body thin" d="M%g,%g H%g L%g,%g V%g H%g Z"%s/>', shape.x, shape.y,
    right - FOLD, right, shape.y + FOLD, bottom, shape.x, own_colours(shape, true))
  page:add('<path class="line" d="M%g,%g V%g H%g"/>', right - FOLD, shape.y, shape.y + FOLD, right)
  if shape.kind == "dataInput" or shape.kind == "dataOutput" then
    page:add('<g transform="translate(%g,%g) scale(0.6)"><path class="%s" d="M-10,-4 H2 V-9 L11,0 '
      .. 'L2,9 V4 H-10 Z"/></g>', shape.x + 11, shape.y + 10,
      shape.kind == "dataInput" and "line" or "full")
  end
  if shape.collection then
    page:marks { x = shape.x, y = shape.y, width = shape.width, height = shape.height + 2,
      turns = "parallel" }
  end
end

function shapes.store(page, shape)
  local x, y, w, h = shape.x, shape.y, shape.width, shape.height
  local rx, ry = w / 2, math.min(h / 8, 9)
  page:add('<path class="body thin" d="M%g,%g a%g,%g 0 0 1 %g,0 V%g a%g,%g 0 0 1 %g,0 Z"%s/>', x,
    y + ry, rx, ry, w, y + h - ry, rx, ry, -w, own_colours(shape, true))
  for i = 0, 2 do
    page:add('<path class="line" d="M%g,%g a%g,%g 0 0 0 %g,0"/>', x, y + ry + i * ry, rx, ry, w)
  end
end

function shapes.note(page, shape)
  page:add('<path class="line" d="M%g,%g H%g V%g H%g"/>', shape.x + 10, shape.y, shape.x,
    shape.y + shape.height, shape.x + 10)
  local lines = texts.lines(shape.name or "", math.max(20, shape.width - 8), texts.SIZE, NOTE_LINES)
  for i, line in ipairs(lines) do
    page:add('<text x="%g" y="%g">%s</text>', shape.x + 6, shape.y + 1 + i * texts.LINE
      - texts.LINE * 0.25, escape(line))
  end
end

function shapes.group(page, shape)
  page:box(shape, "none group", ROUND)
end

-- ---- lines ----

local LINE_ROUND = 5

-- A point on the way from a to b, `far` from a, at most in the middle.
local function towards(a, b, far)
  local dx, dy = b[1] - a[1], b[2] - a[2]
  local length = math.sqrt(dx * dx + dy * dy)
  local part = length > 0 and math.min(far, length / 2) / length or 0
  return a[1] + dx * part, a[2] + dy * part
end

local function path_of(points)
  local list = { ("M%g,%g"):format(points[1][1], points[1][2]) }
  for i = 2, #points - 1 do
    local x1, y1 = towards(points[i], points[i - 1], LINE_ROUND)
    local x2, y2 = towards(points[i], points[i + 1], LINE_ROUND)
    list[#list + 1] = ("L%g,%g Q%g,%g %g,%g"):format(x1, y1, points[i][1], points[i][2], x2, y2)
  end
  local last = points[#points]
  list[#list + 1] = ("L%g,%g"):format(last[1], last[2])
  return table.concat(list, " ")
end

-- A mark at an end of a line, turned as the line goes there.
function Page:line_mark(point, from, mark)
  local angle = math.deg(math.atan(point[2] - from[2], point[1] - from[1]))
  self:add('<g transform="translate(%g,%g) rotate(%.4g)">%s</g>', point[1], point[2], angle, mark)
end

local HEADS = {
  flow = '<path class="head" d="M0,0 L-11,-5 L-11,5 Z"/>',
  message = '<path class="open" d="M0,0 L-11,-5 L-11,5 Z"/>',
  association = '<path class="line" d="M-9,-5 L0,0 L-9,5"/>',
}
HEADS.data = HEADS.association
local BEGINS = '<circle class="open" r="4"/>'
local CONDITION = '<path class="open" d="M0,0 L-9,-5 L-18,0 L-9,5 Z"/>'
local DEFAULT = '<path class="line" d="M-14,-5 L-8,5"/>'

function Page:line(line)
  local points = line.points
  local first, last = points[1], points[#points]
  self:add('<path class="flow %s" d="%s"%s/>', line.kind, path_of(points), own_colours(line))
  if line.arrow then
    self:line_mark(last, points[#points - 1], HEADS[line.kind])
  end
  if line.both then
    self:line_mark(first, points[2], HEADS[line.kind])
  end
  local at, on = first, points[2]
  if line.mark then
    at = { line.mark.x, line.mark.y }
    on = { at[1] + line.mark.by, at[2] }
  end
  if line.kind == "message" then
    self:line_mark(first, { first[1] - 1, first[2] }, BEGINS)
  elseif line.default then
    self:line_mark(at, on, DEFAULT)
  elseif line.conditional then
    self:line_mark(at, on, CONDITION)
  end
end

-- The point in the middle of a line, where a label without a place of its own stands.
local function middle_of(points)
  local half = #points // 2
  local a, b = points[half], points[half + 1]
  return (a[1] + b[1]) / 2, (a[2] + b[2]) / 2
end

-- ---- what stands where ----

-- A number in a coloured field around a point.
function Page:badge(class, x, y, text, title)
  local width = math.max(20, math.ceil(texts.width(text, texts.SMALL)) + 12)
  self:add('<g><title>%s</title><rect class="%s" x="%g" y="%g" width="%g" height="18" rx="9"/>'
    .. '<text class="on" x="%g" y="%g" text-anchor="middle">%s</text></g>', escape(title), class,
    x - width / 2, y - 9, width, x, y + 4, text)
end

function Page:standing(shape, at)
  if at.count then
    self:badge("count", shape.x, shape.y, tostring(at.count), at.waiting or "")
  end
  if at.incidents then
    self:badge("trouble", shape.x + shape.width, shape.y, tostring(at.incidents),
      ("%d open incident%s"):format(at.incidents, at.incidents == 1 and "" or "s"))
  end
  if at.passed then
    self:badge("passed", shape.x + shape.width / 2, shape.y, tostring(at.passed),
      ("began %d time%s"):format(at.passed, at.passed == 1 and "" or "s"))
  end
end

-- The colour of a shape, the warmer, the more often it began: between white and orange. A
-- sub-process keeps its own, what it holds is coloured.
local COLD, WARM = { 0xff, 0xf4, 0xe6 }, { 0xf7, 0x8b, 0x4b }

local function warmth(shape, at, most)
  if not at.passed or most == 0 or shape.form == "scope" then
    return shape.fill
  end
  local parts = {}
  for i = 1, 3 do
    parts[i] = math.floor(COLD[i] + (WARM[i] - COLD[i]) * at.passed / most + 0.5)
  end
  return ("#%02x%02x%02x"):format(table.unpack(parts))
end

-- ---- the page ----

-- In which order shapes are drawn: what holds others comes before them.
local ORDER = { pool = 1, lane = 2, group = 6, scope = 3, data = 4, store = 4, note = 4, task = 4,
  gateway = 4, event = 5 }

local function in_order(list)
  local order = {}
  for i, shape in ipairs(list) do
    order[i] = { shape = shape, at = i,
      rank = shape.kind == "boundary" and 5.5 or ORDER[shape.form],
      size = shape.form == "scope" and -shape.width * shape.height or 0 }
  end
  table.sort(order, function(a, b)
    if a.rank ~= b.rank then
      return a.rank < b.rank
    elseif a.size ~= b.size then
      return a.size < b.size
    end
    return a.at < b.at
  end)
  return order
end

local OUTSIDE = { event = true, gateway = true, data = true, store = true, group = true }

local function label_shape(page, shape)
  if OUTSIDE[shape.form] then
    local y = shape.form == "group" and shape.y - texts.SMALL_LINE - 2 or shape.y + shape.height + 4
    page:label(shape, shape.x + shape.width / 2, y)
  end
end

local function label_line(page, line)
  if (line.name or line.label) and line.points[2] then
    local x, y = middle_of(line.points)
    page:label(line, x, y - texts.SMALL_LINE - 4)
  end
end

-- Draws the lines behind the first shape that is no pool, lane or sub-process.
local function draw_all(page, drawing, standing)
  local is_lined = false
  local function draw_lines()
    for _, line in ipairs(is_lined and {} or drawing.lines) do
      if line.points[2] then
        page:line(line)
      end
    end
    is_lined = true
  end
  for _, entry in ipairs(in_order(drawing.shapes)) do
    local shape = entry.shape
    if entry.rank > 3 then
      draw_lines()
    end
    shape.fill = warmth(shape, standing.at[shape.id] or {}, standing.most)
    page:add('<g id="%s"%s>', escape(texts.clean(shape.id)), shape.fill and ' class="own"' or "")
    shapes[shape.form](page, shape)
    page:add "</g>"
  end
  draw_lines()
end

-- Draws labels and counts over everything else.
local function draw_over(page, drawing, standing)
  for _, shape in ipairs(drawing.shapes) do
    label_shape(page, shape)
  end
  for _, line in ipairs(drawing.lines) do
    label_line(page, line)
  end
  for _, shape in ipairs(drawing.shapes) do
    page:standing(shape, standing.at[shape.id] or {})
  end
end

-- svg(drawing, standing) -> text. standing = { at = { [id] = { count, waiting, incidents, passed }
-- }, most = the largest of `passed`, or 0, title, notes = { lines below the picture } }
return function(drawing, standing)
  local page = setmetatable({ out = {} }, Page)
  local notes = standing.notes or {}
  local width = drawing.width + 2 * MARGIN
  local height = drawing.height + 2 * MARGIN + #notes * texts.LINE
  local scale = math.min(1, SIZE_MAX / width, SIZE_MAX / height)
  page:add('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
    .. 'viewBox="%d %d %d %d" role="img">', math.ceil(width * scale), math.ceil(height * scale),
    math.floor(drawing.x - MARGIN), math.floor(drawing.y - MARGIN), math.ceil(width),
    math.ceil(height))
  page:add("<title>" .. escape(texts.clean(standing.title or "")) .. "</title>")
  page:add("<style>" .. STYLE .. "</style>")
  draw_all(page, drawing, standing)
  draw_over(page, drawing, standing)
  for i, note in ipairs(notes) do
    page:add('<text x="%g" y="%g">%s</text>', drawing.x, drawing.y + drawing.height + MARGIN / 2
      + i * texts.LINE, escape(texts.clean(note)))
  end
  page:add "</svg>"
  return table.concat(page.out, "\n") .. "\n"
end
