-- The walk: moves tokens until each waits or has ended, and gives the unit that says what is to be
-- written. It knows no store and no C; all that it needs comes with the context.
--
-- What is to be done lies on a stack, so that the walk goes depth first and a long way needs no
-- deep recursion. Kinds of activities (nodes/) have enter, proceed and cancel; events.lua has what
-- interrupts, multi.lua repetition, errors.lua BPMN errors, commands.lua what begins a unit.
local calls = require "moonshift.process.calls"
local coerce = require "moonshift.expression.coerce"
local frame = require "moonshift.process.frame"
local instance = require "moonshift.process.instance"
local kept = require "moonshift.process.kept"
local rules = require "moonshift.rules"
local show = require "moonshift.show"
local unit = require "moonshift.process.unit"
local variables = require "moonshift.process.variables"

local Walk = {}
Walk.__index = Walk

local walk = { Walk = Walk }

local RECENT = 200 -- activities that are remembered when there are too many
local SETTINGS = { unit_steps = 10000, inline_max = 2048, value_max = 16777216,
  frame_max = 1048576,  unhandled_errors = "end", trail = "full" }
local NONE = {}
local PRIORITY_MAX = 2147483647

-- ---- the stack ----

-- Remembers to call op(w, inst, token, what) unless the token has gone by then.
function Walk:push(op, inst, token, what)
  local stack, top = self.stack, self.top
  stack[top + 1], stack[top + 2], stack[top + 3], stack[top + 4] = op, inst, token, what
  self.top = top + 4
end

local function drain(w)
  local stack = w.stack
  while w.top > 0 do
    local top = w.top
    local op, inst, token, what = stack[top - 3], stack[top - 2], stack[top - 1], stack[top]
    w.top = top - 4
    if not token.gone and not inst.ended then
      w.here = token
      op(w, inst, token, what)
    end
  end
end

-- The activities from one to itself that a walk without an end goes through.
local function cycle_of(recent)
  local last, names = recent[#recent], {}
  for i = #recent, 1, -1 do
    table.insert(names, 1, recent[i])
    if i < #recent and recent[i] == last then
      break
    end
  end
  return table.concat(names, " -> ")
end

-- "file:line: " of a step; "" for a graph that was read from no file
local function place_of(inst, step)
  local path, line = inst.plan.graph.path, step.node.line
  return path and line and ("%s:%d: "):format(path, line) or ""
end

local function count_step(w, inst, step)
  w.steps = w.steps + 1
  local over = w.steps - w.settings.unit_steps
  if over > -RECENT then
    w.recent = w.recent or {}
    w.recent[#w.recent + 1] = step.id
  end
  if over > 0 then
    error(("%sprocess %s: more than %d activities without a wait state: %s"):format(
      place_of(inst, step), inst.plan.key, w.settings.unit_steps, cycle_of(w.recent)), 0)
  end
end

-- ---- asking ----

-- ask(inst, token, value) -> what a compiled value is for this token; nil for none or null
function Walk:ask(inst, token, value)
  if not value then
    return nil
  end
  local found = value.constant
  if found == nil then
    self.here = token
    found = self.scope:at(inst, token):ask(value)
  end
  if found == rules.null then
    return nil
  end
  return found
end

-- text(inst, token, value, what) -> what it is as a text; nil for none. A list, an object and a
-- function have none.
function Walk:text(inst, token, value, what)
  local found = self:ask(inst, token, value)
  if found == nil or type(found) == "string" then
    return found
  elseif type(found) ~= "number" and type(found) ~= "boolean" then
    error(("%s: %s is %s (expected a text)"):format(token.at, what, show(found)), 0)
  end
  return coerce.text(found)
end

-- true_for(inst, token, condition): a condition gives true or false, or a text of these.
function Walk:true_for(inst, token, condition)
  local found = self:ask(inst, token, condition)
  if found == true or found == "true" then
    return true
  elseif found == false or found == "false" then
    return false
  end
  error(("%s: the condition%s gives %s (expected true or false)"):format(token.at,
    condition.text and " " .. condition.text or "", show(found)), 0)
end

-- mapped(scope, mapping) -> the value of an input or output as data; null for nothing.
function Walk.mapped(_, scope, mapping)
  local inst, token = scope.inst, scope.token
  local value = mapping.value and scope:ask(mapping.value)
  if value == nil then
    return rules.null
  end
  return variables.copy(value, mapping.name, inst, token)
end

function Walk:run_script(inst, token, callout)
  local result, thrown = calls.run(self, inst, token, nil, callout, "mapping")
  if thrown then
    error(tostring(thrown), 0)
  end
  return result
end

function Walk:object(scope, name)
  return calls.object(self, scope, name)
end

-- ---- what waits ----

-- The priority of a job: that of the activity, else of the process. An unknown variable gives 0.
function Walk:priority(inst, token, value)
  value = value or inst.plan.priority
  if not value then
    return nil
  end
  local scope = self.scope:at(inst, token)
  local ok, found = (self.context.call or pcall)(scope.ask, scope, value)
  if not ok and scope.missing then
    inst:warn(token, ("the priority has no variable %s: 0 is taken"):format(scope.missing))
    return 0
  elseif not ok then
    error(found, 0)
  end
  local whole = type(found) ~= "boolean" and math.tointeger(tonumber(found))
  if not whole or whole > PRIORITY_MAX or whole < -PRIORITY_MAX then
    error(("%s: the priority %s is %s (expected a whole number)"):format(token.at,
      value.text or "", show(found)), 0)
  end
  return whole
end

-- await_job(inst, token, state, job): the token waits for a job { activity, suffix, priority, … }.
function Walk:await_job(inst, token, state, job)
  token.state = state
  job.instance, job.token, job.inst = inst.id, inst:number(token), inst
  job.handler = ("process/%s/%s"):format(inst.plan.key, job.name)
  job.priority = self:priority(inst, token, job.priority)
  job.retries = job.retry and self.context.runs and self.context.runs(job.retry) or nil
  job.name, job.retry, job.record = nil, nil, token
  self.unit.jobs[#self.unit.jobs + 1] = job
  token.fresh = job
end

function Walk.await(_, inst, token, state, list, row)
  token.state = state
  if row then
    variables.check_row(inst, token, row)
    row.instance, row.token, row.record, row.inst = inst.id, inst:number(token), token, inst
    list[#list + 1] = row
    token.fresh = row
  end
end

local WAITS = { before = "job", after = "job", seed = "job", external = "job", timer = "job",
  ["on timer"] = "job", message = "subscription", ["on message"] = "subscription",
  signal = "subscription", ["on signal"] = "subscription", task = "task" }

local function repeats(w, token)
  return token.state == "on timer" and token.more ~= nil and not w.cause.last
end

-- waits_for(token) -> the kind of the row that waits for a token; nil: none does
function Walk.waits_for(token)
  return WAITS[token.state] or frame.is_outside(token) and "job" or nil -- that leaves it
end

-- The token waits no longer: what waited for it goes. The running job is not named, but one that
-- comes again is.
function Walk:waited(inst, token)
  local what, fresh = Walk.waits_for(token), token.fresh
  if fresh then
    fresh.dropped, token.fresh = true, nil
  elseif what and not (token == self.job_token and not repeats(self, token)) then
    self.unit.left[#self.unit.left + 1] = { instance = inst.id, what = what,
      token = inst:number(token), task = token == self.completing and self.cause.task or nil }
  end
end

-- ---- instances ----

-- From here on the walk looks at conditions before it goes on, if the instance may wait for any.
function Walk:mind(inst)
  if inst.plan.conditions then
    self.push = self.conditions.push
  end
end

-- A turn that stands outside of the frame of its instance is kept by its own number.
function Walk:keep_instance(inst)
  self.instances[inst.turn or inst.id] = inst
  self:mind(inst)
  self:touch(inst)
end

-- The unit writes the instance: until then it was only read.
function Walk:touch(inst)
  if not inst.touched then
    inst.touched = true
    self.order[#self.order + 1] = inst
  end
end

-- look(row) -> the instance of a row, to be read
function Walk:look(row)
  local number = row.turn or row.id
  local inst = self.instances[number] or instance.open(self, row)
  self.instances[number] = inst
  self:mind(inst)
  return inst
end

-- instance(id, token) -> the instance, or the turn outside of its frame that has the token, with
-- what this walk has done to it so far; nil if there is none. With `unless_busy` there is none
-- either where a job or command has its lane.
function Walk:instance(id, token, unless_busy)
  local turn = frame.turn_of(token)
  local inst = self.instances[turn or id]
  if not inst then
    local row = self.context.frame(id, turn and token or nil, unless_busy)
    if not row then
      return nil
    end
    inst = self:look(row)
  end
  self:touch(inst)
  return inst
end

-- The events of an instance's trail, which those of its turns are in as well.
function Walk:trail_of(id)
  local trail = self.trails[id]
  if not trail then
    trail = { nil, nil, nil, nil, nil, nil, nil, nil }
    self.trails[id] = trail
  end
  return trail
end

-- ---- ways ----

local begin

-- Comes to an activity by a flow, or as the first one of a scope.
function walk.arrive(w, inst, token, step)
  count_step(w, inst, step)
  token.state, token.at = "run", step.id
  if step.multi then
    return w.multi.arrive(w, inst, token, step)
  end
  return walk.arrive_inner(w, inst, token, step)
end

-- The same for an activity itself, within its repetition if it has one.
function walk.arrive_inner(w, inst, token, step)
  token.state, token.at = "run", step.id
  if step.before or step.topic and step.kind.calls(w, inst, step) then
    return w:await_job(inst, token, "before", { name = step.id, priority = step.priority,
      retry = step.retry, exclusive = step.exclusive })
  end
  return begin(w, inst, token, step)
end

-- Evaluates the inputs of an activity; what they read counts as read by its behaviour.
local function map_inputs(w, inst, token, step)
  token.vars = token.vars or {}
  local reads = variables.note()
  for _, input in ipairs(step.inputs) do
    local scope = w.scope:at(inst, token)
    scope.reads = reads
    variables.put(inst, token, input.name, w:mapped(scope, input))
  end
  token.reads = reads
end

-- Runs listeners in their order. False: one threw a BPMN error, which has been dealt with.
function walk.listen(w, inst, token, step, listeners, event, task)
  for i, callout in ipairs(w.skip_listeners and NONE or listeners) do
    local _, thrown = calls.run(w, inst, token, step, callout, event .. i, event, task)
    if thrown then
      w.errors.throw(w, inst, token, thrown)
      return false
    end
  end
  return true
end

-- Begins an activity up to what it does: inputs, what may interrupt it, start listeners. False: one
-- threw a BPMN error, which has been dealt with.
function walk.prepare(w, inst, token, step)
  inst:tell("s", token, step.id)
  token.begun, token.reads = true, nil
  if step.inputs and not w.skip_mappings then
    map_inputs(w, inst, token, step)
  end
  if step.boundaries[1] and not step.multi then
    w.events.watch(w, inst, token, step.boundaries)
  end
  if step.timeouts then
    w.events.watch(w, inst, token, step.timeouts)
  end
  return not step.starts or walk.listen(w, inst, token, step, step.starts, "start")
end

begin = function(w, inst, token, step)
  if not walk.prepare(w, inst, token, step) then
    return
  elseif inst.plan.conditions then -- which may interrupt it first
    return w:push(walk.enter, inst, token, step)
  end
  step.kind.enter(w, inst, token, step)
end
walk.begin = begin

function walk.enter(w, inst, token, step)
  step.kind.enter(w, inst, token, step)
end

local function no_flow(inst, step, tried)
  error(("%s %s of the process %s: no flow can be taken: %s"):format(step.node.kind, step.id,
    inst.plan.key, #tried > 0 and table.concat(tried, ", ") or "no condition is true"), 0)
end

-- The flows out of an activity that are taken: all whose conditions are true, else the default.
local function choose_all(w, inst, token, step)
  local taken, default = {}, nil
  for _, flow in ipairs(step.out) do
    if flow.default then
      default = flow
    elseif not flow.when or w:true_for(inst, token, flow.when) then
      taken[#taken + 1] = flow
    end
  end
  if not taken[1] then
    taken[1] = default
  end
  return taken
end
walk.choose_all = choose_all

-- The first flow of an exclusive gateway that is true, else the default, else an error that names
-- the conditions and what they gave.
function walk.choose_one(w, inst, token, step)
  local tried, default = {}, nil
  for _, flow in ipairs(step.out) do
    if flow.default then
      default = flow
    elseif not flow.when or w:true_for(inst, token, flow.when) then
      return { flow }
    else
      tried[#tried + 1] = ("%s is false"):format(flow.when.text or flow.id)
    end
  end
  return { default or no_flow(inst, step, tried) }
end

walk.no_flow = no_flow

-- Sets what the outputs of an activity say around it.
function walk.map_outputs(w, inst, token, step)
  for _, output in ipairs(not w.skip_mappings and step.outputs or NONE) do
    variables.set(inst, token.scope, output.name, w:mapped(w.scope:at(inst, token), output))
  end
end

-- Ends an activity: it is remembered for compensation unless an error ended it, then come end
-- listeners, outputs, what could interrupt it. False: a listener threw.
local function finish(w, inst, token, step, failed)
  token.state = "run"
  if inst.plan.undoes and not failed then
    w.compensation.remember(inst, token, step)
  end
  if step.ends and not walk.listen(w, inst, token, step, step.ends, "end") then
    return false
  end
  walk.map_outputs(w, inst, token, step)
  if step.watched then
    w.events.unwatch(w, inst, token)
  end
  inst:tell("e", token, step.id)
  token.begun = nil
  return true
end
walk.finish = finish

-- Goes on along one flow.
local function follow(w, inst, token, flow)
  if flow.takes and not walk.listen(w, inst, token, nil, flow.takes, "take") then
    return
  end
  inst:tell_flow(token, flow)
  return walk.arrive(w, inst, token, flow.to)
end

walk.follow = follow

-- The token has come to an end: it goes, and its scope ends with the last one.
function walk.ended(w, inst, token)
  local scope = token.scope
  frame.remove(inst.frame, token)
  if scope.kids == 0 then
    scope.edge = token.at
    w:push(walk.scope_ended, inst, scope)
  end
end

local function wait_after(w, inst, token, flow, wait)
  token.more = flow and flow.id or nil
  w:await_job(inst, token, "after", { name = wait.name .. ":after", priority = wait.priority,
    retry = wait.retry, exclusive = wait.exclusive })
end

-- Takes flows: the token the first, new ones the others. `wait` is { name, … } where a job stands
-- between the activity and its flows.
function walk.take(w, inst, token, flows, wait)
  variables.clear(token)
  token.more = nil
  if not flows[1] then
    if wait then
      return wait_after(w, inst, token, nil, wait)
    end
    return walk.ended(w, inst, token)
  end
  local tokens = { token }
  for i = 2, #flows do
    tokens[i] = frame.add(inst.frame, token.scope, token.at, "run")
    kept.branch(inst, token, tokens[i])
  end
  for i = wait and 1 or #flows, wait and #flows or 1, wait and 1 or -1 do
    if wait then
      wait_after(w, inst, tokens[i], flows[i], wait)
    else
      w:push(follow, inst, tokens[i], flows[i])
    end
  end
end

-- Leaves an activity by the flows that its kind or its conditions choose.
function walk.leave(w, inst, token, step)
  if token.scope.state == "body" then
    if finish(w, inst, token, step) then
      w.multi.inner_ended(w, inst, token, step)
    end
    return
  end
  local flows = (step.kind.choose or choose_all)(w, inst, token, step)
  if finish(w, inst, token, step) then
    walk.take(w, inst, token, flows, step.after and { name = step.id, priority = step.priority,
      retry = step.retry, exclusive = step.exclusive } or nil)
  end
end

-- ---- the unit ----

-- The settings of a context, which serves many walks.
local function settings_of(context)
  local settings = context.settings or SETTINGS
  if settings ~= SETTINGS and not getmetatable(settings) then
    setmetatable(settings, { __index = SETTINGS })
  end
  return settings
end

walk.settings_of = settings_of

-- new(context, cause, now) -> a walk that has nothing to do yet; `now` is when it began. A `nil` in
-- a constructor makes room for what comes.
function walk.new(context, cause, now)
  now = now or context.now()
  local settings = settings_of(context)
  local w = setmetatable({
    context = context, cause = cause, settings = settings, now = now, now_text = now .. "]",
    tells = settings.trail ~= "none", tells_all = settings.trail == "full", here = false,
    stack = { nil, nil, nil, nil, nil, nil, nil, nil }, top = 0, steps = 0, recent = false,
    met = {}, before = cause.kept or NONE, kept = {}, instances = {}, order = {}, trails = {},
    bodies = false, contends = false, opens = false,
    unit = unit.new(), scope = false, job_token = false,
  }, Walk)
  w.scope = variables.scope(w)
  return w
end

-- An inclusive gateway can go on once nothing else can come to it.
local function look_at_joins(w)
  local order = w.order
  for i = 1, #order do
    local inst = order[i]
    if inst.plan.joins and not inst.ended and w.inclusive.look(w, inst) then
      return true
    end
  end
  return false
end

-- Walks until every token waits or has ended.
function walk.go(w)
  repeat
    drain(w)
  until not look_at_joins(w)
end

-- at(w) -> the activity at which the walk is; nil: at none
function walk.at(w)
  local token = w.here
  if not token then
    return nil
  end
  local at = token.at == "" and token.edge or token.at
  return at and at:match("^[^#]+")
end

return walk
