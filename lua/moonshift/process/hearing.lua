-- Listeners of variables: they hear of what is written in their scope or in one that lies in it,
-- the inner ones first, in the order of writing. They are called where conditions are looked at
-- (conditions.lua), before the walk goes on.
local calls = require "moonshift.process.calls"
local rules = require "moonshift.rules"
local variables = require "moonshift.process.variables"

local hearing = {}

-- A listener that hears of what it writes itself would never end.
local function count_call(w, inst, callout)
  w.steps = w.steps + 1
  if w.steps > w.settings.unit_steps then
    error(("%s: process %s: more than %d activities and calls without a wait state"):format(
      callout.place, inst.plan.key, w.settings.unit_steps), 0)
  end
end

-- A second walk may write other values, or in another order: the call is known by what was written.
local function place_of(change, i)
  local value = change.value ~= nil and rules.encode(change.value) or ""
  return ("variable_%s%d/%s"):format(change.kind, i,
    rules.hash(rules.encode(change.name) .. value):sub(1, 16))
end

-- A BPMN error has nowhere to go from here: the unit fails.
local function call(w, inst, scope, place, callout, change)
  count_call(w, inst, callout)
  local _, thrown = calls.run(w, inst, scope, inst.plan.steps[scope.at], callout, place,
    "variable_" .. change.kind,
    { name = change.name, value = variables.copy(change.value, change.name) })
  if thrown then
    error(("%s: %s is thrown where a variable is written (expected no BPMN error there)"):format(
      callout.place, tostring(thrown)), 0)
  end
end

-- What hears of changes in this scope, which may be the token of an activity.
local function heard_in(inst, scope)
  local step = inst.plan.steps[scope.at]
  return not scope.scope and inst.plan.hears or scope.scope and step and step.hears
end

-- hear(w, change): tells the listeners of a change { inst, holder, name, kind, value }.
function hearing.hear(w, change)
  local inst, scope, event = change.inst, change.holder, "variable_" .. change.kind
  while scope and not inst.ended and not w.skip_listeners do
    local hears = not scope.gone and heard_in(inst, scope)
    for i, callout in ipairs(hears and hears[event] or {}) do
      call(w, inst, scope, place_of(change, i), callout, change)
    end
    scope = scope.scope
  end
end

return hearing
