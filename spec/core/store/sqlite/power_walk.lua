-- Lives of a store whose instances walk while the power is cut, for power_walk_contract.c. After
-- each cut the trail must begin with all that was there when the last command was acknowledged,
-- and agree with the frames and the log of the handlers.
package.path = "lua/?.lua;lua/?/init.lua;./?.lua;" .. package.path
local moonshift = require "moonshift"
local process = require "spec.support.process"
local shop = require "spec.support.shop"

local power, CUTS, SEED = ...
local CUTS_A_LIFE, STEPS, LIVING = 10, 300, 8

-- All handlers run in this process, so any of them may be called again.
local anyone = setmetatable({}, { __index = function() return true end })

local hits = {} -- operations at which the power went off

local life = {}
life.__index = life

local function chance(of)
  return math.random(of)
end

-- A step that is refused is a step; so is one that fails as the power goes off.
local REFUSED = { not_found = true, conflict = true }

local function try(answer, message, code)
  if not (answer or REFUSED[code] or power.off() or message:find("waits no longer", 1, true)) then
    error(message, 2)
  end
  return answer
end

function life:rows(sql)
  return power.rows(self.store, sql)
end

-- ---- the store ----

function life:open()
  self.store = ("%s/%d/x.db"):format(self.root, self.generation)
  local engine, message = moonshift.open { store = "sqlite:" .. self.store, scripts = self.folder,
    clock = self.clock }
  if not engine and not power.off() then
    error(message, 0)
  end
  self.engine = engine
  return engine ~= nil
end

function life:drop()
  if self.engine then
    pcall(self.engine.close, self.engine)
  end
  self.engine = nil
end

function life:next_folder()
  self.generation = self.generation + 1
  os.execute(("mkdir %s/%d"):format(self.root, self.generation))
end

-- What is on the disk counts from now on.
function life:acknowledge()
  for _, row in ipairs(self:rows(("SELECT seq, instance, events FROM trail WHERE seq>%d"
    .. " ORDER BY seq"):format(self.last))) do
    self.told[#self.told + 1] = row
    self.last = tonumber(row:match("^%d+"))
  end
end

-- ---- steps ----

local steps = {}

local function one_of(list)
  return list[math.random(#list)]
end

function steps:start()
  if self.engine:instances():count() < LIVING then
    self.started = self.started + 1
    try(self.engine:start("order", { key = tostring(self.started) }))
  end
end

function steps:turn()
  for _ = 1, chance(6) do
    try(self.engine:turn())
  end
end

function steps:advance()
  self.engine:advance(("PT0.0%dS"):format(chance(9)))
  try(self.engine:drain())
end

function steps:complete()
  local task = one_of(self.engine:tasks():list() or {})
  return task and try(self.engine:complete(task.id))
end

function steps:correlate()
  local name = one_of { "hurry", "delivered" }
  local one = one_of(self.engine:subscriptions({ name = name }):list() or {})
  if one and not (name == "hurry" and self.hurried[one.key]) then
    self.hurried[one.key] = true
    try(self.engine:correlate(name, { key = one.key }))
  end
end

-- An instance that runs; nil: there is none.
function life:living()
  local one = one_of(self.engine:instances():list() or {})
  return one and (one.parent or one.id)
end

function steps:suspend()
  local id = self:living()
  local verb = one_of { "suspend_instance", "activate_instance" }
  return id and try(self.engine[verb](self.engine, id))
end

function steps:set()
  local id = self:living()
  return id and try(self.engine:set_variables(id, { by = chance(9) }))
end

function steps:cancel()
  local id = chance(10) == 1 and self:living()
  return id and try(self.engine:cancel_instance(id))
end

function steps:restart()
  self:drop()
  return not power.off() and self:open()
end

local LOT = { "start", "start", "turn", "turn", "turn", "turn", "advance", "advance", "complete",
  "correlate", "suspend", "set", "cancel", "restart" }

function life:step()
  local name = one_of(LOT)
  local fine, why = pcall(steps[name], self)
  if not fine and not power.off() then
    error(("%s: %s"):format(name, why), 0)
  end
  if not power.off() then
    self:acknowledge()
  end
end

-- ---- what must be true ----

function life:agree()
  local problems, instances = shop.check(function(sql)
    return self:rows(sql)
  end, process.read(self.log), anyone)
  assert(#problems == 0, table.concat(problems, "\n"))
  return instances
end

-- All that was acknowledged is there, in its order, and first.
function life:compare()
  local there = self:rows "SELECT seq, instance, events FROM trail ORDER BY seq"
  for i, row in ipairs(self.told) do
    assert(there[i] == row, ("lost: %s; there is %s"):format(row, there[i]))
  end
  self.more = self.more + (#there > #self.told and 1 or 0)
end

-- Each instance that has not ended says what it waits for.
function life:explain()
  self.engine:instances():each(function(one)
    local _, facts = assert(self.engine:why_instance(one.id))
    assert(#facts.why > 0, one.id .. " waits for nothing")
    for _, row in ipairs(facts.why) do
      assert(#row.text > 0 and not row.stuck, one.id .. ": " .. row.text)
    end
  end)
end

-- The machine starts again, and may lose its power as it does.
function life:recover()
  repeat
    local at = power.off()
    hits[at] = (hits[at] or 0) + 1
    self:drop()
    self:next_folder()
    power.survive(("%s/%d"):format(self.root, self.generation), chance(1 << 30))
    power.on()
    self.cuts = self.cuts + 1
    if chance(10) < 4 then
      power.cut(chance(1 << 30))
    end
  until self:open() and not power.off()
  power.on()
  self:compare()
  self:acknowledge()
  self:agree()
  self:explain()
end

function life:finish()
  self.engine:advance("PT5S") -- the lanes of commands that died are free within `patience`
  for _ = 1, 60 do
    self.engine:instances():each(function(one)
      if one.suspended then
        assert(self.engine:activate_instance(one.id))
      end
    end)
    assert(self.engine:drain())
    self.engine:tasks():each(function(task)
      assert(self.engine:complete(task.id))
    end)
    self.engine:subscriptions({ name = "delivered" }):each(function(one)
      assert(self.engine:correlate("delivered", { key = one.key }))
    end)
    self.engine:advance("PT1S")
  end
  local left = self:rows("SELECT (SELECT count(*) FROM instance), (SELECT count(*) FROM live),"
    .. " (SELECT count(*) FROM locked), (SELECT count(*) FROM subscription)")
  assert(left[1] == "0|0|0|0", "left: " .. left[1])
  self:agree()
  self:drop()
  local _, output, errors = process.moonshift("check", "--store", "sqlite:" .. self.store)
  assert(output:find("nothing is wrong", 1, true), output .. errors)
end

-- ---- lives ----

function life:live()
  power.on(self.seed)
  self:next_folder()
  assert(self:open())
  for _ = 1, CUTS_A_LIFE do
    power.cut(chance(1 << 30))
    for _ = 1, STEPS do
      self:step()
      if power.off() then
        break
      end
    end
    if power.off() then
      self:recover()
    end
    power.on()
  end
  self:finish()
end

-- Plays the life with this seed: what went wrong, or nil; cuts; how often more was there than told.
local function play(seed, lying)
  math.randomseed(seed)
  local root = io.popen "mktemp -d -p /dev/shm 2>/dev/null || mktemp -d":read "l"
  local log = root .. "/runs"
  local one = setmetatable({ seed = seed, root = root, log = log,
    folder = process.folder(shop.files(log)), generation = 0, cuts = 0, more = 0, started = 0,
    told = {}, last = 0, hurried = {},
    clock = moonshift.clock.virtual "2026-01-01T00:00:00Z" }, life)
  power.lie(lying)
  local fine, why = xpcall(one.live, debug.traceback, one)
  power.on()
  one:drop()
  process.remove(root)
  process.remove(one.folder)
  return not fine and why or nil, one.cuts, one.more
end

local function run(cuts, lying)
  local sum, more, wrong, lives = 0, 0, {}, 0
  while sum < cuts do
    local why, came, beyond = play(SEED + lives, lying)
    sum, more, lives = sum + came + (why and 1 or 0), more + beyond, lives + 1
    wrong[#wrong + 1] = why and ("# seed %d: %s"):format(SEED + lives - 1, why)
  end
  print(("# seed %d: %d cuts in %d lives, after %d of them more was there than told; %d went wrong")
    :format(SEED, sum, lives, more, #wrong))
  return wrong, more
end

local passed, failed = 0, 0
local function say(fine, sentence)
  print((fine and "ok - " or "not ok - ") .. sentence)
  passed, failed = passed + (fine and 1 or 0), failed + (fine and 0 or 1)
end

local wrong, more = run(CUTS)
for at, count in pairs(hits) do
  print(("# at %s: %d"):format(at, count))
end
for i = 1, math.min(#wrong, 3) do
  print(wrong[i])
end
say(#wrong == 0, "power cuts lose no token, double none, and commit no result twice")
if CUTS > 1 then
  say(more > 0, "some cuts come between a commit and its acknowledgement")
  say(#run(CUTS // 20 + 20, true) > 0, "a disk that lies about its syncs is found out")
end
print(("%d passed, %d failed"):format(passed, failed))
return failed == 0
