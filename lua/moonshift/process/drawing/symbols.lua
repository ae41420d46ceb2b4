-- The symbols of the standard inside of shapes, as SVG around the point 0, 0. `line` is drawn,
-- `full` is filled with the colour of lines, `paper` is covered with that of the ground.
local symbols = {}

local function path(class, data)
  return ('<path class="%s" d="%s"/>'):format(class, data)
end

local function circle(class, radius)
  return ('<circle class="%s" r="%g"/>'):format(class, radius)
end

local function polygon(corners, radius, turned)
  local points = {}
  for i = 1, corners do
    local angle = (i - 1) * 2 * math.pi / corners + turned
    points[i] = ("%.2f,%.2f"):format(radius * math.sin(angle), -radius * math.cos(angle))
  end
  return "M" .. table.concat(points, " L") .. " Z"
end

local PENTAGON = polygon(5, 10, 0)

-- ---- events ----

local TICKS = {}
for i = 0, 11 do
  local x, y = math.sin(i * math.pi / 6), -math.cos(i * math.pi / 6)
  TICKS[#TICKS + 1] = ("M%.2f,%.2f L%.2f,%.2f"):format(8.3 * x, 8.3 * y, 10.5 * x, 10.5 * y)
end

local PLUS = "M-2.5,-9 H2.5 V-2.5 H9 V2.5 H2.5 V9 H-2.5 V2.5 H-9 V-2.5 H-2.5 Z"
local SIMPLE = {
  signal = "M0,-9.5 L9.5,7 H-9.5 Z",
  escalation = "M0,-10 L7.5,9 L0,1.5 L-7.5,9 Z",
  error = "M-9,8.5 L-3.8,-8 L2.6,0.6 L9,-8.5 L4.2,7.6 L-2.4,-1.2 Z",
  compensation = "M-1,-7 V7 L-10,0 Z M8.5,-7 V7 L-0.5,0 Z",
  cancel = "M-9,-6.2 L-6.2,-9 L0,-2.8 L6.2,-9 L9,-6.2 L2.8,0 L9,6.2 L6.2,9 L0,2.8 L-6.2,9 "
    .. "L-9,6.2 L-2.8,0 Z",
  link = "M-10,-4 H2 V-9 L11,0 L2,9 V4 H-10 Z",
  multiple = PENTAGON,
  parallel_multiple = PLUS,
}

local SENT = path("full", "M-10,-7 H10 L0,0.5 Z")
  .. path("full", "M-10,-4.8 L0,2.8 L10,-4.8 V7 H-10 Z")
local RECEIVED = "M-10,-7 H10 V7 H-10 Z M-10,-7 L0,1.5 L10,-7"

-- event(kind, thrown) -> what stands in an event; what is thrown is filled
function symbols.event(kind, thrown)
  if SIMPLE[kind] then
    return path(thrown and "full" or "line", SIMPLE[kind])
  elseif kind == "message" then
    return thrown and SENT or path("line", RECEIVED)
  elseif kind == "timer" then
    return circle("line", 10.5)
      .. path("line", table.concat(TICKS, " ") .. " M3.5,-6.5 L0,0 L5,0.8")
  elseif kind == "conditional" then
    return path("line", "M-7.5,-9 H7.5 V9 H-7.5 Z M-5,-5.5 H5 M-5,-1.8 H5 M-5,1.8 H5 M-5,5.5 H5")
  elseif kind == "terminate" then
    return circle("full", 10.5)
  end
  return ""
end

-- ---- gateways ----

local STAR = {}
for i = 0, 3 do
  local x, y = 11 * math.cos(i * math.pi / 4), 11 * math.sin(i * math.pi / 4)
  STAR[#STAR + 1] = ("M%.2f,%.2f L%.2f,%.2f"):format(-x, -y, x, y)
end

local GATEWAYS = {
  exclusive = path("bold", "M-7,-8.5 L7,8.5 M7,-8.5 L-7,8.5"),
  parallel = path("bold", "M0,-11 V11 M-11,0 H11"),
  inclusive = '<circle class="thick" r="11"/>',
  complex = path("bold", table.concat(STAR, " ")),
  event = circle("line", 14) .. circle("line", 11.5) .. path("line", polygon(5, 8, 0)),
}

-- gateway(kind, instantiates) -> what stands in a gateway; `instantiates`: "one" or "all" of an
-- event-based one that begins instances
function symbols.gateway(kind, instantiates)
  if instantiates then
    return circle("line", 14) .. path("line", instantiates == "all" and PLUS or PENTAGON)
  end
  return GATEWAYS[kind] or ""
end

-- ---- tasks ----

-- A wheel with eight teeth.
local function wheel(radius)
  local points = {}
  for i = 0, 7 do
    for j, at in ipairs { -0.30, -0.17, 0.17, 0.30 } do
      local angle = i * math.pi / 4 + at
      local far = (j == 1 or j == 4) and radius * 0.72 or radius
      points[#points + 1] = ("%.2f,%.2f"):format(far * math.cos(angle), far * math.sin(angle))
    end
  end
  return "M" .. table.concat(points, " L") .. " Z"
end

local WHEEL = path("fine", wheel(7)) .. circle("fine", 2.6) .. "</g>"

local TASKS = {
  service = '<g transform="translate(-2.5,-2.5)">' .. WHEEL .. '<g transform="translate(3,3)">'
    .. WHEEL,
  user = path("fine", "M-9,9.5 V5 C-9,1.5 -6,0 -3.5,-0.5 L0,3 L3.5,-0.5 C6,0 9,1.5 9,5 V9.5 Z "
    .. "M-5.5,9.5 V5.5 M5.5,9.5 V5.5") .. '<circle class="fine" cy="-4.5" r="4.7"/>'
    .. path("full", "M-4.7,-4.5 A4.7,4.7 0 0 1 4.7,-4.5 C2.5,-3.6 1,-5.8 0,-5.8 "
      .. "C-1.5,-5.8 -2.5,-3.6 -4.7,-4.5 Z"),
  script = path("fine", "M-4,-9 H8.5 C3,-4.5 3,-2.5 5,1 C7,4.5 6.5,7 3,9 H-9 C-5,6 -5,4 -7,0.5 "
    .. "C-9,-3 -8.5,-6 -4,-9 Z M-5.5,-5 H2.5 M-5.8,-1.5 H2 M-4,2 H4 M-3.5,5.5 H4.5"),
  send = SENT,
  receive = path("fine", RECEIVED),
  manual = path("fine", "M-9,-2.5 L-3,-8.5 C-1.8,-9.5 0,-8.2 -1,-6.8 L-3,-4.5 H8 "
    .. "C10,-4.5 10,-1.5 8,-1.5 H2 M8,-1.5 C10,-1.5 10,1.3 8,1.3 H2 M8,1.3 C9.5,1.3 9.5,4 7.5,4 "
    .. "H2 M7,4 C8.3,4 8.3,6.5 6.5,6.5 H-5 C-7.5,6.5 -9,5 -9,2.5 Z"),
  rule = path("tint", "M-10,-8 H10 V-3.5 H-10 Z")
    .. path("fine", "M-10,-8 H10 V8 H-10 Z M-10,-3.5 H10 M-10,2.2 H10 M-3.5,-3.5 V8"),
}

-- task(kind) -> what stands in the upper left corner of a task
function symbols.task(kind)
  return TASKS[kind] or ""
end

-- ---- marks at the lower edge of activities ----

local MARKS = {
  parallel = path("mark", "M-4,-5.5 V5.5 M0,-5.5 V5.5 M4,-5.5 V5.5"),
  sequential = path("mark", "M-5.5,-4 H5.5 M-5.5,0 H5.5 M-5.5,4 H5.5"),
  loop = path("fine", "M-1.5,5.6 A5.6,5.6 0 1 1 3.2,4.8 M-5,5.9 H-1.2 V2"),
  undoes = path("fine", "M-1,-5 V5 L-7,0 Z M6,-5 V5 L0,0 Z"),
  ad_hoc = path("mark", "M-6,2 C-4,-4 -2,-3 0,0 C2,3 4,4 6,-2"),
  collapsed = path("fine", "M-7,-7 H7 V7 H-7 Z M-4.5,0 H4.5 M0,-4.5 V4.5"),
}

-- marks(shape) -> those that an activity has, in their order, each 16 wide
function symbols.marks(shape)
  local list = { MARKS[shape.turns or ""] }
  for _, name in ipairs { "undoes", "ad_hoc", "collapsed" } do
    list[#list + 1] = shape[name] and MARKS[name] or nil
  end
  return list
end

return symbols
