-- Each command of an operator at each kind of place, of instances that are as they came,
-- suspended, dead, or ended; alone, and with an executor beside it. What is refused changes
-- nothing, and the store is in order behind it all. SPEC_CELLS is how many of all commands are
-- drawn for a place, and SPEC_SEED draws others.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local process_places = require "spec.support.process_places"
local rules = require("moonshift.core").rules

-- ---- commands ----

-- Of one kind of row of the instance the first one.
local function first(engine, what, id)
  local row = engine[what](engine, { instance = id }):list()[1]
  return row and row.id or 0
end

-- { name, function of the engine and an instance }; a dry run changes nothing.
local COMMANDS, DRY = {}, {}

local function command(name, act)
  COMMANDS[#COMMANDS + 1] = { name, act }
end

local MODIFICATIONS = {
  before = { { start_before = "a" } }, after = { { start_after = "a" } },
  last = { { start_before = "z" } }, cancel = { { cancel = "a" } },
  first = { { cancel = "a#1" } }, none = { { cancel = "a#9" } },
  on = { { start_before = "z" }, { cancel = "a" } },
  anew = { { cancel = "a" }, { start_before = "a" } },
  body = { { start_before = "a#multiInstanceBody" } },
  variables = { { start_before = "a", variables = { v = 1 }, ["local"] = true } },
  scope = { { start_before = "a", ["in"] = "s#1" } }, all = { { cancel = "s" }, { cancel = "a" } },
  start = { { start_after = "start" } }, event = { { start_before = "a.within" } },
  handle = { { start_before = "h" } }, wrong = { { start_before = "nothing" } },
}

for name, operations in pairs(MODIFICATIONS) do
  command("modify " .. name, function(engine, id)
    return engine:modify_instance(id, operations)
  end)
  command("modify dry " .. name, function(engine, id)
    return engine:modify_instance(id, operations, { dry_run = true })
  end)
  command("modify silent " .. name, function(engine, id)
    return engine:modify_instance(id, operations, { skip_listeners = true, skip_mappings = true })
  end)
  command("restart " .. name, function(engine, id)
    return engine:restart_instance(id, operations)
  end)
  DRY["modify dry " .. name] = true
end

local PLANS = {
  equal = { to = 2, equal = true }, same = { to = 1, equal = true }, missing = { to = 9 },
  pair = { to = 2, activities = { { from = "a", to = "a" } } },
  update = { to = 2, equal = true, activities = { { from = "a", to = "a", update = true } } },
  away = { to = 2, activities = { { from = "a", to = "z" } } },
  variables = { to = 2, equal = true, variables = { moved = true } },
  wrong = { to = 2, activities = { { from = "a", to = "b" } } },
  other = { to = 1, to_process = "task", activities = { { from = "a", to = "a" } } },
}

for name, plan in pairs(PLANS) do
  command("migrate " .. name, function(engine, id)
    return engine:migrate_instance(id, plan)
  end)
  command("migrate dry " .. name, function(engine, id)
    return engine:migrate_instance(id, plan, { dry_run = true })
  end)
  DRY["migrate dry " .. name] = true
end

command("set", function(engine, id)
  return engine:set_variables(id, { v = 1, ok = true })
end)
command("set there", function(engine, id)
  return engine:set_variables(id, { v = 1 }, { activity = "a" })
end)
command("unset", function(engine, id)
  return engine:set_variables(id, {}, { unset = { "given" } })
end)
command("trigger", function(engine, id)
  return engine:trigger(id)
end)
command("signal", function(engine, id)
  return engine:signal("sg", { v = 1 }, { instance = id })
end)
command("message", function(engine, id)
  return engine:correlate("m", { instance = id })
end)
command("messages", function(engine, id)
  return engine:correlate("m", { key = "k" .. id, all = true })
end)
command("complete", function(engine, id)
  return engine:complete(first(engine, "tasks", id), { v = 1 })
end)
command("throw", function(engine, id)
  return engine:throw(first(engine, "tasks", id), "E1")
end)
command("escalate", function(engine, id)
  return engine:escalate(first(engine, "tasks", id), "E1")
end)
command("claim", function(engine, id)
  return engine:claim(first(engine, "tasks", id), "ann")
end)
command("suspend", function(engine, id)
  return engine:suspend_instance(id)
end)
command("activate", function(engine, id)
  return engine:activate_instance(id, { hierarchy = true })
end)
command("cancel", function(engine, id)
  return engine:cancel_instance(id, { reason = "why" })
end)
command("cancel dry", function(engine, id)
  return engine:cancel_instance(id, { dry_run = true })
end)
command("cancel silent", function(engine, id)
  return engine:cancel_instance(id, { skip_listeners = true, skip_mappings = true,
    skip_called = true })
end)
DRY["cancel dry"] = true

-- Jobs of the instance, whatever they wait for.
for _, verb in ipairs { "suspend", "activate", "retry", "dead_letter" } do
  command("job " .. verb, function(engine, id)
    return engine[verb](engine, engine:jobs { instance = tostring(id) })
  end)
end

table.sort(COMMANDS, function(a, b)
  return a[1] < b[1]
end)

local CELLS = tonumber(os.getenv("SPEC_CELLS") or "2")
local SEED = tonumber(os.getenv("SPEC_SEED") or "33")

-- Some of the commands, or all.
local function drawn()
  local left, list = table.move(COMMANDS, 1, #COMMANDS, 1, {}), {}
  while #list < CELLS and left[1] do
    list[#list + 1] = table.remove(left, math.random(#left))
  end
  return list
end

-- ---- instances ----

local STATES = {
  fresh = function() end,
  suspended = function(engine, id)
    assert(engine:suspend_instance(id))
  end,
  dead = function(engine, id)
    assert(engine:dead_letter(engine:jobs { instance = tostring(id) }))
  end,
  ended = function(engine, id)
    assert(engine:cancel_instance(id))
  end,
}

-- Starts so many instances of a process, each with a key of its own. They come to their places.
local function start(engine, name, count)
  local starts, tasks = {}, {}
  for i = 1, count do
    starts[i] = { name, { version = 1, key = name .. i, variables = { given = i } } }
  end
  local ids = assert(engine:start(starts))
  for i, id in ipairs(name == "undoing" and ids or {}) do
    tasks[i] = { first(engine, "tasks", id) }
  end
  assert(not tasks[1] or engine:complete(tasks))
  return ids
end

-- What is there of an instance, as a text.
local function seen(engine, id)
  local facts = engine:why_instance(id)
  return facts and rules.encode { facts.instance, facts.jobs, facts.tasks, facts.subscriptions,
    facts.called, rules.null }
end

local REFUSED = { conflict = true, not_found = true, invalid = true, failed = true }

-- What is wrong with a command that was done or refused, or nil.
local function wrong_with(name, before, after, done, message, code)
  if not done and (not REFUSED[code] or #message == 0 or message:find "%.lua:%d"
    or message:find "stack traceback" or message:find "^[^%w\"]") then
    return ("refused so: %s (%s)"):format(message, code)
  elseif before ~= after and (not done or DRY[name]) then
    return ("changed %s\nto %s\n%s"):format(before, after, message)
  end
end

-- Gives each command to an instance of the process in this state; adds what is wrong.
local function give_all(engine, place, state, is_alone, wrong)
  local commands = drawn()
  local ids = start(engine, place, #commands)
  for i, one in ipairs(commands) do
    local fine, text = pcall(STATES[state], engine, ids[i])
    local before = is_alone and seen(engine, ids[i])
    local called, done, message, code = pcall(one[2], engine, ids[i])
    local after = is_alone and seen(engine, ids[i])
    local told = is_alone and not fine and text or not called and done
      or wrong_with(one[1], before, after, done, message, code)
    if told then
      wrong[#wrong + 1] = ("%s at %s, %s: %s"):format(one[1], place, state, told)
    end
  end
end

-- All that is left goes.
local function cancel_all(engine)
  local left = {}
  for _, row in ipairs(engine:instances():list()) do
    local done, message, code = engine:cancel_instance(row.id)
    if not done and code ~= "not_found" then
      left[#left + 1] = message
    end
  end
  assert.same({}, left)
  assert.equal(0, engine:instances():count())
end

local function in_order(place)
  local status, output, errors = process.moonshift("check", "--store", place.url)
  assert.equal(0, status, output .. errors)
end

local function write_all(place, tag)
  for path, text in pairs(process_places.files(place.path .. "/called", tag)) do
    place.write(path, text)
  end
end

local function open(place)
  return assert(moonshift.open { store = place.url, scripts = place.path })
end

-- A folder with two versions of each process that do the same.
local function with_place(body)
  local place = executors.place {}
  local fine, message = xpcall(function()
    write_all(place)
    open(place):close()
    write_all(place, "second")
    local engine <close> = open(place)
    body(place, engine)
  end, debug.traceback)
  place.kill()
  place.remove()
  assert(fine, message)
end

-- The calls of jobs that came twice; nothing has stopped an executor. Commands have no number.
local function called_twice(place)
  local known, twice = {}, {}
  for line in process.read(place.path .. "/called"):gmatch "[^\n]+" do
    if line:find "^%d" and known[line] then
      twice[#twice + 1] = line
    end
    known[line] = true
  end
  return twice
end

describe("commands at places, seed " .. SEED, function()
  math.randomseed(SEED)
  for state in pairs(STATES) do
    it("are done or refused as a whole: " .. state, function()
      with_place(function(place, engine)
        local wrong = {}
        for _, name in ipairs(process_places.names) do
          give_all(engine, name, state, true, wrong)
        end
        assert.equal("", table.concat(wrong, "\n"))
        in_order(place)
        cancel_all(engine)
        in_order(place)
      end)
    end)
  end

  it("are done or refused beside an executor", function()
    with_place(function(place, engine)
      local wrong = {}
      local pid = place.executor("--workers", "4")
      for _, name in ipairs(process_places.names) do
        give_all(engine, name, "fresh", false, wrong)
        give_all(engine, name, "suspended", false, wrong)
      end
      assert.equal("", table.concat(wrong, "\n"))
      cancel_all(engine)
      place.stop(pid)
      in_order(place)
      assert.same({}, called_twice(place))
    end)
  end)
end)
