-- The methods that expressions may call on data: a closed list for texts, numbers, true and false,
-- lists, maps and dates. None changes what it is called on.
local coerce = require "moonshift.expression.coerce"
local rules = require "moonshift.rules"

local methods = {}

local TEXT_MAX = 65536 -- bytes of a text that an expression makes

-- check_size(bytes, fail): the size of a text that would be made.
function methods.check_size(bytes, fail)
  if bytes > TEXT_MAX then
    fail(("a text of %d bytes or more (expected at most %d)"):format(bytes, TEXT_MAX))
  end
end

local plain, spend = coerce.plain, coerce.spend

-- ---- of all values ----

local all = {
  equals = function(value, fail, other)
    return type(value) == type(other) and coerce.same(value, other, fail)
  end,
  toString = function(value)
    return coerce.text(value)
  end,
  compareTo = function(value, fail, other)
    if coerce.same(value, other, fail) then
      return 0
    end
    return coerce.before(value, other, fail) and -1 or 1
  end,
}

-- ---- of texts: positions count characters from 0 ----

local text = {}

function text.length(value)
  return utf8.len(value) or #value
end

-- The byte where the character at `at` begins; texts that are no UTF-8 are counted in bytes.
local function byte_of(value, at)
  return utf8.len(value) and utf8.offset(value, at + 1) or at + 1
end

-- The place of the character that begins at a byte.
local function place_of(value, byte)
  return utf8.len(value) and utf8.len(value, 1, byte - 1) or byte - 1
end

function text.isEmpty(value)
  return value == ""
end

function text.isBlank(value)
  return not value:find "%S"
end

function text.toUpperCase(value)
  return value:upper()
end

function text.toLowerCase(value)
  return value:lower()
end

function text.trim(value)
  return coerce.trim(value)
end
text.strip = text.trim

function text.substring(value, fail, from, to)
  local length = text.length(value)
  from, to = coerce.index(from, fail), to == nil and length or coerce.index(to, fail)
  if from < 0 or to > length or from > to then
    fail(("substring(%d, %d) of a text of %d characters"):format(from, to, length))
  end
  return value:sub(byte_of(value, from), byte_of(value, to) - 1)
end

function text.charAt(value, fail, at)
  at = coerce.index(at, fail)
  return text.substring(value, fail, at, at + 1)
end

function text.indexOf(value, _, part)
  local found = rules.find(value, coerce.text(part))
  return found and place_of(value, found) or -1
end

function text.lastIndexOf(value, _, part)
  part = coerce.text(part)
  local found = rules.find(value:reverse(), part:reverse())
  return found and place_of(value, #value - #part - found + 2) or -1
end

function text.contains(value, _, part)
  return rules.find(value, coerce.text(part)) ~= nil
end

function text.startsWith(value, _, part)
  part = coerce.text(part)
  return value:sub(1, #part) == part
end

function text.endsWith(value, _, part)
  part = coerce.text(part)
  return part == "" or value:sub(-#part) == part
end

function text.equalsIgnoreCase(value, _, other)
  return value:lower() == coerce.text(other):lower()
end

function text.concat(value, fail, other)
  other = coerce.text(other)
  methods.check_size(#value + #other, fail)
  return value .. other
end

-- The parts of a text between the places of another one, which is plain text.
local function parts_of(value, part)
  local parts, at = {}, 1
  while true do
    local first = rules.find(value, part, at)
    spend(1, 0)
    parts[#parts + 1] = value:sub(at, (first or 0) - 1)
    if not first then
      return parts
    end
    at = first + #part
  end
end

function text.replace(value, fail, part, by)
  part, by = coerce.text(part), coerce.text(by)
  if part == "" then
    fail "replace needs a text to look for"
  end
  local parts = parts_of(value, part)
  methods.check_size(#value + (#parts - 1) * (#by - #part), fail)
  return table.concat(parts, by)
end

function text.split(value, fail, part)
  part = coerce.text(part)
  if part == "" then
    fail "split needs a text to look for"
  end
  return rules.array(parts_of(value, part))
end

-- ---- of numbers, true and false ----

local number = {}

function number.intValue(value, fail)
  return math.tointeger(value < 0 and math.ceil(value) or math.floor(value))
    or fail "the number is not finite"
end
number.longValue = number.intValue

function number.doubleValue(value)
  return value + 0.0
end
number.floatValue = number.doubleValue

local boolean = {
  booleanValue = function(value)
    return value
  end,
}

-- ---- of lists ----

local list = {}

function list.size(value)
  return rawlen(value)
end

function list.isEmpty(value)
  return rawlen(value) == 0
end

function list.get(value, fail, at)
  at = coerce.index(at, fail)
  if at < 0 or at >= rawlen(value) then
    fail(("get(%d) of a list of %d"):format(at, rawlen(value)))
  end
  return plain(rawget(value, at + 1))
end

function list.indexOf(value, _, wanted)
  for i = 1, rawlen(value) do
    local found = plain(rawget(value, i))
    if type(found) ~= type(wanted) then
      spend(1, 0)
    elseif coerce.same(found, wanted) then
      return i - 1
    end
  end
  return -1
end

function list.contains(value, fail, wanted)
  return list.indexOf(value, fail, wanted) >= 0
end

function list.subList(value, fail, from, to)
  from, to = coerce.index(from, fail), coerce.index(to, fail)
  if from < 0 or to > rawlen(value) or from > to then
    fail(("subList(%d, %d) of a list of %d"):format(from, to, rawlen(value)))
  end
  spend(to - from, 0)
  return rules.array(table.move(value, from + 1, to, 1, {}))
end

-- ---- of maps ----

local map = {}

local function names_of(value)
  local names = {}
  for name in next, value do
    spend(1, #tostring(name))
    names[#names + 1] = name
  end
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  return names
end

function map.size(value)
  return #names_of(value)
end

function map.isEmpty(value)
  return next(value) == nil
end

function map.get(value, _, name)
  return plain(rawget(value, coerce.text(name)))
end

function map.getOrDefault(value, _, name, otherwise)
  local found = rawget(value, coerce.text(name))
  if found == nil then
    return otherwise
  end
  return plain(found)
end

function map.containsKey(value, _, name)
  return rawget(value, coerce.text(name)) ~= nil
end

function map.keySet(value)
  return rules.array(names_of(value))
end

function map.values(value)
  local values = {}
  for i, name in ipairs(names_of(value)) do
    values[i] = rawget(value, name)
  end
  return rules.array(values)
end

function map.containsValue(value, fail, wanted)
  return list.contains(map.values(value), fail, wanted)
end

-- ---- of documents in JSON ----

function map.prop(value, fail, name)
  name = coerce.text(name)
  local found = rawget(value, name)
  if found == nil then
    fail(('there is no property "%s"'):format(name))
  end
  return plain(found)
end

map.hasProp = map.containsKey
map.fieldNames = map.keySet

function list.elements(value)
  return value
end

local function itself(value)
  return value
end

all.value = itself
text.stringValue, number.numberValue, boolean.boolValue = itself, itself, itself

-- ---- of dates ----

local UNITS = {
  Seconds = "PT%dS", Minutes = "PT%dM", Hours = "PT%dH", Days = "P%dD", Weeks = "P%dW",
  Months = "P%dM", Years = "P%dY",
}
local date = {}

local function moved(unit, sign)
  return function(value, fail, count)
    count = coerce.index(count, fail) * sign
    local back = count < 0
    local ms, message = rules.add_duration(value.ms, UNITS[unit]:format(back and 0 or count))
    if ms and back then
      ms, message = methods.before(value.ms, unit, -count)
    end
    return ms and coerce.date(ms) or fail(message)
  end
end

local MS = { Seconds = 1000, Minutes = 60000, Hours = 3600000, Days = 86400000, Weeks = 604800000 }

-- The days of a month, counted as a calendar does; `month` from 1.
local function days_of(year, month)
  if month == 2 then
    return (year % 4 == 0 and year % 100 ~= 0 or year % 400 == 0) and 29 or 28
  end
  return (month == 4 or month == 6 or month == 9 or month == 11) and 30 or 31
end

-- before(ms, unit, count) -> ms: as many units earlier. A day that the month lacks is its last one.
function methods.before(ms, unit, count)
  if MS[unit] then
    return ms - count * MS[unit]
  end
  local year, month, day, rest = rules.format_time(ms):match "^(%d+)-(%d+)-(%d+)(T.*)$"
  local months = year * 12 + month - 1 - count * (unit == "Years" and 12 or 1)
  year, month = months // 12, months % 12 + 1
  day = math.min(tonumber(day), days_of(year, month))
  return rules.time(("%04d-%02d-%02d%s"):format(year, month, day, rest))
end

for unit in pairs(UNITS) do
  date["plus" .. unit] = moved(unit, 1)
  date["minus" .. unit] = moved(unit, -1)
end

function date.toDate(value)
  return value
end

function date.getTime(value)
  return value.ms
end
date.getMillis = date.getTime

function date.isBefore(value, fail, other)
  return coerce.number(value, fail) < coerce.number(other, fail)
end

function date.isAfter(value, fail, other)
  return coerce.number(value, fail) > coerce.number(other, fail)
end

-- ---- the list ----

local kinds = { string = text, number = number, boolean = boolean }

-- isObject() and its like: true of one kind of value.
for name, wanted in pairs { isString = text, isNumber = number, isBoolean = boolean,
  isArray = list, isObject = map } do
  all[name] = function(value)
    return methods.kind(value) == wanted
  end
end

function all.isNull() -- of nothing it is true, see moonshift.expression.compile
  return false
end

local function of(value)
  if coerce.is_date(value) then
    return date
  elseif type(value) == "table" then
    return coerce.is_list(value) and list or map
  end
  return kinds[type(value)]
end

-- kind(value) -> the methods of its kind
methods.kind = of

-- find(value, name) -> function(value, fail, …), or nil and the names that there are.
function methods.find(value, name)
  local own = of(value)
  local found = own and own[name] or all[name]
  if found then
    return found
  end
  local names = {}
  for _, from in ipairs { own or {}, all } do
    for known in pairs(from) do
      names[#names + 1] = known
    end
  end
  table.sort(names)
  return nil, names
end

-- The names of all methods, as a set.
methods.names = {}
for _, from in ipairs { all, text, number, boolean, list, map, date } do
  for name in pairs(from) do
    methods.names[name] = true
  end
end

return methods
