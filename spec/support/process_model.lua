-- What a random process does, counted slowly: a list runs from its first node to its last one, a
-- node as often as it is entered. Nothing here knows tokens, scopes or jobs that follow each other.
--
-- How often is { least, most }: what may be cut off may not be entered at all. How often a timer
-- or a message from outside came is not foretold but taken from the trail. All else follows from
-- it.
local process_model = {}

-- Of what is entered so often, how often it is if a part of it comes `came` times for sure.
local function exactly(came)
  return { came, came }
end

-- What is cut off so many times.
local function cut(times, came)
  return { math.max(0, times[1] - came), times[2] }
end

-- What is left of it then.
local function rest(times, came)
  return { math.max(0, times[1] - came), math.max(0, times[2] - came) }
end

-- What has begun so many times for sure, in something that is entered `times` times. `beside`: one
-- that is cut off may have had all of them.
local function begun(times, came, beside)
  local cut_off = times[2] - times[1]
  return { math.max(0, came - (beside and cut_off > 0 and came or cut_off)), came }
end

local function multiplied(times, by)
  return { times[1] * by, times[2] * by }
end

local function add(counts, name, times)
  local count = counts[name] or { 0, 0 }
  counts[name] = { count[1] + times[1], count[2] + times[2] }
end

-- Activities end, or are cut off.
local function add_ends(self, id, times)
  add(self.ends, id, times)
  add(self.cancels, id, { 0, times[2] - times[1] })
end

-- Jobs are successful, or have nothing to do any more.
local function add_job(self, name, times, idle)
  add(self.jobs, name, times)
  add(self.idle, name, { 0, idle or times[2] - times[1] })
end

-- The jobs of an activity that is entered and left so often.
local function add_jobs(self, id, options, times, left)
  if options.async then
    add_job(self, id, times)
  end
  if options.after then
    add_job(self, id .. ":after", left or times)
  end
end

local NEVER = { 0, 0 }

local count_list

-- Units of which one undoes what the others did: so many of them lose.
local function add_losers(self, count)
  self.losers = self.losers + count
end

-- How often an event came, according to the trail.
local function came(self, id, most)
  local count = math.min(self.seen[id] or 0, most)
  add_losers(self, most < math.huge and most or count + self.unheard)
  return count
end

-- What an event begins. The handlers of one that lost against another unit have been called, too.
local function count_path(self, list, times, losers)
  count_list(self, list, times)
  local lost = setmetatable({ seen = {}, begun = {}, cut = {}, assigned = {}, ends = {},
    cancels = {}, jobs = {}, idle = {}, called = {}, orders = {} }, { __index = self })
  count_list(lost, list, { 0, self.alone and 0 or losers })
end

-- What comes beside a host -> how often it came, and at most. A message comes as often as it is
-- sent, and it was refused `unheard` times.
local function came_late(self, id, within, times)
  if within.by ~= "timer" and (within.beside or within.by == "when") then
    local fired = came(self, id, math.huge)
    return fired, fired + self.unheard
  end
  local most = times[2] * (within.beside and 2 or 1)
  return came(self, id, most), most
end

-- The event beside a host -> how often that ends by itself, and what is inside of it.
local function timed(self, node, times)
  local within = node.within
  if not within or within.inside then
    return times, times
  end
  local id = node.id .. "_late"
  local fired, most = came_late(self, id, within, times)
  add(self.ends, id, exactly(fired))
  if within.by == "timer" then
    add_job(self, id .. ":timer", exactly(fired), most - fired)
  end
  count_path(self, node.lists[#node.lists], begun(times, fired, within.beside), most - fired)
  if within.beside then
    return times, times
  end
  return rest(times, fired), cut(times, fired)
end

-- What comes inside of a scope -> how often it came, at most, and how often it begins. What has
-- interrupted is waited for again behind a migration, unless it is a timer. If it comes again, it
-- ends what it has begun before: only the last one is there for sure.
local function came_inside(self, id, within, times)
  local again = not within.beside and within.by ~= "timer" and self.migrated or 0
  local fired, most = came_late(self, id, within, multiplied(times, 1 + again))
  local path = begun(times, fired, within.beside)
  return fired, most, again > 0 and { math.min(path[1], times[1]), path[2] } or path
end

-- The same inside of a sub-process, which ends by itself whatever comes -> what is inside of it.
local function handled(self, node, times)
  local within = node.within
  if not within or not within.inside then
    return times
  end
  local id = node.id .. "_late"
  local fired, most, path = came_inside(self, id .. ".start", within, times)
  add_ends(self, id, path)
  if within.by == "timer" then
    add_job(self, id .. ".start:timer", exactly(fired), most - fired)
  end
  count_path(self, node.lists[#node.lists], path, most - fired)
  return within.beside and times or cut(times, fired)
end

local function add_cancels(self, id, times, left)
  add(self.cancels, id, { times[1] - left[1], times[2] - left[1] })
end

-- How many of the turns are begun.
local function turns_of(self, node, times)
  local enough = math.min(node.enough or node.times, node.times)
  if node.parallel then
    add_losers(self, times[2] * (node.times - enough))
    return { times[1] * enough, times[2] * node.times }
  end
  return multiplied(times, enough)
end

-- An activity with its timer and its turns -> how often a turn is entered. Each ends by itself,
-- unless `ends` says that it does not.
local function host(self, node, times)
  local left, inside = timed(self, node, times)
  local id = node.id
  if node.times then
    local body = id .. "#multiInstanceBody"
    add(self.ends, body, left)
    add_cancels(self, body, times, left)
    add_jobs(self, body, node.of, times, left)
    inside = turns_of(self, node, inside)
    left = inside
  end
  add(self.ends, id, left)
  add_cancels(self, id, node.times and inside or times, left)
  add_jobs(self, id, node, node.times and inside or times, left)
  return inside
end

local counters = {}

-- What a step with mappings writes in its scope.
local WRITES = { write = { "create", "update" }, wipe = { "create", "update", "delete" } }

-- Its listeners hear of what it writes, and so do those of what it lies in.
local function add_written(self, node, times)
  for _, event in ipairs(WRITES[node.maps] or {}) do
    for _, id in ipairs { node.id, table.unpack(self.hearers) } do
      add(self.calls, id .. "!variable_" .. event, times)
    end
  end
end

function counters.step(self, node, times)
  local inside = host(self, node, times)
  add_written(self, node, inside)
  local fails = node.fails or 0
  add(self.calls, node.id, multiplied(inside, 1 + fails))
  self.failures = { self.failures[1] + inside[1] * fails, self.failures[2] + inside[2] * fails }
end

-- The timer of a listener comes while the task is there, which the trail does not tell.
function counters.task(self, node, times)
  local inside = host(self, node, times)
  if node.nags then
    local most = inside[2] * node.nags.count
    add(self.calls, node.id .. "!timeout", { 0, most })
    add_job(self, node.id .. "#timeout-nag:timer", { 0, most })
  end
end

function counters.sub(self, node, times)
  local inside = host(self, node, times)
  self.hearers[#self.hearers + 1] = node.listens and node.id
  count_list(self, node.lists[1], handled(self, node, inside))
  if node.listens then
    table.remove(self.hearers)
  end
end

function counters.loop(self, node, times)
  local turns = handled(self, node, host(self, node, times))
  local inside = multiplied(turns, node.rounds)
  add_ends(self, node.id .. "_done", turns)
  add(self.calls, node.id .. "_count", inside)
  add_ends(self, node.id .. "_count", inside)
  add_jobs(self, node.id .. "_count", node.counter, inside)
  add_ends(self, node.id .. "_again", inside)
  count_list(self, node.lists[1], inside)
end

-- It ends by its error, so it does not end by itself.
local function throw(self, id, options, times)
  add(self.calls, id, times)
  add(self.cancels, id, times)
  add_jobs(self, id, options, times, NEVER)
end

function counters.fail(self, node, times)
  throw(self, node.id, node, times)
  count_list(self, node.lists[1], times)
end

-- What interrupts its own scope ends before or behind that.
local function throw_by(self, node, times)
  local id = node.id .. "_throw"
  if not node.by then
    return throw(self, id, node.thrower, times)
  end
  add(self.ends, id, { 0, times[2] })
  add(self.cancels, id, { 0, times[2] })
  add_jobs(self, id, { async = node.thrower.async }, times)
  add_jobs(self, id, { after = node.thrower.after }, NEVER)
end

-- The turns of what a boundary event at its first error ends.
local function halted(self, node, times)
  if not node.times then
    add(self.cancels, node.id, times)
    add_jobs(self, node.id, node, times, NEVER)
    return times, times
  end
  local body = node.id .. "#multiInstanceBody"
  local halts = node.times > 0 and times or NEVER
  local inside = { halts[1], halts[2] * (node.parallel and node.times or 1) }
  add_losers(self, inside[2])
  add(self.ends, body, node.times > 0 and NEVER or times)
  add(self.cancels, body, { halts[1], times[2] })
  add_jobs(self, body, node.of, times, node.times > 0 and NEVER or times)
  add(self.cancels, node.id, { 0, inside[2] })
  add_jobs(self, node.id, node, inside, NEVER)
  return inside, halts
end

function counters.halt(self, node, times)
  local id = node.id
  local inside, path = (node.how == "boundary" and halted or host)(self, node, times)
  add_ends(self, id .. "_fork", inside)
  count_list(self, node.lists[1], { 0, inside[2] })
  add_ends(self, id .. "_join", { 0, inside[2] })
  count_list(self, node.lists[2], inside)
  if node.how == "terminate" then
    add_ends(self, id .. "_stop", inside)
    return
  elseif node.how == "handle" then
    add_ends(self, id .. "_handle", inside)
  end
  throw_by(self, node, inside)
  count_list(self, node.lists[3], path or inside)
end

function counters.raise(self, node, times)
  local id = node.id
  local inside = host(self, node, times)
  add_ends(self, id .. "_throw", inside)
  add_jobs(self, id .. "_throw", node.thrower, inside)
  add_ends(self, id .. "_raised", inside)
  count_list(self, node.lists[1], inside)
  count_list(self, node.lists[2], inside)
end

-- A transaction that it cancels does not end by itself.
local function cancelled(self, node, times)
  local id = node.id
  add(self.cancels, id, times)
  add(self.cancels, id .. "_back", times)
  add_jobs(self, id, node, times, NEVER)
  add_ends(self, id .. "_off", times)
  return times
end

function counters.undo(self, node, times)
  local id = node.id
  local inside = (node.cancels and cancelled or host)(self, node, times)
  for _, name in ipairs { id .. "_do", id .. "_do.undone" } do
    add(self.calls, name, inside)
    add_ends(self, name, inside)
  end
  add_jobs(self, id .. "_do", node.thrower, inside)
  count_list(self, node.lists[1], inside)
  if not node.cancels then
    add_ends(self, id .. "_back", inside)
  end
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
  add_ends(self, node.id, times)
  add_jobs(self, node.id, node, times, multiplied(times, taken))
  local join = node.id .. "_join"
  add_ends(self, join, multiplied(times, taken))
  add_jobs(self, join, { async = node.join.async }, multiplied(times, taken))
  add_jobs(self, join, { after = node.join.after }, times)
end

counters.parallel, counters.choose, counters.inclusive = gateway, gateway, gateway

-- What comes first ends once; the others do not, and their gateway is cut off.
local function caught(self, id, options, times, fired)
  add(self.ends, id, exactly(fired))
  add_job(self, id .. ":timer", exactly(fired), times[2] - fired)
  add_jobs(self, id, options, begun(times, fired))
end

function counters.first(self, node, times)
  add(self.cancels, node.id, times)
  for i, list in ipairs(node.lists) do
    local id = ("%s_%d"):format(node.id, i)
    local fired = came(self, id, times[2])
    caught(self, id, node.catches[i], times, fired)
    count_path(self, list, begun(times, fired), times[2] - fired)
  end
  add_ends(self, node.id .. "_join", times)
end

function counters.call(self, node, times)
  add(self.called, node.id, host(self, node, times))
end

function counters.wait(self, node, times)
  add_ends(self, node.id, times)
  add_job(self, node.id .. ":timer", times)
  add_jobs(self, node.id, node, times)
end

-- The message comes, unless a timer does before it.
local function received(self, node, times)
  if not node.first then
    add_ends(self, node.id, times)
    add_jobs(self, node.id, node, times)
    return
  end
  local id = node.id .. "_none"
  local fired = came(self, id, times[2])
  caught(self, id, {}, times, fired)
  add_ends(self, node.id, rest(times, fired))
  add_jobs(self, node.id, node, rest(times, fired))
  add(self.cancels, node.id .. "_first", times)
  add_ends(self, node.id .. "_met", times)
end

function counters.receive(self, node, times)
  local sender = node.id .. "_send"
  add(self.calls, sender, times)
  add_ends(self, sender, times)
  add_jobs(self, sender, node.sender, times)
  received(self, node, times)
  if node.apart then
    add_ends(self, node.id .. "_fork", times)
    add_ends(self, node.id .. "_join", multiplied(times, 2))
  end
end

local ENDINGS = { "", "_join", "_fork", "_send", "_count", "_again", "_throw", "_handle", "_stop",
  "_do", "_do.undone", "_back", "_off",
  "_first", "_met", "_none", "_1", "_2", "_late", "#multiInstanceBody" }

-- Every name in a node and below it. What runs beside a node may end after it.
local function names_of(node, names)
  for _, ending in ipairs(ENDINGS) do
    names[node.id .. ending] = true
  end
  local lists = node.kind ~= "call" and #(node.lists or {}) or 0
  if node.within and node.within.beside and not node.within.inside then
    names[node.id .. "_late"] = nil
    lists = lists - 1
  elseif node.kind == "raise" then
    lists = 1
  end
  for i = 1, lists do
    for _, inner in ipairs(node.lists[i]) do
      names_of(inner, names)
    end
  end
  return names
end

-- A modification ends a place and begins it anew, or goes on behind it. A job before or after it
-- goes likewise.
local function add_modified(self, node)
  local moved = self.modified[node.id]
  if not moved then
    return
  end
  local id, all = node.id, 2 * (moved.anew + moved.on)
  local fails = all * (node.fails or 0)
  local calls = { -moved.on * (1 + (node.fails or 0)), all + fails }
  add(self.calls, id, calls)
  add_written(self, node, calls)
  add(self.ends, id, { -moved.on, node.after and all or 0 })
  add(self.cancels, id, { 0, all })
  self.failures = { self.failures[1] - fails, self.failures[2] + fails }
  for _, name in ipairs { id, id .. ":after", id .. ":timer" } do
    add(self.jobs, name, { -all, all })
    add(self.idle, name, { 0, all })
  end
  if node.nags then
    add(self.calls, id .. "!timeout", { 0, all * node.nags.count })
    add_job(self, id .. "#timeout-nag:timer", { 0, all * node.nags.count })
  end
  add_losers(self, all)
end

-- Listeners are called for what the trail has, and for what units have lost: such as the one that
-- came behind a timer.
local function add_heard(self, node, times)
  local id, ends, cancels = node.id, self.ends[node.id] or NEVER, self.cancels[node.id] or NEVER
  local ended, cut_off = self.seen[id] or 0, self.cut[id] or 0
  local most = (ends[2] + cancels[2] + (node.first and times[2] or 0)) * (1 + (node.fails or 0))
  local function heard(event, least, at_most)
    add(self.calls, id .. "!" .. event, { least, at_most })
  end
  heard("start", self.begun[id] or 0, most)
  heard("end", ended + cut_off, most)
  if node.kind == "task" then
    heard("create", self.begun[id] or 0, most)
    local given = self.assigned[id] or { done = 0, tried = 0 }
    heard("update", given.done, given.tried)
    heard("assignment", self.begun[id] or 0, most + given.tried)
    heard("complete", ended, most)
    heard("delete", cut_off, cancels[2])
  end
end

function count_list(self, list, times)
  for i, node in ipairs(list) do
    if times[2] == 1 and list[i + 1] then
      table.insert(self.orders, { names_of(node, {}), names_of(list[i + 1], {}) })
    end
    counters[node.kind](self, node, times)
    add_modified(self, node)
    if node.hears then
      add_heard(self, node, times)
    end
  end
end

-- Whether the units of a process come one after the other: its jobs are exclusive, and no called
-- instance goes on in it.
local function is_alone(list)
  for _, node in ipairs(list) do
    for _, holder in pairs { node, node.of, node.join, node.sender, node.counter, node.thrower,
      table.unpack(node.catches or {}) } do
      if holder.beside then
        return false
      end
    end
    for _, inner in ipairs(node.lists or {}) do
      if node.kind == "call" or not is_alone(inner) then
        return false
      end
    end
  end
  return not list.late or is_alone(list.late)
end

-- count(list, one, how) -> what one instance does: { calls, ends, cancels, jobs, idle, called },
-- { least, most } by activity. `failures` are those of jobs. `again` says how often a handler may
-- be called once more, by units that lost. `orders` are pairs of sets of activities: the first
-- one ends before the second. `one` has its pick, what has begun, ended and was cut off by
-- activity (begins, ends, cancels), what was modified, how often it was migrated, how often its
-- tasks were assigned. It may have begun by a restart. `how` has `unheard`, how many messages were
-- refused, and `dead`, how many executors were killed amid a unit.
function process_model.count(list, one, how)
  local whole = one.how == "completed" -- nothing has cancelled it
  local self = { pick = one.pick, seen = one.ends, begun = one.begins, cut = one.cancels,
    modified = one.modified, migrated = one.migrated, assigned = one.assigned,
    unheard = how.unheard, hearers = {},
    calls = {}, ends = {}, cancels = {}, jobs = {},
    idle = {}, called = {}, orders = {}, failures = NEVER, losers = 0,
    alone = how.dead == 0 and is_alone(list) }
  local times = { whole and 1 or 0, 1 }
  local inside = handled(self, { id = "p", within = list.within, lists = { list.late } }, times)
  count_list(self, list, inside)
  if not one.restarted then
    add_ends(self, "start", times)
    add_jobs(self, "start", list.start or {}, times)
  end
  if list.start and list.start.by == "timer" then
    add_job(self, "start:timer", times)
  end
  add(self.ends, "end", inside)
  self.again = self.alone and 0 or self.losers
  return self
end

-- lists(process) -> { [key] = list } of it and of what it calls.
function process_model.lists(process)
  local found = {}
  local function look(key, list)
    for _, node in ipairs(list) do
      for i, inner in ipairs(node.lists or {}) do
        local called = node.kind == "call" and i == 1 and key .. "_" .. node.id
        if called then
          found[called] = inner
        end
        look(called or key, inner)
      end
    end
    if list.late then
      look(key, list.late)
    end
  end
  found[process.key] = process.list
  look(process.key, process.list)
  return found
end

return process_model
