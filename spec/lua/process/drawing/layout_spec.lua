-- Processes without a diagram are laid out: no line through a box, no label over anything.
require "spec.support.scripts"
local drawing = require "moonshift.process.drawing"
local drawings = require "spec.support.drawings"
local graph_of = require "moonshift.process.graph"
local load_of = require "moonshift.process.load"
local processes = require "spec.support.processes"
local report = require "moonshift.process.report"
local source = require "spec.support.source"

local function laid_out(graph)
  local found = assert(drawing.of(graph))
  assert.same({}, drawings.troubles(found))
  local shapes, lines = {}, {}
  for _, shape in ipairs(found.shapes) do
    shapes[shape.id] = shape
  end
  for _, line in ipairs(found.lines) do
    lines[line.from .. ">" .. line.to] = line
  end
  for _, id in ipairs(graph.order) do
    assert.truthy(shapes[id], id)
    for _, flow in ipairs(graph.nodes[id].out) do
      assert.truthy(lines[flow.from .. ">" .. flow.to], flow.id)
    end
  end
  return shapes, lines, found
end

-- ---- random graphs ----

local Random = {}
Random.__index = Random

-- A number from 1 to n, the same in each run.
function Random:upto(n)
  self.state = (self.state * 1103515245 + 12345) % 2147483648
  return self.state // 65536 % n + 1
end

local KINDS = { "service", "user", "exclusive", "parallel", "catch", "subprocess", "receive", "end",
  "call", "service", "event_subprocess" }
local NAMES = { "yes", "ask the customer once more", "${amount > 1000}",
  "a_very_long_name_in_parts", "Überweisung prüfen & <buchen>", "x" }

local function add_node(graph, kind, scope, r)
  local id = ("%s%d"):format(kind, #graph.order + 1)
  local node = { id = id, kind = kind, scope = scope, out = {}, into = {},
    name = r:upto(2) == 1 and NAMES[r:upto(#NAMES)] or nil,
    multi = kind == "service" and r:upto(6) == 1 and { parallel = true } or nil }
  graph.nodes[id] = node
  graph.order[#graph.order + 1] = id
  return node
end

local function add_boundaries(graph, host, r, leaves)
  local hosts = { service = true, user = true, subprocess = true, receive = true, call = true }
  for _ = 2, hosts[host.kind] and r:upto(5) - 1 or 0 do
    local event = add_node(graph, "boundary", host.scope, r)
    event.event = { kind = "timer", timer = { kind = "duration", text = "PT5M" } }
    host.boundaries = host.boundaries or {}
    table.insert(host.boundaries, event.id)
    leaves[#leaves + 1] = event
  end
end

local function add_flows(leaves, targets, r)
  local known = {}
  for i = 1, #leaves + r:upto(#leaves) do
    local from, to = leaves[(i - 1) % #leaves + 1], targets[r:upto(#targets)]
    if i < #targets and r:upto(4) > 1 then
      to = targets[i + 1]
    end
    local id = from.id .. ">" .. to.id
    if not known[id] then
      known[id] = true
      table.insert(from.out, { id = id, from = from.id, to = to.id, default = r:upto(9) == 1,
        name = r:upto(3) == 1 and NAMES[r:upto(#NAMES)] or nil })
    end
  end
end

local function fill(graph, scope, r, depth)
  local leaves, targets = {}, {}
  for _ = 1, r:upto(depth == 0 and 16 or 5) do
    local kind = KINDS[r:upto(#KINDS)]
    if depth == 2 and graph_of.SCOPES[kind] then
      kind = "service"
    end
    local node = add_node(graph, kind, scope, r)
    if graph_of.SCOPES[kind] then
      fill(graph, node.id, r, depth + 1)
    end
    if kind ~= "event_subprocess" then
      leaves[#leaves + 1], targets[#targets + 1] = node, node
      add_boundaries(graph, node, r, leaves)
    end
  end
  if leaves[1] then
    add_flows(leaves, targets, r)
  end
end

local function random_graph(seed)
  local graph = graph_of.new { key = "random" .. seed }
  fill(graph, nil, setmetatable({ state = seed * 7919 }, Random), 0)
  return graph
end

-- ---- specs ----

describe("a layout", function()
  it("leads from the left to the right", function()
    local shapes, lines = laid_out(processes.graph [[return { step "a" { run = "a" },
      choose "ask" { { when = "${x}", step "b" { run = "b" } }, { otherwise = true } },
      step "c" { run = "c" } }]])
    assert.is_true(shapes.a.x < shapes.ask.x and shapes.ask.x < shapes.b.x)
    assert.is_true(shapes.b.x < shapes.c.x)
    assert.same({ "${x}" }, lines["ask>b"].label.lines)
    assert.equal(2, #lines["a>ask"].points)
  end)

  it("has boundary events on the edge of their host, and handlers of compensation", function()
    local shapes, lines = laid_out(processes.graph [[return {
      task "ask" { within = { "PT1H", stop = "late" },
        every = { "R/PT1M", step "hurry" { run = "h" } } },
      step "book" { run = "book", undo = "cancel" } }]])
    local event, host = shapes["ask.within"], shapes.ask
    assert.equal(host.y + host.height, event.y + event.height / 2)
    assert.is_true(shapes["ask.every"].beside)
    local found = false
    for _, line in pairs(lines) do
      found = found or line.kind == "association"
    end
    assert.is_true(found)
  end)

  it("leads back below, also from an activity to itself", function()
    laid_out(processes.graph [[return { step "a" { run = "a" },
      step "b" { run = "b", to = { { "a", when = "${x}", name = "once more" },
        { "b", when = "${y}" }, { "end", default = true } } }, process.finish "end" {} }]])
  end)

  it("has no line through a box and no label over another in all examples", function()
    local count = 0
    for _, path in ipairs(source.files("examples", "/processes/.*%.%a+$")) do
      local told, text = report.new(path), source.read(path)
      local value = path:find "%.lua$" and assert(load(text, "@" .. path))() or nil
      for _, graph in ipairs(load_of.graphs(path, text, value, told, {})) do
        laid_out(graph)
        count = count + 1
      end
    end
    assert.is_true(count >= 2)
  end)

  it("has none in 300 random ones either", function()
    for seed = 1, 300 do
      laid_out(random_graph(seed))
    end
  end)

  it("is the same each time", function()
    local svg = require "moonshift.process.drawing.svg"
    local function page()
      return svg(drawing.of(random_graph(7)), { at = {}, most = 0 })
    end
    assert.equal(page(), page())
  end)

  it("refuses what is too large, whatever it is made of", function()
    local graph = graph_of.new { key = "large" }
    local r = setmetatable({ state = 1 }, Random)
    for i = 1, 1000 do
      local node = add_node(graph, "service", nil, r)
      for j = 1, 3 do
        table.insert(node.out, { id = i .. "-" .. j, from = node.id,
          to = "service" .. r:upto(1000) })
      end
    end
    local found, message = drawing.of(graph)
    assert.is_nil(found)
    assert.equal("1000 activities, or lines over many of them, are too many for a picture", message)
  end)
end)
