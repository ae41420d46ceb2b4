-- Values as the text of Lua, without line numbers and what else does not matter to a run.
local literal = {}

local WIDTH = 98
local IDLE = { line = true, column = true, names = true, functions = true, path = true }
local WORDS = {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat "
  .. "return then true until while"):gmatch "%a+" do
  WORDS[word] = true
end

-- text(value) -> the value of a text in Lua. One with several lines stands in long brackets.
function literal.text(value)
  if value:find "\n" and not value:find "[\r\0]" then
    local level = ""
    while value:find("]" .. level .. "]", 1, true) or value:find("]" .. level .. "$") do
      level = level .. "="
    end
    return ("[%s[\n%s]%s]"):format(level, value, level)
  end
  local quoted = ("%q"):format(value):gsub("\\\n", "\\n")
  return quoted
end

-- key(name) -> how the name stands before "=".
function literal.key(name)
  if name:find "^[%a_][%w_]*$" and not WORDS[name] then
    return name
  end
  return ("[%s]"):format(literal.text(name))
end

local function table_text(value)
  local parts, keys = {}, {}
  for i, member in ipairs(value) do
    parts[i] = literal.value(member)
  end
  for key in pairs(value) do
    keys[#keys + 1] = type(key) == "string" and not IDLE[key] and key or nil
  end
  table.sort(keys)
  for _, key in ipairs(keys) do
    parts[#parts + 1] = ("%s = %s"):format(literal.key(key), literal.value(value[key]))
  end
  return #parts == 0 and "{}" or ("{ %s }"):format(table.concat(parts, ", "))
end

-- value(value) -> its text. Raises a text for functions, which have none.
function literal.value(value)
  local kind = type(value)
  if kind == "string" then
    return literal.text(value)
  elseif kind == "table" then
    return table_text(value)
  elseif kind == "number" and math.type(value) == "float" then
    return ("%.17g"):format(value)
  elseif kind == "number" or kind == "boolean" then
    return tostring(value)
  end
  error(("a %s has no text"):format(kind), 0)
end

-- ---- items ----

local item_lines

-- The options of an item or branch, then what it holds, as parts of a table.
local function parts_of(item, indent)
  local parts = {}
  for _, option in ipairs(item.options) do
    parts[#parts + 1] = ("%s = %s"):format(literal.key(option[1]), option[2])
  end
  for _, inner in ipairs(item.items or {}) do
    parts[#parts + 1] = item_lines(inner, indent .. "  ")
  end
  return parts
end

-- The text of an item { word, id, options = { { name, text }, … }, items } at this indentation.
function item_lines(item, indent)
  local head = item.word and ("%s %s "):format(item.word, literal.text(item.id)) or ""
  local parts = parts_of(item, indent)
  if #parts == 0 then
    return head .. "{}"
  end
  local flat = ("%s{ %s }"):format(head, table.concat(parts, ", "))
  if #indent + #flat <= WIDTH and not flat:find "\n" then
    return flat
  end
  local lines = {}
  for i, part in ipairs(parts) do
    lines[i] = ("%s  %s,\n"):format(indent, part)
  end
  return ("%s{\n%s%s}"):format(head, table.concat(lines), indent)
end
literal.item = item_lines

return literal
