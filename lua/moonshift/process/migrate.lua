-- Migration: an instance goes on by another version of its process, or by another process (rules
-- §23). The plan is looked at alone first, then every place of the instance. All of it moves, or
-- nothing.
local check = require "moonshift.process.migration.check"
local compile = require "moonshift.process.compile"
local equal = require "moonshift.process.migration.equal"
local fit = require "moonshift.process.migration.fit"
local frame = require "moonshift.process.frame"
local modify = require "moonshift.process.modify"
local move = require "moonshift.process.migration.move"
local plans = require "moonshift.process.migration.plan"
local rules = require "moonshift.rules"
local turns = require "moonshift.process.turns"

local migrate = {}

local function plan_of(w, version)
  return compile.plan(w.context.graph(version))
end

-- The plan of the cause between two graphs, checked; raises all that is wrong with it.
local function checked(w, from, to)
  local given, wrong = plans.read(w.cause.plan)
  local c, troubles
  if given then
    if given.equal then
      equal.add(from, to, given.list)
    end
    c, troubles = check.troubles(from, to, given.list)
    wrong = check.texts(troubles)
  end
  if wrong[1] then
    return w:refuse("the plan cannot be: " .. table.concat(wrong, "; "))
  end
  c.process, c.variables = given.process, given.variables
  return c
end

-- The same. The jobs of a batch have one plan, so the last one is kept.
local function read(w, inst)
  local context, cause = w.context, w.cause
  local from = cause.source and plan_of(w, cause.source) or inst.plan
  local to, last = plan_of(w, cause.target), context.last_plan
  local known = last and last.c.from == from and last.c.to == to
    and (last.plan == cause.plan or last.text == context.encode(cause.plan))
  if not known then
    last = { text = context.encode(cause.plan), c = checked(w, from, to) }
    context.last_plan = last
  end
  last.plan = cause.plan
  last.c.names = { cause.source_name, cause.target_name }
  return last.c
end

-- The instance, and the turns of its bodies that stand outside of its frame.
local function frames_of(w, inst)
  local list = { inst }
  for _, body in ipairs(inst.frame.list) do
    for _, turn in ipairs(turns.all(w, inst, body)) do
      list[#list + 1] = turn
    end
  end
  for _, one in ipairs(list) do
    frame.spread(one.frame)
  end
  return list
end

-- Raises what does not fit the instance; returns its frames.
local function fits(w, inst, c)
  local cause, wrong, frames = w.cause, {}, {}
  if cause.source and inst.version ~= cause.source then
    wrong[1] = ("it runs on another version (expected %s)"):format(cause.source_name)
  elseif c.process and c.process ~= inst.plan.key then
    wrong[1] = ("it runs on the process %s (expected %s)"):format(inst.plan.key, c.process)
  else
    fit.troubles(c, inst.frame, wrong)
  end
  if not wrong[1] then
    frames = frames_of(w, inst)
    for i, one in ipairs(frames) do
      if i > 1 or one.frame.mixed then -- turns of ranges are entries by now
        fit.troubles(c, one.frame, wrong)
      end
    end
  end
  if wrong[1] then
    return w:refuse(("instance %d cannot be migrated: %s"):format(inst.id,
      table.concat(wrong, "; ")))
  end
  return frames
end

-- What would be done to these frames.
local function tell(c, frames)
  local told = { moves = rules.array {}, ends = rules.array {}, begins = rules.array {},
    pairs = rules.array {} }
  for _, one in ipairs(frames) do
    told.made = {}
    fit.tell(c, one.frame, told)
  end
  told.made = nil
  for i, pair in ipairs(c.list) do
    told.pairs[i] = { from = pair.from, to = pair.to, update = pair.update }
  end
  return told
end

-- run(w, inst): the command "migrate".
function migrate.run(w, inst)
  local c = read(w, inst)
  local frames = fits(w, inst, c)
  if w.cause.dry_run then
    w.order, w.unit.result = {}, tell(c, frames)
    return
  end
  modify.skip(w)
  move.run(w, inst, c, w.cause.target)
end

-- plan(w): the plan of equal activities of two versions, as a table; or a look at the one that the
-- cause has, which raises all that is wrong with it.
function migrate.plan(w)
  local cause = w.cause
  if cause.plan then
    read(w)
    w.unit.result = {}
    return
  end
  local list = rules.array {}
  for i, pair in ipairs(equal.pairs(plan_of(w, cause.source), plan_of(w, cause.target),
    cause.update)) do
    list[i] = { from = pair.from, to = pair.to, update = pair.update }
  end
  w.unit.result = { activities = list }
end

return migrate
