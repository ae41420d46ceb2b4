-- Signals: one that is thrown reaches all that wait for it, and the start events of its name. They
-- go on in the unit of what throws it, before that goes on. Of many, and of an asynchronous signal,
-- each gets it by a job of its own. A message to all goes the same way.
local frame = require "moonshift.process.frame"
local kept = require "moonshift.process.kept"
local rules = require "moonshift.rules"
local scopes = require "moonshift.process.scopes"

local signals = {}

local MOST = 100 -- receivers that go on in one unit

-- ---- receivers ----

local function waits(token)
  return token.state == "signal" or token.state == "on signal"
end

-- name_of(inst, token) -> the signal that a token waits for; nil: none
function signals.name_of(inst, token)
  if waits(token) and not token.gone then
    return token.more or inst.plan.steps[token.at].event.name.constant
  end
end

-- awaits(inst, token, given) -> whether the token waits for the signal of `given`, or still waits
-- for the message that it was found by: meanwhile it may have come to another wait
function signals.awaits(inst, token, given)
  if given.message then
    return token.at == given.activity
      and (token.state == "message" or token.state == "on message")
  end
  return signals.name_of(inst, token) == given.name
end

-- receive(w, inst, token, given): the token has the signal; given = { name, variables }, and of a
-- message also { message, activity }. It may have gone on meanwhile.
function signals.receive(w, inst, token, given)
  if not signals.awaits(inst, token, given) then
    return
  end
  w:touch(inst)
  if token.state == "on signal" or token.state == "on message" then
    return w.events.proceed(w, inst, token, given)
  end
  local step = inst.plan.steps[token.at]
  step.kind.proceed(w, inst, token, step, given)
end

-- The instances that this walk has, and turns outside of their frames, in the order of their
-- numbers.
local function known(w)
  local list = {}
  for number, inst in pairs(w.instances) do
    list[#list + 1] = { number = number, inst = inst }
  end
  table.sort(list, function(a, b)
    return a.number < b.number
  end)
  return list
end

-- Adds what waits for the signal in these instances, as the walk has left them.
local function add_here(w, given, found)
  if given.message then -- a command alone gives it, which has no instance yet
    return
  end
  for _, one in ipairs(known(w)) do
    local inst = one.inst
    if not inst.ended and not inst.held then
      for _, token in ipairs(inst.frame.list) do
        if signals.name_of(inst, token) == given.name then
          found[#found + 1] = { inst = inst, token = token }
        end
      end
    end
  end
end

-- Adds what waits for it elsewhere. False: it is too much for one unit.
local function add_elsewhere(w, given, found)
  local rows = w.context.receivers(given)
  for _, row in ipairs(rows) do
    local turn = frame.turn_of(row.token)
    if row.instance == 0 or not w.instances[turn or row.instance] then
      found[#found + 1] = row
    end
  end
  return #rows <= MOST
end

-- ---- giving ----

-- A unit that the store makes a job of for each receiver, or for this one.
local function by_jobs(w, given, to)
  local order = { name = given.name, variables = given.variables,
    tenant = given.tenant, only = given.only, bare = given.async and 1 or nil,
    message = given.message and 1 or nil, key = given.key, business_key = given.business_key,
    instance = to and to.inst.id, token = to and to.inst:number(to.token),
    activity = to and to.token.at, process = to and to.inst.plan.key,
    priority = to and to.token.fresh.priority }
  table.insert(w.unit.signals, order)
  return order
end

-- What waits in this walk and has no row yet, and whatever else waits.
local function give_jobs(w, given)
  local here = {}
  add_here(w, given, here)
  for _, one in ipairs(here) do
    if one.token.fresh then
      by_jobs(w, given, one)
    end
  end
  by_jobs(w, given)
end

local function start(w, given, row)
  local from = given.from
  local id = from and kept.instance(w, from.inst, from.token) or w.context.next_instance()
  return scopes.begin(w, { id = id, version = row.version, at = row.activity, tenant = given.tenant,
    variables = given.variables, from = from, who = w.cause.who })
end

-- Begins to give it to one that waits elsewhere, or starts a process. Returns the instance, or nil
-- if it has gone, or is busy: then a job gives it.
local function give_row(w, given, row)
  if row.instance == 0 then
    return start(w, given, row)
  end
  local inst = w:instance(row.instance, row.token, true)
  local token = inst and frame.find(inst.frame, row.token)
  if token then
    w:push(signals.receive, inst, token, given.message and { message = true,
      activity = row.activity, variables = given.variables } or given)
  end
  return token and inst
end

-- give(w, given) -> how many get it in this unit, and which of them where rows say so; nil: jobs
-- give it. given = { name, variables, from = { inst, token } that throws it }. It may have
-- `tenant`: only instances of this one or of none; `only`, the id of the only instance. With
-- `async` jobs give it, and what it starts gets no variables. With `message` it is one, for
-- receivers with this `key` and `business_key`.
function signals.give(w, given)
  local found = {}
  local few = not given.async and add_elsewhere(w, given, found)
  if not few then
    give_jobs(w, given)
    return nil
  end
  add_here(w, given, found)
  by_jobs(w, given).given = 1 -- to what is busy, or what earlier runs have not written yet
  local ids = rules.array {}
  for i = #found, 1, -1 do
    local one = found[i]
    local inst = one.inst or give_row(w, given, one)
    if one.inst then
      w:push(signals.receive, one.inst, one.token, given)
    end
    ids[#ids + 1] = inst and inst.id
  end
  return #found, ids
end

-- throw(w, inst, token, event): an event that throws a signal.
function signals.throw(w, inst, token, event)
  local name = w:text(inst, token, event.name, "the name of the signal")
  local variables
  if event.into then
    variables = {}
    w.called.map(w, inst, token, event.into, function(to, value)
      variables[to] = value
    end)
  end
  signals.give(w, { name = name, variables = variables, tenant = inst.tenant, async = event.async,
    from = { inst = inst, token = token } })
end

return signals
