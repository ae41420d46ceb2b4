-- Large variables: a value whose JSON is longer than `inline_max` stands in a row of its own. The
-- frame has the number of the row; the value is read when something asks for it. A row is written
-- once. A variable that is set again gets another row, and the row that nothing names goes.
local frame = require "moonshift.process.frame"

local large = {}

local NONE = {}

-- What an instance has of them: inst.rows = { [number] = true } as the store has them; a holder's
-- `texts` = { [name] = JSON } of large values that were set in this walk; true: it may be large.

-- Reads a large variable into `vars`, so that it is read once. nil: it is no large one.
function large.read(holder, name)
  local number = holder.large and holder.large[name]
  if not number then
    return nil
  end
  local value = holder.fetch(number)
  holder.vars = holder.vars or {}
  holder.vars[name] = value
  return value
end

-- open(inst): says of an instance that was there already how its large variables are read.
function large.open(inst)
  local function fetch(number)
    return inst.walk.context.value(inst.id, frame.number(inst.turn, number))
  end
  local list = inst.frame.list
  for i = 1, #list do
    local holder = list[i]
    for _, number in next, holder.large or NONE do
      inst.rows = inst.rows or {}
      inst.rows[number], holder.fetch = true, fetch
    end
  end
end

-- True if the JSON may be longer than `most`: that of a number or of a short text is not.
local function may_be(value, most)
  local kind = type(value)
  return kind == "table" or kind == "string" and #value * 6 + 2 > most
end

-- Notes that a variable is set. `text` is the JSON of a large value, false of one that is not
-- large, nil if it is not known yet.
function large.set(inst, holder, name, value, text)
  if holder.large then
    holder.large[name] = nil
    holder.large = next(holder.large) and holder.large
  end
  if text == nil then
    text = may_be(value, inst.walk.settings.inline_max)
  end
  if text or holder.texts then
    holder.texts = holder.texts or {}
    holder.texts[name] = text or nil
  end
end

-- encode(inst, name, value) -> its JSON, and whether it is large. Raises if it is too large.
function large.encode(inst, name, value)
  local w = inst.walk
  local text, most = frame.value_text(value, w.context.encode), w.settings.value_max
  if #text > most then
    error(("the variable %s of instance %d has %d bytes (expected at most %d)"):format(name,
      inst.id, #text, most), 0)
  end
  return text, #text > w.settings.inline_max
end

local function names_of(texts)
  local names = {}
  for name in pairs(texts) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

-- Gives a row to each large variable of the holder that was set in this walk, in the order of their
-- names: so two walks of one instance give the same numbers.
local function take_out(inst, holder, list)
  for _, name in ipairs(names_of(holder.texts)) do
    local text, is_large = holder.texts[name], true
    if text == true then
      text, is_large = large.encode(inst, name, holder.vars[name])
    end
    if is_large then
      local f = inst.frame
      holder.large = holder.large or {}
      holder.large[name], f.next = f.next, f.next + 1
      list[#list + 1] = { instance = inst.id, n = frame.number(inst.turn, holder.large[name]),
        name = name, data = text }
    end
  end
  holder.texts = nil
end

-- collect(inst, unit): adds to its values the rows that are new, { instance, n, name, data },
-- and those that go, without data. Of an instance that has ended the outermost scope is left.
function large.collect(inst, unit)
  local alive, holders = NONE, inst.frame.list
  for i = 1, #holders do
    local holder = holders[i]
    if (holder.texts or holder.large) and not holder.gone
      and (not inst.ended or not holder.scope and not inst.turn) then
      alive = alive == NONE and {} or alive
      if holder.texts then
        take_out(inst, holder, unit.values)
      end
      for _, number in pairs(holder.large or NONE) do
        alive[number] = true
      end
    end
  end
  for number in pairs(inst.rows or NONE) do
    if not alive[number] then
      table.insert(unit.values, { instance = inst.id, n = frame.number(inst.turn, number) })
    end
  end
end

-- small(holder) -> its variables without the large and the transient ones
function large.small(holder)
  local known, transient = holder.large or NONE, holder.transient or NONE
  if known == transient then
    return holder.vars
  end
  local vars = {}
  for name, value in pairs(holder.vars or NONE) do
    if not known[name] and not transient[name] then
      vars[name] = value
    end
  end
  return vars
end

return large
