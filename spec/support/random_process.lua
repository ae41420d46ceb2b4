-- Random processes for specs: trees of blocks, their text in Lua, and what smaller trees there are.
-- How a process goes on is decided by the variable `pick` of its instance, a whole number.
local random_process = {}

-- ---- trees ----
-- A node is { kind, id, … } with the options async, after, beside (not exclusive), urgent, and
-- hears (it has listeners), and times, parallel, enough, of = { async, … } of a repetition. A
-- step with `maps`, "write" or "wipe", has inputs, outputs and listeners of variables; a sub that
-- `listens` hears of those inside. A task with `nags` has a listener whose timer comes every
-- nags.ms, nags.count times. `within` is an event beside a node, `by` a timer, a message, a signal
-- or a condition; its list is the last one. Lists of nodes stand in `lists`: one of a sub-process,
-- of a called process, behind an error; a branch each of gateways. The list of a process may have
-- `within`, too, and the list `late`.

local function chance(percent)
  return math.random(100) <= percent
end

-- What jobs a node has. `style` says which: none, exclusive ones, or both kinds.
local function options(self, node)
  node.async, node.after = chance(self.jobs), chance(self.jobs // 2)
  node.beside, node.urgent = chance(self.beside), chance(self.urgent)
  node.hears = node.id and chance(self.hears) or nil
  return node
end

local function new_id(self, letter)
  self.last = self.last + 1
  return letter .. self.last
end

local function repeated(self, node, depth)
  if chance(20) and depth < 4 then
    node.times, node.parallel = math.random(0, 4), chance(60)
    node.enough = chance(25) and math.random(3) or nil
    node.of = options(self, {})
  end
  return node
end

local list_of

local function lists(self, count, depth)
  local made = {}
  for i = 1, count do
    made[i] = list_of(self, depth + 1)
  end
  return made
end

local function one_of(list)
  return list[math.random(#list)]
end

-- A timer, or something from another program: a message, a signal, or a variable that a condition
-- reads. One that is not `named` looks at changes of all variables.
local OUTSIDE = { "timer", "timer", "timer", "message", "signal", "when" }

local function late(inside)
  local beside = chance(50)
  return { ms = math.random(1, 30), by = one_of(OUTSIDE), beside = beside, inside = inside,
    named = beside or chance(50) }
end

-- The list behind it. It may run several times at once, and then its receivers would be too many.
local function late_list(self, within, depth)
  local outside = self.again
  self.again = outside or within.beside
  local list = list_of(self, depth + 1)
  self.again = outside
  return list
end

-- What comes beside the node, or inside of it.
local function timed(self, node, depth)
  if chance(self.late) and depth < 4 then
    node.within = late(node.kind ~= "call" and node.lists ~= nil and chance(50))
    node.lists = node.lists or {}
    table.insert(node.lists, late_list(self, node.within, depth))
  end
  return node
end

local makers = {}

function makers.step(self, depth)
  local node = repeated(self, options(self, { kind = "step", id = new_id(self, "a") }), depth)
  node.fails = node.async and chance(self.fails) and math.random(2) or nil
  node.maps = not node.fails and chance(self.maps) and one_of { "write", "wipe" } or nil
  return timed(self, node, depth)
end

function makers.task(self, depth)
  local node = repeated(self, options(self, { kind = "task", id = new_id(self, "t") }), depth)
  node.nags = node.hears and chance(60) and { ms = math.random(1, 20), count = math.random(2) }
    or nil
  return timed(self, node, depth)
end

function makers.fail(self, depth)
  return options(self, { kind = "fail", id = new_id(self, "f"), lists = lists(self, 1, depth) })
end

-- Lists of the node's scope, which is a loop or none. What is called has its own signals.
local function scope_of(self, node, count, depth, loop)
  local outside, turns = self.loop, self.turns
  self.loop, self.turns = loop, node.kind ~= "call" and (turns or node.times) or nil
  local made = lists(self, count, depth)
  self.loop, self.turns = outside, turns
  return made
end

function makers.sub(self, depth)
  local node = repeated(self, options(self, { kind = "sub", id = new_id(self, "s") }), depth)
  node.listens = chance(self.maps) or nil
  node.lists = scope_of(self, node, 1, depth)
  return timed(self, node, depth)
end

function makers.loop(self, depth)
  local node = repeated(self, options(self, { kind = "loop", id = new_id(self, "l") }), depth)
  node.rounds, node.counter = math.random(3), options(self, {})
  node.lists = scope_of(self, node, 1, depth, true)
  return timed(self, node, depth)
end

local HALTS = { "boundary", "boundary", "handle", "handle", "terminate" }
local RAISES = { "escalate", "signal", "when" }

-- What a scope hears of: of a signal one that is there once alone.
local function raised_by(self, node)
  local by = one_of(RAISES)
  return by == "signal" and (self.again or self.turns or node.times) and "escalate" or by
end

-- Its second list ends what the first one does; the third one comes then. `by` says how that is
-- told, if it is no error.
function makers.halt(self, depth)
  local node = options(self, { kind = "halt", id = new_id(self, "h"), how = one_of(HALTS) })
  repeated(self, node, depth)
  node.by = node.how ~= "terminate" and chance(60) and raised_by(self, node) or nil
  if node.by == "when" and node.how == "boundary" and node.times then
    node.by = nil -- it would not see what its turns set
  end
  local outside = self.halted
  node.thrower, self.halted = options(self, {}), true
  node.lists = scope_of(self, node, node.how == "terminate" and 2 or 3, depth)
  self.halted = outside
  return node
end

-- Before its first list it escalates, throws a signal that is its own, or sets a variable that a
-- condition reads; the second one comes beside it, or inside of it. Where a halt ends both, the
-- second one might be cut off.
function makers.raise(self, depth)
  if self.halted then
    return makers.sub(self, depth)
  end
  local node = repeated(self, options(self, { kind = "raise", id = new_id(self, "q") }), depth)
  node.thrower, node.inside = options(self, {}), chance(50)
  node.by = raised_by(self, node)
  if node.by == "when" and not node.inside and node.times then
    node.by = "escalate"
  end
  node.lists = scope_of(self, node, 1, depth)
  local outside = self.again
  self.again = true
  node.lists[2] = list_of(self, depth + 1)
  self.again = outside
  return node
end

-- Behind its list it takes back the activity before it, or all of it as a transaction.
function makers.undo(self, depth)
  if self.halted then
    return makers.sub(self, depth)
  end
  local node = repeated(self, options(self, { kind = "undo", id = new_id(self, "u") }), depth)
  node.thrower, node.cancels = options(self, {}), not node.times and chance(40)
  self.halted = node.cancels -- what comes beside its list would be cut off
  node.lists = scope_of(self, node, 1, depth)
  self.halted = nil
  return node
end

function makers.parallel(self, depth)
  local node = options(self, { kind = "parallel", id = new_id(self, "p"),
    lists = lists(self, math.random(2, 3), depth) })
  node.join = options(self, {})
  return node
end

function makers.choose(self, depth)
  local node = makers.parallel(self, depth)
  node.kind = "choose"
  return node
end

-- In a loop an inclusive join waits for tokens that wait for it: they may come around again.
function makers.inclusive(self, depth)
  if self.loop then
    return makers.choose(self, depth)
  end
  local node = makers.parallel(self, depth)
  node.kind = "inclusive"
  return node
end

local function catch(self)
  local one = options(self, { ms = math.random(0, 20) })
  one.async = nil -- what a gateway waits for cannot begin later
  return one
end

function makers.first(self, depth)
  return { kind = "first", id = new_id(self, "e"), catches = { catch(self), catch(self) },
    lists = lists(self, 2, depth) }
end

-- What comes beside all of a process, whose list this is.
local function whole_timed(self, list, depth)
  if chance(self.late) and depth < 4 then
    list.within = late(true)
    list.late = late_list(self, list.within, depth)
  end
  return list
end

function makers.call(self, depth)
  local node = options(self, { kind = "call", id = new_id(self, "k") })
  node.lists = scope_of(self, node, 1, depth)
  whole_timed(self, node.lists[1], depth)
  return timed(self, repeated(self, node, depth), depth)
end

function makers.wait(self)
  return options(self, { kind = "wait", id = new_id(self, "w"), ms = math.random(0, 30) })
end

-- A message from the same instance, sent before its receiver waits or beside it, or a variable that
-- a condition waits for. `first` is a timer that may come before it.
function makers.receive(self)
  local node = options(self, { kind = "receive", id = new_id(self, "r"), apart = chance(50),
    by = (self.again or chance(40)) and "when" or "message", sender = options(self, {}) })
  node.first = chance(30) and math.random(0, 20) or nil
  node.async = not node.first and node.async
  return node
end

local LEAVES = { "step", "step", "step", "step", "step", "wait", "receive", "task" }
local BLOCKS = { "parallel", "parallel", "parallel", "sub", "sub", "choose", "inclusive", "call",
  "fail", "loop", "halt", "raise", "undo", "first" }

function list_of(self, depth)
  local list = {}
  repeat
    self.budget = self.budget - 1
    local kinds = depth < 4 and self.budget > 0 and chance(45) and BLOCKS or LEAVES
    list[#list + 1] = makers[kinds[math.random(#kinds)]](self, depth)
  until self.budget <= 0 or chance(50)
  return list
end

local STARTS = { "message", "timer", "when", "none" }

-- new(key) -> { key, list }; list.start = { by, async } says how it begins, if it says so.
function random_process.new(key)
  local self = { last = 0, budget = math.random(3, 9), jobs = one_of { 30, 60, 90 },
    beside = one_of { 0, 0, 40, 100 }, urgent = one_of { 0, 0, 40 }, late = one_of { 0, 0, 30 },
    fails = one_of { 0, 0, 30 }, hears = one_of { 0, 0, 40 }, maps = one_of { 0, 30 } }
  local list = list_of(self, 1)
  if chance(25) then
    list.start = { by = one_of(STARTS), async = chance(self.jobs) }
  else
    whole_timed(self, list, 1)
  end
  return { key = key, list = list }
end

-- ---- smaller ones ----

local function copy(value)
  if type(value) ~= "table" then
    return value
  end
  local made = {}
  for name, inner in pairs(value) do
    made[name] = copy(inner)
  end
  return made
end

-- Where options stand: in the node itself, and in these.
local function holders_of(node)
  return { node, node.join, node.of, node.sender, node.counter, node.thrower,
    table.unpack(node.catches or {}) }
end

local GATEWAYS = { parallel = true, choose = true, inclusive = true }

-- Numbers that are better small, and the least that they may be; nil takes them away.
local LEAST = { times = 0, rounds = 1, fails = 1, enough = 1, first = 0 }
local OPTIONAL = { "times", "fails", "enough", "first", "nags", "maps" }

-- Changes of one node that make it simpler: functions that change it in its list.
local function changes_of(list, at, add)
  local node = list[at]
  add(function(found) table.remove(found, at) end)
  for i in ipairs(node.lists or {}) do
    add(function(found)
      local inside = table.remove(found, at).lists[i]
      table.move(inside, 1, #inside, #found + 1, found)
    end)
  end
  if node.within then
    add(function(found)
      found[at].within = nil
      table.remove(found[at].lists)
    end)
  end
  if node.kind == "call" and node.lists[1].within then
    add(function(found) found[at].lists[1].within, found[at].lists[1].late = nil, nil end)
  end
  if GATEWAYS[node.kind] and node.lists[3] then
    add(function(found) table.remove(found[at].lists) end)
  end
  for _, name in ipairs(OPTIONAL) do
    if node[name] then
      add(function(found) found[at][name] = nil end)
    end
  end
  for name, least in pairs(LEAST) do
    if (node[name] or 0) > least then
      add(function(found) found[at][name] = found[at][name] - 1 end)
    end
  end
  for i, holder in pairs(holders_of(node)) do
    for name, value in pairs(holder) do
      if value == true and not (name == "async" and node.fails) then
        add(function(found) holders_of(found[at])[i][name] = nil end)
      end
    end
  end
end

-- Calls each(path, index) for every node; a path leads to its list.
local function each_node(list, path, each)
  for at, node in ipairs(list) do
    each(path, at, list)
    for i, inner in ipairs(node.lists or {}) do
      local deeper = table.move(path, 1, #path, 1, {})
      deeper[#deeper + 1] = { at, i }
      each_node(inner, deeper, each)
    end
  end
end

local function list_at(list, path)
  for i = 1, #path do
    list = list[path[i][1]].lists[path[i][2]]
  end
  return list
end

-- smaller(process) -> processes that lack one thing each.
function random_process.smaller(process)
  local made = {}
  if process.list.start or process.list.within then
    made[1] = copy(process)
    made[1].list.start, made[1].list.within, made[1].list.late = nil, nil, nil
  end
  each_node(process.list, {}, function(path, at, list)
    changes_of(list, at, function(change)
      local one = copy(process)
      change(list_at(one.list, path))
      made[#made + 1] = one
    end)
  end)
  return made
end

return random_process
