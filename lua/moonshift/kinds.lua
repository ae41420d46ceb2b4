-- Kinds of values: what an option, an argument or an expression may be. Everything that is given is
-- read here, so that a wrong value is named and never left out.
--
--   read(kind, value) -> true, the value; or false, what is expected
--   only(value, what, known, suggest) -> a table of options; or nil, what is wrong
local show = require "moonshift.show"

local kinds = {}

local function whole(value)
  return type(value) == "number" and math.tointeger(value)
end

-- A whole number, not below `least` if that is given.
local function integer(value, least)
  local number = whole(value)
  if number and least and number < least then
    return false, ("%d or more"):format(least)
  end
  return number ~= nil and number ~= false, number or "an integer"
end

local function typed(name, expected)
  return function(value)
    local fine = type(value) == name
    return fine, not fine and expected or value
  end
end

local Kinds = {
  flag = typed("boolean", "true or false"),
  text = typed("string", "a text"),
  instant = typed("string", "an instant as text"),
  object = typed("table", "a table"),
  integer = integer,
}

function Kinds.name(value)
  local fine = type(value) == "string" and value ~= ""
  return fine, fine and value or "a name"
end

-- Values by their names, such as variables.
function Kinds.map(value)
  local fine = type(value) == "table"
  for key in pairs(fine and value or {}) do
    fine = fine and type(key) == "string"
  end
  return fine, fine and value or "a table of names and values"
end

function Kinds.count(value)
  return integer(value, 0)
end

function Kinds.positive(value)
  return integer(value, 1)
end

-- A whole number is its text.
function Kinds.key(value)
  local number = whole(value)
  local fine = number or type(value) == "string"
  return fine and true, number and tostring(number) or fine and value or "a text or an integer"
end

-- A number, or its decimal text as handlers have it.
function Kinds.id(value)
  local number = whole(value)
    or type(value) == "string" and value:find("^%d+$") and math.tointeger(tonumber(value))
  return number and true, number or "the number of one"
end

function Kinds.span(value)
  local fine = type(value) == "string" or type(value) == "number"
  return fine, fine and value or 'seconds or a duration such as "PT5M"'
end

function kinds.read(kind, value)
  return Kinds[kind](value)
end

-- hint(key, known, suggest) -> " (did you mean …?)" if one of the names in `known` is near, else
-- "". `suggest` is that of the rules.
function kinds.hint(key, known, suggest)
  local names = {}
  for name in pairs(known) do
    names[#names + 1] = name
  end
  table.sort(names) -- of two that are as near the first one is meant
  local meant = suggest(tostring(key), names)
  return meant and (' (did you mean "%s"?)'):format(meant) or ""
end

-- A copy of the table, which has only the keys in `known`, each with a value of the kind that
-- stands there. nil is {}.
function kinds.only(value, what, known, suggest)
  if value ~= nil and type(value) ~= "table" then
    return nil, ("%s is %s (expected a table)"):format(what, show(value))
  end
  local read = {}
  for key, given in pairs(value or {}) do
    if not known[key] then
      return nil, ('%s: unknown key "%s"%s'):format(what, tostring(key),
        kinds.hint(key, known, suggest))
    end
    local fine, found = kinds.read(known[key], given)
    if not fine then
      return nil, ("%s: %s is %s (expected %s)"):format(what, tostring(key), show(given), found)
    end
    read[key] = found
  end
  return read
end

return kinds
