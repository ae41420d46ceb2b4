-- A store made of tables, for specs of the walk: writes units, runs jobs, has a clock of its own.
require "spec.support.scripts"
local commands = require "moonshift.process.commands"
local frame = require "moonshift.process.frame"
local rules = require "moonshift.rules"

local Driver = {}
Driver.__index = Driver

local driver = {}

local DAY_ONE = 1767225600000 -- 2026-01-01T00:00:00Z

-- The context of the walk over this store.
local function context_of(self, host)
  local context = { encode = rules.encode, decode = rules.decode, dates = rules.dates,
    time = rules.time, add_span = rules.add_duration, settings = self.settings, host = host,
    zone = "UTC" }
  function context.now()
    return self.time
  end
  function context.graph(version)
    return self.graphs[version]
  end
  function context.version(key, binding, number)
    return binding == "version" and self.versions[key .. ":" .. number] or self.latest[key]
  end
  function context.frame(id, _, unless_busy)
    return not (unless_busy and self.busy and self.busy[id]) and self.instances[id] or nil
  end
  function context.receivers(given)
    return self:receivers(given)
  end
  function context.task(instance, token)
    for _, row in ipairs(self.tasks) do
      if row.instance == instance and row.token == token then
        return row
      end
    end
    return { gone = true }
  end
  function context.value(instance, number)
    self.reads = self.reads + 1
    return rules.decode(self.values[instance .. ":" .. number])
  end
  function context.next_instance()
    self.last = self.last + 1
    return self.last
  end
  function context.handler(names, version)
    assert(self.graphs[version], "whose handler is looked for?")
    for _, name in ipairs(names) do
      if self.handlers[name] then
        return self.handlers[name], name
      end
    end
  end
  function context.bean(name)
    return self.beans[name]
  end
  function context.enqueue(handler, payload, _, id)
    id = id or context.next_instance()
    self.enqueued[#self.enqueued + 1] = { id = id, handler = handler, payload = payload }
    return id
  end
  function context.script(text, where)
    return assert(load("local job = ...; local variables = job.variables; " .. text,
      "=" .. where.id))
  end
  function context.runs(text)
    return rules.retry(text).runs
  end
  return context
end

-- new { graphs }: a store with these processes, each as version 1 of its key.
function driver.new(graphs, options)
  local self = setmetatable({ time = DAY_ONE, last = 0, graphs = {}, latest = {}, versions = {},
    instances = {}, past = {}, jobs = {}, subscriptions = {}, tasks = {}, trail = {}, handlers = {},
    beans = {}, enqueued = {}, taken = {}, settings = {}, calls = {}, units = 0,
    values = {}, reads = 0, orders = {} }, Driver)
  for name, value in pairs(options or {}) do
    self[name] = value
  end
  for _, graph in ipairs(graphs) do
    self:deploy(graph)
  end
  return self
end

function Driver:deploy(graph)
  local version = #self.graphs + 1
  self.graphs[version] = graph
  self.latest[graph.key] = version
  self.versions[graph.key .. ":" .. version] = version
  return version
end

-- ---- writing ----

local function drop(rows, instance, token)
  for i = #rows, 1, -1 do
    if rows[i].instance == instance and (token == 0 or rows[i].token == token) then
      table.remove(rows, i)
    end
  end
end

local function leave(self, left)
  local all = left.what == "all"
  if all or left.what == "job" then
    drop(self.jobs, left.instance, left.token)
  end
  if all or left.what == "subscription" then
    drop(self.subscriptions, left.instance, left.token)
  end
  if all or left.what == "task" then
    drop(self.tasks, left.instance, left.token)
  end
end

local function write_instance(self, row)
  local old = self.instances[row.id]
  if row.ended then
    self.instances[row.id] = nil
    row.started = row.started or old.started
    table.insert(self.past, row)
  else
    row.rev = row.rev + 1
    row.started = row.started or old and old.started
    self.instances[row.id] = row
  end
end

-- Whether the frames of the unit are those that are there.
function Driver:fits(unit)
  for _, row in ipairs(unit.instances) do
    local now = self.instances[row.id]
    if (now and now.rev or 0) ~= row.rev then
      return false
    end
  end
  return true
end

-- ---- signals ----

-- A start event that is for what is given, or has a condition where these are asked for.
local function starts_by(node, given)
  local event = node.kind == "start" and not node.scope and node.event
  if given.conditions then
    return event and event.kind == "conditional"
  end
  return event and event.name == given.name
    and event.kind == (given.message and "message" or "signal")
end

local function starts_for(self, given, found)
  local versions = {}
  for _, version in pairs(self.latest) do
    versions[#versions + 1] = version
  end
  table.sort(versions)
  for _, version in ipairs(versions) do
    local graph = self.graphs[version]
    for _, id in ipairs(graph.order) do
      if starts_by(graph.nodes[id], given)
        and (not given.process or given.process == graph.key) then
        found[#found + 1] = { instance = 0, token = version, version = version, activity = id }
      end
    end
  end
end

-- Whether a row waits for what is given.
local function is_for(self, row, given)
  local inst, only, tenant = self.instances[row.instance], given.only, given.tenant
  return row.kind == (given.message and "message" or "signal") and row.name == given.name
    and (row.key == "" or row.key == given.key) and (not only or only == row.instance)
    and (not given.business_key or given.business_key == inst.key)
    and (not tenant or not inst.tenant or inst.tenant == tenant)
end

-- receivers(given) -> what the store says that waits for it
function Driver:receivers(given)
  local found = {}
  for _, row in ipairs(self.subscriptions) do
    found[#found + 1] = is_for(self, row, given) and row or nil
  end
  if not given.only then
    starts_for(self, given, found)
  end
  return found
end

-- What waits elsewhere than in the instances of the unit, which has given the signal to those.
local function beside(unit, rows)
  local moved, found = { [0] = true }, {}
  for _, one in ipairs(unit.instances) do
    moved[one.id] = true
  end
  for _, row in ipairs(rows) do
    found[#found + 1] = not moved[row.instance] and row or nil
  end
  return found
end

-- The causes of the jobs that give a signal.
local function order(self, unit, signal)
  local to = signal.token and { signal } or self:receivers(signal)
  for _, row in ipairs(signal.given and beside(unit, to) or to) do
    local start = row.instance == 0
    table.insert(self.orders, { kind = start and "start" or "signal", version = row.version,
      at = start and row.activity or nil, instance = not start and row.instance or nil,
      token = not start and row.token or nil, activity = row.activity, name = signal.name,
      message = signal.message and true,
      variables = not (start and signal.bare) and signal.variables or nil })
  end
end

-- Runs the jobs that give signals.
function Driver:deliver()
  while self.orders[1] do
    self:write(self:walk(table.remove(self.orders, 1)))
  end
end

-- ---- migrations ----

-- The rows that wait for a token go with it. A job has another definition then.
local function move(self, moved)
  local kind = moved.what .. "s"
  for _, row in ipairs(self[kind]) do
    if row.instance == moved.instance and row.token == moved.token
      and (kind ~= "jobs" or row.handler == moved.from_handler) then
      row.moving = moved
    end
  end
end

local function move_all(self, unit)
  for _, moved in ipairs(unit.moves or {}) do -- a unit of a form has none
    move(self, moved)
  end
  for _, kind in ipairs { "jobs", "tasks", "subscriptions" } do
    for _, row in ipairs(self[kind]) do
      local to = row.moving
      if to then
        row.token, row.activity, row.version, row.moving = to.to, to.activity, to.version, nil
        row.handler = kind == "jobs" and to.handler or row.handler
        row.listens = kind == "tasks" and to.listens == 1 and 1 or nil
      end
    end
  end
end

-- ---- what must be true ----

local WAITS = { before = "jobs", after = "jobs", seed = "jobs", timer = "jobs",
  ["on timer"] = "jobs", message = "subscriptions", ["on message"] = "subscriptions",
  signal = "subscriptions", ["on signal"] = "subscriptions",
  task = "tasks", external = "jobs" }

local function expect(waits, kind, token)
  waits[kind .. " " .. token] = (waits[kind .. " " .. token] or 0) + 1
end

-- What the frame says that waits, by kind and token.
local function told(frame_now)
  local waits = {}
  for _, token in ipairs(frame_now.tokens) do
    if WAITS[token[4]] then
      expect(waits, WAITS[token[4]], token[1])
    end
  end
  for _, scope in ipairs(frame_now.scopes) do
    local body = scope[3]:find("#", 1, true) and scope[5]
    for _, range in ipairs(body and body[4] or {}) do
      for id = range[1], range[1] + range[2] - 1 do
        expect(waits, "jobs", id)
      end
    end
  end
  return waits
end

-- Raises if a token waits for a row that is not there, or the reverse. A job that was taken out to
-- run may be missing.
function Driver:check(id)
  local waits = told(self:frame(id))
  for _, kind in ipairs { "jobs", "subscriptions", "tasks" } do
    for _, row in ipairs(self[kind]) do
      if row.instance == id then
        local key = kind .. " " .. row.token
        assert(waits[key], "nothing waits for one of the " .. key)
        waits[key] = false
      end
    end
  end
  for key, open in pairs(waits) do
    assert(not open or self.taken[id .. " " .. key], "there is nothing for " .. key)
  end
end

-- Nothing waits for an instance that has ended.
local function check_ended(self, id)
  for _, kind in ipairs { "jobs", "subscriptions", "tasks" } do
    for _, row in ipairs(self[kind]) do
      assert(row.instance ~= id, "one of the " .. kind .. " is left of an instance that has ended")
    end
  end
end

-- Looks after each unit, or after some of them where many jobs wait.
local function check_written(self, unit)
  if #self.jobs > 100 and self.units % 100 > 0 then
    return
  end
  for _, row in ipairs(unit.instances) do
    if self.instances[row.id] then
      self:check(row.id)
    else
      check_ended(self, row.id)
    end
  end
end

-- write(unit, cause): false if it is behind. The job of the cause is done then.
local CHANGES = { name = 1, assignee = 2, due = 4, priority = 8 }

-- Changes the tasks that are there, and gives the rows that are new.
local function changed(self, kind, rows)
  local new = {}
  for _, row in ipairs(rows) do
    new[#new + 1] = not (kind == "tasks" and row.id) and row or nil
    for _, task in ipairs(new[#new] ~= row and self.tasks or {}) do
      for field, bit in pairs(CHANGES) do
        if task.id == row.id and row.changes & bit ~= 0 then
          task[field] = row[field]
        end
      end
    end
  end
  return new
end

function Driver:write(unit, cause)
  if not self:fits(unit) then
    return false
  elseif cause then
    self.taken[cause.instance .. " jobs " .. cause.token] = nil
  end
  self.units = self.units + 1
  for _, signal in ipairs(unit.signals) do
    order(self, unit, signal)
  end
  for _, row in ipairs(unit.instances) do
    write_instance(self, row)
  end
  for _, value in ipairs(unit.values) do
    local key = value.instance .. ":" .. value.n
    assert((self.values[key] == nil) == (value.data ~= nil), "value " .. key)
    self.values[key] = value.data
  end
  for _, left in ipairs(unit.left) do
    leave(self, left)
  end
  move_all(self, unit)
  for _, kind in ipairs { "jobs", "subscriptions", "tasks" } do
    for _, row in ipairs(changed(self, kind, unit[kind])) do
      self.last = self.last + 1
      row.id, row.made = self.last, self.time
      table.insert(self[kind], row)
    end
  end
  for _, trail in ipairs(unit.trail) do
    table.insert(self.trail, { instance = trail.instance, events = rules.decode(trail.events) })
  end
  check_written(self, unit)
  return true
end

-- ---- doing ----

local LISTS = { "instances", "left", "jobs", "subscriptions", "tasks", "trail", "messages",
  "signals", "searched", "values", "turns", "bodies", "moves" }

-- walk(cause, host) -> unit, not yet written; a list that it lacks is empty. The frame, the
-- forms and the plan that one walk leaves are there for the next one, as in a worker.
function Driver:walk(cause, host)
  local context = context_of(self, host)
  context.forms, context.last_plan, self.context = self.forms, self.last_plan, context
  context.left_text, context.left_frame = self.left_text, self.left_frame
  self.left_text, self.left_frame = nil, nil
  local unit = commands.run(context, cause)
  self.left_text, self.left_frame = context.left_text, context.left_frame
  self.forms, self.last_plan = context.forms, context.last_plan
  for _, name in ipairs(not unit.snoozed and LISTS or {}) do
    unit[name] = unit[name] or {}
  end
  return unit
end

-- command(cause) -> the unit, written
function Driver:command(cause)
  local unit = self:walk(cause)
  assert(self:write(unit))
  return unit
end

-- start(key, variables, more) -> the id of the new instance
function Driver:start(key, variables, more)
  local cause = { kind = "start", version = self.latest[key], variables = variables }
  for name, value in pairs(more or {}) do
    cause[name] = value
  end
  return self:command(cause).result
end

local function take(self, job)
  for i, one in ipairs(self.jobs) do
    if one == job then
      table.remove(self.jobs, i)
    end
  end
end

-- A job that repeats has its next occurrence before it runs.
local function follow_up(self, job)
  local text = job["repeat"]
  local dates = text and rules.dates(text, "UTC", self.time, 1, job.made)
  if not text or not dates[1] then
    return text and true
  end
  local again = {}
  for name, value in pairs(job) do
    again[name] = value
  end
  self.last = self.last + 1
  again.id, again.due = self.last, dates[1]
  table.insert(self.jobs, again)
end

-- cause_of(job): the cause for running this job, which is taken out of the store.
function Driver:take(job)
  take(self, job)
  self.taken[job.instance .. " jobs " .. job.token] = true
  return { kind = "job", instance = job.instance, token = job.token, handler = job.handler,
    last = follow_up(self, job) }
end

-- run(job): walks, and again on the newer frame as often as it is behind. Raises what a handler
-- raises; the job is then there as before.
function Driver:run(job)
  local cause = self:take(job)
  local ok, unit = pcall(self.walk, self, cause)
  if not ok then
    self.taken[job.instance .. " jobs " .. job.token] = nil
    table.insert(self.jobs, job)
    error(unit, 0)
  end
  while not self:write(unit, cause) do
    cause.kept = rules.decode(rules.encode(unit.kept))
    unit = self:walk(cause)
  end
  return unit
end

-- The first job that is due now, in order of priority and number; `outside`: of those that have a
-- topic, which are no others.
function Driver:ready(outside)
  local best
  for _, job in ipairs(self.jobs) do
    if (job.due or 0) <= self.time and (job.topic ~= nil) == (outside or false)
      and (not best or (job.priority or 0) > (best.priority or 0)) then
      best = job
    end
  end
  return best
end

-- A worker outside hands a job back. Raises what the handlers that follow raise.
function Driver:hand_back(job)
  self:take(job)
  return self:command { kind = "external", instance = job.instance, token = job.token }
end

function Driver:drain()
  local job = self:ready()
  while job do
    self:run(job)
    job = self:ready()
  end
end

-- advance(ms): the clock goes on, and what is due runs.
function Driver:advance(ms)
  self.time = self.time + ms
  self:drain()
end

-- ---- asking ----

local function find(rows, activity)
  for _, row in ipairs(rows) do
    if row.activity == activity then
      return row
    end
  end
  error("nothing waits at " .. activity, 3)
end

function Driver:complete(activity, variables, more)
  local row = find(self.tasks, activity)
  return self:command { kind = "complete", instance = row.instance, token = row.token,
    variables = variables, transient = more and more.transient }
end

function Driver:message(activity, variables)
  local row = find(self.subscriptions, activity)
  return self:command { kind = "message", instance = row.instance, token = row.token,
    variables = variables }
end

-- frame(id) -> the decoded text of its frame
function Driver:frame(id)
  return rules.decode(self.instances[id].frame)
end

-- at(id) -> where its tokens stand, in order: "activity" or "activity:state" for jobs
function Driver:at(id)
  local places = {}
  local row = self.instances[id]
  for _, place in ipairs(row and frame.places(row.frame, rules.decode) or {}) do
    local job = place.state == "before" or place.state == "after"
    for _ = 1, place.count do
      places[#places + 1] = job and place.activity .. ":" .. place.state or place.activity
    end
  end
  table.sort(places)
  return table.concat(places, " ")
end

-- token(id, activity) -> the number of the token that stands there
function Driver:token(id, activity)
  for _, token in ipairs(self:frame(id).tokens) do
    if token[3] == activity then
      return token[1]
    end
  end
end

-- variables(id) -> those of the instance, also after its end
function Driver:variables(id)
  if self.instances[id] then
    return self:frame(id).scopes[1][4] or {}
  end
  for _, row in ipairs(self.past) do
    if row.id == id then
      return row.variables
    end
  end
end

-- ended(id) -> how it ended, or nil
function Driver:ended(id)
  for _, row in ipairs(self.past) do
    if row.id == id then
      return row.ended
    end
  end
end

-- history(id) -> { [activity] = how often it ended }, and one of those that were cancelled
function Driver:history(id)
  local ended, cancelled = {}, {}
  for _, unit in ipairs(self.trail) do
    for _, event in ipairs(unit.instance == id and unit.events or {}) do
      local list = event[1] == "e" and ended or event[1] == "c" and cancelled
      if list then
        list[event[3]] = (list[event[3]] or 0) + 1
      end
    end
  end
  return ended, cancelled
end

return driver
