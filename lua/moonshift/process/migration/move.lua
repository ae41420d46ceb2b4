-- Moves an instance by a checked plan that fits it. Scopes without a pair end first, the inner ones
-- before the outer ones, by the old graph. Then all that is left belongs to the new one: scopes
-- between are made, events are waited for as it says.
--
-- A token that comes to lie in a scope which is younger gets another number. The rows that wait for
-- it (jobs, subscriptions, tasks) move with it: unit.moves.
local fit = require "moonshift.process.migration.fit"
local frame = require "moonshift.process.frame"
local modify = require "moonshift.process.modify"
local sites = require "moonshift.process.migration.sites"
local turns = require "moonshift.process.turns"
local variables = require "moonshift.process.variables"

local move = {}

local NONE = {}
local SUFFIXES = { after = ":after", timer = ":timer", ["on timer"] = ":timer" }

local function each(f, act)
  local list = table.move(f.list, 1, #f.list, 1, {})
  for _, token in ipairs(list) do
    if not token.gone then
      act(token)
    end
  end
end

-- ---- by the old graph ----

-- The definition of the job that a token waits for.
local function handler_of(plan, token)
  return ("process/%s/%s%s"):format(plan.key, token.at, SUFFIXES[token.state] or "")
end

-- Remembers the rows that wait for a token.
local function note_rows(w, inst, token)
  local waits = w.waits_for(token)
  token.was = waits and { what = waits, number = inst:number(token),
    handler = handler_of(inst.plan, token) } or nil
end

-- Puts what lies in a scope into the one around it.
local function lift(f, scope)
  for _, inner in ipairs(frame.inside(f, scope)) do
    frame.rehome(f, inner, scope.scope)
  end
end

-- A job after an activity that led nowhere takes the only flow there is; so does one after a turn
-- that no body counts any more.
local function choose_flow(c, token)
  local flows = c.by_from[token.at].target.step.out
  token.more = flows[1] and flows[1].id or nil
end

-- Ends a scope that has no pair. Its end listeners see its variables.
local function dissolve(w, inst, scope)
  w.events.unwatch(w, inst, scope)
  if scope.state == "body" then
    inst:tell("c", scope, scope.at)
  else
    w.scopes.finish_cancelled(w, inst, scope, fit.step_at(inst.plan, scope))
  end
  lift(inst.frame, scope)
  frame.remove(inst.frame, scope)
end

local function dissolve_all(w, inst, c)
  local list = inst.frame.list
  for i = #list, 1, -1 do
    local scope = list[i]
    if not scope.gone and scope.scope and frame.holds(scope) and not fit.target(c, scope) then
      dissolve(w, inst, scope)
    end
  end
end

-- Waits for events that have no pair end.
local function unwatch(w, inst, c)
  each(inst.frame, function(token)
    if frame.watches(token) and token.state ~= "undo" and not fit.stays(c, token) then
      w:waited(inst, token)
      frame.remove(inst.frame, token)
    end
  end)
end

-- Whether a wait begins anew: its event is updated, or a receive task has a message or has none.
-- What is in a job before or after its activity waits for no event.
local function renews(c, token)
  local pair, state = c.by_from[token.at], token.state
  if not pair or state == "before" or state == "after"
    or not (state == "trigger" or state == "message" or sites.trigger(pair.source)) then
    return false
  end
  local step = pair.target.step
  local changes = step.node.kind == "receive" and (step.event.kind == "message")
    ~= (token.state == "message")
  return changes or pair.update
end

-- The name of the signal stays, whatever the new process calls its own.
local function keep_name(c, inst, token)
  local name = token.more or inst.plan.steps[token.at].event.name.constant
  local new = c.to.steps[fit.target(c, token)].event.name.constant
  token.more = name ~= new and name or nil
end

-- Makes a token ready for the other graph: its rows are known, or taken away.
local function leave(w, inst, c, token)
  note_rows(w, inst, token)
  if renews(c, token) then
    w:waited(inst, token)
    token.was, token.renew = nil, true
  elseif token.state == "signal" or token.state == "on signal" then
    keep_name(c, inst, token)
  elseif token.state == "after" and not token.more and token.scope.state ~= "body" then
    choose_flow(c, token)
  end
  token.from = { number = inst:number(token), at = token.at }
  token.to = token.at == "" and "" or fit.target(c, token)
end

-- ---- by the new one ----

-- The scope for a token, with those that are made between. Places side by side share them.
local function scope_for(w, inst, c, token)
  local scope, missing = token.scope, {}
  local target = sites.find(c.to, token.at)
  for _, name in ipairs(target and not frame.watches(token) and sites.scopes(c.to, target)
    or {}) do
    if name == scope.at then
      break
    end
    table.insert(missing, 1, name)
  end
  for _, name in ipairs(missing) do
    scope.made = scope.made or {}
    scope.made[name] = scope.made[name] or modify.open_level(w, inst, scope,
      { at = name, step = c.to.steps[name] })
    scope = scope.made[name] or error(("%s threw a BPMN error as it was made"):format(name), 0)
  end
  return scope
end

local function rename(c, token)
  local step = c.to.steps[token.to]
  token.at = token.to
  if token.state == "join" then
    token.more = step.node.kind == "parallel" and step.incoming or nil
  end
end

-- Waits for an event of the new graph beside a token or scope. A condition is looked at when a
-- variable is written.
local function watch(w, inst, host, step)
  if step.event.kind == "conditional" then
    return frame.add(inst.frame, host, step.id, w.events.state(step, true))
  end
  w.events.watch(w, inst, host, { step })
end

-- Whether the old graph had a listener with this timer at the task, by its id.
local function has_timed_out(c, host, step)
  local source = sites.find(c.from, host.from.at)
  for _, one in ipairs(source and source.step.timeouts or {}) do
    if one.listener == step.listener then
      return true
    end
  end
  return false
end

-- Whether the old graph had the timer at this place: then it has come already. Any other event is
-- waited for again.
local function has_come(c, host, step)
  if step.listener then
    return has_timed_out(c, host, step)
  elseif step.event.kind ~= "timer" then
    return false
  end
  local pair = c.by_to[step.id]
  local source = pair and pair.source.step
  local around = source and sites.is_event_start(source) and source.scope.scope
  local name = source and (source.host and sites.host(source.host) or around and around.id or "")
  return name == host.from.at
end

local function watch_new(w, inst, c, host)
  local covered = {}
  for _, token in ipairs(frame.inside(inst.frame, host)) do
    covered[token.at] = frame.watches(token) or nil
  end
  local site = host.at ~= "" and sites.find(c.to, host.at) or nil
  for _, step in ipairs(fit.watched(c.to, site, host)) do
    if not covered[step.id] and w.events.waits(step) and not has_come(c, host, step) then
      watch(w, inst, host, step)
    end
  end
end

local function renew(w, inst, token)
  local step = inst.plan.steps[token.at]
  token.renew = nil
  if step.event.kind == "conditional" then -- as above
    return
  elseif step.node.kind == "receive" then
    step.kind.enter(w, inst, token, step)
  else
    w.events.await(w, inst, token, step, token.state)
  end
end

-- Tells the unit which rows go with the token, and the trail where it is.
local function tell(w, inst, token)
  local from = token.from
  if from and token.scope and w.scopes.has_begun(token)
    and (from.at ~= token.at or from.number ~= inst:number(token)) then
    inst:tell_moved(from, token)
  end
  token.from = nil
  local was, step = token.was, fit.step_at(inst.plan, token)
  if was and not token.fresh then
    table.insert(w.unit.moves, { instance = inst.id, token = was.number, what = was.what,
      to = inst:number(token), version = inst.version, from_handler = was.handler,
      handler = handler_of(inst.plan, token), activity = token.at:match("^[^#]*"),
      listens = step and step.hears_changes and 1 or 0 })
  end
  token.was = nil
end

-- ---- one frame ----

-- The frame of an instance, or of a turn outside of it.
local function move_frame(w, inst, c, version)
  dissolve_all(w, inst, c)
  unwatch(w, inst, c)
  each(inst.frame, function(token)
    leave(w, inst, c, token)
  end)
  inst.plan, inst.version = c.to, version
  w:mind(inst)
  each(inst.frame, function(token)
    rename(c, token)
  end)
  each(inst.frame, function(token)
    if token.scope then
      frame.rehome(inst.frame, token, scope_for(w, inst, c, token))
    end
  end)
  each(inst.frame, function(token)
    if token.to and (token.at == "" or token.scope and fit.begun(token)) then
      watch_new(w, inst, c, token)
    end
  end)
  each(inst.frame, function(token)
    if token.renew then
      renew(w, inst, token)
    end
    tell(w, inst, token)
  end)
end

-- ---- the instance ----

-- What instances are found by may be others by now.
local function search_anew(w, inst, c)
  local before, now = c.from.search or NONE, c.to.search or NONE
  for name in pairs(now) do
    if not before[name] then
      inst.found_by = inst.found_by or {}
      inst.found_by[name] = true
    end
  end
  for name in pairs(before) do
    if not now[name] then
      table.insert(w.unit.searched, { instance = inst.id, name = name })
    end
  end
end

-- run(w, inst, c, version): moves the instance to this version, and the turns of its bodies.
function move.run(w, inst, c, version)
  local outside = {}
  for _, body in ipairs(inst.frame.list) do
    outside[#outside + 1] = frame.is_outside(body) and body or nil
  end
  for _, body in ipairs(outside) do
    for _, turn in ipairs(turns.all(w, inst, body)) do
      move_frame(w, turn, c, version)
    end
  end
  inst:tell_version(c.names[1], c.names[2])
  move_frame(w, inst, c, version)
  for _, body in ipairs(outside) do
    turns.moved(w, inst, body)
  end
  search_anew(w, inst, c)
  inst.migrates = 1
  variables.set_given(inst, inst.frame.outer, { variables = c.variables })
end

return move
