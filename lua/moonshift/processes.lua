-- The engine's verbs on processes and their instances. Each is walked in this thread and written
-- before it returns; a handler that fails leaves everything as it was.
local ids = require "moonshift.ids"
local options = require "moonshift.options"
local query = require "moonshift.query"
local show = require "moonshift.show"

local LIST_MAX = 1000 -- commands in one transaction

local START = { variables = "map", transient = "map", types = "map", key = "key",
  version = "positive", tag = "key", tenant = "key", unique = "flag", operations = "object",
  skip_listeners = "flag", skip_mappings = "flag", dry_run = "flag" }
local MESSAGE = { key = "key", instance = "id", token = "id", business_key = "key",
  starts = "flag", all = "flag", variables = "map", transient = "map", types = "map",
  local_variables = "map", keep = "span" }

local CANCEL = { reason = "text", skip_listeners = "flag", skip_mappings = "flag",
  skip_called = "flag", dry_run = "flag" }
local PICTURE = { form = "name", heat = "flag" }
local PROCESS_PICTURE = { form = "name", heat = "flag", version = "positive" }
local RESTART = { version = "positive", into = "positive", initial = "flag", no_key = "flag",
  variables = "map", skip_listeners = "flag", skip_mappings = "flag", dry_run = "flag" }
local MODIFY = { skip_listeners = "flag", skip_mappings = "flag", reason = "text",
  dry_run = "flag" }
local MIGRATE = { skip_listeners = "flag", skip_mappings = "flag", dry_run = "flag" }

-- What a message that becomes a row, or goes to many, cannot have beside its variables.
local function only_for_one(given)
  return given.transient or given.types or given.local_variables
end

-- Each makes a command of two values; misuse is told `level` callers up, behind `where`.
local function start_command(process, given, where, level)
  local command = options.only(given, where .. "start", START, level + 1)
  command.kind = "start"
  command.process = options.value(process, where .. "process", "name", level)
  return command
end

local function message_command(message, given, where, level)
  given = options.only(given, where .. "correlate", MESSAGE, level + 1)
  if given.keep ~= nil and only_for_one(given) then
    error(where .. "correlate: a message that may be kept has neither transient nor local "
      .. "variables, nor types", level + 1)
  elseif given.token ~= nil and (given.instance == nil or given.keep ~= nil) then
    error(where .. "correlate: a token without its instance, or beside keep (expected the token "
      .. "of a subscription and its instance)", level + 1)
  elseif given.starts ~= nil and (given.instance ~= nil or given.keep ~= nil) then
    error(where .. "correlate: starts goes without instance and keep", level + 1)
  elseif given.all and (given.instance or given.starts or given.keep or only_for_one(given)) then
    error(where .. "correlate: all goes with key, business_key and variables alone", level + 1)
  end
  given.kind = "message"
  given.message = options.value(message, where .. "message", "name", level)
  return given
end

-- The same of what has an id: `named` is the method.
local function id_command(kind, what, named, known)
  return function(id, given, where, level)
    local command = options.only(given, where .. named, known, level + 1)
    command.kind = kind
    command[what] = options.value(id, where .. what, "id", level)
    return command
  end
end

local complete_command = id_command("complete", "task", "complete",
  { variables = "map", transient = "map", types = "map" })
local trigger_command = id_command("trigger", "instance", "trigger",
  { activity = "name", variables = "map" })
local cancel_command = id_command("cancel", "instance", "cancel_instance", CANCEL)
local set_command = id_command("set", "instance", "set_variables",
  { variables = "map", types = "map", activity = "name", unset = "object" })

-- Gives the commands of a list { { name, options }, … } in one transaction.
local function give_list(self, list, given, command)
  if given ~= nil then
    error(("options beside a list: %s (expected them in its entries)"):format(show(given)), 3)
  elseif #list > LIST_MAX then
    error(("a list of %d (expected at most %d)"):format(#list, LIST_MAX), 3)
  end
  local commands = {}
  for i, entry in ipairs(list) do
    if type(entry) ~= "table" then
      error(("entry %d is %s (expected { name, options })"):format(i, show(entry)), 3)
    end
    commands[i] = command(entry[1], entry[2], ("entry %d: "):format(i), 3)
  end
  if next(list) ~= nil and not commands[1] then
    error("a table without entries (expected a name, or a list of { name, options })", 3)
  elseif not commands[1] then
    return {}
  end
  return self.core:process_list(commands)
end

-- Gives the same command to several instances in one transaction.
local function give_to_each(self, command, list, verb)
  if #list > LIST_MAX then
    error(("%s: %d instances (expected at most %d; a batch takes more)"):format(verb, #list,
      LIST_MAX), 3)
  elseif not list[1] then
    return {}
  end
  local commands = {}
  for i, id in ipairs(list) do
    commands[i] = { instance = id }
    for key, value in pairs(command) do
      commands[i][key] = value
    end
  end
  return self.core:process_list(commands)
end

---@class moonshift.engine
local Engine = {}

--- Starts an instance of a process. It runs here until it waits or ends. Starts a list of at most
--- 1 000 in one transaction: all of them or none.
---@param process string|{ [1]: string, [2]: moonshift.start_options? }[] its key, or a list
---@param given? moonshift.start_options of a key; those of a list stand in it
---@return integer|integer[]|moonshift.operation_trial[]? instance or instances in their order
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:start(process, given)
  if type(process) == "table" then
    return give_list(self, process, given, start_command)
  end
  return self.core:process(start_command(process, given, "", 2))
end

--- Completes a user task. What follows it runs here. Completes a list of at most 1 000 in one
--- transaction: all of them or none.
---@param task integer|{ [1]: integer, [2]: table? }[] its id, or a list
---@param variables? table set in the instance of an id
---@param given? moonshift.variable_options
---@return integer|integer[]? instance nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:complete(task, variables, given)
  if type(task) == "table" then
    return give_list(self, task, variables or given, complete_command)
  end
  local command = options.only(given, "complete", { transient = "map", types = "map" })
  command.kind, command.task = "complete", ids.one(task, 2)
  command.variables = options.maybe(variables, "variables", "map")
  return self.core:process(command)
end

-- A task ends with a BPMN error, or escalates.
local function raise_code(self, kind, task, code, given, known)
  local command = options.only(given, kind, known)
  command.kind, command.task = kind, ids.one(task, 3)
  command.code = options.maybe(code, "code", "name")
  return self.core:process(command)
end

--- Ends a user task with a BPMN error. The event that catches the code goes on; if none does, the
--- task's token ends.
---@param task integer its id
---@param code string
---@param given? { message?: string, variables?: table } set in the instance before
---@return integer? instance nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:throw(task, code, given)
  return raise_code(self, "throw", task, code, given, { message = "text", variables = "map" })
end

--- Escalates a user task. It stays open, unless the event that catches the code interrupts it.
---@param task integer its id
---@param code string
---@param given? { variables?: table } set in the instance before
---@return integer? instance nil on failure: no event catches it
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:escalate(task, code, given)
  return raise_code(self, "escalate", task, code, given, { variables = "map" })
end

--- Gives a message to the one instance that waits for it, else to a start event of that name; with
--- `all` to every one, as a signal. Of a list of at most 1 000, all messages are given in one
--- transaction, or none. Their receivers must wait when the list begins.
---@param message string|{ [1]: string, [2]: moonshift.message_options? }[] its name, or a list
---@param given? moonshift.message_options of a name; those of a list stand in it
---@return integer|integer[]? instance 0: it is kept; nil on failure: nothing waits, or several do
---@return string? how with `all`, "jobs" where these give it; or the message of a failure
---@return moonshift.code? code of a failure
function Engine:correlate(message, given)
  if type(message) == "table" then
    return give_list(self, message, given, message_command)
  end
  local reached, text, code = self.core:process(message_command(message, given, "", 2))
  if reached == true then
    return {}, "jobs"
  end
  return reached, text, code
end

--- Starts every process whose start event has a condition that holds with these variables. The
--- conditions are looked at before the first is started. Each runs here until it waits or ends.
---@param variables? table that the conditions read, and that each instance begins with
---@param given? { process?: string, key?: string|integer, tenant?: string|integer } only this
--- process; the business key and the tenant of what is started
---@return integer[]? instances that were started; nil on failure
---@return string? message of a failure: no start event has a condition
---@return moonshift.code? code of a failure
function Engine:conditions(variables, given)
  local command = options.only(given, "conditions", { process = "name", key = "key",
    tenant = "key" })
  command.kind = "conditions"
  command.variables = options.maybe(variables, "variables", "map") or {}
  return self.core:process(command)
end

--- Gives a signal to all that wait for it, and starts what it starts. They run here until they
--- wait, or none of them has it. More than a hundred get it by jobs of their own.
---@param name string
---@param variables? table set in each of them
---@param given? { instance?: integer, token?: integer, tenant?: string } `instance`: to this one
--- alone, with `token` to this of its receivers; `tenant`: to instances of this one, and of none
---@return integer? reached how many have got it; nil on failure
---@return string? how "jobs" where these give it, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:signal(name, variables, given)
  local command = options.only(given, "signal", { instance = "id", token = "id", tenant = "key" })
  if command.token ~= nil and command.instance == nil then
    error("signal: a token without its instance (expected the token of a subscription and its "
      .. "instance)", 2)
  end
  command.kind, command.signal = "signal", options.value(name, "name", "name")
  command.variables = options.maybe(variables, "variables", "map")
  local reached, message, code = self.core:process(command)
  if reached == true then
    return 0, "jobs"
  end
  return reached, message, code
end

--- Lets a receive task without a message go on, or all of a list of at most 1 000.
---@param instance integer|{ [1]: integer, [2]: table? }[] its id, or a list
---@param activity? string where it waits; nil: at the only place
---@param variables? table set in the instance
---@return integer|integer[]? instance nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:trigger(instance, activity, variables)
  if type(instance) == "table" then
    return give_list(self, instance, activity or variables, trigger_command)
  end
  options.maybe(activity, "activity", "name")
  options.maybe(variables, "variables", "map")
  return self.core:process { kind = "trigger", instance = ids.one(instance, 2),
    activity = activity, variables = variables }
end

--- Ends an instance and all that waits in it, or all of a list of at most 1 000. End listeners run.
---@param instance integer|{ [1]: integer, [2]: moonshift.cancel_options? }[] its id, or a list
---@param given? moonshift.cancel_options of an id; those of a list stand in it
---@return integer|integer[]|moonshift.cancel_trial[]? instance with `dry_run`, what would end
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:cancel_instance(instance, given)
  if type(instance) == "table" then
    return give_list(self, instance, given, cancel_command)
  end
  local command = options.only(given, "cancel_instance", CANCEL)
  command.kind, command.instance = "cancel", ids.one(instance, 2)
  return self.core:process(command)
end

--- Starts and cancels activities of an instance, one operation behind the other: all of them or
--- none. What follows them runs here.
---@param instance integer its id
---@param operations moonshift.operation[]
---@param given? moonshift.modify_options
---@return integer|moonshift.operation_trial[]? instance with `dry_run`, what each would do
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:modify_instance(instance, operations, given)
  local command = options.only(given, "modify_instance", MODIFY)
  command.kind, command.instance = "modify", ids.one(instance, 2)
  command.operations = options.value(operations, "operations", "object")
  return self.core:process(command)
end

--- Begins a new instance like one that has ended, at activities: with its variables and its
--- business key. It has no caller.
--- Of several, at most 1 000, all begin in one transaction, or none; a batch restarts more.
---@param instance integer|integer[]|moonshift.query the one that has ended, or several
---@param operations moonshift.operation[] where it begins; nothing is cancelled
---@param given? moonshift.restart_options
---@return integer|integer[]|moonshift.operation_trial[]? instance the new one or ones; or nil
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:restart_instance(instance, operations, given)
  local command = options.only(given, "restart_instance", RESTART)
  command.kind = "restart"
  command.operations = options.value(operations, "operations", "object")
  if type(instance) == "table" then
    local list, message, code = ids.list(instance, 2, "past")
    if not list then
      return nil, message, code
    end
    return give_to_each(self, command, list, "restart_instance")
  end
  command.instance = ids.one(instance, 2)
  return self.core:process(command)
end

--- Moves an instance to another version of its process, or to another process, by a plan: all of
--- it, or nothing.
---@param instance integer its id; also of a suspended one, which stays so
---@param plan moonshift.migration_plan
---@param given? moonshift.migrate_options
---@return integer|moonshift.migration_trial? instance nil on failure
---@return string? message of a failure: the pairs or the activities that do not fit
---@return moonshift.code? code of a failure
function Engine:migrate_instance(instance, plan, given)
  local command = options.only(given, "migrate_instance", MIGRATE)
  command.kind, command.instance = "migrate", ids.one(instance, 2)
  command.plan = options.value(plan, "plan", "object")
  return self.core:process(command)
end

--- Makes the plan of equal activities of two versions of a process.
---@param process string its key
---@param from integer the number of a version
---@param to integer
---@param given? { to_process?: string, update?: boolean } `to_process`: the key of another process;
---  `update`: waits for events begin anew, by the new process
---@return moonshift.migration_plan? plan nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:migration_plan(process, from, to, given)
  local command = options.only(given, "migration_plan", { to_process = "name", update = "flag" })
  command.kind, command.process = "plan", options.value(process, "process", "name")
  command.from, command.to = options.value(from, "from", "positive"),
    options.value(to, "to", "positive")
  command.dry_run = true
  local plan, message, code = self.core:process(command)
  if not plan then
    return nil, message, code
  end
  plan.process, plan.from, plan.to, plan.to_process = process, from, to, command.to_process
  return plan
end

--- Sets variables of an instance, or of a place of it; or of all of a list of at most 1 000.
---@param instance integer|{ [1]: integer, [2]: table? }[] its id, or a list
---@param variables? table of an id; those of a list stand in it
---@param given? moonshift.set_options
---@return integer|integer[]? instance nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:set_variables(instance, variables, given)
  if type(instance) == "table" then
    return give_list(self, instance, variables or given, set_command)
  end
  local command = options.only(given, "set_variables", { types = "map", activity = "name",
    unset = "object" })
  command.kind, command.instance = "set", ids.one(instance, 2)
  command.variables = options.maybe(variables, "variables", "map")
  return self.core:process(command)
end

local function process_verb(self, verb, process, given)
  given = options.only(given, verb,
    { version = "positive", include_instances = "flag", at = "instant", dry_run = "flag" }, 4)
  return options.operate(self.core, { verb = verb,
    process = options.value(process, "process", "name", 3), version = given.version,
    include_instances = given.include_instances, at = given.at }, given)
end

--- Suspends a process: nothing of it starts, and its new jobs wait.
---@param process string its key
---@param given? moonshift.process_suspension
---@return integer? touched how many jobs; nil on failure
---@return any job the id of the job that does it, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:suspend_process(process, given)
  local touched, job, code = process_verb(self, "suspend_process", process, given)
  return touched, job, code
end

--- Ends the suspension of a process.
---@param process string its key
---@param given? moonshift.process_suspension
---@return integer? touched how many jobs; nil on failure
---@return any job the id of the job that does it, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:activate_process(process, given)
  local touched, job, code = process_verb(self, "activate_process", process, given)
  return touched, job, code
end

--- Gives a user task to a person. It must have no assignee, or this one already.
---@param task integer its id
---@param who? string nil: the setting `who`
---@return integer? touched 1; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:claim(task, who)
  local touched, message, code = self.core:command { verb = "set_assignee",
    task = ids.one(task, 2), assignee = options.maybe(who, "who", "key"), claim = true }
  return touched, message, code
end

--- Gives a user task to a person, also one that another person has.
---@param task integer its id
---@param who? string nil: the task has no assignee any more
---@return integer? touched 1; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:assign(task, who)
  local touched, message, code = self.core:command { verb = "set_assignee",
    task = ids.one(task, 2), assignee = options.maybe(who, "who", "key") }
  return touched, message, code
end

--- Returns an instance, one that has ended too, with its variables and the places where it stands.
---@param id integer
---@return moonshift.instance_row? instance nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:instance(id)
  return self.core:ask("instance", nil, { id = ids.one(id, 2) })
end

--- Returns the names of the activities where an instance stands, in their order: one for each
--- branch that stands there. Nothing is left of one that has ended.
---@param id integer
---@return string[]? activities nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:at(id)
  local row, message, code = self.core:ask("instance", nil, { id = ids.one(id, 2) })
  if not row then
    return nil, message, code
  end
  local names = {}
  for _, place in ipairs(row.at or {}) do
    for _ = 1, place.count or 1 do
      names[#names + 1] = place.activity
    end
  end
  table.sort(names)
  return names
end

--- Says what an instance waits for: a sentence for each place where it stands, each in a line.
---@param id integer
---@return string? sentences nil on failure
---@return moonshift.instance_facts|string facts one by one, or the message of a failure
---@return moonshift.code? code of a failure
function Engine:why_instance(id)
  local answer, message, code = self.core:ask("why_instance", nil, { id = ids.one(id, 2) })
  if not answer then
    return nil, message, code
  end
  local text = answer.text
  answer.text = nil
  return text, answer
end

--- Draws a process as SVG: as the diagram of its model says, else laid out. With the instances of
--- the version, and the open incidents, at each activity. `heat`: with how often each began, in the
--- newest 1 000 instances that run and as many that have ended.
---@param process string its key
---@param given? { version?: integer, form?: "svg"|"text"|"drawing", heat?: boolean }
---@return string|table? picture a text, with `form = "drawing"` a table; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:process_picture(process, given)
  local question = options.only(given, "process_picture", PROCESS_PICTURE)
  question.process = options.value(process, "process", "name")
  return self.core:picture(question)
end

--- Draws the process of an instance as SVG, with the places where it stands and its open incidents.
---@param instance integer its id; it may have ended
---@param given? { form?: "svg"|"text"|"drawing", heat?: boolean }
---@return string|table? picture a text, with `form = "drawing"` a table; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:instance_picture(instance, given)
  local question = options.only(given, "instance_picture", PICTURE)
  question.instance = ids.one(instance, 2)
  return self.core:picture(question)
end

--- Makes a query of the processes that can be started.
---@param filters? moonshift.process_filters
---@return moonshift.query query its rows have `key`, `version`, `instances`
function Engine:processes(filters)
  return query.new(self.core, "processes", filters)
end

--- Makes a query of all versions of processes.
---@param filters? moonshift.version_filters
---@return moonshift.query query its rows have `id`, `key`, `version`, `current`
function Engine:versions(filters)
  return query.new(self.core, "versions", filters)
end

--- Makes a query of the instances that run.
---@param filters? moonshift.process_instance_filters
---@return moonshift.query query its rows have `id`, `process`, `version`, `key`, `started`
function Engine:instances(filters)
  return query.new(self.core, "instances", filters)
end

--- Makes a query of the instances that have ended.
---@param filters? moonshift.past_filters
---@return moonshift.query query its rows have `id`, `process`, `how`, `variables`
function Engine:past_instances(filters)
  return query.new(self.core, "past", filters)
end

--- Makes a query of what instances did.
---@param filters? moonshift.trail_filters
---@return moonshift.query query its rows have `instance`, `at`, `job`, `events`
function Engine:trail(filters)
  return query.new(self.core, "trail", filters)
end

--- Makes a query of the user tasks that are open.
---@param filters? moonshift.task_filters
---@return moonshift.query query its rows have `id`, `instance`, `activity`, `assignee`, `due`
function Engine:tasks(filters)
  return query.new(self.core, "tasks", filters)
end

--- Makes a query of what waits for messages.
---@param filters? moonshift.subscription_filters
---@return moonshift.query query its rows have `name`, `key`, `instance`, `activity`
function Engine:subscriptions(filters)
  return query.new(self.core, "subscriptions", filters)
end

--- Makes a query of the messages that are kept until an instance has taken them.
---@param filters? moonshift.kept_message_filters
---@return moonshift.query query its rows have `name`, `key`, `until`, `variables`, `job`
function Engine:kept_messages(filters)
  return query.new(self.core, "kept_messages", filters)
end

return Engine
