-- Draws processes with everything in them: scopes in scopes, turns, events, errors, calls. All is
-- drawn from graphs.random, so a number names a process.
local graphs = require "spec.lua.process.graphs"

local nested = {}

local DEPTH = 3

local function maybe(r, n)
  return r:upto(n) == 1 or nil
end

-- A handler counts its runs in a variable they share; one in an activity "…_throws" throws.
local function count(job)
  job.variables.count = (job.variables.count or 0) + 1
  if job.activity:find "_throws$" then
    job:throw "x"
  end
end

local function timer(kind, text)
  return { kind = "timer", timer = { kind = kind, text = text } }
end

local Kinds = {
  function()
    return { kind = "user" }
  end,
  function(r)
    return { kind = "user", before = maybe(r, 2) }
  end,
  function(r)
    return { kind = "service", before = maybe(r, 2), after = maybe(r, 2),
      exclusive = maybe(r, 2) or false, behaviour = { call = count } }
  end,
  function()
    return { kind = "service", before = true, behaviour = { call = count } }, "_throws"
  end,
  function()
    return { kind = "parallel" }
  end,
  function()
    return { kind = "inclusive" }
  end,
  function()
    return { kind = "catch", event = timer("duration", "PT1M") }
  end,
  function(r)
    return { kind = "receive", event = maybe(r, 2) and { kind = "message", name = "m" } }
  end,
  function()
    return { kind = "call", call = { process = "q", back = { { all = true } } } }
  end,
  function(_, depth)
    return { kind = depth < DEPTH and "subprocess" or "task" }
  end,
}

local HOSTS = { user = true, service = true, subprocess = true, call = true, receive = true }

local function multi(r)
  return { parallel = maybe(r, 2), count = r:upto(3), before = maybe(r, 3), after = maybe(r, 3),
    ["until"] = maybe(r, 3) and "${nrOfCompletedInstances >= 2}" }
end

-- What interrupts, or comes beside.
local function event(r)
  local made = ({ timer("cycle", "R2/PT1M"), { kind = "message", name = "z" },
    { kind = "error", code = maybe(r, 2) and "x" } })[r:upto(3)]
  made.interrupting = made.kind == "error" or r:upto(2) == 1
  return made
end

local draw_scope

local function draw_node(m, scope, name, depth)
  local r = m.random
  local node, suffix = Kinds[r:upto(#Kinds)](r, depth)
  name = name .. (suffix or "")
  node.scope, m.nodes[name] = scope, node
  if node.kind == "subprocess" then
    draw_scope(m, name, depth + 1)
  end
  if HOSTS[node.kind] and node.kind ~= "receive" and maybe(r, 3) then
    node.multi = multi(r)
  end
  if HOSTS[node.kind] and maybe(r, 3) then
    m.nodes["b" .. name] = { kind = "boundary", attached = name, scope = scope, event = event(r) }
    m.flows[#m.flows + 1] = ("b%s -> e%s"):format(name, scope or "")
  end
  return name
end

-- Flows forwards from the i-th of these nodes; gateways and some others have several.
local function draw_flows(m, names, i, last)
  local r, from = m.random, names[i]
  local kind = m.nodes[from].kind
  local forks = (kind == "parallel" or kind == "inclusive") and 1 + r:upto(2) or 1
  local seen = {}
  for _ = 1, forks + (maybe(r, 6) and 1 or 0) do
    local to = names[i + r:upto(3)] or last
    if not seen[to] then
      seen[to] = true
      m.flows[#m.flows + 1] = from .. " -> " .. to
    end
  end
end

local function draw_event_scope(m, scope)
  local r, name = m.random, "on" .. (scope or "")
  m.nodes[name] = { kind = "event_subprocess", scope = scope }
  m.nodes["s" .. name] = { kind = "start", scope = name, event = event(r) }
  m.nodes["u" .. name] = { kind = maybe(r, 2) and "user" or "task", scope = name }
  m.nodes["e" .. name] = { kind = "end", scope = name }
  m.flows[#m.flows + 1] = ("s%s -> u%s -> e%s"):format(name, name, name)
end

local ENDS = { { kind = "terminate" }, { kind = "error", code = "x" } }

draw_scope = function(m, scope, depth)
  local r, id = m.random, scope or ""
  local names, last = {}, "e" .. id
  m.nodes["s" .. id] = { kind = "start", scope = scope }
  m.nodes[last] = { kind = "end", scope = scope, event = ENDS[r:upto(8)] }
  for i = 1, 2 + r:upto(4) do
    names[i] = draw_node(m, scope, ("n%s_%d"):format(id, i), depth)
  end
  m.flows[#m.flows + 1] = ("s%s -> %s"):format(id, names[1])
  for i = 1, #names do
    draw_flows(m, names, i, last)
  end
  if maybe(r, 3) then
    draw_event_scope(m, scope)
  end
end

-- draw(random) -> the processes p and q, which p may call
function nested.draw(random)
  local m = { random = random, nodes = {}, flows = {} }
  draw_scope(m, nil, 1)
  return graphs.make("p", m.nodes, m.flows),
    graphs.make("q", { u = maybe(random, 2) and "user" or "task" }, { "s -> u -> e" })
end

return nested
