-- The drawing of a graph that has no diagram: laid out from the left to the right (see drawing.lua
-- for the form of a drawing). A sub-process is laid out first, and is then a box like others.
local graph_of = require "moonshift.process.graph"
local layers = require "moonshift.process.drawing.layers"
local rows = require "moonshift.process.drawing.rows"
local texts = require "moonshift.process.drawing.texts"
local tracks = require "moonshift.process.drawing.tracks"

local layout = {}

local NODES_MAX, CELLS_MAX = 1000, 12000 -- the latter of one scope: see layers.lua
local EVENT, GATEWAY, WIDTH, HEIGHT = 36, 50, 100, 80
local PAD, HEAD, FOOT = 24, 34, 30 -- inside of a sub-process
local LABEL_WIDTH, LABEL_LINES = 110, 3
local LABEL_GAP, COUNT_GAP = 5, 11 -- between a shape and its label, with a count on the upper edge
local NAME_LINES, ICON = 6, 26 -- of the name in a task, and what is above it
local EXIT = 12 -- between the ways out of boundary events
local APART = 30 -- between what follows and event sub-processes

local EVENTS = { start = true, ["end"] = true, catch = true, throw = true }
local GATEWAYS = { exclusive = "exclusive", parallel = "parallel", inclusive = "inclusive",
  event_gateway = "event" }
local CAUGHT = { receive = "receive" }

-- ---- texts ----

local function is_text(value)
  return type(value) == "string" and value:find "%S" ~= nil
end

-- What stands at an event without a name: what it waits for.
local function event_text(node)
  local event = node.event or {}
  local said = event.timer and event.timer.text or event.name or event.code
  return is_text(said) and said or nil
end

local function flow_text(flow)
  return is_text(flow.name) and flow.name or is_text(flow.when) and flow.when or nil
end

-- A label of a text: { lines, width, height }; nil without one.
local function label_of(text, width, most)
  if not text then
    return nil
  end
  local lines, widest = texts.lines(text, width, texts.SMALL, most)
  return lines[1] and { lines = lines, width = math.ceil(widest) + 4,
    height = #lines * texts.SMALL_LINE } or nil
end

-- ---- shapes ----

local function turns_of(node)
  return node.multi and (node.multi.parallel and "parallel" or "sequential") or nil
end

local function event_shape(node, kind)
  local event = node.event or {}
  return { id = node.id, form = "event", kind = kind, width = EVENT, height = EVENT,
    name = node.name or event_text(node), event = event.kind ~= "none" and event.kind or nil,
    beside = event.interrupting == false }
end

local function node_shape(node)
  if EVENTS[node.kind] then
    return event_shape(node, node.kind)
  elseif GATEWAYS[node.kind] then
    return { id = node.id, form = "gateway", kind = GATEWAYS[node.kind], width = GATEWAY,
      height = GATEWAY, name = node.name }
  end
  local is_scope = graph_of.SCOPES[node.kind]
  return { id = node.id, form = is_scope and "scope" or "task",
    kind = is_scope and (node.kind == "transaction" and "transaction" or "subprocess")
      or CAUGHT[node.kind] or node.kind,
    width = WIDTH, height = HEIGHT, name = is_text(node.name) and node.name or node.id,
    triggered = node.kind == "event_subprocess", turns = turns_of(node),
    undoes = node.compensates }
end

-- ---- boxes ----

-- A box: what a node takes up. { shape, inside, width, top, bottom = around the height of its
-- ports, left = of the shape in it, events = { { shape, label, x }, … }, ways = { [id] = height } }

local function label_beside(box, shape)
  local label = label_of(shape.name, LABEL_WIDTH, LABEL_LINES)
  local half = shape.height / 2
  box.width, box.top, box.bottom = shape.width, half, half
  if label then
    box.width = math.max(box.width, label.width)
    local side = shape.form == "gateway" and "top" or "bottom"
    box[side] = half + (side == "top" and COUNT_GAP or LABEL_GAP) + label.height
    box.label = label
  end
end

-- The boundary events of a node, side by side on its lower edge, with their labels right of the
-- ways down.
local function add_events(box, graph, node)
  local x, deepest = EVENT / 2 + 6, 0
  box.events, box.ways = {}, {}
  for i, id in ipairs(node.boundaries or {}) do
    local shape = event_shape(graph.nodes[id], "boundary")
    local label = label_of(shape.name, LABEL_WIDTH, LABEL_LINES)
    box.events[i] = { shape = shape, label = label, x = x }
    x = x + math.max(EVENT + 14, label and label.width + 20 or 0)
    deepest = math.max(deepest, label and label.height + LABEL_GAP or 0)
  end
  local count = #box.events
  if count > 0 then
    local last = box.events[count]
    box.shape.width = math.max(box.shape.width, last.x + EVENT / 2 + 6)
    box.width = math.max(box.shape.width, x)
    for i, event in ipairs(box.events) do
      box.ways[event.shape.id] = box.bottom + EVENT / 2 + deepest + (count - i + 1) * EXIT
    end
    box.bottom = box.bottom + EVENT / 2 + deepest + (count + 1) * EXIT
  end
end

local place

-- nil: it is too large.
local function box_of(graph, node, within)
  local box = { shape = node_shape(node) }
  local shape = box.shape
  if shape.form == "event" or shape.form == "gateway" then
    label_beside(box, shape)
    return box
  elseif shape.form == "scope" then
    box.inside = place(graph, within, node.id)
    if not box.inside then
      return nil
    end
    shape.width = math.max(2 * WIDTH, box.inside.width + 2 * PAD)
    shape.height = math.max(HEIGHT, box.inside.height + HEAD + (shape.turns and FOOT or PAD))
  end
  if shape.form == "task" then
    shape.foot = (shape.turns or shape.undoes or (node.boundaries or {})[1]) and 20 or 6
    local lines = texts.lines(shape.name, WIDTH - 8, texts.SIZE, NAME_LINES)
    shape.height = math.max(HEIGHT, ICON + #lines * texts.LINE + shape.foot)
  end
  box.width, box.top, box.bottom = shape.width, shape.height / 2, shape.height / 2
  add_events(box, graph, node)
  return box
end

-- ---- edges ----

local function add_edge(edges, boxes, from, to, fields)
  if boxes[from] and boxes[to] then
    fields.from, fields.to = boxes[from], boxes[to]
    edges[#edges + 1] = fields
  end
end

local function add_flows(edges, boxes, node, host)
  local box = boxes[host]
  for _, flow in ipairs(node.out) do
    local is_open = flow.when ~= nil and not GATEWAYS[node.kind]
    add_edge(edges, boxes, host, flow.to, { id = flow.id, kind = "flow",
      port = box.ways and box.ways[node.id] and node.id, offset = box.ways and box.ways[node.id],
      label = label_of(flow_text(flow), LABEL_WIDTH, 2), default = flow.default == true,
      conditional = is_open, arrow = true, source = node.id, target = flow.to })
  end
  if node.handler then
    add_edge(edges, boxes, host, node.handler, { kind = "association", port = node.id,
      offset = box.ways[node.id], arrow = true, source = node.id, target = node.handler })
  end
end

-- ---- lines ----

-- Leaves out points that lie on the way between their neighbours.
local function add_point(points, x, y)
  local a, b = points[#points - 1], points[#points]
  if b and b[1] == x and b[2] == y then
    return
  elseif a and (a[1] == b[1] and b[1] == x or a[2] == b[2] and b[2] == y) then
    b[1], b[2] = x, y
    return
  end
  points[#points + 1] = { x, y }
end

-- Where a line leaves the shape of a box, or comes to it.
local function begin_line(points, edge)
  local box = edge.from
  if edge.port then
    for _, event in ipairs(box.events) do
      if event.shape.id == edge.port then
        add_point(points, box.x + event.x, box.y + box.shape.height / 2 + EVENT / 2)
        add_point(points, box.x + event.x, box.y + edge.offset)
      end
    end
  else
    add_point(points, box.x + box.left + box.shape.width, box.y)
  end
end

local function route(plan)
  for channel = 0, #plan.layers do
    for _, segment in ipairs(plan.channels[channel] or {}) do
      local parts = segment.edge.parts or {}
      segment.edge.parts = parts
      parts[#parts + 1] = segment
    end
  end
end

-- The segments of an edge, in their order: those of one that leads back come from the right.
local function in_order(edge)
  local parts = edge.parts
  if edge.back then
    for i = 1, #parts // 2 do
      parts[i], parts[#parts + 1 - i] = parts[#parts + 1 - i], parts[i]
    end
  end
  return parts
end

local function line_of(edge)
  local points = {}
  begin_line(points, edge)
  for _, segment in ipairs(in_order(edge)) do
    if segment.bundle then
      add_point(points, segment.bundle.x, segment.from)
      add_point(points, segment.bundle.x, segment.to)
    end
  end
  add_point(points, edge.to.x + edge.to.left, edge.to.y)
  local first = edge.parts[1]
  return { id = edge.id, kind = edge.kind, points = points, default = edge.default,
    conditional = edge.conditional, arrow = edge.arrow, from = edge.source, to = edge.target,
    mark = first.fork and { x = first.fork.x, y = first.to, by = -first.b_side } or nil }
end

-- ---- one scope ----

local function put_label(label, middle, top)
  return label and { lines = label.lines, x = middle - label.width / 2, y = top,
    width = label.width, height = label.height } or nil
end

local function put_shape(into, shape, x, y)
  shape.x, shape.y = x, y
  into.shapes[#into.shapes + 1] = shape
end

local function add_inside(into, block, x, y)
  for _, shape in ipairs(block.shapes) do
    shape.x, shape.y = shape.x + x, shape.y + y
    if shape.label then
      shape.label.x, shape.label.y = shape.label.x + x, shape.label.y + y
    end
    into.shapes[#into.shapes + 1] = shape
  end
  for _, line in ipairs(block.lines) do
    for _, point in ipairs(line.points) do
      point[1], point[2] = point[1] + x, point[2] + y
    end
    for _, place_of in ipairs { line.label or {}, line.mark or {} } do
      place_of.x, place_of.y = (place_of.x or 0) + x, (place_of.y or 0) + y
    end
    into.lines[#into.lines + 1] = line
  end
end

-- Puts a box with its left edge and the height of its ports.
local function put_box(into, box, x, y)
  local shape = box.shape
  local half = shape.height / 2
  box.x, box.y = x, y
  box.left = box.events and 0 or (box.width - shape.width) / 2
  put_shape(into, shape, x + box.left, y - half)
  if box.label then
    local above = shape.form == "gateway"
    shape.label = put_label(box.label, x + box.width / 2,
      above and y - half - COUNT_GAP - box.label.height or y + half + LABEL_GAP)
  end
  if box.inside then
    add_inside(into, box.inside, x + PAD, y - half + HEAD)
  end
  for _, event in ipairs(box.events or {}) do
    put_shape(into, event.shape, x + event.x - EVENT / 2, y + half - EVENT / 2)
    event.shape.label = event.label and put_label(event.label, x + event.x + 5
      + event.label.width / 2, y + half + EVENT / 2 + LABEL_GAP)
  end
end

-- The label of an edge stands above the first level part that is its own.
local function put_labels(plan, lines)
  for _, layer in ipairs(plan.layers) do
    for _, cell in ipairs(layer) do
      if cell.label then
        lines[cell.edge].label = put_label(cell.label, layer.x + layer.width / 2,
          cell.y - cell.label.height - 2)
      end
    end
  end
end

local function put_all(into, plan, edges)
  for _, layer in ipairs(plan.layers) do
    for _, cell in ipairs(layer) do
      if cell.item then
        put_box(into, cell.item, math.floor(layer.x + (layer.width - cell.width) / 2), cell.y)
      end
    end
  end
  route(plan)
  local lines = {}
  for _, edge in ipairs(edges) do
    lines[edge] = line_of(edge)
    into.lines[#into.lines + 1] = lines[edge]
  end
  put_labels(plan, lines)
end

-- The nodes of a scope: what follows one another, and event sub-processes.
local function members(within, scope)
  local list, apart = {}, {}
  for _, node in ipairs(within[scope or ""] or {}) do
    local into = node.kind == "event_subprocess" and apart or list
    into[#into + 1] = node
  end
  return list, apart
end

local function boxes_of(graph, within, nodes)
  local items, boxes = {}, {}
  for i, node in ipairs(nodes) do
    local box = box_of(graph, node, within)
    if not box then
      return nil
    end
    items[i], boxes[node.id] = box, box
  end
  return items, boxes
end

local function edges_of(graph, boxes, nodes)
  local edges = {}
  for _, node in ipairs(nodes) do
    add_flows(edges, boxes, node, node.id)
    for _, id in ipairs(node.boundaries or {}) do
      add_flows(edges, boxes, graph.nodes[id], node.id)
    end
  end
  return edges
end

-- Event sub-processes stand below one another.
local function put_apart(into, items)
  for _, box in ipairs(items) do
    into.height = into.height + (into.height > 0 and APART or 0)
    put_box(into, box, 0, into.height + box.top)
    into.height = into.height + box.top + box.bottom
    into.width = math.max(into.width, box.width)
  end
end

-- place(graph, within, scope) -> { width, height, shapes, lines } of a scope; nil: it is too large
function place(graph, within, scope)
  local nodes, apart = members(within, scope)
  local items, boxes = boxes_of(graph, within, nodes)
  local others = items and boxes_of(graph, within, apart)
  if not others then
    return nil
  end
  local into = { width = 0, height = 0, shapes = {}, lines = {} }
  if items[1] then
    local edges = edges_of(graph, boxes, nodes)
    local plan = layers.of(items, edges, CELLS_MAX)
    if not plan then
      return nil
    end
    into.height, into.width = rows.of(plan), tracks.of(plan)
    put_all(into, plan, edges)
  end
  put_apart(into, others)
  return into
end

-- of(graph) -> the drawing of a graph; nil: it is too large for one
function layout.of(graph)
  local within = {}
  if #graph.order > NODES_MAX then
    return nil
  end
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    if node.kind ~= "boundary" then
      local scope = node.scope or ""
      within[scope] = within[scope] or {}
      table.insert(within[scope], node)
    end
  end
  local block = place(graph, within, nil)
  return block and { shapes = block.shapes, lines = block.lines }
end

return layout
