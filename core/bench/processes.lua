-- The kinds of processes that `moonshift bench --processes` measures. Without `step` it returns
-- them as a list; else it starts so many instances of one, one a call, or proves that they ended.
local asked = ... or {}

-- jobs: of each instance; commands: of each, its start included. Without jobs all is in the calls.
-- process: that of the kind's name, unless it says another. list: so many commands a call. clients:
-- processes that give the commands at the same time, each for its share; at most eight.
local kinds = {
  { kind = "async1", what = "start, async task, end", jobs = 1 },
  { kind = "five", what = "five async tasks in a row", jobs = 5 },
  { kind = "fork", what = "fork and join, two async branches", jobs = 2 },
  { kind = "timer", what = "a timer that is due at once, then a task", jobs = 1 },
  { kind = "ten", what = "ten async turns side by side", jobs = 10, share = 0.2 },
  { kind = "message", what = "no job: two tasks, a message, three; four clients", jobs = 0,
    commands = 2, clients = 4 },
  { kind = "alone", what = "the same by one client", jobs = 0, commands = 2, process = "message" },
  { kind = "lists", what = "the same, a hundred in a transaction", jobs = 0, commands = 2,
    process = "message", list = 100 },
}

local function open()
  return assert(require "moonshift".open { store = asked.store, scripts = asked.scripts })
end

-- Starts the instances one by one, and gives each its message if it waits for one.
local function start_each(engine, first, last, messages)
  for i = first, last do
    local key = "o-" .. i
    assert(engine:start(asked.process, { key = key, variables = { order = i, amount = 12.5 } }))
    if messages then
      assert(engine:correlate("paid", { key = key }))
    end
  end
end

-- The same in lists.
local function start_list(engine, first, last, messages)
  local starts, given = {}, {}
  for i = first, last do
    local key = "o-" .. i
    starts[#starts + 1] = { asked.process, { key = key, variables = { order = i, amount = 12.5 } } }
    given[#given + 1] = { "paid", { key = key } }
  end
  assert(engine:start(starts))
  assert(not messages or engine:correlate(given))
end

local function start(tell, now)
  local engine <close> = open()
  local size = asked.list > 1 and asked.list or 100
  local some = asked.list > 1 and start_list or start_each
  local before = asked.instances * asked.client // asked.clients
  local upto = asked.instances * (asked.client + 1) // asked.clients
  tell(0) -- returns when all clients are here
  local from = now()
  for first = before + 1, upto, size do
    local last = math.min(first + size - 1, upto)
    some(engine, first, last, asked.commands == 2)
    if not tell(last - before) then
      break
    end
  end
  return now() - from
end

local function prove()
  local engine <close> = open()
  local left, ended = assert(engine:instances():count()), 0
  engine:past_instances():each(function(instance)
    ended = ended + (instance.how == "completed" and 1 or 0)
  end)
  if left > 0 or ended ~= asked.instances then
    error(("%s: %d of %d instances have ended as completed, %d are left"):format(asked.kind, ended,
      asked.instances, left), 0)
  end
  return 0
end

if asked.step == "start" then
  return start(select(2, ...), select(3, ...))
elseif asked.step == "prove" then
  return prove()
end
for _, kind in ipairs(kinds) do
  kind.commands, kind.list, kind.clients = kind.commands or 1, kind.list or 1, kind.clients or 1
  kind.process = kind.process or kind.kind
  kind.files = { "handlers/noop.lua", ("processes/%s.lua"):format(kind.process) }
end
return kinds
