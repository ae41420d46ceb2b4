-- Joins against a second, slow engine: it knows only a bag of places and looks at the whole graph
-- for every question. Graphs and orders are drawn with a fixed seed.
local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"

local MODELS = 150

-- ---- the slow engine ----

-- Whether a way leads from one node to another, found anew each time.
local function leads(graph, from, to)
  local open, seen = { from }, {}
  while open[1] do
    local id = table.remove(open)
    if id == to then
      return true
    end
    for _, flow in ipairs(not seen[id] and graph.nodes[id].out or {}) do
      open[#open + 1] = flow.to
    end
    seen[id] = true
  end
  return false
end

local function count_at(bag, id)
  local n = 0
  for _, place in ipairs(bag) do
    n = n + (place == id and 1 or 0)
  end
  return n
end

local function take(bag, id, n)
  for i = #bag, 1, -1 do
    if bag[i] == id and n > 0 then
      table.remove(bag, i)
      n = n - 1
    end
  end
end

-- How many tokens a gateway takes now; 0 if it must wait.
local function joins(graph, bag, id)
  local node, here = graph.nodes[id], count_at(bag, id)
  local incoming = #node.into
  if incoming <= 1 or node.kind ~= "parallel" and node.kind ~= "inclusive" then
    return math.min(here, 1)
  elseif node.kind == "parallel" then
    return here >= incoming and here or 0
  end
  for _, place in ipairs(bag) do
    if place ~= id and here < incoming and leads(graph, place, id) then
      return 0
    end
  end
  return here
end

local function fire(graph, bag, id, n)
  take(bag, id, n)
  for _, flow in ipairs(graph.nodes[id].out) do
    bag[#bag + 1] = flow.to
  end
end

-- Moves what can move by itself: ways before inclusive gateways that could wait.
local function settle(graph, bag)
  local function pass(inclusive)
    for _, id in ipairs(graph.order) do
      local node = graph.nodes[id]
      local waits = node.kind == "inclusive" and #node.into > 1
      local moves = node.kind ~= "user" and count_at(bag, id) > 0 and waits == inclusive
      local n = moves and joins(graph, bag, id) or 0
      if n > 0 then
        fire(graph, bag, id, n)
        return true
      end
    end
    return false
  end
  while pass(false) or pass(true) do -- luacheck: ignore 542
  end
end

local function places(bag)
  table.sort(bag)
  return table.concat(bag, " ")
end

-- ---- both ----

local function waiting_users(graph, bag)
  local users = {}
  for _, id in ipairs(bag) do
    if graph.nodes[id].kind == "user" then
      users[#users + 1] = id
    end
  end
  table.sort(users)
  return users
end

-- Runs one process in both, completing the same tasks; gives the first difference.
local function differs(seed)
  local r = graphs.random(seed)
  local graph = graphs.draw(r, { "user", "parallel", "inclusive", "user", "user" })
  local d = driver.new { graph }
  local id = d:start("p")
  local bag = { "s" }
  settle(graph, bag)
  for _ = 1, 200 do
    if places(bag) ~= d:at(id) then
      return ("seed %d: %s, but %s"):format(seed, places(bag), d:at(id))
    end
    local users = waiting_users(graph, bag)
    if not users[1] then
      return nil
    end
    local chosen = users[r:upto(#users)]
    fire(graph, bag, chosen, 1)
    settle(graph, bag)
    d:complete(chosen)
  end
  return ("seed %d: no end"):format(seed)
end

describe("joins of parallel and inclusive gateways", function()
  it("stand where a slow engine says", function()
    for seed = 1, MODELS do
      assert.is_nil(differs(seed * 7919))
    end
  end)
end)

describe("an inclusive join", function()
  local function forked(nodes, flows)
    nodes.f, nodes.g, nodes.b, nodes.v = "parallel", "inclusive", "user", "user"
    flows[#flows + 1] = "s -> f -> b -> g -> v -> e"
    return driver.new { graphs.make("p", nodes, flows) }
  end

  it("does not wait for an activity whose flow has been chosen and leads elsewhere", function()
    local d = forked({ a = { kind = "task", after = true } }, { "f -> a", { "a -> g",
      default = true }, { "a -> e1", when = "${true}" } })
    local id = d:start("p")
    d:complete("b")
    assert.equal("a:after v", d:at(id))
  end)

  it("does not wait for an event that may come at an activity beside it", function()
    local d = forked({ u = "user", x = { kind = "boundary", attached = "u",
      event = { kind = "message", name = "m" } } }, { "f -> u -> e1", "x -> g" })
    local id = d:start("p")
    d:complete("b")
    assert.equal("u v", d:at(id))
  end)

  it("waits for what goes on behind a sub-process", function()
    local d = forked({ sub = "subprocess", s2 = { kind = "start", scope = "sub" },
      u = { kind = "user", scope = "sub" }, e2 = { kind = "end", scope = "sub" } },
      { "f -> sub -> g", "s2 -> u -> e2" })
    local id = d:start("p")
    d:complete("b")
    assert.is_nil(d:history(id).g)
    d:complete("u")
    assert.equal("v", d:at(id))
  end)
end)
