-- BPMN errors: where one is caught. It goes outwards from the activity that threw it, through the
-- scopes and through the instances that called. The first boundary event or event sub-process that
-- takes its code catches it; one without a code takes all.
local calls = require "moonshift.process.calls"
local variables = require "moonshift.process.variables"
local walk = require "moonshift.process.walk"

local errors = {}

-- The event among these steps that takes the error: one with its code before one that takes all.
local function match(steps, code)
  local all
  for _, step in ipairs(steps) do
    local event = step.event
    if event.kind == "error" and event.code == code then
      return step
    elseif event.kind == "error" and event.code == nil then
      all = all or step
    end
  end
  return all
end

local function starts_of(steps, except)
  local starts = {}
  for _, step in ipairs(steps) do
    if step ~= except then
      starts[#starts + 1] = step.start
    end
  end
  return starts
end

-- The boundary event of an activity that takes the error; those of a repeated one are the body's.
local function at_boundary(inst, token, code)
  local step = inst.plan.steps[token.at:match("^[^#]*")]
  if step and (not step.multi or token.state == "body") then
    return match(step.boundaries, code)
  end
end

-- The event sub-process around a token that takes the error; not the one that it comes from.
local function around(inst, scope, token, code)
  local from = inst.plan.steps[token.at]
  local events = scope.id == 1 and inst.plan.events
    or scope.state == "scope" and inst.plan.steps[scope.at].events
  return events and match(starts_of(events, from), code)
end

local function find(inst, token, code)
  while token do
    local step = at_boundary(inst, token, code)
    if step then
      return token, step
    end
    local scope = token.scope
    step = scope and around(inst, scope, token, code)
    if step then
      return scope, step
    end
    token = scope
  end
end

local function caught(w, inst, host, step, thrown)
  local event = step.event
  if event.code_variable then
    variables.set(inst, host, event.code_variable, thrown.code)
  end
  if event.message_variable then
    variables.set(inst, host, event.message_variable, thrown.message or thrown.code)
  end
  w.events.happened(w, inst, host, step)
end

-- Nothing takes it: the token ends with a warning, or the unit fails.
local function unhandled(w, inst, token, thrown)
  local text = ("%s at %s is caught by nothing"):format(tostring(thrown), token.at)
  if w.settings.unhandled_errors == "fail" then
    error(text, 0)
  end
  inst:warn(token, text)
  local step = inst.plan.steps[token.at]
  if not token.scope then
    w.scopes.cancel_inside(w, inst, token)
    return w.scopes.complete(w, inst, text)
  elseif token.begun and step and not token.throws then
    token.throws = true -- a listener at its end may throw again
    if not walk.finish(w, inst, token, step) then
      return
    end
  end
  token.throws = nil
  if token.scope.state == "body" then
    return w.multi.turn_ended(w, inst, token, step)
  end
  walk.ended(w, inst, token)
end

-- throw(w, inst, token, thrown): finds what takes the error and begins it.
function errors.throw(w, inst, token, thrown)
  local at_inst, at_token = inst, token
  repeat
    local host, step = find(at_inst, at_token, thrown.code)
    if step then
      if at_inst ~= inst then
        w.called.check(w, at_inst)
      end
      return caught(w, at_inst, host, step, thrown)
    end
    local caller, call = w.called.caller(w, at_inst)
    if caller then
      w.called.map_back(w, caller, call, at_inst)
    end
    at_inst, at_token = caller, call
  until not at_inst
  return unhandled(w, inst, token, thrown)
end

errors.thrown = calls.thrown

return errors
