-- What a random process does, counted slowly: a list runs from its first node to its last one, a
-- node as often as it is entered. Nothing here knows tokens, scopes or jobs that follow each other.
local process_model = {}

local function add(counts, name, count)
  if count > 0 then
    counts[name] = (counts[name] or 0) + count
  end
end

-- The jobs of an activity that is entered `times` times, and left as often unless it fails.
local function add_jobs(self, id, options, times, fails)
  if options.async then
    add(self.jobs, id, times)
  end
  if options.after and not fails then
    add(self.jobs, id .. ":after", times)
  end
end

local count_list

local counters = {}

-- The turns of a repetition; it counts the body.
local function turns(self, node, times)
  if not node.times then
    return times
  end
  local body = node.id .. "#multiInstanceBody"
  add(self.ends, body, times)
  add_jobs(self, body, node.of, times)
  return times * node.times
end

function counters.step(self, node, times)
  local inside = turns(self, node, times)
  add(self.calls, node.id, inside)
  add(self.ends, node.id, inside)
  add_jobs(self, node.id, node, inside)
end

function counters.sub(self, node, times)
  local inside = turns(self, node, times)
  add(self.ends, node.id, inside)
  add_jobs(self, node.id, node, inside)
  count_list(self, node.lists[1], inside)
end

-- It ends by its error, so it does not end by itself.
function counters.fail(self, node, times)
  add(self.calls, node.id, times)
  add(self.cancels, node.id, times)
  add_jobs(self, node.id, node, times, true)
  count_list(self, node.lists[1], times)
end

-- Whether branch i of the node is taken.
local TAKEN = {
  parallel = function() return true end,
  choose = function(i, count, pick) return i == (pick % count == 0 and count or pick % count) end,
  inclusive = function(i, _, pick) return pick >= i - 1 end,
}

local function gateway(self, node, times)
  local taken = 0
  for i, list in ipairs(node.lists) do
    if TAKEN[node.kind](i, #node.lists, self.pick) then
      taken = taken + 1
      count_list(self, list, times)
    end
  end
  add(self.ends, node.id, times)
  add_jobs(self, node.id, node, times)
  if node.after then
    add(self.jobs, node.id .. ":after", times * (taken - 1))
  end
  add(self.ends, node.id .. "_join", times * taken)
  if node.join.async then
    add(self.jobs, node.id .. "_join", times * taken)
  end
  if node.join.after then
    add(self.jobs, node.id .. "_join:after", times)
  end
end

counters.parallel, counters.choose, counters.inclusive = gateway, gateway, gateway

function counters.call(self, node, times)
  add(self.ends, node.id, times)
  add(self.called, node.id, times)
  add_jobs(self, node.id, node, times)
end

function counters.wait(self, node, times)
  add(self.ends, node.id, times)
  add(self.jobs, node.id .. ":timer", times)
  add_jobs(self, node.id, node, times)
end

function counters.receive(self, node, times)
  local sender = node.id .. "_send"
  add(self.calls, sender, times)
  add(self.ends, sender, times)
  add(self.ends, node.id, times)
  add_jobs(self, sender, node.sender, times)
  add_jobs(self, node.id, node, times)
  if node.apart then
    add(self.ends, node.id .. "_fork", times)
    add(self.ends, node.id .. "_join", 2 * times)
  end
end

-- Every name in a node and below it.
local function names_of(node, names)
  for _, ending in ipairs { "", "_join", "_fork", "_send", "#multiInstanceBody" } do
    names[node.id .. ending] = true
  end
  for _, list in ipairs(node.kind ~= "call" and node.lists or {}) do
    for _, inner in ipairs(list) do
      names_of(inner, names)
    end
  end
  return names
end

function count_list(self, list, times)
  for i, node in ipairs(list) do
    if times == 1 and list[i + 1] then
      table.insert(self.orders, { names_of(node, {}), names_of(list[i + 1], {}) })
    end
    counters[node.kind](self, node, times)
  end
end

-- count(list, pick) -> what one instance does: { calls, ends, cancels, jobs, called }, numbers by
-- activity; `orders` are pairs of sets of activities, of which the first ends before the second.
function process_model.count(list, pick)
  local self = { pick = pick, calls = {}, ends = {}, cancels = {}, jobs = {}, called = {},
    orders = {} }
  count_list(self, list, 1)
  add(self.ends, "start", 1)
  add(self.ends, "end", 1)
  return self
end

-- lists(process) -> { [key] = list } of it and of what it calls.
function process_model.lists(process)
  local found = {}
  local function look(key, list)
    for _, node in ipairs(list) do
      for _, inner in ipairs(node.lists or {}) do
        local called = node.kind == "call" and key .. "_" .. node.id
        if called then
          found[called] = inner
        end
        look(called or key, inner)
      end
    end
  end
  found[process.key] = process.list
  look(process.key, process.list)
  return found
end

return process_model
