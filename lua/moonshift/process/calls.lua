-- Calls from the walk to what authors wrote: handlers, listeners, scripts, expressions. `job` is
-- what a handler sees of an activity: the host's handle with the activity's own fields.
local connectors = require "moonshift.process.connectors"
local decisions = require "moonshift.process.decisions"
local kept = require "moonshift.process.kept"
local kinds = require "moonshift.kinds"
local rules = require "moonshift.rules"
local show = require "moonshift.show"
local variables = require "moonshift.process.variables"

local calls = {}

local NONE = {}

-- How what a call gives becomes variables by itself: the names in it, in the instance or of the
-- activity alone.
local SPREAD = { variables = variables.set, hit = variables.set, response = variables.set_local }

-- ---- BPMN errors ----

local Thrown = { __metatable = false, __tostring = function(thrown)
  return ("BPMN error %s%s"):format(tostring(thrown.code),
    thrown.message and ": " .. thrown.message or "")
end }

-- thrown(code, message) -> the value that job:throw raises
function calls.thrown(code, message)
  return setmetatable({ code = code, message = message }, Thrown)
end

function calls.is_thrown(value)
  return debug.getmetatable(value) == Thrown
end

-- ---- job ----

local Fields, Methods = {}, {}

function Fields.variables(call)
  return variables.view(call.inst, call.token, call.note)
end

function Fields.payload(call)
  local payload = {}
  for _, input in ipairs(call.step and call.step.inputs or {}) do
    payload[input.name] = call.job.variables[input.name]
  end
  return payload
end

function Fields.instance(call)
  return tostring(call.inst.id)
end

function Fields.key(call)
  return call.inst.key
end

function Fields.tenant(call)
  return call.inst.tenant
end

-- Listeners of the process itself see the activity at which it begins or has ended.
function Fields.activity(call)
  local at = call.token.at
  return at == "" and call.token.edge or at:match("^[^#]*")
end

function Fields.process(call)
  return call.inst.plan.key
end

function Fields.event(call)
  return call.event
end

-- What calls of these events are about; listeners of other events are about a task.
local ABOUT = { input = "called", output = "called", variable_create = "variable",
  variable_update = "variable", variable_delete = "variable" }

local function about_what(call, what)
  return (ABOUT[call.event] or "task") == what and call.about or nil
end

function Fields.task(call)
  return about_what(call, "task")
end

-- The variables that a called instance gets so far, or has at its end.
function Fields.called(call)
  return about_what(call, "called")
end

-- The variable { name, value } that a listener hears of.
function Fields.variable(call)
  return about_what(call, "variable")
end

function Fields.received(call)
  local cause = call.walk.cause
  return cause.received or cause.kind == "message" and cause.variables or nil
end

function Fields.fields(call)
  local fields = {}
  local scope = variables.scope(call.walk):at(call.inst, call.token)
  for name, value in pairs(call.fields or call.step and call.step.fields or {}) do
    fields[name] = scope:ask(value)
  end
  return fields
end

-- The turn of a multi-instance activity that this call belongs to, or nil.
function Fields.loop(call)
  local token = call.token
  while token.scope and token.scope.state ~= "body" do
    token = token.scope
  end
  local body = token.scope
  if not body then
    return nil
  end
  local multi = call.inst.plan.steps[token.at:match("^[^#]*")].multi
  return {
    index = variables.get(token, "loopCounter"),
    item = multi.element and variables.get(token, multi.element),
    done = variables.get(body, "nrOfCompletedInstances"),
    open = variables.get(body, "nrOfActiveInstances"),
  }
end

function Methods.set_local(call, name, value)
  variables.assign(call.inst, call.token, call.note, name, value, true)
end

function Methods.set_transient(call, name, value)
  variables.assign_transient(call.inst, call.token, call.note, name, value)
end

function Methods.throw(_, code, message)
  if type(code) ~= "string" then
    error(("job:throw: the code is %s (expected a text)"):format(show(code)), 3)
  end
  variables.copy(code, "job:throw: the code")
  variables.copy(message, "job:throw: the message")
  error(calls.thrown(code, message), 0)
end

-- Does something with the unit, and notes it for a second walk.
local function effect(call, made)
  table.insert(variables.part(call.note, "effects"), made)
  call.walk:do_again(call.inst, call.token, made)
  return made.id
end

local START = { key = "key", version = "positive", variables = "map" }
local MESSAGE = { key = "key", keep = "span", variables = "map" }

-- Reads a name and the options beside it; misuse is told where the method was called.
local function given(name, options, what, known, level)
  local fine, expected = kinds.read("name", name)
  local read, message = kinds.only(options, what, known, rules.suggest)
  if not fine then
    message = ("%s: got %s (expected %s)"):format(what, show(name), expected)
  end
  return fine and read or error(message, level + 1)
end

local function start(call, process, options, level)
  local read = given(process, options, "job:start", START, level or 2)
  return tostring(effect(call, { what = "start", id = call.walk.context.next_instance(),
    process = process, key = read.key, number = read.version,
    variables = variables.copy(read.variables or {}, "variables") }))
end

local function correlate(call, name, options, level)
  local read = given(name, options, "job:correlate", MESSAGE, level or 3)
  effect(call, { what = "message", name = name, key = read.key, keep = read.keep,
    variables = variables.copy(read.variables or {}, "variables") })
end

-- The same for each entry { name, options } of a list: what it gives, in their order.
local function each(call, list, one, what, level)
  local made = {}
  for i, entry in ipairs(list) do
    if type(entry) ~= "table" then
      error(("%s: entry %d is %s (expected { name, options })"):format(what, i, show(entry)), 4)
    end
    made[i] = one(call, entry[1], entry[2], level)
  end
  return made
end

-- start(process, { variables =, key =, version = }) -> the id of the new instance; of a list
-- { { process, options }, … }: their ids
function Methods.start(call, process, options)
  if type(process) == "table" then
    return each(call, process, start, "job:start", 3)
  end
  return start(call, process, options)
end

-- correlate(message, { key =, variables =, keep = }): delivered when this unit is written; with
-- `keep`, a span, kept so long if nothing waits for it. A list as for start.
function Methods.correlate(call, name, options)
  if type(name) == "table" then
    each(call, name, correlate, "job:correlate", 4)
    return
  end
  correlate(call, name, options)
end

-- signal(name, variables): reaches all that wait for it, with this unit.
function Methods.signal(call, name, values)
  given(name, nil, "job:signal", {}, 2)
  local fine, expected = kinds.read("map", values == nil and {} or values)
  if not fine then
    error(("job:signal: the variables are %s (expected %s)"):format(show(values), expected), 2)
  end
  effect(call, { what = "signal", name = name,
    variables = values and variables.copy(values, "variables") })
end

function Methods.enqueue(call, handler, payload, options)
  return effect(call, { what = "enqueue", handler = handler, payload = payload, options = options })
end

function Methods.snooze(call, span, message)
  local host = call.walk.context.host
  if not host then
    error("job:snooze: no job runs here (a command cannot come back later)", 3)
  end
  host:snooze(span, message)
  call.walk.snoozed = true
end

-- A method of the host's handle, which must get that handle as itself.
local function of_host(host, value)
  if type(value) ~= "function" then
    return value
  end
  return function(_, ...)
    return value(host, ...)
  end
end

local Job = { __metatable = false }
local called = {} -- the calls behind jobs, while they run; no script sees them

-- In a decision a variable is found by its name alone, as the inputs of a table are.
local function input_of(call, name)
  if call.decides and type(name) == "string" then
    return Fields.variables(call)[name]
  end
end

-- What was read once stays in the call, so that an assignment to the job is always told.
function Job.__index(job, name)
  local call = called[job] or error("the job has ended", 2)
  local field, method, value = Fields[name], Methods[name], (call.shown or NONE)[name]
  if value ~= nil then
    return value
  elseif field then
    value = field(call)
  elseif method then
    value = function(_, ...)
      return method(call, ...)
    end
  else
    value = input_of(call, name)
    if value == nil and call.host then
      return of_host(call.host, call.host[name])
    end
  end
  call.shown = call.shown or {}
  call.shown[name] = value
  return value
end

function Job.__newindex(_, name)
  error(("job.%s: a job is not changed (set a variable: job.variables.%s = …)"):format(
    tostring(name), tostring(name)), 2)
end

-- ---- calling ----

local function no_handler(inst, token, callout)
  error(("%s: %s of the process %s has no handler (looked for %s)"):format("missing handler",
    callout.place or token.at, inst.plan.key, table.concat(callout.names, ", ")), 0)
end

local function function_of(w, inst, token, callout)
  if callout.script then
    return w.context.script(callout.script, { file = callout.file, line = callout.line,
      id = token.at, key = inst.plan.key }, inst.version)
  end
  return callout.call or w.context.handler(callout.names, inst.version)
    or no_handler(inst, token, callout)
end

local function invoke(w, call, callout)
  local call_with = w.context.call or pcall
  if callout.is_value then
    local scope = w.scope:at(call.inst, call.token, call.note)
    scope.call = call
    return call_with(scope.ask, scope, callout)
  end
  local fn = function_of(w, call.inst, call.token, callout)
  if callout.decides then
    return decisions.call(call_with, fn, call.job, callout.map, callout.decides)
  elseif callout.map == "response" then
    local ok, result = call_with(fn, call.job)
    return ok, ok and connectors.answer(result) or result
  end
  return call_with(fn, call.job)
end

-- What an activity calls may make requests, which are known by the key of the call.
local function speaking(context, key, calling, ...)
  local speak = context.speak
  if not speak then
    return calling(...)
  end
  local before = speak(key)
  local ok, result = calling(...)
  speak(before)
  return ok, result
end

local function new_call(context, open, run)
  local call = { host = context.host, shown = false, decides = false, open = open, run = run,
    job = setmetatable({}, Job) }
  called[call.job] = call
  return call
end

-- Says what a call is of, and puts it into its walk.
local function place_call(w, call, inst, token, step, event)
  call.walk, call.inst, call.token, call.step, call.event = w, inst, token, step, event
  call.note = variables.note()
  return call
end

-- What an activity's inputs have read counts as read by its behaviour, which gets them.
local function take_reads(token, note)
  local reads = token.reads
  if reads then
    note.seen, note.missed, token.reads = reads.seen, reads.missed, nil
  end
end

-- The failure of a listener with its place before the message.
local function named(place, failure)
  if type(failure) == "string" then
    return place .. ": " .. failure
  elseif type(failure) ~= "table" or type(rawget(failure, "message")) ~= "string" then
    return failure
  end
  local made = {}
  for name, value in next, failure do
    made[name] = value
  end
  made.message = place .. ": " .. failure.message
  return made
end

-- Raises what a call has raised; its stack stays that of the call.
local function fail(w, place, failure)
  if place then
    failure = named(place, failure)
    if w.context.hold then
      w.context.hold(failure)
    end
  end
  error(failure, 0)
end

-- Keeps what a call has given. The result is data only where something becomes of it.
local function finish(w, call, key, wanted, ok, result)
  if ok then
    variables.check_copies(call.token, call.note, call.place)
    if call.note.result_name or wanted then
      local name = call.note.result_name
      result = variables.copy(result, name or "of a mapping", call.inst, call.token)
    else
      result = nil
    end
    kept.keep(w, key, call.note, result)
    return result
  elseif not calls.is_thrown(result) then
    fail(w, call.place, result)
  end
  kept.keep(w, key, call.note, nil, result)
  return nil, result
end

-- ---- calls without a walk ----

-- A call that is not known to be of anything yet: its walk comes to it once that is asked for.
local Alone = {}

function Alone.__index(call, name)
  call.open(call)
  setmetatable(call, nil).open = nil
  return call[name]
end

-- alone(run, one, key, open) -> call, whether the handler has returned, and what. `run` has the
-- context; `one` is { callout, inst, token }. open(call) walks to the call, which has it still if
-- nothing was asked of its walk.
function calls.alone(run, one, key, open)
  local context, fn = run.context, function_of(run, one.inst, one.token, one.callout)
  local call = setmetatable(new_call(context, open, run), Alone)
  local ok, result = speaking(context, key, context.call or pcall, fn, call.job)
  called[call.job] = nil
  return call, ok, result
end

-- What `run` gives for a call to which a walk has come, and that runs already.
calls.RUNS = setmetatable({}, { __metatable = false })
calls.finish = finish

local WANTED = { mapping = true, input = true, output = true } -- places whose result is used

-- run(w, inst, token, step, callout, place, event, about) -> result, or nil and the BPMN error that
-- was thrown. `place` names the call in its activity. `about` is the task of a listener, which may
-- change it, the variable that it hears of, or has the variables of a called instance.
function calls.run(w, inst, token, step, callout, place, event, about)
  if callout.is_value and not callout.ask then
    return callout.constant
  end
  local old, key = kept.find(w, inst, token, place)
  if old then
    return old.result, old.thrown and calls.thrown(old.thrown.code, old.thrown.message)
  end
  w.here = token
  local running = w.running
  local call = place_call(w, running or new_call(w.context), inst, token, step, event)
  call.about, call.fields, call.place = about, callout.fields, callout.place
  call.decides = callout.decides
  if place == "run" then
    call.note.result_name = step.result
    take_reads(token, call.note)
  end
  if running then
    w.running = nil
    return calls.RUNS
  end
  local ok, result = speaking(w.context, place ~= "mapping" and key or nil, invoke, w, call,
    callout)
  called[call.job] = nil
  return finish(w, call, key, WANTED[place] or SPREAD[callout.map], ok, result)
end

-- spread(inst, token, callout, result): sets the variables that the result itself names.
function calls.spread(inst, token, callout, result)
  local set = SPREAD[callout.map]
  if set then
    variables.set_given(inst, token, { variables = result }, set)
  end
end

-- ---- objects of expressions ----

-- A bean may be given one, and hand it to any script: what is behind it stays here.
local Execution = { __metatable = false }
Execution.__index = Execution
local scopes, tasks = setmetatable({}, { __mode = "k" }), setmetatable({}, { __mode = "k" })

local function of(execution)
  local scope = scopes[execution]
  return scope.inst, scope.token, scope.note
end

function Execution:getVariable(name)
  return (scopes[self]:get(name))
end

function Execution:hasVariable(name)
  local _, found = scopes[self]:get(name)
  return found
end

function Execution:getVariables()
  return variables.all(scopes[self].token)
end

function Execution:setVariable(name, value)
  local inst, token, note = of(self)
  variables.assign(inst, token, note, name, value)
end

function Execution:setVariableLocal(name, value)
  local inst, token, note = of(self)
  variables.assign(inst, token, note, name, value, true)
end

function Execution:setTransientVariable(name, value)
  local inst, token, note = of(self)
  variables.assign_transient(inst, token, note, name, value)
end

function Execution:removeVariable(name)
  self:setVariable(name, nil)
end

function Execution:getProcessInstanceId()
  return tostring(scopes[self].inst.id)
end

Execution.getId = Execution.getProcessInstanceId

function Execution:getProcessBusinessKey()
  return scopes[self].inst.key
end

Execution.getBusinessKey = Execution.getProcessBusinessKey

function Execution:getTenantId()
  return scopes[self].inst.tenant
end

function Execution:getProcessDefinitionId()
  return scopes[self].inst.plan.key .. ":" .. scopes[self].inst.version
end

function Execution:getCurrentActivityId()
  return scopes[self].token.at:match("^[^#]*")
end

function Execution:getCurrentActivityName()
  local step = scopes[self].inst.plan.steps[self:getCurrentActivityId()]
  return step and step.name
end

function Execution:getActivityInstanceId()
  return self:getCurrentActivityId() .. ":" .. scopes[self].token.id
end

function Execution:getEventName()
  return scopes[self].call and scopes[self].call.event
end

-- A user task's listener sees the task; it can do what an execution can.
local Task = setmetatable({ __metatable = false }, { __index = Execution, __metatable = false })
Task.__index = Task

for _, field in ipairs { "assignee", "name", "priority", "due" } do
  local word = field:sub(1, 1):upper() .. field:sub(2)
  Task["get" .. word] = function(self)
    return tasks[self][field]
  end
  Task["set" .. word] = function(self, value)
    tasks[self][field] = value
  end
end

function Task:getTaskDefinitionKey()
  return tasks[self].activity
end

local function object_of(class, scope, task)
  local object = setmetatable({}, class)
  scopes[object], tasks[object] = scope, task
  return object
end

-- object(w, scope, name) -> what a method in an expression is called on, or nil
function calls.object(w, scope, name)
  local call = scope.call
  if name == "execution" then
    return object_of(Execution, scope)
  elseif name == "task" and call and call.job.task then
    return object_of(Task, scope, call.job.task)
  elseif name == "job" and call and scope.note then
    return call.job
  end
  return w.context.bean and w.context.bean(name, scope.inst.version)
end

return calls
