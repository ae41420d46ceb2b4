-- Whether a checked plan fits an instance: every place where it stands has a pair, or is a scope
-- that goes. What does not fit is told by its activity; nothing is moved here.
local frame = require "moonshift.process.frame"
local sites = require "moonshift.process.migration.sites"
local walk = require "moonshift.process.walk"

local fit = {}

local TURNS_MAX = 10000 -- outside of a frame, in one migration

-- step_at(plan, token) -> the step at which it stands
function fit.step_at(plan, token)
  return plan.steps[token.at] or plan.steps[token.at:match("^[^#]*")]
end

-- ---- names ----

-- A timer of a task's listener goes where the listener of this id is.
local function timeout_target(c, token)
  local step = c.from.steps[token.at]
  local pair = c.by_from[step.host.id]
  for _, one in ipairs(pair and pair.target and pair.target.step.timeouts or {}) do
    if one.listener == step.listener then
      return one.id
    end
  end
end

-- What is remembered of an activity goes with its compensation event, that of a scope with it.
local function undo_pair(c, entry)
  if entry.more then
    return c.by_from[entry.at]
  end
  for _, boundary in ipairs(fit.step_at(c.from, entry).boundaries) do
    if boundary.event.kind == "compensation" then
      return c.by_from[boundary.id], boundary.id
    end
  end
end

-- target(c, token) -> the name of what a token or scope becomes; nil: it has no pair
function fit.target(c, token)
  local step = c.from.steps[token.at]
  if step and step.node.kind == "timeout" then
    return timeout_target(c, token)
  elseif token.state == "undo" then
    local pair = undo_pair(c, token)
    return pair and (token.more and pair.to or pair.target.step.host.id)
  end
  return c.by_from[token.at] and c.by_from[token.at].to
end

-- watched(c, site, token) -> the steps of the events that are waited for beside a token or scope
-- there; nil for the process itself
function fit.watched(plan, site, token)
  local list = {}
  local step = site and site.step
  for _, one in ipairs(step and (site.body or not step.multi) and step.boundaries or {}) do
    list[#list + 1] = one
  end
  for _, one in ipairs(step and token.state == "task" and step.timeouts or {}) do
    list[#list + 1] = one
  end
  for _, one in ipairs(step and step.node.kind == "event_gateway" and step.out or {}) do
    list[#list + 1] = one.to
  end
  local around = not step and plan or token.state == "scope" and step or nil
  for _, one in ipairs(around and around.events or {}) do
    list[#list + 1] = one.start
  end
  return list
end

-- stays(c, token) -> whether the wait for an event beside a place goes on, as that of its pair
function fit.stays(c, token)
  local name, host = fit.target(c, token), token.scope
  local there = host.at == "" and "" or fit.target(c, host)
  if not name or not there then
    return false
  end
  for _, step in ipairs(fit.watched(c.to, sites.find(c.to, there), host)) do
    if step.id == name then
      return true
    end
  end
  return false
end

-- ---- places ----

local function no_pair(what)
  return ("no pair leads from %s (expected one)"):format(what)
end

local Fits = {}

-- A job before an activity goes where one begins in a job.
function Fits.before(_, _, site)
  local step = site.step
  local waits = site.body and step.multi.before or not site.body and step.before
  return not waits and ("%s begins in no job (expected an asynchronous one)"):format(site.name)
end

-- The job after an activity takes the flow that it had chosen.
function Fits.after(c, token, site)
  local step = site.step
  local waits = site.body and step.multi.after or not site.body and step.after
  local turn = token.scope.state == "body" and c.by_from[token.scope.at]
  if not waits then
    return ("%s has no job behind it (expected one that is asynchronous after)"):format(site.name)
  elseif token.more then
    for _, flow in ipairs(step.out) do
      if flow.id == token.more then
        return nil
      end
    end
    return ("its flow %s does not lead on from %s (expected a flow of this id)"):format(token.more,
      site.name)
  elseif not turn and #step.out > 1 then
    return ("%d flows lead on from %s (expected one)"):format(#step.out, site.name)
  end
end

local function throws()
  return "a compensation is under way there (expected its end)"
end

Fits.undoing, Fits.undone = throws, throws

local function fit_undo(c, entry)
  local pair, event = undo_pair(c, entry)
  if not pair then
    return no_pair(event and ("the compensation event %s"):format(event) or entry.at)
  end
  local start = entry.more and fit.step_at(c.from, entry).undo_start
  return start and not c.by_from[start.id] and no_pair(("the compensation event %s"):format(
    start.id)) or nil
end

-- A scope without a pair goes, and what stands in it stays. Turns outside of the frame do not.
local function fit_scope(c, token)
  local turns = frame.is_outside(token) and token.more[3] or frame.in_ranges(token)
  if frame.is_outside(token) and not c.by_from[token.at] then
    return no_pair(token.at) .. ": its turns stand outside of the frame"
  elseif turns > TURNS_MAX then
    return ("%d turns (expected at most %d)"):format(turns, TURNS_MAX)
  end
end

-- trouble(c, token) -> what does not fit; nil: nothing
function fit.trouble(c, token)
  if frame.holds(token) then
    return token.scope and fit_scope(c, token) or nil
  elseif token.state == "undo" then
    return fit_undo(c, token)
  elseif frame.watches(token) then
    return nil
  end
  local pair = c.by_from[token.at]
  local fits = Fits[token.state]
  if fits == throws then
    return throws()
  elseif not pair then
    return no_pair(token.at)
  end
  return fits and fits(c, token, pair.target) or nil
end

-- troubles(c, f, list): adds what does not fit in a frame, as "at A: …", each once.
function fit.troubles(c, f, list)
  local known = {}
  for _, token in ipairs(f.list) do
    local text = not token.gone and fit.trouble(c, token)
    text = text and ("at %s: %s"):format(token.at, text)
    if text and not known[text] then
      known[text] = true
      list[#list + 1] = text
    end
  end
end

-- ---- what a migration would do ----

-- Adds the scopes that are made for a place: of those around its target, what no scope is for.
local function add_made(c, token, name, told)
  local scope, target = token.scope, sites.find(c.to, name)
  while scope.scope and not fit.target(c, scope) do
    scope = scope.scope
  end
  local there = scope.at == "" and "" or fit.target(c, scope)
  local made = told.made[scope.id] or {}
  told.made[scope.id] = made
  for _, around in ipairs(target and sites.scopes(c.to, target) or {}) do
    if around == there then
      return
    elseif not made[around] then
      made[around] = true
      table.insert(told.begins, around)
    end
  end
end

-- tell(c, f, told): adds to { moves = { { from, to } }, ends, begins = names of scopes, made }.
function fit.tell(c, f, told)
  for _, token in ipairs(f.list) do
    local place = token.scope and not token.gone and not frame.watches(token)
    local name = place and fit.target(c, token)
    if name then
      table.insert(told.moves, { from = token.at, to = name })
      add_made(c, token, name, told)
    elseif place then
      table.insert(told.ends, token.at)
    end
  end
end

-- begun(token) -> whether events may be waited for beside it
function fit.begun(token)
  return frame.holds(token) or walk.Walk.scopes.has_begun(token)
end

return fit
