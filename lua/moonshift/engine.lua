-- The engine: one store and the scripts that work on it, and the operator's verbs (rules §11).
-- Every verb that takes an id also takes a list of ids or a query of jobs: all or nothing up to
-- 1 000 jobs, beyond that a batch does it, whose id the verb returns, and "batch".
local batches = require "moonshift.batches"
local core = require "moonshift.core"
local definitions = require "moonshift.definitions"
local deployments = require "moonshift.deployments"
local history = require "moonshift.history"
local ids = require "moonshift.ids"
local options = require "moonshift.options"
local query = require "moonshift.query"
local schedules = require "moonshift.schedules"
local show = require "moonshift.show"

local RUNS_MAX = 100000 -- of one drain

local null = core.rules.null

local OWN = { scripts = true, clock = true, modules = true, handlers = true, borrow = true }

local Engine = {}
Engine.__index = Engine
Engine.__name = "moonshift.engine"

for _, more in ipairs { batches, deployments, history, schedules } do
  more.verbs(Engine)
end

local engine = {}

-- open { store = "sqlite:jobs.db", scripts = "dir", clock = …, any setting } -> engine, or nil,
-- message, code. Also the way of moonshift.testing, which adds `borrow`.
function engine.open(given, level)
  level = (level or 1) + 1
  given = options.table(given, "open", level)
  local clock = options.clock(given.clock, level)
  local opened, message, code = core.open {
    settings = options.settings(given, OWN),
    scripts = options.paths(given.scripts, level),
    clock = clock,
    borrow = given.borrow,
    modules = given.modules,
    handlers = given.handlers,
  }
  if not opened then
    return nil, options.explain(message, OWN), code
  end
  local runners = setmetatable({}, { __mode = "k" })
  return setmetatable({ core = opened, clock = clock, runners = runners }, Engine)
end

function engine.is(value)
  return getmetatable(value) == Engine
end

-- Does a verb to the jobs that `what` means. given: { dry_run = true }: says how many it would
-- touch, and writes nothing. Called in tail position only: misuse is told at the verb's caller.
local function apply(self, verb, what, order, given)
  order.verb = verb
  local aimed, message, code = ids.aim(order, what, 2)
  if not aimed then
    return nil, message, code
  end
  return options.operate(self.core, aimed, given)
end

-- What every verb on jobs may be told. verb(engine:enqueue(…)): enqueue's second value came along.
local function dry(given, verb)
  if type(given) == "string" then
    given = nil
  end
  return options.only(given, verb, { dry_run = true })
end

-- An integer, not below `least` if that is given.
local function check_integer(value, name, least)
  local integer = type(value) == "number" and math.tointeger(value)
  if not integer then
    error(("%s is %s (expected an integer)"):format(name, show(value)), 3)
  elseif least and integer < least then
    error(("%s is %d (expected %d or more)"):format(name, integer, least), 3)
  end
  return integer
end

local function check_instant(value, name)
  if value ~= nil and type(value) ~= "string" then
    error(("%s is a %s (expected an instant as text, or nil)"):format(name, type(value)), 3)
  end
  return value
end

-- enqueue(handler, payload, { after | at, cycle, zone, misfire, priority, lane, exclusive,
-- instance, root, activity, retries, tenant, category, unique, on_conflict, unique_for,
-- unchecked, request }) -> id, "created", "kept" or "replaced".
function Engine:enqueue(handler, payload, given)
  if type(handler) ~= "string" then
    error(("handler is %s (expected a name)"):format(show(handler)), 2)
  elseif given ~= nil and type(given) ~= "table" then
    error(("options is %s (expected a table)"):format(show(given)), 2)
  end
  return self.core:enqueue(handler, payload, given)
end

-- enqueue_many({ { handler, payload, options }, … }, { request }) -> ids and outcomes in order; all
-- or nothing.
function Engine:enqueue_many(list, given)
  if type(list) ~= "table" then
    error(("list is %s (expected { { handler, payload, options }, … })"):format(show(list)), 2)
  end
  return self.core:enqueue_many(list, given)
end

function Engine:jobs(filters)
  return query.new(self.core, "jobs", filters)
end

function Engine:definitions(filters)
  return query.new(self.core, "definitions", filters)
end

function Engine:incidents(filters)
  return query.new(self.core, "incidents", filters)
end

function Engine:log(filters)
  return query.new(self.core, "log", filters)
end

function Engine:operations(filters)
  return query.new(self.core, "operations", filters)
end

-- A query of { instance, since }: those that are suspended.
function Engine:suspended_instances(filters)
  return query.new(self.core, "suspended_instances", filters)
end

-- One job with its stack, or nil, message, "not_found".
function Engine:job(id)
  return self.core:job(ids.one(id, 2))
end

-- One definition as an object (definitions.lua), or nil, message, "not_found".
function Engine:definition(name)
  if type(name) ~= "string" then
    error(("name is a %s (expected text)"):format(type(name)), 2)
  end
  local row, message, code = self:definitions({ name = name }):one()
  if not row then
    return nil, message or ('unknown definition "%s"'):format(name), code or "not_found"
  end
  return definitions.new(self, row)
end

-- Runs a job by hand, in this thread, whatever its due date, lock or retries. Returns the handler's
-- result; raises what the handler raised. With several, runs them in order and returns how many.
-- { force = true } runs it beside a running job of its lane.
function Engine:execute(what, given)
  if type(given) == "string" then -- execute(engine:enqueue(…)): enqueue's second value came along
    given = nil
  end
  local force = options.only(given, "execute", { force = true }).force
  if type(what) ~= "table" then
    return self.core:execute(ids.one(what, 2), force)
  end
  local list, message, code = ids.list(what, 2)
  for _, id in ipairs(list or {}) do
    message, code = select(2, self.core:execute(id, force))
    if message then
      return nil, message, code
    end
  end
  return list and #list, message, code
end

-- Runs all that is due now, and what that creates, in this thread: { done = n, failed = n }.
-- drain { max = n } is an error if there is work after n runs (100 000).
function Engine:drain(given)
  local max = options.only(given, "drain", { max = true }).max
  return self.core:drain(check_integer(max or RUNS_MAX, "max", 1))
end

-- One turn without threads: { settled, acquired, done, failed, wait (seconds) }.
function Engine:turn()
  return self.core:turn()
end

-- Moves a virtual clock; runs nothing. Returns the new instant.
function Engine:advance(span)
  return self.clock:advance(span)
end

-- set_retries(id, n, { due = "…" }): n = 0 makes it dead with an incident.
function Engine:set_retries(what, retries, given)
  given = options.only(given, "set_retries", { due = true, dry_run = true })
  local due = check_instant(given.due, "due")
  return apply(self, "set_retries", what,
    { retries = check_integer(retries, "retries", 0), due = due }, given)
end

-- Sets the configured number of retries; { due = "…" }: not before then.
function Engine:retry(what, given)
  given = options.only(given, "retry", { due = true, dry_run = true })
  return apply(self, "retry", what, { due = check_instant(given.due, "due") }, given)
end

function Engine:set_priority(what, priority, given)
  return apply(self, "set_priority", what, { priority = check_integer(priority, "priority") },
    dry(given, "set_priority"))
end

-- Without a date the job is due at once, and its due date absent. { cascade = true } moves the
-- later occurrences of a repeating job by the same span.
function Engine:set_due(what, due, given)
  given = options.only(given, "set_due", { cascade = true, dry_run = true })
  local instant = check_instant(due, "due")
  return apply(self, "set_due", what, { due = instant == nil and null or instant,
    cascade = given.cascade }, given)
end

-- Timers only: what their due date came from, counted anew from now; { from_creation = true } from
-- their creation.
function Engine:recalculate_due(what, given)
  given = options.only(given, "recalculate_due", { from_creation = true, dry_run = true })
  return apply(self, "recalculate_due", what, { from_creation = given.from_creation }, given)
end

-- A repeating job that waits gets another cycle, counted from now: "R/PT2H" or "0 3 * * *".
-- { zone, misfire }: those, too; else the job keeps its own.
function Engine:set_cycle(what, cycle, given)
  given = options.only(given, "set_cycle", { zone = true, misfire = true, dry_run = true })
  if type(cycle) ~= "string" then
    error(('cycle is %s (expected a text such as "R/PT2H" or "0 3 * * *")'):format(show(cycle)), 2)
  end
  return apply(self, "set_cycle", what, { cycle = cycle, zone = given.zone,
    misfire = given.misfire }, given)
end

function Engine:suspend(what, given)
  return apply(self, "suspend", what, {}, dry(given, "suspend"))
end

-- Brings back what was pending: a date, a retry's delay.
function Engine:activate(what, given)
  return apply(self, "activate", what, {}, dry(given, "activate"))
end

-- Refused while the job is locked.
function Engine:delete(what, given)
  return apply(self, "delete", what, {}, dry(given, "delete"))
end

function Engine:cancel(what, given)
  return apply(self, "cancel", what, {}, dry(given, "cancel"))
end

-- Gives a job up: no retries, and an incident.
function Engine:dead_letter(what, given)
  return apply(self, "dead_letter", what, {}, dry(given, "dead_letter"))
end

-- Not called in tail position: misuse is told beyond the frame of the verb.
local function instance_verb(self, verb, instance, given)
  given = options.only(given, verb, { at = true, dry_run = true })
  if type(instance) ~= "string" then
    error(("instance is %s (expected its key)"):format(show(instance)), 3)
  end
  local order = { verb = verb, instance = instance, at = check_instant(given.at, "at") }
  return options.operate(self.core, order, given)
end

-- Its jobs, and those created later; { at = "…" }: then. Returns how many jobs, and of a date the
-- job that will do it.
function Engine:suspend_instance(instance, given)
  local touched, job, code = instance_verb(self, "suspend_instance", instance, given)
  return touched, job, code
end

function Engine:activate_instance(instance, given)
  local touched, job, code = instance_verb(self, "activate_instance", instance, given)
  return touched, job, code
end

-- Leaves a note on an incident; returns how many, 1.
function Engine:annotate(incident, note)
  if type(note) ~= "string" then
    error(("note is %s (expected a text)"):format(show(note)), 2)
  end
  local touched, message, code =
    self.core:operate { verb = "annotate", incident = ids.one(incident, 2), note = note }
  return touched, message, code
end

-- Closes an incident without touching its job; { note = "…" } stays with it. Returns how many, 1.
function Engine:resolve(incident, given)
  local note = options.only(given, "resolve", { note = true }).note
  local touched, message, code =
    self.core:operate { verb = "resolve", incident = ids.one(incident, 2), note = note }
  return touched, message, code
end

-- why(id) -> one sentence, and its facts: { job, state, reason, when, … }; or nil, message,
-- "not_found".
function Engine:why(id)
  local answer, message, code = self.core:why(ids.one(id, 2))
  if not answer then
    return nil, message, code
  end
  local text = answer.text
  answer.text = nil
  return text, answer
end

-- Every executor of the store: { { id, name, state, priority_min, … running, waiting }, … }.
-- { gone = true } names those that have left, too.
function Engine:executors(given)
  return self.core:executors(options.only(given, "executors", { gone = true }).gone)
end

-- Tells an executor (by name or id) to take nothing more; with false, to work again. Returns how
-- many were told: several may live under one name.
function Engine:drain_executor(who, draining)
  if type(who) ~= "string" and not math.tointeger(who) then
    error(("executor is %s (expected a name or an id)"):format(show(who)), 2)
  end
  return self.core:drain_executor(tostring(who), draining ~= false)
end

function Engine:stats()
  return self.core:stats()
end

-- { { name, value, origin, text }, … }
function Engine:settings()
  return self.core:settings()
end

-- Loads the scripts again, as a whole; nil, message, code and the old ones stay if they are broken.
-- Executors that were started load them too.
function Engine:reload()
  local ok, message, code = self.core:reload()
  if ok then
    for executor in pairs(self.runners) do
      executor.core:reload(self.core)
    end
  end
  return ok, message, code
end

function Engine:close()
  return self.core:close()
end

Engine.__close = Engine.close

return engine
