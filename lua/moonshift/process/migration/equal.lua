-- The plan of equal activities: pairs of the same name that may be paired, in scopes that are
-- paired themselves. Gateways are among them where instances wait at them.
local check = require "moonshift.process.migration.check"
local sites = require "moonshift.process.migration.sites"

local equal = {}

local WAITING = { user = true, receive = true, call = true, subprocess = true, transaction = true,
  event_subprocess = true, boundary = true, catch = true, event_gateway = true, parallel = true,
  inclusive = true }

-- Whether instances stand there, and not only pass in a job.
local function waits(site)
  local step = site.step
  local kind = step.node.kind
  if site.body then
    return true
  elseif step.node.compensates or kind == "catch" and step.event.kind == "link" then
    return false
  end
  return WAITING[kind] or sites.is_event_start(step)
end

local function add(from, to, name, update, list)
  local source, target = sites.find(from, name), sites.find(to, name)
  if target and waits(source) and waits(target) then
    list[#list + 1] = { from = name, to = name, what = name .. "=" .. name,
      update = update and sites.trigger(source) or nil }
  end
end

local function candidates(from, to, update)
  local list = {}
  for _, step in ipairs(from.order) do
    if step.multi then
      add(from, to, step.multi.at, update, list)
    end
    add(from, to, step.id, update, list)
  end
  return list
end

-- The pairs without those that are wrong or whose scope is not paired; and whether all are left.
local function sift(from, to, list)
  local c, troubles = check.troubles(from, to, list)
  local bad, left = {}, {}
  for _, one in ipairs(troubles) do
    bad[one.pair] = true
  end
  for _, pair in ipairs(list) do
    local around, there = sites.around(pair.source), sites.around(pair.target)
    local fits = around == there and (around == "" or c.by_from[around])
    if fits and not bad[pair] then
      left[#left + 1] = pair
    end
  end
  return left, #left == #list
end

-- pairs(from, to, update) -> the pairs; with `update` those of events get the new triggers
function equal.pairs(from, to, update)
  local list, done = candidates(from, to, update), false
  while not done do
    list, done = sift(from, to, list)
  end
  return list
end

-- The pairs of equal activities from which no other one leads, behind those of the list.
local function with_equal(from, to, list, known)
  local all = table.move(list, 1, #list, 1, {})
  for _, pair in ipairs(equal.pairs(from, to)) do
    all[#all + 1] = not known[pair.from] and pair or nil
  end
  return all
end

-- add(from, to, list): adds the pairs of equal activities of which the list says nothing else, as
-- far as they fit with it.
function equal.add(from, to, list)
  local known = {}
  local all, fits
  for _, pair in ipairs(list) do
    known[pair.from] = true
  end
  repeat
    all, fits = with_equal(from, to, list, known), true
    for _, one in ipairs(select(2, check.troubles(from, to, all))) do
      fits = fits and known[one.pair.from]
      known[one.pair.from] = true
    end
  until fits
  table.move(all, 1, #all, 1, list)
end

return equal
