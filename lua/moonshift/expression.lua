-- Expressions "${…}" and "#{…}" in texts (docs/expressions.md): conditions, mappings, retries,
-- priorities, due dates. They are read by a grammar and become closures; nothing is compiled as
-- Lua, and a value is data that is never read as an expression again.
--
-- A scope answers the names of an expression; all but `get` may be missing:
--   scope:get(name) -> value, found     a variable
--   scope:object(name) -> table or nil  execution, task (methods: moonshift.expression.objects), a
--                                       bean; a method is called as object[method](object, …)
--   scope.now                           the time, in ms
--   scope.lenient = true                an unknown name is nothing
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local expression = {}

local TEXT_MAX = 65536 -- bytes of an expression, and of a text that an expression gives
local SHOWN_MAX = 100
local OBJECTS = { execution = true, task = true, instance = true }
local CONSTANT = {
  constant = true, text = true, unary = true, binary = true, both = true, either = true,
  choice = true,
}

-- True for a text that holds an expression, however wrong.
function expression.is(text)
  return type(text) == "string" and text:find("[$#]{") ~= nil
end

local function shown(text)
  text = text:gsub("%s+", " ")
  return #text > SHOWN_MAX and text:sub(1, SHOWN_MAX) .. "…" or text
end

-- "file:line: ", as much of it as is known.
local function place(where)
  if not where.file then
    return ""
  end
  return where.line and ("%s:%d: "):format(where.file, where.line) or where.file .. ": "
end

-- ---- reading ----

-- Raises what an evaluation meets, with the place of the expression.
local function failing(text, where)
  return function(node)
    return function(message)
      error(("%s%s: %s (position %d)"):format(place(where), shown(text), message, node[2]), 0)
    end
  end
end

-- The value as data: a date is a text, null is nothing.
local function data(value, text)
  local kind = type(value)
  if kind == "string" or kind == "boolean" or kind == "nil" then
    return value
  elseif kind == "number" then
    if value ~= value or value == math.huge or value == -math.huge then
      error(("%s: the number is not finite"):format(text), 0)
    end
    return value
  elseif kind == "table" then
    local coerce = require "moonshift.expression.coerce"
    return coerce.is_date(value) and rules.format_time(value.ms) or value
  end
  error(("%s gives a %s (expected data)"):format(text, kind), 0)
end

-- True if no name is asked for: the value can be computed at once.
local function is_constant(node)
  if not CONSTANT[node[1]] then
    return false
  elseif node[1] == "constant" then
    return true
  end
  for i = 3, #node do
    if type(node[i]) == "table" and not is_constant(node[i]) then
      return false
    end
  end
  return true
end

local function compiled(tree, text, where)
  local compile = require "moonshift.expression.compile"
  local about = {
    fail_at = failing(text, where),
    pure = where.pure,
    objects = where.objects or OBJECTS,
    fields = where.fields,
    beans = where.beans,
  }
  local fine, result = pcall(compile, tree, about)
  if fine then
    return result
  elseif type(result) == "table" then
    return nil, result.message, result.position
  end
  return nil, "it is nested too deeply", 1
end

-- Evaluates a constant: its node, or nil and what it meets.
local function settle(node)
  local fine, value = pcall(node.fn, {})
  if not fine then
    return nil, value
  end
  node.constant, node.value = true, value
  return node
end

-- Blanks around a lone expression do not count.
local function parse(text)
  local grammar = require "moonshift.expression.grammar"
  local inner = text:match "^%s*([$#]{.*})%s*$" or text
  local tree, message, position = grammar.read(inner)
  if tree and inner ~= text and (#tree ~= 3 or type(tree[3]) ~= "table") then
    return text, grammar.read(text)
  end
  return inner, tree, message, position
end

local function read(text, where)
  if #text > TEXT_MAX then
    return nil, ("an expression of %d bytes (expected at most %d)"):format(#text, TEXT_MAX), 1
  end
  local inner, tree, message, position = parse(text)
  if not tree then
    return nil, message, position
  end
  local fn, problem, at = compiled(tree, inner, where)
  if not fn then
    return nil, problem, at
  end
  local node = { text = text }
  local name = place(where) .. shown(inner)
  local coerce = require "moonshift.expression.coerce"
  function node.fn(scope)
    return data(coerce.within(name, fn, scope), name)
  end
  if is_constant(tree) then
    return settle(node)
  end
  return node
end

-- read(text, where) -> { fn, text } and, if nothing is asked for, { constant = true, value }; or
-- nil, message, position. `where`: { file, line, pure = true where nothing may be changed }. In a
-- process a value is pure; what a service task or a listener calls is not. `where.beans` gets the
-- names whose methods are called that no data has: only a bean has such.
function expression.read(text, where)
  where = where or {}
  local node, message, position = read(text, where)
  if node or not position then
    return node, message, position
  end
  message = ("%s (position %d)"):format(message, position)
  if where.file then
    message = ("%s%s: %s"):format(place(where), shown(text), message)
  end
  return nil, message, position
end

local function note_names(node, found)
  if node[1] == "name" and not OBJECTS[node[3]] then
    found[node[3]] = true
  end
  for i = 3, #node do
    if type(node[i]) == "table" then
      note_names(node[i], found)
    end
  end
end

-- names(text) -> the variables that an expression reads, in the order of the alphabet
function expression.names(text)
  local beans, found, list = {}, {}, {}
  local _, tree = parse(text)
  if not tree or not expression.read(text, { beans = beans }) then
    return list
  end
  note_names(tree, found)
  for name in pairs(found) do
    list[#list + 1] = not beans[name] and name or nil
  end
  table.sort(list)
  return list
end

-- compile(text, where, options) -> function(scope) -> value; or nil, message, position. A text
-- without an expression gives itself. `options`: { pure, beans } as in `where`.
function expression.compile(text, where, options)
  where = where or {}
  local pure = where.pure or options and options.pure
  local node, message, position = expression.read(text,
    { file = where.file, line = where.line, pure = pure, beans = options and options.beans })
  return node and node.fn, message, position
end

-- ---- retries and priorities of plain jobs (rules §9) ----

-- check(text, value): the value of a text that is read as a configuration: a number, a text, true
-- or false, nothing. Raises on all others.
function expression.check(text, value)
  local kind = type(value)
  if kind ~= "number" and kind ~= "string" and kind ~= "boolean" and kind ~= "nil" then
    error(("the expression %s gives %s (expected a number or a text)"):format(text, show(value)),
      0)
  elseif kind == "string" and #value > TEXT_MAX then
    error(("the expression %s gives a text of %d bytes (expected at most %d)"):format(text, #value,
      TEXT_MAX), 0)
  elseif kind == "string" and value:find "[$#]{" then
    error(("the expression %s gives %s, an expression again (expected plain text)"):format(text,
      show(value)), 0)
  end
  return value
end

-- The scope of a plain job: its payload by `payload`, its fields by `job`, any other name is a
-- field of the payload.
local Job = { lenient = true }
Job.__index = Job

function Job:get(name)
  local payload = self.job.payload
  if name == "payload" then
    return payload, true
  end
  if type(payload) ~= "table" then
    return nil, true
  end
  return rawget(payload, name), true
end

local FIELDS = {}
for _, name in ipairs(rules.job_fields) do
  FIELDS[name] = name
end
local OF_JOBS = { pure = true, objects = { job = true }, fields = FIELDS }

-- of_job(text) -> as read, for a retry or a priority of a plain job.
function expression.of_job(text)
  return expression.read(text, OF_JOBS)
end

-- ask(node, job) -> a number, a text, true or false, or nil where the expression gives nothing.
function expression.ask(node, job)
  if node.constant then
    return expression.check(node.text, node.value)
  end
  return expression.check(node.text, node.fn(setmetatable({ job = job }, Job)))
end

return expression
