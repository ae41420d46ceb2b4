-- Random processes, run by real executors in one folder and one store, and compared with the model:
-- calls, which the handlers have counted on disk, the trail, the log of jobs, and the end.
local executors = require "spec.support.executors"
local model = require "spec.support.process_model"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local process_operator = require "spec.support.process_operator"
local process_texts = require "spec.support.process_texts"
local rules = require("moonshift.core").rules

local process_runs = {}

local SUCCESSFUL = "1"

local Run = {}
Run.__index = Run

-- A problem of a process, found by the key of it or of what it calls.
function Run:problem(key, ...)
  local list = self.problems[key:match("^[^_]+")] or {}
  self.problems[key:match("^[^_]+")] = list
  list[#list + 1] = string.format(...)
end

-- ---- living ----

local function own_pid()
  local file <close> = assert(io.open "/proc/self/stat")
  return file:read("n")
end

-- Writes the files of the folder, with the processes of this tag.
local function write_folder(self, processes, tag)
  local files = process_texts.files(self.log, self.death, own_pid(), self.scope)
  for _, one in ipairs(processes) do
    for path, text in pairs(process_texts.of(one, tag)) do
      files[path] = text
    end
  end
  for path, text in pairs(files) do
    self.place.write(path, text)
  end
end

local function open_place(self, processes)
  local place = executors.place {}
  self.place, self.log, self.death = place, place.path .. "/called", place.path .. "/death"
  write_folder(self, processes)
end

function Run:note_started(pick, ids, message)
  assert(ids, message)
  self.started = self.started + #ids
  for _, id in ipairs(ids) do
    self.picks[tostring(id)] = pick
    self.ids[#self.ids + 1] = id
  end
end

-- An instance of every process with each of these picks. Some processes begin by a timer, once,
-- with the pick 1.
local function start_all(self, processes, picks)
  for _, pick in ipairs(picks) do
    local starts, messages, variables = {}, {}, { pick = pick }
    for _, one in ipairs(processes) do
      local by = one.list.start and one.list.start.by
      if by == "message" then
        messages[#messages + 1] = { "go_" .. one.key, { starts = true, variables = variables } }
      elseif by == "timer" then
        self.timers[one.key] = true
      elseif by == "when" then
        self:note_started(pick, self.engine:conditions({ pick = pick, go = one.key }))
      else
        starts[#starts + 1] = { one.key, { variables = variables } }
      end
    end
    self:note_started(pick, self.engine:start(starts))
    self:note_started(pick, self.engine:correlate(messages))
  end
end

-- The next call of a handler kills its executor, before or after it is written.
local function arm(self)
  if self.armed < self.kills then
    self.armed = self.armed + 1
    local file <close> = assert(io.open(self.death .. ".new", "w"))
    file:write(math.random(2) == 1 and "before" or "behind")
    file:close()
    assert(os.rename(self.death .. ".new", self.death))
  end
end

local function start_executor(self)
  return self.place.start("log", "run", "-C", self.place.path, "--workers", tostring(self.workers))
end

local SAID = { "completed", "no task %d+ that is open", "no instance %d+ that runs",
  "is suspended", "as patience says" }

-- What a program says that completes a task.
local function may_have_said(self, text)
  for _, pattern in ipairs(SAID) do
    if text:find(pattern) then
      return
    end
  end
  self.refused = text
end

-- Programs that were killed, and what the others say.
local function tend_outside(self)
  for pid, log in pairs(self.outside) do
    if not process.alive(pid) then
      self.outside[pid] = nil
      if io.open(self.death .. "-" .. pid) then
        self.dead = self.dead + 1
        arm(self)
      else
        may_have_said(self, self.place.log(log))
      end
    end
  end
end

-- Executors that were killed begin again, and the next death is made ready.
local function tend(self)
  tend_outside(self)
  for i, pid in ipairs(self.pids) do
    if not process.alive(pid) then
      self.dead = self.dead + 1
      assert(self.dead <= self.armed, "an executor has ended: " .. self.place.log())
      self.killed[pid] = true
      self.pids[i] = start_executor(self)
      arm(self)
    end
  end
end

-- What moves while the run goes on.
local function state(self)
  return ("%d %d %d"):format(self.engine:instances():count(), self.engine:jobs():count(),
    #process.read(self.log))
end

local STILL = 500 -- polls of 20 ms without any change

-- Waits until no instance is there, or nothing moves any more.
local function finish(self)
  local before, still = nil, 0
  while self.engine:instances():count() + self.engine:jobs():count() > 0 and still < STILL do
    process.pause(0.02)
    tend(self)
    process_operator.work(self)
    local now = state(self)
    still = now == before and still + 1 or 0
    if now:find(" 0 ", 1, true) and still > 20 then
      return
    end
    before = now
  end
end

local function live(self, processes)
  self.engine = assert(moonshift.open { store = self.place.url, scripts = self.place.path })
  start_all(self, processes, { 0, 1 })
  if self.changes then
    self.engine:close()
    write_folder(self, processes, "second")
    self.engine = assert(moonshift.open { store = self.place.url, scripts = self.place.path })
  end
  for i = 1, self.executors do
    self.pids[i] = start_executor(self)
  end
  start_all(self, processes, { 2, 3 })
  arm(self)
  finish(self)
  for pid in pairs(self.outside) do
    process.await_end(pid, 30)
  end
  tend_outside(self)
  assert(not self.refused, self.refused)
  os.remove(self.death)
  for _, pid in ipairs(self.pids) do
    self.place.stop(pid)
  end
end

-- ---- reading ----

local function add(counts, name, count)
  counts[name] = (counts[name] or 0) + (count or 1)
end

-- self.instances = { [id] = { key, root, how, calls, ends, cancels, called, at } }
local function read_instances(self)
  local rows = self.place.sql("SELECT p.id, v.key, coalesce(p.root, p.id), coalesce(p.parent, 0),"
    .. " p.how FROM past p JOIN process_version v ON v.id=p.version UNION ALL"
    .. " SELECT i.id, v.key, coalesce(i.root, i.id), coalesce(i.parent, 0), 'stands'"
    .. " FROM instance i JOIN process_version v ON v.id=i.version")
  for _, row in ipairs(rows) do
    local id, key, root, parent, how = row:match("^(%d+)|([^|]+)|(%d+)|(%d+)|(%w+)")
    self.instances[id] = { id = id, key = key, root = root, parent = parent, how = how,
      pick = self.picks[root] or 1, modified = self.modified[id] or {},
      migrated = self.migrated[id] or 0,
      assigned = self.assigned[id] or {},
      restarted = self.restarted[id], calls = {}, begins = {}, ends = {}, cancels = {}, called = {},
      at = {} }
  end
  for _, one in pairs(self.instances) do
    local caller = self.instances[one.parent]
    if caller then
      add(caller.called, one.key:match("_(%w+)$"))
    end
  end
end

-- A unit that lost, or died, may have begun an instance: a called one, or that of a timer.
local function read_calls(self)
  for key, id, activity in process.read(self.log):gmatch("(%S+) (%d+) (%S+) %d+\n") do
    add(self.called, key .. "/" .. activity)
    if self.instances[id] then
      add(self.instances[id].calls, activity)
    elseif not key:find("_", 1, true) and not self.timers[key] then
      self:problem(key, "%s called for instance %s, which is not there", activity, id)
    end
  end
end

local function read_events(one, events, seq)
  for n, event in ipairs(events) do
    local kind, activity = event[1], event[3]
    local counts = kind == "s" and one.begins or kind == "e" and one.ends
      or kind == "c" and one.cancels
    if counts then
      add(counts, activity)
    end
    if kind == "s" or kind == "e" then
      local at = one.at[activity] or { first = seq + n / 1000000 }
      at.last = seq + n / 1000000
      one.at[activity] = at
    end
  end
end

local function read_trail(self)
  for _, row in ipairs(self.place.sql "SELECT seq, instance, events FROM trail ORDER BY seq") do
    local seq, id, events = row:match("^(%d+)|(%d+)|(.*)$")
    if self.instances[id] then
      read_events(self.instances[id], rules.decode(events), tonumber(seq))
    end
  end
end

-- { [definition] = { [outcome] = jobs } }
local function read_log(self)
  local found = {}
  for _, row in ipairs(self.place.sql("SELECT d.name, e.outcome, count(*) FROM ended e"
    .. " JOIN stream s ON s.id=e.stream JOIN definition d ON d.id=s.definition"
    .. " GROUP BY d.name, e.outcome")) do
    local name, outcome, count = row:match("^process/(.*)|(%d+)|(%d+)$")
    if name then
      found[name] = found[name] or {}
      found[name][outcome] = tonumber(count)
    end
  end
  return found
end

-- ---- comparing ----

local function union(a, b)
  local names = {}
  for name in pairs(a) do
    names[name] = true
  end
  for name in pairs(b) do
    names[name] = true
  end
  return names
end

-- Names that the model does not know: of nodes that the text does not name, or that fill a list.
local function is_made(name)
  return name:find(".", 1, true) ~= nil or name:find "_pass$" ~= nil
end

local NEVER = { 0, 0 }

local function range(least, most)
  return least == most and least or ("%d to %d"):format(least, most)
end

local function compare(self, one, what, found, wanted, times)
  for name in pairs(union(found, wanted)) do
    local count, least, most = found[name] or 0, table.unpack(wanted[name] or NEVER)
    most = most * times
    if not is_made(name) and (count < least or count > most) then
      self:problem(one.key, "instance %s (pick %d): %s %s %d times, expected %s", one.id, one.pick,
        name, what, count, range(least, most))
    end
  end
end

-- The first set of activities has ended before the second one begins.
local function compare_order(self, one, order)
  local last, first = 0, math.huge
  for name, at in pairs(one.at) do
    last = order[1][name] and math.max(last, at.last) or last
    first = order[2][name] and math.min(first, at.first) or first
  end
  if last > first then
    self:problem(one.key, "instance %s: %s begins before %s has ended", one.id, next(order[2]),
      next(order[1]))
  end
end

-- Whether an instance may be cancelled: by the operator, or with the activity that called it.
local function may_go(self, one)
  local caller = self.instances[one.parent]
  local called = caller and caller.wanted.called[one.key:match("_(%w+)$")] or NEVER
  return self.cancelled[one.root] or called[2] > called[1]
end

-- Who called an instance is counted before it.
local function count_instance(self, one, lists)
  if not one.wanted then
    local caller = self.instances[one.parent]
    if caller then
      count_instance(self, caller, lists)
    end
    one.wanted = model.count(lists[one.key], one, self)
  end
end

local function add_range(counts, name, times)
  local before = counts[name] or NEVER
  counts[name] = { before[1] + times[1], before[2] + times[2] }
end

-- A handler that a kill interrupted is called again: once more for each kill. So is one whose job
-- was suspended while it ran, which cannot commit then. Nothing else is.
local function compare_instance(self, one, lists)
  count_instance(self, one, lists)
  local wanted = one.wanted
  local root_key = one.key:match "^[^_]+"
  local again = self.dead + wanted.again + (self.holds[one.root] or 0)
    + (self.holds[root_key] or 0)
  if one.how ~= "completed" and (one.how == "stands" or not may_go(self, one)) then
    self:problem(one.key, "instance %s (pick %d) %s", one.id, one.pick, one.how)
  end
  compare(self, one, "called", one.calls, wanted.calls, 1 + again)
  compare(self, one, "ended", one.ends, wanted.ends, 1)
  compare(self, one, "interrupted", one.cancels, wanted.cancels, 1)
  compare(self, one, "began instances", one.called, wanted.called, 1)
  for _, order in ipairs(wanted.orders) do
    compare_order(self, one, order)
  end
  for _, what in ipairs { "jobs", "idle" } do
    for name, times in pairs(wanted[what]) do
      add_range(self[what], one.key .. "/" .. name, times)
    end
  end
  add_range(self, "failures", wanted.failures)
end

-- How a message comes to its receiver is no matter of the model: at once, or by a job.
local function is_counted(name)
  return not is_made(name) and not name:find ":command$"
end

-- What a listener's timer has called is as often as its jobs were successful, or oftener.
local function compare_timeouts(self, name, done)
  local task = name:match "^(.*)#timeout%-nag:timer$"
  local called = task and self.called[task .. "!timeout"] or 0
  if task and called < done then
    self:problem(name, "%s called %d times, expected %d", name, called, done)
  end
end

-- Jobs that had nothing to do any more are no successes.
local function compare_log(self, log)
  for name in pairs(union(log, self.jobs)) do
    local done, others = (log[name] or {})[SUCCESSFUL] or 0, 0
    local least, most = table.unpack(self.jobs[name] or NEVER)
    compare_timeouts(self, name, done)
    if is_counted(name) and (done < least or done > most) then
      self:problem(name, "%d jobs of %s successful, expected %s", done, name, range(least, most))
    end
    for outcome, count in pairs(log[name] or {}) do
      others = others + (outcome ~= SUCCESSFUL and count or 0)
    end
    if is_counted(name) and others > (self.idle[name] or NEVER)[2] then
      self:problem(name, "%d jobs of %s ended without success", others, name)
    end
  end
end

local function judge(self, processes)
  local lists, begun = {}, 0
  for _, one in ipairs(processes) do
    local by = one.list.start and one.list.start.by
    self.started = self.started + (by == "timer" and 1 or 0)
    for key, list in pairs(model.lists(one)) do
      lists[key] = list
    end
  end
  for _, one in pairs(self.instances) do
    begun = begun + (one.root == one.id and 1 or 0)
    compare_instance(self, one, lists)
  end
  assert(begun == self.started, begun .. " instances are known, started " .. self.started)
  compare_log(self, read_log(self))
end

-- What the store says of itself. It is no process's in particular.
local function check_store(self)
  local failures = tonumber(self.place.sql("SELECT count(*) FROM attempt")[1])
  local least, most = table.unpack(self.failures)
  if self.kills == 0 and not self.suspends and (failures < least or failures > most) then
    self.store = ("%d runs of jobs failed, expected %s"):format(failures, range(least, most))
    return
  end
  local status, output, errors = process.moonshift("check", "--store", self.place.url)
  if status ~= 0 then
    self.store = output .. errors
  end
end

local function read_all(self, processes)
  read_instances(self)
  read_calls(self)
  read_trail(self)
  judge(self, processes)
  if not next(self.problems) then
    check_store(self)
  end
end

-- run(processes, { executors, workers, kills, scope, suspends, cancels, sets, changes, between })
-- -> { problems = { [key] = { text, … } }, store = what `check` found, dead = kills that came, …
-- }. suspends, cancels, sets and changes are per cent of the looks at the run. between(run) comes
-- when all has ended and nothing is read yet.
function process_runs.run(processes, how)
  local self = setmetatable({ problems = {}, instances = {}, pids = {}, killed = {}, jobs = {},
    timers = {}, idle = {}, outside = {}, unheard = 0, failures = NEVER, ids = {}, picks = {},
    held = {}, stopped = {}, awaited = {}, leaves = {}, modified = {}, migrated = {}, assigned = {},
    called = {},
    restarted = {}, restarts = 20, holds = {}, keys = {}, cancelled = {}, started = 0, armed = 0,
    dead = 0,
    executors = how.executors, workers = how.workers, kills = how.kills,
    scope = how.scope or "instance", suspends = how.suspends, cancels = how.cancels,
    sets = how.sets, changes = how.changes }, Run)
  open_place(self, processes)
  for i, one in ipairs(processes) do
    self.keys[i] = one.key
    process_operator.note(self, one.key, one.list)
  end
  local fine, message = xpcall(live, debug.traceback, self, processes)
  if fine then
    if how.between then
      how.between(self)
    end
    fine, message = xpcall(read_all, debug.traceback, self, processes)
  end
  if self.engine then
    self.engine:close()
  end
  self.place.remove()
  if not fine then
    error(message, 0)
  end
  return self
end

return process_runs
