-- The kinds of processes that `moonshift bench --processes` measures. Without `step` it returns
-- them as a list; else it starts so many instances of one, one a call, or proves that they ended.
local asked = ... or {}

-- jobs: of each instance; commands: of each, its start included. Without jobs all is in the calls.
local kinds = {
  { kind = "async1", what = "start, async task, end", jobs = 1 },
  { kind = "five", what = "five async tasks in a row", jobs = 5 },
  { kind = "fork", what = "fork and join, two async branches", jobs = 2 },
  { kind = "timer", what = "a timer that is due at once", jobs = 1 },
  { kind = "ten", what = "ten async turns side by side", jobs = 10, share = 0.2 },
  { kind = "message", what = "no job: a wait, a correlated message", jobs = 0, commands = 2 },
}

local function open()
  return assert(require "moonshift".open { store = asked.store, scripts = asked.scripts })
end

local function start(tell, now)
  local engine <close> = open()
  local from = now()
  for i = 1, asked.instances do
    local key = "o-" .. i
    assert(engine:start(asked.kind, { key = key, variables = { order = i, amount = 12.5 } }))
    if asked.commands == 2 then
      assert(engine:correlate("paid", { key = key }))
    end
    if i % 100 == 0 and not tell(i) then
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
  kind.commands = kind.commands or 1
  kind.files = { "handlers/noop.lua", ("processes/%s.lua"):format(kind.kind) }
end
return kinds
