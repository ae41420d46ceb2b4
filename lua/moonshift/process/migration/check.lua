-- What a plan of a migration says of two graphs: each pair is looked at before any instance is.
-- What is wrong is a text behind the pair; nothing is changed here.
--
-- A plan that was checked: { from, to = plans of graphs, list = pairs with their sites `source` and
-- `target`, by_from, by_to = { [name] = pair } }.
local sites = require "moonshift.process.migration.sites"

local check = {}

-- ---- one pair ----

local function once(c, pair)
  if c.counts[pair.from] > 1 then
    return ("%s is in %d pairs (expected one)"):format(pair.from, c.counts[pair.from])
  end
end

-- An activity of the other process that is of this kind.
local function example(plan, kind)
  for _, step in ipairs(plan.order) do
    for _, name in ipairs { step.id, step.multi and step.multi.at or nil } do
      if sites.kind(sites.find(plan, name)) == kind then
        return name
      end
    end
  end
end

local function same_kind(c, pair)
  local source, target = sites.kind(pair.source), sites.kind(pair.target)
  if source ~= target then
    local such = example(c.to, source)
    return ("%s is a %s, and %s a %s (expected a %s%s)"):format(pair.from, source, pair.to, target,
      source, such and ", such as " .. such or "")
  end
end

local function same_event(_, pair)
  local source, target = sites.event(pair.source), sites.event(pair.target)
  if source and target and source ~= target then
    return ("%s waits for a %s, and %s for a %s (expected the same)"):format(pair.from, source,
      pair.to, target)
  end
end

local function mapped(c, name)
  return name == "" and "" or c.by_from[name] and c.by_from[name].to
end

-- What holds the wait for an event goes to what holds it there. Compensation events hold none.
local function same_owner(c, pair)
  local source, target = sites.owner(c.from, pair.source), sites.owner(c.to, pair.target)
  if sites.event(pair.source) == "compensation" or not sites.event(pair.source)
    or source == target and not source then
    return nil
  elseif not source or not target then
    return ("%s belongs to %s, and %s to %s"):format(pair.from, source or "no other activity",
      pair.to, target or "no other activity")
  elseif mapped(c, source) ~= target then
    return ("%s belongs to %s, and %s to %s (expected the pair %s=%s)"):format(pair.from, source,
      pair.to, target, source, target)
  end
end

-- Bodies of repeated activities are neither made nor kept without their turns.
local function whole_body(c, pair)
  if pair.target.body then
    local from, to = pair.source.step.id, pair.target.step.id
    local inner = c.by_from[from]
    return not (inner and inner.to == to) and ("a body goes with its turns (expected the pair"
      .. " %s=%s beside it)"):format(from, to) or nil
  end
  for _, name in ipairs(sites.scopes(c.to, pair.target)) do
    if c.by_to[name] then
      return nil
    elseif sites.find(c.to, name).body then
      return ("%s lies in the body %s, which no pair leads to (a migration makes no body)"):format(
        pair.to, name)
    end
  end
end

-- The nearest mapped scope around it must be around its target, too.
local function same_scopes(c, pair)
  for _, name in ipairs(sites.scopes(c.from, pair.source)) do
    local around = c.by_from[name]
    if around then
      for _, other in ipairs(sites.scopes(c.to, pair.target)) do
        if other == around.to then
          return nil
        end
      end
      return ("%s lies in %s, which becomes %s, and %s does not lie in that"):format(pair.from,
        name, around.to, pair.to)
    end
  end
end

local JOINS = { parallel = true, inclusive = true }

local function same_join(c, pair)
  local source, target = pair.source.step, pair.target.step
  if not JOINS[source.node.kind] then
    return nil
  elseif target.incoming < source.incoming then
    return ("%s has %d flows into it, and %s only %d (expected at least %d)"):format(pair.from,
      source.incoming, pair.to, target.incoming, source.incoming)
  elseif source.scope and not c.by_from[source.scope.id] then
    return ("a join goes with the scope around it (expected a pair of %s)"):format(source.scope.id)
  elseif c.reached[pair.to] > 1 then
    return ("%d pairs lead to the join %s (expected one)"):format(c.reached[pair.to], pair.to)
  end
end

local function right_update(_, pair)
  if pair.update and not sites.trigger(pair.source) then
    return ("%s waits for no event that could be updated (expected no update)"):format(pair.from)
  elseif not pair.update and sites.trigger(pair.source)
    and pair.source.step.event.kind == "conditional" then
    return ("%s waits for a condition (expected update = true)"):format(pair.from)
  end
end

local CHECKS = { once, same_kind, same_event, same_owner, whole_body, same_scopes, same_join,
  right_update }

-- ---- all ----

-- Notes the sites of a pair, or what is not there.
local function find(c, pair)
  pair.source, pair.target = sites.find(c.from, pair.from), sites.find(c.to, pair.to)
  local wrong = {}
  if not pair.source then
    wrong[#wrong + 1] = sites.unknown(c.from, pair.from)
  end
  if not pair.target then
    wrong[#wrong + 1] = sites.unknown(c.to, pair.to)
  end
  return wrong
end

local function note(c, pair)
  c.counts[pair.from] = (c.counts[pair.from] or 0) + 1
  c.reached[pair.to] = (c.reached[pair.to] or 0) + 1
  c.by_from[pair.from] = c.by_from[pair.from] or pair
  c.by_to[pair.to] = c.by_to[pair.to] or pair
end

local function look(c, pair, wrong)
  for _, one in ipairs(not wrong[1] and CHECKS or {}) do
    wrong[#wrong + 1] = one(c, pair)
  end
  return wrong
end

-- troubles(from, to, list) -> the checked plan, and what is wrong with pairs, as { pair, texts }
function check.troubles(from, to, list)
  local c = { from = from, to = to, list = list, by_from = {}, by_to = {}, counts = {},
    reached = {} }
  local found, told = {}, {}
  for i, pair in ipairs(list) do
    found[i] = find(c, pair)
    note(c, pair)
  end
  for _, pair in ipairs(list) do -- pairs of what is not there are looked at no further
    if not pair.source or not pair.target then
      c.by_from[pair.from], c.by_to[pair.to] = nil, nil
    end
  end
  for i, pair in ipairs(list) do
    local wrong = look(c, pair, found[i])
    if wrong[1] then
      told[#told + 1] = { pair = pair, texts = wrong }
    end
  end
  return c, told
end

-- texts(troubles) -> "A=B: …, …"
function check.texts(troubles)
  local list = {}
  for i, one in ipairs(troubles) do
    list[i] = one.pair.what .. ": " .. table.concat(one.texts, ", ")
  end
  return list
end

return check
