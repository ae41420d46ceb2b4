-- The engine: one store and the scripts that work on it, and the operator's verbs (rules §11).
-- Every verb that takes an id also takes a list of ids or a query of jobs. Up to 1 000 jobs it does
-- all or nothing. A batch does more than that: the verb returns the batch's id, and "batch".
local batches = require "moonshift.batches"
local core = require "moonshift.core"
local definitions = require "moonshift.definitions"
local deployments = require "moonshift.deployments"
local face = require "moonshift.face"
local history = require "moonshift.history"
local ids = require "moonshift.ids"
local options = require "moonshift.options"
local outside = require "moonshift.outside"
local processes = require "moonshift.processes"
local query = require "moonshift.query"
local schedules = require "moonshift.schedules"
local show = require "moonshift.show"
local tokens = require "moonshift.tokens"

local RUNS_MAX = 100000 -- of one drain

local null = core.rules.null

local OWN = { scripts = true, clock = true, modules = true, handlers = true, missing = true,
  http = true, borrow = true }
local OF_SPECS = { "modules", "handlers", "missing", "http" }

--- One store and the scripts that work on it. Every method that takes an id also takes a list of
--- ids or a query of jobs: all or nothing up to 1 000 jobs, a batch beyond that.
---@class moonshift.engine
local Engine = {}
Engine.__index = Engine
Engine.__name = "moonshift.engine"

for _, more in ipairs { batches, deployments, face, history, outside, processes, schedules,
  tokens } do
  for name, verb in pairs(more) do
    Engine[name] = verb
  end
end

local engine = {}

-- What only an engine for specs can be given: its handlers run in the state that opens it.
local function check_own(given, level)
  for _, name in ipairs(OF_SPECS) do
    if given[name] ~= nil and not given.borrow then
      error(("%s is for moonshift.testing.engine (expected scripts, a folder with handlers)")
        :format(name), level + 1)
    end
  end
end

--- Opens a store with the scripts that work on it. The store is made if it is not there.
---@param given moonshift.options
---@param level? integer misuse is told so many callers above this function
---@return moonshift.engine? engine nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function engine.open(given, level)
  level = (level or 1) + 1
  given = options.table(given, "open", level)
  check_own(given, level)
  local clock = options.clock(given.clock, level)
  local opened, message, code = core.open {
    settings = options.settings(given, OWN),
    scripts = options.paths(given.scripts, level),
    clock = clock,
    borrow = given.borrow,
    modules = given.modules,
    handlers = given.handlers,
    missing = given.missing,
    http = given.http,
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
local function apply(self, verb, what, command, given)
  command.verb = verb
  local aimed, message, code = ids.aim(command, what, 2)
  if not aimed then
    return nil, message, code
  end
  return options.operate(self.core, aimed, given)
end

-- Checks the options of a verb on jobs. A text is enqueue's second value: verb(engine:enqueue(…)).
local function dry(given, verb)
  if type(given) == "string" then
    given = nil
  end
  return options.only(given, verb, { dry_run = "flag" })
end

--- Creates a job. The job is on disk when this returns.
---@param handler string the name of a file in `handlers/`
---@param payload? any a JSON value; the handler sees `{}` if it is absent
---@param given? moonshift.creation
---@return integer? id of the new job, or of the one it met; nil on failure
---@return string outcome "created", "kept", "replaced", or the message of a failure
---@return moonshift.code? code of a failure
function Engine:enqueue(handler, payload, given)
  options.value(handler, "handler", "name")
  options.maybe(given, "options", "object")
  return self.core:enqueue(handler, payload, given)
end

--- Creates a list of jobs in one transaction: all of them or none.
---@param list table[] handler, payload and options of each job
---@param given? { request?: string } under one key, asking again gives the first answer
---@return integer[]? ids in the order of the list; nil on failure
---@return string[]|string outcomes as `enqueue` says them, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:enqueue_many(list, given)
  if type(list) ~= "table" then
    error(("list is %s (expected { { handler, payload, options }, … })"):format(show(list)), 2)
  end
  return self.core:enqueue_many(list, given)
end

--- Makes a query of jobs.
---@param filters? moonshift.job_filters such as `{ state = "dead", handler = "mail" }`
---@return moonshift.job_query query
function Engine:jobs(filters)
  return query.new(self.core, "jobs", filters)
end

--- Makes a query of definitions.
---@param filters? moonshift.definition_filters
---@return moonshift.query query its rows have the counts of their jobs
function Engine:definitions(filters)
  return query.new(self.core, "definitions", filters)
end

--- Makes a query of incidents.
---@param filters? moonshift.incident_filters
---@return moonshift.query query its rows say what needs a person
function Engine:incidents(filters)
  return query.new(self.core, "incidents", filters)
end

--- Makes a query of the causes of incidents: a type and a handler, or a schedule. The most frequent
--- is the first.
---@param filters? moonshift.cause_filters
---@return moonshift.query query its rows have `type`, `handler`, `count`, `open`, `first`, `last`
function Engine:incident_causes(filters)
  return query.new(self.core, "incident_causes", filters)
end

--- Makes a query of the job log: what became of each job.
---@param filters? moonshift.log_filters
---@return moonshift.query query its rows have `at`, `job`, `outcome`, `message`, `result`, `lines`
function Engine:log(filters)
  return query.new(self.core, "log", filters)
end

--- Makes a query of the operation log: what people changed.
---@param filters? moonshift.operation_filters
---@return moonshift.query query its rows have `at`, `who`, `verb`, old and new value
function Engine:operations(filters)
  return query.new(self.core, "operations", filters)
end

--- Makes a query of the instances that are suspended.
---@param filters? moonshift.instance_filters
---@return moonshift.query query its rows are `{ instance, since }`
function Engine:suspended_instances(filters)
  return query.new(self.core, "suspended_instances", filters)
end

--- Returns one job with the stack text of its last failure.
---@param id integer
---@return moonshift.job_row? job nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:job(id)
  return self.core:ask("job", nil, { id = ids.one(id, 2) })
end

--- Returns one definition as an object. It shows the moment when it was asked for.
---@param name string the handler's name
---@return moonshift.definition? definition nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:definition(name)
  options.value(name, "name", "text")
  local row, message, code = self:definitions({ name = name }):one()
  if not row then
    return nil, message or ('unknown definition "%s"'):format(name), code or "not_found"
  end
  return definitions.new(self, row)
end

--- Runs a job by hand, in this thread, whatever its date, lock or retries. Raises what the
--- handler raised.
---@param what moonshift.ids with several, all are run in order
---@param given? { force?: boolean } `force`: also beside a running job of its lane
---@return any result of the handler; with several, their number; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:execute(what, given)
  if type(given) == "string" then -- execute(engine:enqueue(…)): enqueue's second value came along
    given = nil
  end
  local force = options.only(given, "execute", { force = "flag" }).force
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

--- Runs all jobs that are due now, and those that they create, in this thread.
---@param given? { max?: integer } work after so many runs (100 000) is an error
---@return { done: integer, failed: integer }? counts nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:drain(given)
  local max = options.only(given, "drain", { max = "positive" }).max
  return self.core:drain(max or RUNS_MAX)
end

--- Takes one turn without threads: settles, acquires and runs.
---@return moonshift.turn? counts nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:turn()
  return self.core:turn()
end

--- Moves a virtual clock and runs nothing. Raises with the system's clock.
---@param span moonshift.span
---@return string instant the new time
function Engine:advance(span)
  return self.clock:advance(span)
end

--- Sets the retries of jobs. With 0 a job is dead and has an incident.
---@param what moonshift.ids
---@param retries integer 0 or more
---@param given? moonshift.retry_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:set_retries(what, retries, given)
  given = options.only(given, "set_retries", { due = "instant", dry_run = "flag" })
  local count = options.value(retries, "retries", "count")
  return apply(self, "set_retries", what, { retries = count, due = given.due }, given)
end

--- Sets the configured number of retries, and resolves the incidents of the jobs.
---@param what moonshift.ids
---@param given? moonshift.retry_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:retry(what, given)
  given = options.only(given, "retry", { due = "instant", dry_run = "flag" })
  return apply(self, "retry", what, { due = given.due }, given)
end

--- Sets the priority of jobs. A running job is not disturbed.
---@param what moonshift.ids
---@param priority integer
---@param given? moonshift.dry_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:set_priority(what, priority, given)
  local wanted = options.value(priority, "priority", "integer")
  return apply(self, "set_priority", what, { priority = wanted }, dry(given, "set_priority"))
end

--- Sets the due date of jobs.
---@param what moonshift.ids
---@param due? string an instant; nil: at once, and the job has no due date
---@param given? moonshift.due_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:set_due(what, due, given)
  given = options.only(given, "set_due", { cascade = "flag", dry_run = "flag" })
  local instant = options.maybe(due, "due", "instant")
  return apply(self, "set_due", what, { due = instant == nil and null or instant,
    cascade = given.cascade }, given)
end

--- Computes the due date of timers anew, from now.
---@param what moonshift.ids
---@param given? moonshift.recalculate_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:recalculate_due(what, given)
  given = options.only(given, "recalculate_due", { from_creation = "flag", dry_run = "flag" })
  return apply(self, "recalculate_due", what, { from_creation = given.from_creation }, given)
end

--- Gives a repeating job that waits another cycle, counted from now.
---@param what moonshift.ids
---@param cycle string such as "R/PT2H" or "0 3 * * *"
---@param given? moonshift.cycle_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:set_cycle(what, cycle, given)
  given = options.only(given, "set_cycle", { zone = "name", misfire = "name", dry_run = "flag" })
  if type(cycle) ~= "string" then
    error(('cycle is %s (expected a text such as "R/PT2H" or "0 3 * * *")'):format(show(cycle)), 2)
  end
  return apply(self, "set_cycle", what, { cycle = cycle, zone = given.zone,
    misfire = given.misfire }, given)
end

--- Keeps jobs from being run. A running job that is suspended cannot commit.
---@param what moonshift.ids
---@param given? moonshift.dry_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:suspend(what, given)
  return apply(self, "suspend", what, {}, dry(given, "suspend"))
end

--- Lets suspended jobs run again. A date and the delay of a retry come back as they were.
---@param what moonshift.ids
---@param given? moonshift.dry_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:activate(what, given)
  return apply(self, "activate", what, {}, dry(given, "activate"))
end

--- Deletes jobs. Refused while a job is locked.
---@param what moonshift.ids
---@param given? moonshift.dry_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:delete(what, given)
  return apply(self, "delete", what, {}, dry(given, "delete"))
end

--- Cancels jobs, waiting or running. The result of a running one is refused.
---@param what moonshift.ids
---@param given? moonshift.dry_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:cancel(what, given)
  return apply(self, "cancel", what, {}, dry(given, "cancel"))
end

--- Gives jobs up: no retries, and an incident.
---@param what moonshift.ids
---@param given? moonshift.dry_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:dead_letter(what, given)
  return apply(self, "dead_letter", what, {}, dry(given, "dead_letter"))
end

-- Not called in tail position: misuse is told beyond the frame of the verb.
local function instance_verb(self, verb, instance, given)
  given = options.only(given, verb, { at = "instant", hierarchy = "flag", dry_run = "flag" })
  if math.type(instance) == "integer" then
    instance = tostring(instance)
  elseif type(instance) ~= "string" then
    error(("instance is %s (expected its key, or the id of a process instance)"):format(
      show(instance)), 3)
  end
  local command = { verb = verb, instance = instance, at = given.at,
    hierarchy = given.hierarchy }
  return options.operate(self.core, command, given)
end

--- Suspends the jobs of an instance, and those that are created for it later.
---@param instance string|integer its key; of a process instance its id
---@param given? moonshift.instance_options
---@return integer? touched how many jobs; nil on failure
---@return any job the id of the job that does it, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:suspend_instance(instance, given)
  local touched, job, code = instance_verb(self, "suspend_instance", instance, given)
  return touched, job, code
end

--- Ends the suspension of an instance and of its jobs.
---@param instance string|integer its key; of a process instance its id
---@param given? moonshift.instance_options
---@return integer? touched how many jobs; nil on failure
---@return any job the id of the job that does it, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:activate_instance(instance, given)
  local touched, job, code = instance_verb(self, "activate_instance", instance, given)
  return touched, job, code
end

--- Keeps a note with an incident.
---@param incident integer its id
---@param note string
---@return integer? touched 1; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:annotate(incident, note)
  options.value(note, "note", "text")
  local touched, message, code =
    self.core:command { verb = "annotate", incident = ids.one(incident, 2), note = note }
  return touched, message, code
end

--- Closes an incident without touching its job.
---@param incident integer its id
---@param given? { note?: string } `note`: stays with it
---@return integer? touched 1; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:resolve(incident, given)
  local note = options.only(given, "resolve", { note = "text" }).note
  local touched, message, code =
    self.core:command { verb = "resolve", incident = ids.one(incident, 2), note = note }
  return touched, message, code
end

--- Says in one sentence why a job has not run yet.
---@param id integer
---@return string? sentence nil on failure
---@return table|string facts with `state` and `reason`, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:why(id)
  local answer, message, code = self.core:ask("why", nil, { id = ids.one(id, 2) })
  if not answer then
    return nil, message, code
  end
  local text = answer.text
  answer.text = nil
  return text, answer
end

--- Lists the executors of the store.
---@param given? { gone?: boolean } `gone`: those that have left, too
---@return table[]? executors each with `id`, `name`, `state`, `running`; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:executors(given)
  local gone = options.only(given, "executors", { gone = "flag" }).gone
  return self.core:ask("executors", nil, { all = gone or false })
end

--- Tells an executor to take nothing more.
---@param who string|integer its name or its id
---@param draining? boolean false: it works again
---@return integer? told how many; several may have one name; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:drain_executor(who, draining)
  if type(who) ~= "string" and not math.tointeger(who) then
    error(("executor is %s (expected a name or an id)"):format(show(who)), 2)
  end
  options.maybe(draining, "draining", "flag")
  return self.core:command {
    verb = draining == false and "resume" or "drain", executor = tostring(who),
  }
end

--- Counts what waits, who works, and how much was done.
---@return table? stats `jobs`, `definitions`, `executors`, `gaps`, `metrics`; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:stats()
  return self.core:ask("stats")
end

--- Lists the settings of this engine.
---@return table[] settings `{ name, value, origin, text }`
function Engine:settings()
  return self.core:settings()
end

--- Loads the scripts again, as a whole. If they are broken the old ones stay. Started executors
--- load them, too.
---@return boolean? done true; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:reload()
  local ok, message, code = self.core:reload()
  if ok then
    for executor in pairs(self.runners) do
      executor.core:reload(self.core)
    end
  end
  return ok, message, code
end

--- Closes the engine. Every other method answers `closed` from then on.
---@return boolean done true
function Engine:close()
  return self.core:close()
end

Engine.__close = Engine.close

return engine
