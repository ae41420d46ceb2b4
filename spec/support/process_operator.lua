-- An operator beside random processes that run (process_runs.lua): completes tasks, sends what is
-- waited for, and changes instances. What it has done, and what was refused, stands in the run.
local process = require "spec.support.process"

local process_operator = {}

-- ---- what can be done ----

-- Whether it surely stands somewhere, and may be ended there and begun anew.
local function stands(node)
  return node and not node.times and not node.within
    and (node.kind == "task" or node.kind == "wait" or node.kind == "step" and node.async)
end

-- How the node at this place of a list may be modified. With the last place of a scope that would
-- end, so the next node has to stand.
local function ways_of(list, at)
  local anew = stands(list[at])
  return anew and (stands(list[at + 1]) and { "anew", "on" } or { "anew" }) or nil
end

-- note(run, key, list): what the operator needs of this process, and of those that it calls: the
-- variables that conditions read, and what may be modified.
function process_operator.note(self, key, list)
  local names, leaves = self.awaited[key] or {}, self.leaves[key] or {}
  self.awaited[key], self.leaves[key] = names, leaves
  local function look(id, within)
    if within and within.by == "when" then
      names[#names + 1] = "late_" .. id
    end
  end
  look("p", list.within)
  for at, node in ipairs(list) do
    look(node.id, node.within)
    leaves[node.id] = ways_of(list, at)
    for i, inner in ipairs(node.lists or {}) do
      local called = node.kind == "call" and i == 1
      process_operator.note(self, called and key .. "_" .. node.id or key, inner)
    end
  end
  if list.late then
    process_operator.note(self, key, list.late)
  end
end

-- ---- commands ----

local REFUSED = { conflict = true, not_found = true } -- not now, or not any more
local LATE = "^late_"
local CANNOT = "^instance %d+ cannot be %a+: "

-- A command is done, or refused as it may be.
local function may_refuse(self, done, message, code)
  if not done and not REFUSED[code] and not message:find(CANNOT) then
    self.refused = ("%s (%s)"):format(message, code)
  end
  return done
end

local function chance_of(percent)
  return percent and math.random(100) <= percent
end

-- Another program completes the task, too.
local function complete_outside(self, task)
  local log = "outside" .. task.id
  self.outside[self.place.command(log, "task", "complete", tostring(task.id))] = log
end

-- Gives the task to somebody else. Its listeners may have heard of what was refused behind them.
local function assign(self, task)
  local all = self.assigned[tostring(task.instance)] or {}
  self.assigned[tostring(task.instance)] = all
  local one = all[task.activity] or { done = 0, tried = 0 }
  all[task.activity], one.tried = one, one.tried + 1
  local done = may_refuse(self, self.engine:assign(task.id, "bob" .. math.random(3)))
  one.done = one.done + (done and 1 or 0)
end

-- Completes the tasks that are open, some of them, and gives others to somebody. A program beside
-- may be faster.
local function complete_tasks(self)
  for _, task in ipairs(self.engine:tasks():list()) do
    if math.random(6) == 1 then
      assign(self, task)
    elseif math.random(3) == 1 then
      if chance_of(5) then
        complete_outside(self, task)
        process.pause(math.random() * 0.1)
      end
      may_refuse(self, self.engine:complete(task.id))
    end
  end
end

local function send(self, one)
  if one.kind == "signal" then
    return self.engine:signal(one.name)
  end
  return self.engine:correlate(one.name, { instance = one.instance, token = one.token })
end

-- Sends messages and signals that come beside what runs, some of them.
local function send_messages(self)
  for _, one in ipairs(self.engine:subscriptions({ kind = { "message", "signal" } }):list()) do
    if one.name:find(LATE) and math.random(10) == 1 then
      local done = may_refuse(self, send(self, one))
      self.unheard = self.unheard + (done and 0 or 1)
    end
  end
end

-- Sets a variable that a condition beside what runs reads.
local function set_awaited(self)
  for _, one in ipairs(self.engine:instances():list()) do
    local names = self.awaited[one.process]
    if names and names[1] and math.random(10) == 1 then
      local name = names[math.random(#names)]
      local done = may_refuse(self, self.engine:set_variables(one.id, { [name] = 1 }))
      self.unheard = self.unheard + (done and 0 or 1)
    end
  end
end

local function activate_all(self)
  for id in pairs(self.held) do
    may_refuse(self, self.engine:activate_instance(id, { hierarchy = true }))
    self.held[id] = nil
  end
  for key in pairs(self.stopped) do
    assert(self.engine:activate_process(key, { include_instances = true }))
    self.stopped[key] = nil
  end
end

local function add_hold(self, what)
  self.holds[what] = (self.holds[what] or 0) + 1
end

-- Suspends an instance with what it has called, or a process: what begins in it from then on, or
-- all of its instances. What those have called goes on.
local function suspend(self, id)
  if math.random(3) > 1 then
    may_refuse(self, self.engine:suspend_instance(id, { hierarchy = true }))
    self.held[id] = true
    return add_hold(self, tostring(id))
  end
  local key = self.keys[math.random(#self.keys)]
  assert(self.engine:suspend_process(key, { include_instances = math.random(2) == 1 }))
  self.stopped[key] = true
  add_hold(self, key)
end

-- What ends a place and begins there anew, or goes on behind it. Both are refused if it has gone on
-- meanwhile: the number of the place that is cancelled first is not there then.
local function operations_of(how, at)
  if how == "anew" then
    return { { start_before = at }, { start_before = at }, { cancel = at .. "#3" },
      { cancel = at .. "#1" } }
  end
  return { { start_before = at }, { cancel = at .. "#2" }, { start_after = at },
    { cancel = at .. "#1" } }
end

local function modify(self, row)
  local found = self.engine:instance(row.id)
  local at = found and found.at and found.at[1] and found.at[math.random(#found.at)].activity
  local ways = at and (self.leaves[row.process] or {})[at]
  if not ways then
    return
  end
  local how = ways[math.random(#ways)]
  local done = may_refuse(self, self.engine:modify_instance(row.id, operations_of(how, at)))
  if done then
    local all = self.modified[tostring(row.id)] or {}
    self.modified[tostring(row.id)], all[at] = all, all[at] or { anew = 0, on = 0 }
    all[at][how] = all[at][how] + 1
  else
    self.unheard = self.unheard + 1
  end
end

-- An instance goes on with the other version, which does the same. An event that has come and has
-- interrupted something is waited for again.
local function migrate(self, row)
  local id = tostring(row.id)
  self.migrated[id] = (self.migrated[id] or 0) + 1
  may_refuse(self, self.engine:migrate_instance(row.id, { to = 3 - row.version, equal = true }))
end

-- An instance that has ended begins anew, behind its start event.
local function restart(self)
  local id = self.ids[math.random(#self.ids)]
  local past = self.engine:past_instances({ id = id }):list()[1]
  if past and not self.timers[past.process] and self.restarts > 0 then
    local again = may_refuse(self, self.engine:restart_instance(id, { { start_after = "start" } },
      { initial = true }))
    if again then
      self.restarts = self.restarts - 1
      self.restarted[tostring(again)] = true
      self:note_started(self.picks[tostring(id)], { again })
    end
  end
end

-- An operator changes what runs.
local function change(self)
  for _, row in ipairs(self.changes and self.engine:instances():list() or {}) do
    if chance_of(self.changes) then
      modify(self, row)
    elseif chance_of(self.changes) then
      migrate(self, row)
    end
  end
  if chance_of(self.changes) then
    restart(self)
  end
end

-- An operator suspends instances and processes, lets them go on, sets and takes away variables, and
-- cancels an instance now and then.
local function operate(self)
  local id = self.ids[math.random(#self.ids)]
  if chance_of(self.suspends) then
    suspend(self, id)
  elseif chance_of(30) then
    activate_all(self)
  end
  if chance_of(self.sets) then -- what no process reads
    local unset = { math.random(2) == 1 and "noise" or "none" }
    may_refuse(self, self.engine:set_variables(id, { noise = math.random(9) }, { unset = unset }))
  end
  if chance_of(self.cancels) then
    self.cancelled[tostring(id)] = true
    may_refuse(self, self.engine:cancel_instance(id))
  end
end

-- work(run): a look at what runs, and what is done then.
function process_operator.work(run)
  complete_tasks(run)
  send_messages(run)
  set_awaited(run)
  operate(run)
  change(run)
end

return process_operator
