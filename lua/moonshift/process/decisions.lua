-- Decisions of business rule tasks: a function of the job, and how its answer becomes a variable.
-- It returns a row (a table with names), a list of rows, or a plain value.
local rules = require "moonshift.rules"

local decisions = {}

local function is_list(value)
  return type(value) == "table" and (#value > 0 or next(value) == nil)
end

local function rows_of(found)
  if is_list(found) then
    return found
  end
  return found == nil and {} or { found }
end

-- The only entry of a row; a plain value is its own entry.
local function entry_of(row)
  if type(row) ~= "table" then
    return row
  end
  local name, value = next(row)
  if name ~= nil and next(row, name) ~= nil then
    error("the decision gives a row with several entries (expected one)", 0)
  end
  return value
end

local function single(rows)
  if #rows > 1 then
    error(("the decision gives %d rows (expected one at most)"):format(#rows), 0)
  end
  return rows[1]
end

local Maps = {}

function Maps.singleEntry(rows)
  return entry_of(single(rows))
end

function Maps.singleResult(rows)
  return single(rows)
end

function Maps.collectEntries(rows)
  local list = rules.array {}
  for i, row in ipairs(rows) do
    list[i] = entry_of(row)
  end
  return list
end

function Maps.resultList(rows)
  local list = rules.array {}
  for i, row in ipairs(rows) do
    list[i] = row
  end
  return list
end

-- The variables that a task of Flowable gets: the entries of the only row, or all rows as a list
-- under the decision's name.
function Maps.variables(rows, name)
  local row = rows[1]
  if #rows == 0 then
    return {}
  elseif #rows == 1 and type(row) == "table" and not is_list(row) then
    return row
  end
  return { [name] = #rows == 1 and row or Maps.resultList(rows) }
end

-- The same, of a task that fails without a row.
function Maps.hit(rows, name)
  if #rows == 0 then
    error(("the decision %s gives no row (expected one)"):format(name), 0)
  end
  return Maps.variables(rows, name)
end

-- call(call_with, fn, job, map, name) -> as call_with: ok, and the answer as `map` wants it of the
-- decision of this name
function decisions.call(call_with, fn, job, map, name)
  local ok, found = call_with(fn, job)
  if not ok then
    return ok, found
  end
  return pcall(Maps[map] or Maps.resultList, rows_of(found), name)
end

return decisions
