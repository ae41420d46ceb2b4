-- Makes a Lua function of the tree of an expression: closures over closures, nothing is given to
-- load. The function takes a scope (see moonshift.expression) and gives the value.
local coerce = require "moonshift.expression.coerce"
local methods = require "moonshift.expression.methods"
local objects = require "moonshift.expression.objects"
local rules = require "moonshift.rules"

-- Names that lead to classes and reflection in other engines.
local REFUSED = { class = true, getClass = true, forName = true, newInstance = true }
local ROOTS = { java = true, javax = true }

local compilers = {}

-- A compilation: { fail_at = function(position) -> fail, pure, objects, fields }.
local function compile(node, about)
  return compilers[node[1]](node, about)
end

-- Stops a compilation with what is wrong and where.
local function refuse(node, message, ...)
  error({ message = message:format(...), position = node[2] }, 0)
end

local function check_name(node, name)
  if REFUSED[name] then
    refuse(node, "%s: classes and reflection are not available", name)
  end
end

local function suggested(name, names)
  local meant = rules.suggest(name, names)
  return meant and (' (did you mean "%s"?)'):format(meant) or ""
end

local plain = coerce.plain

-- ---- values ----

function compilers.constant(node)
  local value = node[3]
  return function()
    return value
  end
end

local function text_parts(node, about)
  local parts = {}
  for i = 3, #node do
    local part = node[i]
    parts[#parts + 1] = type(part) == "table" and compile(part, about) or part
  end
  return parts
end

-- A lone expression gives its value; with text around it, a text.
function compilers.text(node, about)
  local parts, fail = text_parts(node, about), about.fail_at(node)
  if #parts == 1 and type(parts[1]) == "function" then
    return parts[1]
  end
  return function(scope)
    local out, size = {}, 0
    for i, part in ipairs(parts) do
      out[i] = type(part) == "string" and part or coerce.text(part(scope))
      size = size + #out[i]
      coerce.spend(1, #out[i])
      methods.check_size(size, fail)
    end
    return table.concat(out)
  end
end

-- ---- names ----

-- The object of the scope behind `execution`, `instance` or `task`, or nil.
local function object_named(scope, name)
  return scope.object and scope:object(name == "instance" and "execution" or name)
end

local function asked_object(scope, name, fail)
  return object_named(scope, name) or fail(('"%s" is not known here'):format(name))
end

local function sorted_keys(from)
  local names = {}
  for name in pairs(from) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

local function variable(node, about)
  local name, fail = node[3], about.fail_at(node)
  return function(scope)
    local value, found = scope:get(name)
    if value ~= nil then
      return plain(value)
    elseif found or scope.lenient then
      return nil
    end
    return fail(('unknown name "%s"'):format(name))
  end
end

function compilers.name(node, about)
  local name, get = node[3], variable(node, about)
  check_name(node, name)
  if about.fields and name == "job" then
    refuse(node, "expected a field of the job such as job.attempt")
  elseif ROOTS[name] then
    refuse(node, "%s: classes and reflection are not available", name)
  elseif not about.objects[name] then
    return get
  end
  local fail = about.fail_at(node)
  return function(scope)
    if name ~= "execution" then
      return object_named(scope, name) or get(scope)
    end
    return asked_object(scope, name, fail)
  end
end

-- The name of an object where the node is one: execution, task, instance, job.
local function object_of(node, about)
  return node[1] == "name" and about.objects[node[3]] and node[3] or nil
end

-- ---- what follows a name ----

local function field_of(value, name, fail, scope)
  if value == nil then
    return nil
  elseif type(value) == "table" and not coerce.is_date(value) then
    if name == "empty" then
      return plain(rawget(value, name)) or coerce.is_empty(value)
    end
    return plain(rawget(value, name))
  elseif coerce.is_date(value) and name == "time" then
    return value.ms
  elseif scope.lenient then
    return nil
  end
  return fail(('%s has no "%s"'):format(coerce.show(value), name))
end

local function field_of_job(node, about)
  local name = node[4]
  if not about.fields[name] then
    refuse(node, 'job has no field "%s"%s', name, suggested(name, sorted_keys(about.fields)))
  end
  return function(scope)
    return plain(scope.job[name])
  end
end

-- `task` and `instance` may be variables, too: what the object lacks is theirs.
local function field_of_object(node, about, object)
  local name, fail = node[4], about.fail_at(node)
  local known, get = objects.fields[object], variable(node[3], about)
  local method = known[name]
  if not method and object == "execution" then
    refuse(node, '%s has no field "%s"%s', object, name, suggested(name, sorted_keys(known)))
  end
  return function(scope)
    local target = object_named(scope, object)
    if target and method then
      return plain((objects.call(target, method, fail)))
    elseif object == "execution" then
      return asked_object(scope, object, fail)
    end
    return field_of(get(scope), name, fail, scope)
  end
end

function compilers.property(node, about)
  local of, name = node[3], node[4]
  check_name(node, name)
  local object = object_of(of, about)
  if object == "job" then
    return field_of_job(node, about)
  elseif object then
    return field_of_object(node, about, object)
  end
  local target, fail = compile(of, about), about.fail_at(node)
  return function(scope)
    return field_of(target(scope), name, fail, scope)
  end
end

function compilers.index(node, about)
  local target, key, fail = compile(node[3], about), compile(node[4], about), about.fail_at(node)
  return function(scope)
    local value, at = target(scope), key(scope)
    if coerce.is_list(value) then
      return plain(rawget(value, coerce.index(at, fail) + 1))
    elseif at == nil then
      return nil
    end
    return field_of(value, coerce.text(at), fail, scope)
  end
end

-- ---- calls ----

local function arguments_of(list, about)
  local compiled = {}
  for i, node in ipairs(list) do
    compiled[i] = compile(node, about)
  end
  return function(scope)
    local values = { n = #compiled }
    for i, argument in ipairs(compiled) do
      values[i] = argument(scope)
    end
    return values
  end
end

-- Values of dates become texts where they leave the expression.
local function outward(value)
  if coerce.is_date(value) then
    return rules.format_time(value.ms)
  end
  return value
end

local function outward_all(values)
  for i = 1, values.n do
    values[i] = outward(values[i])
  end
  return values
end

local function size_of(value)
  return type(value) == "string" and #value or 0
end

-- A method of a text reads it, and what it is given.
local function pay(value, values)
  local size = size_of(value)
  for i = 1, values.n do
    size = size + size_of(values[i])
  end
  coerce.spend(1, size)
end

-- Calls a function of a bean, or of what a bean gave.
local function call_foreign(fn, self, values)
  outward_all(values)
  return plain((fn(self, table.unpack(values, 1, values.n))))
end

local function call_data(value, name, values, fail)
  if type(value) == "table" and not coerce.is_date(value) and type(value[name]) == "function" then
    return call_foreign(value[name], value, values)
  elseif value == nil and name == "isNull" then
    return true
  elseif value == nil then
    return fail(("%s() of nothing"):format(name))
  end
  local method, names = methods.find(value, name)
  if not method then
    return fail(('%s has no method "%s"%s'):format(coerce.show(value), name,
      suggested(name, names)))
  end
  pay(value, values)
  return plain((method(value, fail, table.unpack(values, 1, values.n))))
end

local function call_bean(bean, name, values, fail, bean_name)
  local fn = bean[name]
  if type(fn) ~= "function" then
    return fail(('the bean "%s" has no method "%s"'):format(bean_name, name))
  end
  return call_foreign(fn, bean, values)
end

local function check_pure(node, about, name, writes)
  if writes and about.pure then
    refuse(node, "%s() changes something (a value is computed here, and perhaps again)", name)
  end
end

local function object_method(node, about, object)
  local name, arguments, fail = node[4], arguments_of(node[5], about), about.fail_at(node)
  local method, writes = objects.method(object, name)
  if not method then
    refuse(node, '%s has no method "%s"%s', object, name, suggested(name, objects.names(object)))
  end
  check_pure(node, about, name, writes)
  return function(scope)
    local target, values = asked_object(scope, object, fail), outward_all(arguments(scope))
    return plain((objects.call(target, method, fail, table.unpack(values, 1, values.n))))
  end
end

-- A bean comes before a variable of its name: who sets variables does not choose what is called.
local function named_method(node, about)
  local bean_name, name = node[3][3], node[4]
  local get, arguments, fail = compile(node[3], about), arguments_of(node[5], about),
    about.fail_at(node)
  if about.beans and not methods.names[name] then
    about.beans[bean_name] = true
  end
  return function(scope)
    local bean = scope.object and scope:object(bean_name)
    if bean then
      return call_bean(bean, name, arguments(scope), fail, bean_name)
    elseif not methods.names[name] and scope:get(bean_name) == nil then
      return fail(('there is no bean "%s"'):format(bean_name))
    end
    return call_data(get(scope), name, arguments(scope), fail)
  end
end

-- Methods of Spin that are not here. No data has them, and no bean is likely to.
local ELSEWHERE = { jsonPath = true, xPath = true, mapTo = true, deleteProp = true,
  childElement = true, childElements = true }
local NODES = { prop = true, elements = true } -- what gives a part of a document

-- What a bean gives may have any method. Data has those of the list: of now(), of a literal, of a
-- part of a document.
local function check_data(node, of, name)
  local part = ELSEWHERE[name]
  while of[1] == "method" or of[1] == "property" or of[1] == "index" do
    part = part or of[1] == "method" and NODES[of[4]]
    of = of[3]
  end
  if (part or of[1] == "call" or of[1] == "constant") and not methods.names[name] then
    refuse(node, "there is no %s()%s", name, suggested(name, sorted_keys(methods.names)))
  end
end

function compilers.method(node, about)
  local of, name = node[3], node[4]
  check_name(node, name)
  check_data(node, of, name)
  local object = object_of(of, about)
  if object and (object == "execution" or object == "job" or objects.method(object, name)) then
    return object_method(node, about, object)
  elseif of[1] == "name" then
    return named_method(node, about)
  end
  local target, arguments, fail = compile(of, about), arguments_of(node[5], about),
    about.fail_at(node)
  return function(scope)
    return call_data(target(scope), name, arguments(scope), fail)
  end
end

local function now(scope, fail, name)
  return scope.now and coerce.date(scope.now) or fail(name .. "() is not known here")
end

-- The value that a text in JSON stands for; what is no text is it already.
local function parsed(_, fail, name, text)
  if type(text) ~= "string" then
    return text
  end
  coerce.spend(1, #text)
  local value, message = rules.decode(text)
  if value == nil then
    fail(("%s(): %s"):format(name, message))
  end
  return plain(value)
end

-- The functions, and how many arguments they take.
local FUNCTIONS = {
  now = { now, 0 }, dateTime = { now, 0 }, S = { parsed, 1 }, JSON = { parsed, 1 },
}

function compilers.call(node, about)
  local name, fail, known = node[3], about.fail_at(node), FUNCTIONS[node[3]]
  if name == "XML" then
    refuse(node, "XML() is not known here (expected JSON())")
  elseif not known then
    refuse(node, 'there is no %s()%s', name, suggested(name, sorted_keys(FUNCTIONS)))
  elseif about.fields then
    refuse(node, "%s() is not known in a retry or priority of a job", name)
  elseif #node[4] ~= known[2] then
    refuse(node, "%s() takes %s", name, known[2] == 0 and "nothing" or "one value")
  end
  local arguments = arguments_of(node[4], about)
  return function(scope)
    return known[1](scope, fail, name, (table.unpack(arguments(scope), 1, known[2])))
  end
end

-- variables:get(x): the first argument names a variable, with quotes or without.
function compilers.prefixed(node, about)
  local name, list, fail = node[4], node[5], about.fail_at(node)
  local method = objects.prefixed[name]
  if not method then
    refuse(node, 'there is no "%s:%s"%s', node[3], name,
      suggested(name, sorted_keys(objects.prefixed)))
  elseif not list[1] then
    refuse(node, "%s:%s() expects the name of a variable", node[3], name)
  end
  if list[1][1] == "name" then
    list[1] = { "constant", list[1][2], list[1][3] }
  end
  local arguments = arguments_of(list, about)
  return function(scope)
    local values = arguments(scope)
    return plain((method(scope, fail, table.unpack(values, 1, values.n))))
  end
end

-- ---- operators ----

function compilers.binary(node, about)
  local compute, fail = coerce.operator(node[3]), about.fail_at(node)
  local left, right = compile(node[4], about), compile(node[5], about)
  return function(scope)
    local a = left(scope)
    return compute(a, right(scope), fail)
  end
end

function compilers.both(node, about)
  local left, right, fail = compile(node[3], about), compile(node[4], about), about.fail_at(node)
  return function(scope)
    return coerce.truth(left(scope), fail) and coerce.truth(right(scope), fail)
  end
end

function compilers.either(node, about)
  local left, right, fail = compile(node[3], about), compile(node[4], about), about.fail_at(node)
  return function(scope)
    return coerce.truth(left(scope), fail) or coerce.truth(right(scope), fail)
  end
end

function compilers.choice(node, about)
  local asked, fail = compile(node[3], about), about.fail_at(node)
  local yes, no = compile(node[4], about), compile(node[5], about)
  return function(scope)
    if coerce.truth(asked(scope), fail) then
      return yes(scope)
    end
    return no(scope)
  end
end

local unary = {
  ["-"] = function(value, fail)
    return -coerce.number(value, fail)
  end,
  ["!"] = function(value, fail)
    return not coerce.truth(value, fail)
  end,
  empty = coerce.is_empty,
}

function compilers.unary(node, about)
  local compute, operand, fail = unary[node[3]], compile(node[4], about), about.fail_at(node)
  return function(scope)
    return compute(operand(scope), fail)
  end
end

return compile
