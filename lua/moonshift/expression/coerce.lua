-- The coercions and operators of expressions, as the Expression Language has them. What cannot be
-- coerced is told to `fail`, which raises.
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local coerce = {}

local DEPTH_MAX = 100 -- of lists and maps that are compared or shown

-- ---- what an evaluation may take ----

local STEPS, BYTES = 1000000, 64 << 20
local steps, bytes, asked = 0, 0, "" -- what is left for the expression that is evaluated

-- spend(count, size): elements that are looked at, and bytes of texts that are read or made. A
-- variable may be of any size, and the library's functions for texts meet no hook.
function coerce.spend(count, size)
  steps, bytes = steps - count, bytes - size
  if steps < 0 then
    error(("%s: it looks at more than %d elements"):format(asked, STEPS), 0)
  elseif bytes < 0 then
    error(("%s: it reads and makes texts of more than %d MiB"):format(asked, BYTES >> 20), 0)
  end
end
local spend = coerce.spend

-- within(name, fn, scope) -> the value of fn(scope), which has a budget of its own.
function coerce.within(name, fn, scope)
  local before, left, outer = steps, bytes, asked
  steps, bytes, asked = STEPS, BYTES, name
  local value = fn(scope)
  steps, bytes, asked = before, left, outer
  return value
end

-- trim(text) -> the text without the blanks around it. One pattern would begin anew at each blank.
function coerce.trim(text)
  local first, last = text:find("%S"), #text
  if not first then
    return ""
  end
  while text:find("^%s", last) do
    last = last - 1
  end
  return text:sub(first, last)
end

-- A date is { ms = … } with this metatable: it exists while an expression is evaluated.
local Date = {}

function coerce.date(ms)
  return setmetatable({ ms = ms }, Date)
end

function coerce.is_date(value)
  return type(value) == "table" and getmetatable(value) == Date
end

local array = getmetatable(rules.array {})

-- True for a list: a table with the mark of arrays, or with elements only.
function coerce.is_list(value)
  return type(value) == "table" and (getmetatable(value) == array or rawlen(value) > 0)
end

local function described(value)
  return coerce.is_date(value) and "a date" or coerce.is_list(value) and "a list" or show(value)
end
coerce.show = described

-- plain(value): null of JSON is nothing.
function coerce.plain(value)
  if value ~= rules.null then
    return value
  end
end

-- ---- numbers ----

-- number(value, fail): nothing and "" are 0.
function coerce.number(value, fail)
  if type(value) == "number" then
    return value
  elseif value == nil or value == "" then
    return 0
  elseif coerce.is_date(value) then
    return value.ms
  end
  spend(1, type(value) == "string" and #value or 0)
  local found = type(value) == "string" and value:find "^%s*[+-]?[%d.]" and not value:find "[xX]"
    and tonumber((value:gsub("^%s*%+", "")))
  return found or fail("expected a number, got " .. described(value))
end

local function whole(value, fail)
  return math.tointeger(value) or fail("expected a whole number, got " .. described(value))
end

function coerce.index(value, fail)
  return whole(coerce.number(value, fail), fail)
end

local arithmetic = {}

arithmetic["+"] = function(a, b)
  return a + b
end

arithmetic["-"] = function(a, b)
  return a - b
end

arithmetic["*"] = function(a, b)
  return a * b
end

arithmetic["/"] = function(a, b)
  return a / b
end

arithmetic["%"] = function(a, b, fail)
  if b == 0 then
    fail "a division by zero has no remainder"
  end
  return math.fmod(a, b)
end

-- ---- texts ----

-- The shortest text that is read as the same number; 3.0 stays "3.0".
local function number_text(value)
  if math.type(value) == "integer" then
    return ("%d"):format(value)
  elseif value ~= value then
    return "NaN"
  elseif value == math.huge or value == -math.huge then
    return value > 0 and "Infinity" or "-Infinity"
  end
  for digits = 15, 17 do
    local text = ("%." .. digits .. "g"):format(value)
    if tonumber(text) == value then
      return text:find "[.e]" and text or text .. ".0"
    end
  end
end

local text_of

local function joined(value, depth)
  local parts = {}
  if coerce.is_list(value) then
    for i = 1, #value do
      parts[i] = text_of(rawget(value, i), depth)
      spend(1, #parts[i])
    end
    return "[" .. table.concat(parts, ", ") .. "]"
  end
  for name, member in next, value do
    local part = tostring(name) .. "=" .. text_of(member, depth)
    spend(1, #part)
    parts[#parts + 1] = part
  end
  table.sort(parts)
  return "{" .. table.concat(parts, ", ") .. "}"
end

function text_of(value, depth)
  local kind = type(value)
  if kind == "string" then
    return value
  elseif value == nil or value == rules.null then
    return depth > 0 and "null" or ""
  elseif kind == "number" then
    return number_text(value)
  elseif kind == "boolean" then
    return tostring(value)
  elseif coerce.is_date(value) then
    return rules.format_time(value.ms)
  elseif kind == "table" and depth < DEPTH_MAX then
    return joined(value, depth + 1)
  end
  return "…"
end

-- text(value): nothing is "".
function coerce.text(value)
  return text_of(value, 0)
end

-- ---- truth ----

function coerce.truth(value, fail)
  if type(value) == "boolean" then
    return value
  elseif value == nil then
    return false
  elseif type(value) == "string" then
    return #value == 4 and value:lower() == "true"
  end
  return fail("expected true or false, got " .. described(value))
end

function coerce.is_empty(value)
  return value == nil or value == ""
    or type(value) == "table" and not coerce.is_date(value) and next(value) == nil
end

local same

local function same_tables(a, b, depth)
  if depth > DEPTH_MAX or rawlen(a) ~= rawlen(b) then
    return false
  end
  for key, value in next, a do
    local other = rawget(b, key)
    if type(value) ~= type(other) or not same(value, other, nil, depth) then
      return false
    end
  end
  for key in next, b do
    if rawget(a, key) == nil then
      return false
    end
  end
  return true
end

-- same(a, b, fail, depth): numbers, then true and false, then texts decide how the other is read.
function same(a, b, fail, depth)
  spend(1, type(a) == "string" and #a or 0)
  if a == b then
    return true
  elseif a == nil or b == nil then
    return false
  end
  local ta, tb = type(a), type(b)
  if ta == "number" or tb == "number" then
    return coerce.number(a, fail) == coerce.number(b, fail)
  elseif ta == "boolean" or tb == "boolean" then
    return coerce.truth(a, fail) == coerce.truth(b, fail)
  elseif ta == "string" or tb == "string" then
    return coerce.text(a) == coerce.text(b)
  end
  return ta == "table" and tb == "table" and same_tables(a, b, (depth or 0) + 1)
end
coerce.same = same

local function before(a, b, fail)
  local ta, tb = type(a), type(b)
  spend(1, (ta == "string" and #a or 0) + (tb == "string" and #b or 0))
  if ta == "number" or tb == "number" or coerce.is_date(a) and coerce.is_date(b) then
    return coerce.number(a, fail) < coerce.number(b, fail)
  elseif ta == "string" or tb == "string" then
    return coerce.text(a) < coerce.text(b)
  end
  return fail(("%s and %s have no order"):format(described(a), described(b)))
end
coerce.before = before

local comparisons = {
  ["=="] = same,
  ["!="] = function(a, b, fail)
    return not same(a, b, fail)
  end,
  ["<"] = function(a, b, fail)
    return a ~= nil and b ~= nil and a ~= b and before(a, b, fail)
  end,
  [">"] = function(a, b, fail)
    return a ~= nil and b ~= nil and a ~= b and before(b, a, fail)
  end,
  ["<="] = function(a, b, fail)
    return a == b or a ~= nil and b ~= nil and not before(b, a, fail)
  end,
  [">="] = function(a, b, fail)
    return a == b or a ~= nil and b ~= nil and not before(a, b, fail)
  end,
}

-- operator(symbol) -> function(a, b, fail) -> value
function coerce.operator(symbol)
  local compare, compute = comparisons[symbol], arithmetic[symbol]
  return compare or function(a, b, fail)
    return compute(coerce.number(a, fail), coerce.number(b, fail), fail)
  end
end

return coerce
