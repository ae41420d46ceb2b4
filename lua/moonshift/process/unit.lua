-- The unit of a walk: what is to be written of it, as lists. core/process copies them, and
-- core/job/unit_lists.h says what their entries have.
local large = require "moonshift.process.large"
local latest = require "moonshift.process.latest"
local turns = require "moonshift.process.turns"

local unit = {}

local LISTS = { instances = true, left = true, jobs = true, subscriptions = true, tasks = true,
  trail = true, messages = true, signals = true, searched = true, values = true, turns = true,
  bodies = true, moves = true }

-- A list of a unit is made when something is put into it: most units have three.
local Lists = { __index = function(made, name)
  local list = LISTS[name] and {} or nil
  made[name] = list
  return list
end }

-- new() -> a unit without anything
function unit.new()
  return setmetatable({ instances = nil, left = nil, jobs = nil, trail = nil, kept = nil,
    contends = nil }, Lists) -- room for these
end

-- Leaves the rows that still wait for a token that is there.
local function keep_waiting(rows)
  local count, all = 0, #rows
  for i = 1, all do
    local row = rows[i]
    local record = row.record
    rows[i] = nil
    if not row.dropped and not record.gone and not row.inst.ended then
      row.record, row.inst = nil, nil
      count = count + 1
      rows[count] = row
    end
  end
end

-- Puts what the trail says of an instance into the unit, once.
function unit.trail(w, inst)
  local events = inst.trail
  if events[1] and not events.told then
    events.told = true
    table.insert(w.unit.trail, { instance = inst.id,
      events = "[" .. table.concat(events, ",") .. "]" })
  end
end

local function put_row(made, inst)
  if inst.turn then
    made.turns[#made.turns + 1] = inst:turn_row()
    return
  end
  made.instances[#made.instances + 1] = inst:row()
  if inst.found_by then
    inst:searched(made.searched)
  end
end

local WAITING = { "jobs", "subscriptions", "tasks" }

-- finish(w) -> what is to be written of a walk
function unit.finish(w)
  local made = w.unit
  w.here = nil
  for _, name in ipairs(WAITING) do
    if rawget(made, name) then
      keep_waiting(made[name])
    end
  end
  local order = w.order
  for i = 1, #order do
    local inst = order[i]
    large.collect(inst, made)
    put_row(made, inst)
    unit.trail(w, inst)
  end
  turns.unit(w)
  latest.keep(w)
  made.kept, made.contends = w.kept, w.contends
  return setmetatable(made, nil)
end

return unit
