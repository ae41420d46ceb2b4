-- Random processes, run by real executors in one folder and one store, and compared with the model:
-- calls, which the handlers have counted on disk, the trail, the log of jobs, and the end.
local executors = require "spec.support.executors"
local model = require "spec.support.process_model"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local random_process = require "spec.support.random_process"
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

local function open_place(self, processes)
  local place = executors.place {}
  self.place, self.log, self.death = place, place.path .. "/called", place.path .. "/death"
  local files = random_process.files(self.log, self.death)
  for _, one in ipairs(processes) do
    for path, text in pairs(random_process.texts(one)) do
      files[path] = text
    end
  end
  for path, text in pairs(files) do
    place.write(path, text)
  end
end

-- An instance of every process with each of these picks; the key says which.
local function start_all(self, processes, picks)
  local list = {}
  for _, pick in ipairs(picks) do
    for _, one in ipairs(processes) do
      list[#list + 1] = { one.key, { key = tostring(pick), variables = { pick = pick } } }
    end
  end
  local ids = assert(self.engine:start(list))
  assert(#ids == #list)
  self.started = self.started + #ids
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

-- Executors that were killed begin again, and the next death is made ready.
local function tend(self)
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
  while self.engine:instances():count() > 0 and still < STILL do
    process.pause(0.02)
    tend(self)
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
  for i = 1, self.executors do
    self.pids[i] = start_executor(self)
  end
  start_all(self, processes, { 2, 3 })
  arm(self)
  finish(self)
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
    .. " p.how, coalesce(p.key, '') FROM past p JOIN process_version v ON v.id=p.version UNION ALL"
    .. " SELECT i.id, v.key, coalesce(i.root, i.id), coalesce(i.parent, 0), 'stands',"
    .. " coalesce(i.key, '') FROM instance i JOIN process_version v ON v.id=i.version")
  for _, row in ipairs(rows) do
    local id, key, root, parent, how, pick = row:match("^(%d+)|([^|]+)|(%d+)|(%d+)|(%w+)|(%d*)")
    self.instances[id] = { id = id, key = key, root = root, parent = parent, how = how,
      pick = tonumber(pick), calls = {}, ends = {}, cancels = {}, called = {}, at = {} }
  end
  for _, one in pairs(self.instances) do
    local caller = self.instances[one.parent]
    if caller then
      add(caller.called, one.key:match("_(%w+)$"))
    end
  end
end

local function read_calls(self)
  for key, id, activity in process.read(self.log):gmatch("(%S+) (%d+) (%S+) %d+\n") do
    if self.instances[id] then
      add(self.instances[id].calls, activity)
    else
      self:problem(key, "%s called for instance %s, which is not there", activity, id)
    end
  end
end

local function read_events(one, events, seq)
  for n, event in ipairs(events) do
    local kind, activity = event[1], event[3]
    if kind == "e" or kind == "c" then
      add(kind == "e" and one.ends or one.cancels, activity)
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

-- Names that the model does not know: nodes that the text does not name.
local function is_made(name)
  return name:find(".", 1, true) ~= nil
end

local function compare(self, one, what, found, wanted, most)
  for name in pairs(union(found, wanted)) do
    local count, least = found[name] or 0, wanted[name] or 0
    if not is_made(name) and (count < least or count > least * most) then
      self:problem(one.key, "instance %s (pick %d): %s %s %d times, expected %d%s", one.id,
        one.pick, name, what, count, least, most > 1 and " to " .. least * most or "")
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

-- A handler that a kill interrupted is called again: once more for each kill. Nothing else is.
local function compare_instance(self, one, lists)
  one.pick = self.instances[one.root].pick
  local wanted = model.count(lists[one.key], one.pick)
  if one.how ~= "completed" then
    self:problem(one.key, "instance %s (pick %d) %s", one.id, one.pick, one.how)
  end
  compare(self, one, "called", one.calls, wanted.calls, 1 + self.dead)
  compare(self, one, "ended", one.ends, wanted.ends, 1)
  compare(self, one, "interrupted", one.cancels, wanted.cancels, 1)
  compare(self, one, "began instances", one.called, wanted.called, 1)
  for _, order in ipairs(wanted.orders) do
    compare_order(self, one, order)
  end
  for name, count in pairs(wanted.jobs) do
    add(self.jobs, one.key .. "/" .. name, count)
  end
end

-- How a message comes to its receiver is no matter of the model: at once, or by a job.
local function is_counted(name)
  return not is_made(name) and not name:find ":event$" and not name:find ":command$"
end

local function compare_log(self, log)
  for name in pairs(union(log, self.jobs)) do
    local outcomes, wanted = log[name] or {}, self.jobs[name] or 0
    local done = outcomes[SUCCESSFUL] or 0
    if is_counted(name) and done ~= wanted then
      self:problem(name, "%d jobs of %s successful, expected %d", done, name, wanted)
    end
    for outcome, count in pairs(outcomes) do
      if outcome ~= SUCCESSFUL then
        self:problem(name, "%d jobs of %s ended with outcome %s", count, name, outcome)
      end
    end
  end
end

local function judge(self, processes)
  local lists, begun = {}, 0
  for _, one in ipairs(processes) do
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
  local failures = self.place.sql("SELECT count(*) FROM attempt")[1]
  if self.kills == 0 and failures ~= "0" then
    self.store = failures .. " runs of jobs failed"
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

-- run(processes, { executors, workers, kills, between }) -> { problems = { [key] = { text, … } },
-- store = what `check` found, dead = kills that came, … }.
-- between(run) comes when all has ended and nothing is read yet.
function process_runs.run(processes, how)
  local self = setmetatable({ problems = {}, instances = {}, pids = {}, killed = {}, jobs = {},
    started = 0, armed = 0, dead = 0, executors = how.executors, workers = how.workers,
    kills = how.kills }, Run)
  open_place(self, processes)
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
