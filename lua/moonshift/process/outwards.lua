-- What catches an error or an escalation: the first boundary event or event sub-process on the way
-- outwards, through the scopes and through the instances that called. One with the code goes
-- before one without, which takes all.
local outwards = {}

-- The event among these steps that catches it.
local function match(steps, kind, code)
  local all
  for _, step in ipairs(steps) do
    local event = step.event
    if event.kind == kind and event.code == code then
      return step
    elseif event.kind == kind and event.code == nil then
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

-- The boundary event of an activity that catches it; those of a repeated one are the body's.
local function at_boundary(inst, token, kind, code)
  local step = token.state ~= "undone" and inst.plan.steps[token.at:match("^[^#]*")]
  if step and (not step.multi or token.state == "body") then
    return match(step.boundaries, kind, code)
  end
end

-- The event sub-process around a token that catches it; not the one that it comes from.
local function around(inst, scope, token, kind, code)
  local from = inst.plan.steps[token.at]
  local events = scope.id == 1 and inst.plan.events
    or scope.state == "scope" and inst.plan.steps[scope.at].events
  return events and match(starts_of(events, from), kind, code)
end

-- The instance, the token or scope, and the step. From a turn that stands outside of the frame of
-- its instance the way goes on at the body there.
local function find(inst, token, kind, code)
  while token do
    local step = at_boundary(inst, token, kind, code)
    if step then
      return inst, token, step
    end
    local scope = token.scope
    if inst.turn and scope == inst.frame.outer then
      inst, scope = inst:around()
    end
    step = scope and around(inst, scope, token, kind, code)
    if step then
      return inst, scope, step
    end
    token = scope
  end
end

-- find(w, inst, token, kind, code) -> the instance, the host and the step that catch it; nil: none.
-- The variables of each called instance that is left are mapped back to its caller.
function outwards.find(w, inst, token, kind, code)
  local at_inst = inst
  repeat
    local host_inst, host, step = find(at_inst, token, kind, code)
    if step then
      if at_inst ~= inst then
        w.called.check(w, at_inst)
      end
      w:touch(host_inst)
      return host_inst, host, step
    end
    local caller, call = w.called.caller(w, at_inst)
    if caller then
      local thrown = w.called.map_back(w, caller, call, at_inst)
      if thrown then -- beside the one that is on its way
        error(("%s: %s is thrown by the mapping of its variables"):format(call.at,
          tostring(thrown)), 0)
      end
    end
    at_inst, token = caller, call
  until not at_inst
end

return outwards
