-- Expressions "${…}" and "#{…}" of retries and priorities (rules §9): a literal, or a dotted path
-- over the payload and the job. A parser of its own reads them and nothing is compiled, so the
-- value of an expression is data, from any writer of a payload.
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local expression = {}

local TEXT_MAX = 65536 -- bytes of a text that an expression gives
local MORE = "(an expression is a literal or a dotted path such as payload.retry; for more, "
  .. "write a function)"
local LITERALS = { ["true"] = true, ["false"] = false }
-- Words that mean something else in expression languages; no field can be named by them.
local RESERVED = {}
for word in ("and or not eq ne lt gt le ge empty instanceof div mod"):gmatch("%a+") do
  RESERVED[word] = true
end

-- True for a text that is meant as an expression, however wrong.
function expression.is(text)
  return type(text) == "string" and text:find("^%s*[$#]{") ~= nil
end

-- ---- reading ----

-- A reader holds the text and the position of the next byte. Its methods give a node, or nil and a
-- message. Nodes: { constant = true, value = … } or { root = "payload" or "job", path = names }.
local Reader = {}
Reader.__index = Reader

function Reader:fail(expected)
  return nil, ("expected %s (position %d) %s"):format(expected, self.at, MORE)
end

function Reader:skip_blanks()
  self.at = self.text:find("[^%s]", self.at) or #self.text + 1
end

-- The text that the pattern finds here, which is then behind the reader; nil if it finds none.
function Reader:take(pattern)
  local found = self.text:match("^" .. pattern, self.at)
  if found then
    self.at = self.at + #found
  end
  return found
end

-- 'text' or "text"; a backslash stands before a quote or a backslash that is meant.
function Reader:quoted(quote)
  local parts = {}
  self.at = self.at + 1
  while true do
    parts[#parts + 1] = self:take("[^\\'\"]+")
    local char = self:take(".")
    if char == quote then
      return { constant = true, value = table.concat(parts) }
    elseif char == "\\" then
      char = self:take("[\\'\"]")
      if not char then
        return self:fail("a quote or a backslash after the backslash")
      end
    elseif not char then
      return self:fail("the end of the quoted text")
    end
    parts[#parts + 1] = char
  end
end

function Reader:number()
  local text = self:take("%-?%d+%.?%d*[eE][+-]?%d+") or self:take("%-?%d+%.?%d*")
  if not text then
    return self:fail("a number")
  end
  return { constant = true, value = tonumber(text) }
end

-- The names after the first one: each is a point and a name.
function Reader:rest_of_path(node)
  self:skip_blanks()
  if not self:take("%.") then
    return node
  end
  self:skip_blanks()
  local name = self:take("[%a_][%w_]*")
  if not name then
    return self:fail("a name")
  end
  node.path[#node.path + 1] = name
  return self:rest_of_path(node)
end

-- A field of the job that is known; its methods and its engine are no data.
local function check_job(node)
  local name = node.path[1]
  if not name then
    return nil, "expected a field of the job such as job.attempt " .. MORE
  end
  for _, field in ipairs(rules.job_fields) do
    if field == name then
      return node
    end
  end
  local meant = rules.suggest(name, rules.job_fields)
  return nil, ('job has no field "%s"%s'):format(name,
    meant and (' (did you mean "%s"?)'):format(meant) or "")
end

function Reader:path(first)
  local known = first == "payload" or first == "job"
  local node, message = self:rest_of_path {
    root = known and first or "payload",
    path = { not known and first or nil },
  }
  if node and node.root == "job" then
    return check_job(node)
  end
  return node, message
end

function Reader:value()
  local char = self.text:sub(self.at, self.at)
  if char == "'" or char == '"' then
    return self:quoted(char)
  elseif char:find("[%d-]") then
    return self:number()
  end
  local word = self:take("[%a_][%w_]*")
  if not word then
    return self:fail("a value")
  elseif LITERALS[word] ~= nil or word == "nil" or word == "null" then
    return { constant = true, value = LITERALS[word] }
  elseif RESERVED[word] then
    self.at = self.at - #word
    return self:fail("a value")
  end
  return self:path(word)
end

-- read(text) -> a node, with `text`; or nil, message. `text` is one that expression.is takes.
function expression.read(text)
  local reader = setmetatable({ text = text, at = 1 }, Reader)
  reader:take("%s*[$#]{%s*")
  if not text:find("}%s*$") then
    return nil, "expected } at the end of an expression"
  elseif text:find("^}%s*$", reader.at) then
    return nil, "expected an expression between the braces"
  end
  local node, message = reader:value()
  if not node then
    return nil, message
  end
  reader:skip_blanks()
  if not text:find("^}%s*$", reader.at) then
    return reader:fail("}")
  end
  node.text = text
  return node
end

-- ---- asking ----

local function check_value(node, value)
  local kind = type(value)
  if value == rules.null or kind == "nil" then
    return nil
  elseif kind ~= "number" and kind ~= "string" and kind ~= "boolean" then
    error(("the expression %s gives %s (expected a number or a text)"):format(node.text,
      show(value)), 0)
  elseif kind == "string" and #value > TEXT_MAX then
    error(("the expression %s gives a text of %d bytes (expected at most %d)"):format(node.text,
      #value, TEXT_MAX), 0)
  elseif kind == "string" and value:find("[$#]{") then
    error(("the expression %s gives %s, an expression again (expected plain text)"):format(
      node.text, show(value)), 0)
  end
  return value
end

-- ask(node, job) -> a number, a text, a boolean, or nil where the path ends in nothing. Raises on
-- all other values. The value is never read as an expression again.
function expression.ask(node, job)
  if node.constant then
    return check_value(node, node.value)
  end
  local value = node.root == "job" and job or job.payload
  for i, name in ipairs(node.path) do
    if i == 1 and node.root == "job" then
      value = job[name]
    elseif type(value) == "table" then
      value = rawget(value, name)
    else
      return nil
    end
  end
  return check_value(node, value)
end

return expression
