-- The targets of a verb: an id, a list of ids, or a query (rules §11). A `level` is that of the
-- caller's own error(): misuse is reported at the line that called the verb.
local query = require "moonshift.query"
local rules = require("moonshift.core").rules

local ids = {}

function ids.one(id, level)
  local integer = type(id) == "number" and math.tointeger(id)
  if not integer then
    local shown = type(id) == "number" and tostring(id) or "a " .. type(id)
    error(("id is %s (expected an integer, a list of them or a query)"):format(shown), level + 1)
  end
  return integer
end

local function each_once(list, level)
  local found, seen = {}, {}
  for _, id in ipairs(list) do
    id = ids.one(id, level + 1)
    if not seen[id] then
      seen[id] = true
      found[#found + 1] = id
    end
  end
  return found
end

-- Raises for a query of other rows: its filters and ids would mean rows that it does not list.
local function check_kind(what, kind, level)
  if what.kind ~= kind then
    error(("a query of %s (expected ids, or a query of %s)"):format(what.kind, kind), level + 1)
  end
end

-- list(what, level) -> a list of ids; or nil, message, code: a query of too many jobs.
-- kind: of a query's rows, which are jobs unless it says otherwise.
function ids.list(what, level, kind)
  if query.is(what) then
    check_kind(what, kind or "jobs", level + 1)
    return what:ids()
  end
  return type(what) == "table" and each_once(what, level + 1) or { ids.one(what, level + 1) }
end

-- aim(command, what, level, kind) -> the command with `ids`, or with `query`, which the store
-- answers in the transaction of the change. Or nil, message, code. kind: of a query's rows, which
-- are jobs unless it says otherwise.
function ids.aim(command, what, level, kind)
  if query.is(what) and not what.size then
    check_kind(what, kind or "jobs", level + 1)
    command.query = what.filters
    return command
  end
  local list, message, code = ids.list(what, level + 1)
  if not list then
    return nil, message, code
  end
  command.ids = rules.array(list)
  return command
end

return ids
