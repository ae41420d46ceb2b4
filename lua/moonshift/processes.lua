-- The engine's verbs on processes and their instances. Each is walked in this thread and written
-- before it returns; a handler that fails leaves everything as it was.
local ids = require "moonshift.ids"
local options = require "moonshift.options"
local query = require "moonshift.query"
local show = require "moonshift.show"

-- Raises if a name is none, where the verb was called.
local function check_name(value, what)
  if type(value) ~= "string" then
    error(("%s is %s (expected a name)"):format(what, show(value)), 3)
  end
  return value
end

local function check_variables(value)
  if value ~= nil and type(value) ~= "table" then
    error(("variables is %s (expected a table)"):format(show(value)), 3)
  end
  return value
end

---@class moonshift.engine
local Engine = {}

--- Starts an instance of a process. It runs here until it waits or ends.
---@param process string its key
---@param given? moonshift.start_options
---@return integer? instance nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:start(process, given)
  given = options.only(given, "start",
    { variables = true, key = true, version = true, tag = true, tenant = true })
  return self.core:process { kind = "start", process = check_name(process, "process"),
    variables = check_variables(given.variables), key = given.key, version = given.version,
    tag = given.tag, tenant = given.tenant }
end

--- Completes a user task. What follows it runs here.
---@param task integer its id
---@param variables? table set in the instance
---@return integer? instance nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:complete(task, variables)
  return self.core:process { kind = "complete", task = ids.one(task, 2),
    variables = check_variables(variables) }
end

--- Gives a message to the one instance that waits for it, else to a start event of that name.
---@param message string its name
---@param given? moonshift.message_options
---@return integer? instance 0: it is kept; nil on failure: nothing waits for it, or several do
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:correlate(message, given)
  given = options.only(given, "correlate",
    { key = true, instance = true, business_key = true, variables = true, keep = true })
  return self.core:process { kind = "message", message = check_name(message, "message"),
    key = given.key, instance = given.instance, business_key = given.business_key,
    variables = check_variables(given.variables), keep = given.keep }
end

--- Lets a receive task without a message go on.
---@param instance integer its id
---@param activity? string where it waits; nil: at the only place
---@param variables? table set in the instance
---@return integer? instance nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:trigger(instance, activity, variables)
  if activity ~= nil then
    check_name(activity, "activity")
  end
  return self.core:process { kind = "trigger", instance = ids.one(instance, 2),
    activity = activity, variables = check_variables(variables) }
end

--- Ends an instance and all that waits in it. End listeners run.
---@param instance integer its id
---@param given? { reason?: string } `reason`: stays in the history
---@return integer? instance nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:cancel_instance(instance, given)
  local reason = options.only(given, "cancel_instance", { reason = true }).reason
  return self.core:process { kind = "cancel", instance = ids.one(instance, 2), reason = reason }
end

--- Sets variables of an instance.
---@param instance integer its id
---@param variables table
---@return integer? instance nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:set_variables(instance, variables)
  return self.core:process { kind = "set", instance = ids.one(instance, 2),
    variables = check_variables(variables) }
end

local function process_verb(self, verb, process, given)
  given = options.only(given, verb,
    { version = true, include_instances = true, at = true, dry_run = true })
  return options.operate(self.core, { verb = verb, process = check_name(process, "process"),
    version = given.version, include_instances = given.include_instances, at = given.at }, given)
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
    task = ids.one(task, 2), assignee = who, claim = true }
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
    task = ids.one(task, 2), assignee = who }
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
---@return table|string facts with `why`, the sentences one by one, or the message of a failure
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

--- Makes a query of the messages that are kept for what will wait for them.
---@param filters? moonshift.kept_message_filters
---@return moonshift.query query its rows have `name`, `key`, `until`, `variables`
function Engine:kept_messages(filters)
  return query.new(self.core, "kept_messages", filters)
end

return Engine
