-- A process with one of everything that may go wrong half-way, for the specs of faults; and a
-- checker that knows nothing of the engine. The checker reads the trail, and the log to which each
-- call of a handler appends a line before it returns a number of its own as its result.
local rules = require("moonshift.core").rules

local shop = {}

local ORDER = [[
local process = require "moonshift.process"
local step, task, each, sub, handle = process.step, process.task, process.each, process.sub,
  process.handle
local function job(name, more)
  local options = { run = "note", async = true }
  for key, value in pairs(more or {}) do options[key] = value end
  return step(name)(options)
end
local beside, id = { exclusive = false }, "${execution.processInstanceId}"
return {
  job "reserve",
  process.parallel { { job "pack" }, { job("bill", beside) }, { job("print", beside) } },
  each "line" { times = 3, parallel = true, job("ship", beside) },
  each "page" { times = 2, job "copy" },
  job("charge", { on_error = { "declined", job "tell" } }),
  sub "inspect" {
    handle "hurry" { message = "hurry", key = id, interrupting = false,
      job "rush" },
    task "approve" { within = { "PT0.2S", job "remind" } },
    step "sign" { run = "note" },
  },
  process.call "parcel" { key = "${instance.key}", back = { "sent" } },
  process.receive "delivered" { message = "delivered", key = id },
  process.wait "nap" { after = "PT0.01S" },
  step "last" { run = "note" },
}
]]

local PARCEL = [[
local process = require "moonshift.process"
return {
  process.step "wrap" { run = "note", async = true },
  process.wait "truck" { after = "PT0.01S" },
  process.step "load" { run = "note", async = true, async_after = true },
}
]]

-- A line has the instance, the activity with its turn, the process and the number. Each third
-- instance cannot pay.
local NOTE = [[
return function(job)
  local random = io.open("/dev/urandom", "rb")
  local number = string.unpack("<I6", random:read(6))
  random:close()
  local name = job.activity .. (job.loop and job.loop.index or "")
  local file = assert(io.open(%s, "a"))
  file:setvbuf("full")
  file:write(("%%s %%s %%d %%d\n"):format(job.instance, name,
    io.open("/proc/self/stat"):read("n"), number))
  file:close()
  if job.activity == "charge" and tonumber(job.key) %% 3 == 0 then
    job:throw "declined"
  end
  job.variables["of_" .. name] = number
end
]]

-- The folder's files; handlers append to the file `log`, nil: to that which RUNS names.
function shop.files(log)
  return { ["processes/order.lua"] = ORDER, ["processes/parcel.lua"] = PARCEL,
    ["handlers/note.lua"] = NOTE:format(log and ("%q"):format(log) or 'os.getenv "RUNS"'),
    ["moonshift.lua"] = "return { failed_job_wait = 'PT0S', crash_limit = 1000 }\n" }
end

-- ---- the checker ----

-- How often each activity of an instance ends. Of those in a list together.
local ORDER_ENDS = { start = 1, reserve = 1, pack = 1, bill = 1, print = 1,
  ["pack.parallel"] = 1, ["pack.parallel.join"] = 3, ["line#multiInstanceBody"] = 1, line = 3,
  ship = 3, ["page#multiInstanceBody"] = 1, page = 2, copy = 2, ["charge|tell"] = 1, inspect = 1,
  ["approve|remind"] = 1, sign = 1, parcel = 1, delivered = 1, nap = 1, last = 1, ["end"] = 1 }
local PARCEL_ENDS = { start = 1, wrap = 1, truck = 1, load = 1, ["end"] = 1 }

local checker = {}
checker.__index = checker

function checker:problem(...)
  self.problems[#self.problems + 1] = string.format(...)
end

-- Follows each token: it begins an activity when it has ended or left the one before.
function checker:walk(id, instance, event)
  local kind, token, at = table.unpack(event)
  if kind == "s" then
    if instance.open[token] then
      self:problem("%s: token %d begins %s and is in %s", id, token, at, instance.open[token])
    end
    instance.open[token] = at
  elseif kind == "e" or kind == "c" then
    if instance.open[token] ~= at then
      self:problem("%s: token %d ends %s and is in %s", id, token, at, instance.open[token])
    end
    instance.open[token] = nil
    instance.ends[at] = (instance.ends[at] or 0) + (kind == "e" and 1 or 0)
  elseif kind == "v" and tostring(at):find("^of_") then
    local name = at:sub(4)
    if instance.numbers[name] then
      self:problem("%s: the result of %s was committed twice", id, name)
    end
    instance.numbers[name] = event[4]
  end
end

function checker:read_trail(rows)
  for _, row in ipairs(rows "SELECT instance, events FROM trail ORDER BY seq") do
    local id, events = row:match("^(%d+)|(.*)$")
    local instance = self.instances[id] or { open = {}, ends = {}, numbers = {}, runs = {} }
    self.instances[id] = instance
    for _, event in ipairs(rules.decode(events)) do
      self:walk(id, instance, event)
    end
  end
end

-- What was committed was returned by that activity. `killed` = { [pid] = true }: what ran in other
-- processes is called once. What follows a task is called again if its timer came first.
function checker:read_log(log, killed)
  for id, name, pid, number in log:gmatch("(%d+) (%w+) (%d+) (%d+)\n") do
    local instance = self.instances[id] or { open = {}, ends = {}, numbers = {}, runs = {} }
    local runs = instance.runs[name] or {}
    if #runs > 0 and name ~= "sign" and not killed[runs[#runs]] then
      self:problem("%s: %s ran again, and process %d lives", id, name, runs[#runs])
    end
    runs[#runs + 1], runs[tonumber(number)] = tonumber(pid), true
    instance.runs[name] = runs
  end
  for id, instance in pairs(self.instances) do
    for name, number in pairs(instance.numbers) do
      if not (instance.runs[name] or {})[number] then
        self:problem("%s: %s never returned %s", id, name, number)
      end
    end
  end
end

-- Every place where the trail has left a token is in the frame, and no other.
function checker:check_frame(id, frame)
  local open = (self.instances[id] or {}).open or {}
  local there = {}
  for _, list in ipairs { frame.scopes, frame.tokens } do
    for _, entry in ipairs(list) do
      local token, _, at, state = table.unpack(entry)
      there[token] = true
      local waits = state == "before" or state == "after" or state == "seed"
        or tostring(state):find("^on ") or token == 1
      if not waits and open[token] ~= at then
        self:problem("%s: the frame has token %d in %s, the trail in %s", id, token, at,
          open[token])
      elseif waits and open[token] then
        self:problem("%s: token %d waits before %s, the trail has it in %s", id, token, at,
          open[token])
      end
    end
  end
  for token, at in pairs(open) do
    if not there[token] then
      self:problem("%s: token %d in %s is lost", id, token, at)
    end
  end
end

-- Each activity of an instance that has completed ended as often as it should.
function checker:check_end(id, how, wanted)
  local instance = self.instances[id]
  for token, at in pairs(instance.open) do
    self:problem("%s has ended with token %d in %s", id, token, at)
  end
  for names, count in pairs(how == "completed" and wanted or {}) do
    local found = 0
    for name in names:gmatch("[^|]+") do
      found = found + (instance.ends[name] or 0)
    end
    if found ~= count then
      self:problem("%s: %s ended %d times, expected %d", id, names, found, count)
    end
  end
end

-- check(rows, log, killed) -> problems, { [instance] = { open, ends, numbers, runs, how } }.
-- rows(sql) gives the rows of a statement as texts with "|" between their columns.
function shop.check(rows, log, killed)
  local self = setmetatable({ problems = {}, instances = {} }, checker)
  self:read_trail(rows)
  self:read_log(log, killed)
  local called = {}
  for _, row in ipairs(rows "SELECT id, coalesce(parent, 0), how FROM past ORDER BY id") do
    local id, parent, how = row:match("^(%d+)|(%d+)|(.*)$")
    called[parent] = (called[parent] or 0) + 1
    self.instances[id].how = how
    self:check_end(id, how, parent == "0" and ORDER_ENDS or PARCEL_ENDS)
    if parent ~= "0" and called[parent] > 1 then
      self:problem("%s has called twice", parent)
    end
  end
  for _, row in ipairs(rows "SELECT id, frame FROM instance ORDER BY id") do
    local id, frame = row:match("^(%d+)|(.*)$")
    self:check_frame(id, rules.decode(frame))
  end
  return self.problems, self.instances
end

return shop
