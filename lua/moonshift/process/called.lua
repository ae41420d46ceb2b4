-- Called instances: an instance that a call activity has begun, and the way back to its caller.
local calls = require "moonshift.process.calls"
local kept = require "moonshift.process.kept"
local rules = require "moonshift.rules"
local scopes = require "moonshift.process.scopes"
local show = require "moonshift.show"
local variables = require "moonshift.process.variables"
local walk = require "moonshift.process.walk"

local called = {}

-- map(w, inst, token, maps, put): maps variables to another side; put(name, value, is_local) sets
-- them there.
function called.map(w, inst, token, maps, put)
  for _, one in ipairs(maps) do
    if one.all then
      for name, value in pairs(variables.all(token, true)) do
        put(name, value, one.is_local)
      end
    else
      local value
      if one.value then
        value = w:ask(inst, token, one.value)
      else
        value = variables.get(token, one.from)
      end
      put(one.to or one.from, value == nil and rules.null or value, one.is_local)
    end
  end
end

-- by_code(w, inst, token, event, values) -> what the code of the caller maps, by names; nil and the
-- BPMN error that it throws. `values` are what the called instance gets so far, or has at its end.
local function by_code(w, inst, token, event, values)
  local step = inst.plan.steps[token.at]
  if not step.call.mapping then
    return {}
  end
  local result, thrown = calls.run(w, inst, token, step, step.call.mapping, event, event,
    variables.copy(values, "called", inst, token))
  if result ~= nil and result ~= rules.null and type(result) ~= "table" then
    error(("%s: the mapping of its variables gives %s (expected a table by names)"):format(token.at,
      show(result)), 0)
  end
  return not thrown and (type(result) == "table" and result or {}) or nil, thrown
end

local function version_of(w, inst, token, call)
  local key = w:ask(inst, token, call.process)
  if type(key) ~= "string" then
    error(("%s: the called process is %s (expected its key)"):format(token.at, show(key)), 0)
  end
  local number = w:ask(inst, token, call.version)
  local fine, version = pcall(w.context.version, key, call.binding,
    call.binding == "deployment" and inst.version or number)
  if not fine then
    error(type(version) == "string" and ("%s: %s"):format(token.at, version) or version, 0)
  end
  return version or error(("%s: there is no process %s to call"):format(token.at, key), 0)
end

-- begin(w, inst, token, step): a new instance, for which the token waits.
function called.begin(w, inst, token, step)
  local call = step.call
  local given = {}
  called.map(w, inst, token, call.into, function(name, value)
    given[name] = value
  end)
  local mapped, thrown = by_code(w, inst, token, "input", given)
  if thrown then
    return w.errors.throw(w, inst, token, thrown)
  end
  for name, value in pairs(mapped) do
    given[name] = value
  end
  local key = w:text(inst, token, call.key, "the key of the called instance")
  local id = kept.instance(w, inst, token)
  w:await(inst, token, "call")
  token.more = id
  scopes.begin(w, { id = id, version = version_of(w, inst, token, call),
    key = key, tenant = inst.tenant, variables = given,
    parent = inst.id, root = inst.root or inst.id, from = { inst = inst, token = token },
    caller = inst.turn and inst:number(token) })
end

-- caller(w, inst) -> the instance that called this one, and its token; nil if none waits.
function called.caller(w, inst)
  local caller = inst.parent and w:instance(inst.parent, inst.frame.caller)
  if not caller or caller.ended then
    return nil
  end
  for _, token in ipairs(caller.frame.list) do
    if token.state == "call" and token.more == inst.id and not token.gone then
      return caller, token
    end
  end
end

-- check(w, caller): raises if the caller is suspended: it must not go on. A job then waits for the
-- activation, and loses no retry.
function called.check(w, caller)
  if caller.held then
    local text = ("instance %d, which has called, is suspended"):format(caller.id)
    error(w.context.host and { message = text, held = true } or text, 0)
  end
end

-- map_back(w, caller, token, inst) -> the BPMN error that the mapping throws, or nil. Maps the
-- variables of a called instance back to its caller.
function called.map_back(w, caller, token, inst)
  local step = caller.plan.steps[token.at]
  called.map(w, inst, inst.frame.outer, step.call.back, function(name, value, is_local)
    local set = is_local and variables.set_local or variables.set
    set(caller, token, name, value)
  end)
  local mapped, thrown = by_code(w, caller, token, "output", variables.all(inst.frame.outer, true))
  variables.set_given(caller, token, { variables = mapped })
  return thrown
end

-- returned(w, inst): the called instance has ended; its caller goes on in the same unit.
function called.returned(w, inst)
  local caller, token = called.caller(w, inst)
  if caller then
    called.check(w, caller)
    local thrown = called.map_back(w, caller, token, inst)
    token.more = nil
    if thrown then
      return w.errors.throw(w, caller, token, thrown)
    end
    w:push(walk.leave, caller, token, caller.plan.steps[token.at])
  end
end

-- cancelled(w, caller, token): the called instance was cancelled, and the turn outside of the frame
-- that has called it. Such a turn counts as one that has ended.
function called.cancelled(w, caller, token)
  local step = caller.plan.steps[token.at]
  called.check(w, caller) -- the body may end
  token.state, token.more, token.begun = "run", nil, true
  w.scopes.cancel_activity(w, caller, token)
  if token.scope.state == "body" then
    return w.multi.turn_ended(w, caller, token, step)
  end
  walk.ended(w, caller, token)
end

-- How an instance ends that goes with its caller: as the operator says who cancels that.
local function ending(w)
  local cause = w.cause
  if cause.kind == "modify" or cause.kind == "cancel" and cause.reason then
    return "cancelled", cause.reason or "its caller was cancelled"
  end
  return "terminated", "its caller was cancelled"
end

-- cancel(w, token): the caller is cancelled, and with it the instance that it had called, unless
-- the command leaves that.
function called.cancel(w, token)
  local inst = not w.cause.skip_called and token.more and w:instance(token.more)
  if inst and not inst.ended then
    scopes.cancel_inside(w, inst, inst.frame.outer)
    scopes.end_listeners(w, inst)
    scopes.finish(w, inst, ending(w))
  end
end

return called
