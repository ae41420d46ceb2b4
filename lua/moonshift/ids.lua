-- What a verb is done to: an id, a list of ids, or a query (rules §11). A `level` is that of the
-- caller's own error(); whoever is wrong is told at the line where they called the verb.
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

-- list(what, level) -> a list of ids; or nil, message, code: a query that means too many.
function ids.list(what, level)
  if query.is(what) then
    return what:ids()
  end
  return type(what) == "table" and each_once(what, level + 1) or { ids.one(what, level + 1) }
end

-- aim(order, what, level) -> the order, with `ids`, or with the `query`: a whole one is answered
-- where things are changed. Or nil, message, code.
function ids.aim(order, what, level)
  if query.is(what) and not what.size then
    order.query = what.filters
    return order
  end
  local list, message, code = ids.list(what, level + 1)
  if not list then
    return nil, message, code
  end
  order.ids = rules.array(list)
  return order
end

return ids
