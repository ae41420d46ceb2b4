-- What the walk needs of the outside, made of a worker's state: versions and frames of the store,
-- handlers and beans of the folder, the clock.
local commands = require "moonshift.process.commands"
local former = require "moonshift.process.former"
local frame = require "moonshift.process.frame"
local kept = require "moonshift.process.kept"
local places = require "moonshift.process.places"
local recent = require "moonshift.process.recent"
local retries = require "moonshift.process.retry"
local rules = require "moonshift.rules"
local show = require "moonshift.show"
local walk = require "moonshift.process.walk"

local runtime = {}

local VERSIONS_MAX = 256 -- versions whose graphs are kept
local DEPLOYMENTS_MAX = 8 -- deployments whose files are kept
local TURNS_OUTSIDE = true -- turns of large bodies stand outside of the frame

local Runtime = {}
Runtime.__index = Runtime

-- The answer of the store to a question; raises why there is none.
local function ask(natives, host, kind, question)
  local answer, message = natives.job.query(host, kind, question)
  return answer or error(message, 0)
end

-- ---- versions ----

-- The graph of an earlier version, made of the stored text.
local function earlier_graph(self, row)
  local env = row.path:find("%.lua$") and self.former:get(row.deployment).env
  return self.loaded.read_process(row.path, row.text, row.key, env)
end

-- What is kept of versions: { graph, deployment, key, number, newest = it is the folder's own }.
local function recent_versions(self)
  return recent.new(VERSIONS_MAX, function(id)
    local row = ask(self.natives, self.host, "version", { id = id })
    local own = self.loaded.processes[row.key]
    local newest = own ~= nil and own.hash == row.hash
    return { graph = newest and own.graph or earlier_graph(self, row),
      deployment = row.deployment, key = row.key, number = row.number, newest = newest }
  end)
end

-- The ids of versions by their numbers and keys. No other one ever gets them.
local function recent_names(self)
  return recent.new(VERSIONS_MAX, function(name)
    local number, key = name:match "^(%d+) (.*)$"
    return ask(self.natives, self.host, "version",
      { key = key, number = math.tointeger(number), text = false }).id
  end)
end

-- Deployments whose files were looked into.
local function recent_deployments(self)
  return recent.new(DEPLOYMENTS_MAX, function(id)
    local files = ask(self.natives, self.host, "files", { deployment = id })
    return former.new(self.loaded.sandbox, self.natives, files)
  end)
end

-- graph(id) -> the graph of a version
function Runtime:graph(id)
  return self.versions:get(id).graph
end

-- version_row(id) -> { key, number } of a version
function Runtime:version_row(id)
  return self.versions:get(id)
end

-- version_named(key, number) -> the id of a version, also of one that is suspended
function Runtime:version_named(key, number)
  return self.named:get(("%d %s"):format(number, key))
end

-- The files of the deployment that a version came with.
local function files_of(self, version)
  return self.former:get(self.versions:get(version).deployment)
end

-- What a binding asks the store: functions of the question and the value.
local Bindings = {}

function Bindings.version(_, question, value)
  question.number = math.tointeger(tonumber(value))
    or error(("version %s of the process %s (expected a whole number)"):format(show(value),
      question.key), 0)
end

-- An integer is its text.
function Bindings.versionTag(_, question, value)
  if type(value) ~= "string" and math.type(value) ~= "integer" then
    error(("the version tag %s of the process %s (expected a text)"):format(show(value),
      question.key), 0)
  end
  question.tag = tostring(value)
end

-- The value is the version that calls.
function Bindings.deployment(self, question, value)
  question.deployment = self.versions:get(value).deployment
end

-- version(key, binding, value) -> the id of a version, for calls and starts; raises if it is
-- suspended: nothing of it begins
function Runtime:version(key, binding, value)
  local question = { key = key, text = false }
  if Bindings[binding] then
    Bindings[binding](self, question, value)
  end
  local row = ask(self.natives, self.host, "version", question)
  if row.suspended then
    error(("the process \"%s\" is suspended"):format(key), 0)
  end
  return row.id
end

-- ---- frames ----

-- The row that came with the job: of its instance, or of a turn that stands outside of its frame.
local function own_frame(self, turn)
  local own = self.own
  if own.turn == turn then
    return own.frame and own
  end
  return not turn and { id = own.id, version = own.version, rev = own.around_rev,
    frame = own.around, parent = own.parent, key = own.key, tenant = own.tenant } or nil
end

-- A row without what it does not say.
local function without_null(row)
  for key, value in pairs(row) do
    if value == rules.null then
      row[key] = nil
    end
  end
  return row
end

-- frame(id, token) -> the row of an instance, or of the turn outside of its frame that has the
-- token: the one that came with the job, else the stored one. nil: there is none; a job without a
-- frame has run into the end of its instance. With `unless_busy` a command does not wait for what
-- has the lane of the instance: nil.
function Runtime:frame(id, token, unless_busy)
  local turn, own = frame.turn_of(token), self.own
  if own and own.id == id and (own.turn == turn or own.around and not turn) then
    return own_frame(self, turn)
  end
  local row, message = self.natives.job.query(self.host, "frame", { instance = id, token = token,
    unless_busy = unless_busy })
  if not row then -- it has ended since this walk's frame was written
    return message and error(message, 0)
  end
  return without_null(row)
end

-- task(instance, token) -> the task at which the token waits; what it has not is nil
function Runtime:task(instance, token)
  return without_null(ask(self.natives, self.host, "task", { instance = instance, token = token }))
end

-- receivers(given) -> { { instance, token, version, activity } … }: what waits for the signal or
-- message, one more than a unit takes at most; instance 0: a start event of that version. With
-- `conditions`, the start events that have one.
function Runtime:receivers(given)
  return ask(self.natives, self.host, "receivers", { signal = given.name, tenant = given.tenant,
    instance = given.only, message = given.message, key = given.key,
    business_key = given.business_key, conditions = given.conditions, process = given.process })
end

-- subscribed(instance, message, key) -> { { instance, token, activity } … }: what waits for the
-- message in the instance; others, if nothing does
function Runtime:subscribed(instance, message, key)
  return ask(self.natives, self.host, "receivers", { name = message, key = key,
    instance = instance })
end

-- past(id) -> the row of an instance, which has `how` if it has ended; or nil, why there is none
function Runtime:past(id)
  local row, message = self.natives.job.query(self.host, "instance", { id = id })
  if not row then
    return nil, message
  end
  return without_null(row)
end

-- first_of_trail(id) -> { events } of the unit in which an instance began; nil: it is not kept
function Runtime:first_of_trail(id)
  return ask(self.natives, self.host, "trail", { filters = { instance = id }, limit = 1 })[1]
end

-- body(id) -> { ended } of a body whose turns stand outside of the frame: how many have, those of
-- runs before this one in its item included; nil: it has gone
function Runtime:body(id)
  if self.own and self.own.body == id and self.own.body_seen then
    return { ended = self.own.body_seen - 1 }
  end
  local row = ask(self.natives, self.host, "body", { id = id })
  return not row.gone and row or nil
end

-- turns(id, below) -> { { id, rev, frame } … }: a page of the turns of a body, the last first;
-- those with numbers below this one, if it is given
function Runtime:turns(id, below)
  return ask(self.natives, self.host, "turns", { id = id, below = below })
end

-- value(instance, number) -> a large variable. If another unit has changed it meanwhile, the job
-- runs again on the newer frame: nothing has failed.
function Runtime:value(instance, number)
  local row = ask(self.natives, self.host, "large_value", { instance = instance, number = number })
  if row.gone then
    error({ conflict = true, message = row.gone }, 0)
  end
  return row.value
end

-- ---- handlers ----

-- What a spec gives for a handler that is not there. The first name is that of the activity; the
-- second one is as the process says it.
local function stand_in(missing, names)
  local name = names[2] or names[1]
  return missing and function(job)
    return missing(name, job)
  end, name
end

-- handler(names, version, own) -> the first handler that is there, and its name; nil if none is.
-- What the folder has no longer comes from the deployment of that version. `own`: nothing stands in
-- for one.
function Runtime:handler(names, version, own)
  local found, name = places.find(self.loaded, names)
  if not found then
    found, name = files_of(self, version):handler(names)
  end
  if found or own then
    return found, name
  end
  return stand_in(self.loaded.missing, names)
end

-- script(text, where, version) -> function(job). It belongs to the graph: that of an earlier
-- version has the modules that came with it.
function Runtime:script(text, where, version)
  local env = not self.versions:get(version).newest and files_of(self, version).env or nil
  return self.loaded.script(text, where, env)
end

-- bean(name, version) -> a table; nil: there is none
function Runtime:bean(name, version)
  return self.loaded.beans[name] or files_of(self, version):bean(name)
end

-- ---- one run ----

-- The functions of the context, which the walk calls without an object.
local function context_of(self)
  local natives = self.natives
  local context = {
    zone = natives.walk.zone, call = natives.walk.call, hold = natives.walk.hold,
    speak = natives.walk.speak,
    encode = rules.encode, decode = rules.decode,
    dates = rules.dates, add_span = rules.add_duration, time = rules.time,
    turns_outside = TURNS_OUTSIDE,
  }
  for _, name in ipairs { "graph", "version", "version_row", "version_named", "frame", "task",
    "receivers", "subscribed", "past", "first_of_trail", "body", "turns", "value", "handler",
    "bean", "script" } do
    context[name] = function(...)
      return self[name](self, ...)
    end
  end
  function context.now()
    return natives.walk.now()
  end
  function context.next_instance()
    return natives.walk.next_id(self.host)
  end
  -- A second walk gives the id that the first one has told the handler.
  function context.enqueue(handler, payload, options, again)
    if again then
      natives.walk.again(self.host, again)
    end
    local id, message = natives.job.enqueue(self.host, handler, payload, options)
    return id or error("job:enqueue: " .. message, 0)
  end
  function context.runs(text)
    local retry = rules.retry(text)
    return retry and retry.runs
  end
  return context
end

-- What a batch is told, as a table. The jobs of one batch follow each other and have the same one.
local function config_of(self, text)
  if not self.config or self.config_text ~= text then
    self.config, self.config_text = text and assert(rules.decode(text)) or {}, text
  end
  return self.config
end

-- What the job is to do: the command that is its payload, or to move the token that waits for it.
local function cause_of(self, host)
  local row, token = self.natives.walk.frame(host)
  local payload, before = host.payload, self.natives.walk.kept(host)
  local command, config = self.natives.walk.command(host)
  local cause
  self.own = row
  if command then
    cause = { kind = "batch", command = command, ids = payload.ids,
      config = config_of(self, config) }
  elseif type(payload) == "table" and payload.kind then
    cause = payload
  elseif not row then
    cause = { kind = "start", version = payload.version }
  else
    cause = { kind = "job", instance = row.id, token = token, handler = host.handler,
      last = not row.followed or nil }
  end
  cause.kept = before and rules.decode(before)
  return cause
end

-- The strategy that the version of an instance gives a definition, or nil.
local function strategy_of(self, name, host)
  local row = self.natives.walk.frame(host)
  self.host = host
  return row and retries.strategy_of(self:graph(row.version), name, self.natives.walk)
end

-- new(natives, loaded) -> four functions. The first one runs the job of an instance: it gets the
-- job's handle, and returns the unit; nil if a handler has put the job off. The second one gives
-- the retry strategy of a job whose definition the folder has no longer. The third one gives the
-- activity at which the last walk was, once it has failed; the fourth what is kept of that walk, as
-- JSON.
function runtime.new(natives, loaded)
  local self = setmetatable({ natives = natives, loaded = loaded }, Runtime)
  natives.walk.begin()
  self.versions, self.former = recent_versions(self), recent_deployments(self)
  self.named = recent_names(self)
  local context = context_of(self)
  return function(host)
    self.host, context.host, context.walk = host, host, nil
    local unit = commands.run(context, cause_of(self, host))
    return not unit.snoozed and unit or nil
  end, function(name, host)
    return strategy_of(self, name, host)
  end, function()
    return context.walk and walk.at(context.walk)
  end, function()
    return context.walk and rules.encode(kept.all(context.walk))
  end
end

return runtime
