-- Variables of an instance: where a name is found, what scripts see of it, what a call has read.
--
-- Reading looks outwards through the scopes. Assigning sets where the name exists, else in the
-- instance. A value in a frame never changes: what is assigned is copied, and what a script reads
-- is a copy of its own. A script that changes its copy and does not assign it gets an error.
local large = require "moonshift.process.large"
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local variables = {}

local NAME_MAX = 255 -- bytes
local DEPTH_MAX = 100
local NONE = {}
local ARRAY = getmetatable(rules.array {}) -- the mark of lists; other metatables are no data

-- ---- values ----

-- "processes/order.lua:3: pack: ": where a token stands.
local function place_of(inst, token)
  local graph = inst.plan.graph
  local step = inst.plan.steps[token.at:match("^[^#]*")]
  local path, line = graph.path, step and step.node.line
  return (path and path .. (line and ":" .. line or "") .. ": " or "")
    .. (step and step.id .. ": " or "")
end

-- Says of a value what is no data; `inst` and `token` are given where it becomes a variable.
local function refuse(name, what, inst, token)
  error(("%s%s: cannot keep %s (expected nil, boolean, number, text or table)"):format(
    inst and place_of(inst, token) .. "the variable " or "", name, what), 0)
end

local function wrong_text(text)
  return not utf8.len(text) and "a text that is not UTF-8"
    or text:find("\0", 1, true) and "a text with a zero byte"
end

local function wrong_number(number)
  return (number ~= number or number == math.huge or number == -math.huge) and tostring(number)
end

-- What JSON does not have. nil: the value is data, or a table whose entries are looked at.
local function wrong(value)
  local kind = type(value)
  if kind == "string" then
    return wrong_text(value)
  elseif kind == "number" then
    return wrong_number(value)
  elseif kind == "function" or kind == "thread" or (kind == "userdata" and value ~= rules.null) then
    return show(value)
  end
end

local function wrong_key(key)
  if type(key) == "string" then
    return wrong_text(key)
  end
  return math.type(key) ~= "integer" and "a table with the key " .. show(key)
end

local function copy(value, name, depth, inst, token)
  local bad = wrong(value) or depth > DEPTH_MAX and type(value) == "table"
    and "more than 100 tables in each other, or one in itself"
  if bad then
    refuse(name, bad, inst, token)
  elseif type(value) ~= "table" then
    return value
  end
  local is_array = getmetatable(value) == ARRAY
  local made, names, numbers = is_array and rules.array {} or {}, is_array, 0
  for key, item in pairs(value) do
    bad = wrong_key(key)
    if bad then
      refuse(name, bad, inst, token)
    elseif type(key) == "string" then
      names = true
    else
      numbers = numbers + 1
    end
    rawset(made, key, copy(item, name, depth + 1, inst, token))
  end
  if numbers > 0 and (names and not is_array or rawlen(made) ~= numbers) then
    refuse(name, "a table that is neither a list nor has names alone", inst, token)
  end
  return made
end

-- copy(value, name, inst, token) -> the value as data of its own; raises if it is none. `inst` and
-- `token` say where the variable of this name is set.
function variables.copy(value, name, inst, token)
  return copy(value, name, type(value) == "table" and 1 or 0, inst, token)
end

-- check_row(inst, token, row): raises if a text of a row that waits for the token is none.
function variables.check_row(inst, token, row)
  for field, value in pairs(row) do
    local bad = type(value) == "string" and wrong_text(value)
    if bad then
      error(("%s%s: cannot keep %s"):format(place_of(inst, token), field, bad), 0)
    elseif type(value) == "table" then
      copy(value, place_of(inst, token) .. field, 1)
    end
  end
end

-- equal(a, b) -> whether both are the same data
function variables.equal(a, b)
  if a == b then
    return true
  elseif type(a) ~= "table" or type(b) ~= "table" then
    return false
  end
  for key, item in pairs(a) do
    if not variables.equal(item, b[key]) then
      return false
    end
  end
  for key in pairs(b) do
    if a[key] == nil then
      return false
    end
  end
  return true
end

local function check_name(name)
  if type(name) ~= "string" or name == "" or #name > NAME_MAX then
    error(("the name of a variable is %s (expected a text of 1 to 255 bytes)"):format(
      show(name)), 0)
  elseif wrong_text(name) then
    error(("the name of a variable is %s (expected UTF-8 without a zero byte)"):format(
      wrong_text(name)), 0)
  end
end

-- check_name(name): raises if it can be none of a variable.
variables.check_name = check_name

-- ---- places ----

-- get(token, name) -> value, and the token or scope that has it; nil if none has.
function variables.get(token, name)
  repeat
    local vars = token.vars
    local value = vars and vars[name]
    if value == nil and token.large then
      value = large.read(token, name)
    end
    if value == nil and token.counts then
      value = token.counts(name)
    end
    if value ~= nil then
      return value, token
    end
    token = token.scope or token.beyond and token.beyond()
  until not token
  return nil
end

-- Takes away all that a token or scope has.
function variables.clear(holder)
  holder.vars, holder.large, holder.types = nil, nil, nil
end

-- A variable is about to be written by which instances are found, which conditions see, or of which
-- listeners hear.
local function tell_write(inst, holder, name, value)
  local plan, transient = inst.plan, holder.transient
  if plan.search and plan.search[name] and not holder.scope
    and not (transient and transient[name]) then
    inst.found_by = inst.found_by or {}
    inst.found_by[name] = true
  end
  if plan.conditions then
    inst.walk.conditions.wrote(inst, holder, name, value)
  end
end

-- put(inst, holder, name, value) sets it exactly there; nil takes it away.
function variables.put(inst, holder, name, value)
  inst = inst.turn and inst:owner(holder) or inst
  local vars = holder.vars
  if not vars then
    vars = {}
    holder.vars = vars
  end
  if inst.plan.notes then
    tell_write(inst, holder, name, value)
  end
  vars[name] = value
  if holder.transient and holder.transient[name] then
    return
  end
  if holder.types then
    holder.types[name] = nil -- of the value before
  end
  if type(value) == "table" then
    inst.frame.has_data = true
  end
  inst:tell_variable(holder, name, value)
end

-- The token or scope whose variables are local for this token.
local function local_holder(inst, token)
  local step = inst.plan.steps[token.at]
  if not token.scope or token.state == "scope" or token.state == "body"
    or (step and step.is_scope) or token.scope.state == "body" then
    return token
  end
  return token.scope
end

-- set(inst, token, name, value): where the name exists, else in the instance
function variables.set(inst, token, name, value)
  check_name(name)
  local _, holder = variables.get(token, name)
  variables.put(inst, holder or inst:outermost(), name, variables.copy(value, name, inst, token))
end

function variables.set_local(inst, token, name, value)
  check_name(name)
  variables.put(inst, local_holder(inst, token), name, variables.copy(value, name, inst, token))
end

-- unset(inst, token, name): takes away what is seen from there, if there is one.
function variables.unset(inst, token, name)
  check_name(name)
  local _, holder = variables.get(token, name)
  if holder then
    variables.put(inst, holder, name, nil)
  end
end

-- The same as set_local for an operator: beside other branches of its scope, a token has its own.
function variables.set_at(inst, token, name, value)
  if token.scope and token.scope.kids > 1 then
    check_name(name)
    return variables.put(inst, token, name, variables.copy(value, name, inst, token))
  end
  variables.set_local(inst, token, name, value)
end

-- Notes the type that came with a value.
local function tag(token, given, name, kind)
  local _, holder = variables.get(token, name)
  if type(kind) ~= "string" or kind == "" or #kind > NAME_MAX then
    error(("types: %s is %s (expected a text of 1 to 255 bytes)"):format(name, show(kind)), 0)
  elseif not given.variables or given.variables[name] == nil then
    error(("types: %s is not among the variables"):format(name), 0)
  end
  holder.types = holder.types or {}
  holder.types[name] = kind
end

local function sorted(values)
  local names = {}
  for name in pairs(values) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

-- set_given(inst, token, given, set): sets the `variables` of a command, with their `types`. Where
-- conditions look at each of them, they have an order.
function variables.set_given(inst, token, given, set)
  local values = given.variables or NONE
  for _, name in ipairs(inst.plan.conditions and sorted(values) or NONE) do
    (set or variables.set)(inst, token, name, values[name])
  end
  for name, value in pairs(inst.plan.conditions and NONE or values) do
    (set or variables.set)(inst, token, name, value)
  end
  for name, kind in pairs(given.types or NONE) do
    tag(token, given, name, kind)
  end
end

-- set_transient(inst, name, value): a variable of the instance that lasts as long as the walk. It
-- is written nowhere, also if it is set again. `token` sets it, if one does.
function variables.set_transient(inst, name, value, token)
  check_name(name)
  local outer = inst.frame.outer
  local names = outer.transient or {}
  if not names[name] and variables.get(outer, name) ~= nil then
    error(("the variable %s is kept already (expected another name for a transient one)"):format(
      name), 0)
  end
  outer.transient, names[name] = names, true
  variables.put(inst, outer, name, variables.copy(value, name, inst, token or outer))
end

function variables.set_all_transient(inst, values)
  for name, value in pairs(values or NONE) do
    variables.set_transient(inst, name, value)
  end
end

-- set_all_own(inst, holder, values): variables of this token or scope, whatever is around it
function variables.set_all_own(inst, holder, values)
  for _, name in ipairs(values and sorted(values) or NONE) do
    check_name(name)
    variables.put(inst, holder, name, variables.copy(values[name], name, inst, holder))
  end
end

-- all(token, kept) -> every variable that is seen from there, by name; with `kept` those that are
-- not transient
function variables.all(token, kept)
  local found = {}
  repeat
    local transient = kept and token.transient or NONE
    for name in pairs(token.large or NONE) do
      if not (token.vars and token.vars[name]) then
        large.read(token, name)
      end
    end
    for name, value in pairs(token.vars or NONE) do
      if found[name] == nil and not transient[name] then
        found[name] = value
      end
    end
    token = token.scope or token.beyond and token.beyond()
  until not token
  return found
end

-- ---- notes of a call ----

-- A note is what one call has read and written. `seen` has the values by name, and `missed` the
-- names without one, as they were before the call wrote them (`own`). `writes` are { name, value,
-- is_local }; `result_name` is the variable that gets the result. `copies` are, by name, what the
-- script has and what it is a copy of. `effects` are jobs, instances and messages asked for.
-- What nothing was put into is missing.
function variables.note()
  return {}
end

-- The table of this name in a note, made if it is missing.
local function part(note, name)
  local made = note[name]
  if not made then
    made = {}
    note[name] = made
  end
  return made
end
variables.part = part

local function has(note, which, name)
  local made = note[which]
  return made ~= nil and made[name] ~= nil
end

local function note_read(note, name, value)
  if has(note, "seen", name) or has(note, "missed", name) or has(note, "own", name) then
    return
  elseif value == nil then
    part(note, "missed")[name] = true
  else
    part(note, "seen")[name] = value
  end
end

local function was_read(note, name)
  return has(note, "seen", name) or has(note, "missed", name)
end

-- rewritten(note) -> an iterator over the names that the call had read and has written; its result
-- counts as written
function variables.rewritten(note)
  local at, writes = 0, note.writes or NONE
  return function()
    repeat
      at = at + 1
      local name = writes[at] and writes[at].name or at == #writes + 1 and note.result_name
      if name and was_read(note, name) then
        return name
      end
    until at > #writes
  end
end

-- outdated(token, note) -> one of them that has another value now, or nil
function variables.outdated(token, note)
  for name in variables.rewritten(note) do
    if not variables.equal(variables.get(token, name), note.seen and note.seen[name]) then
      return name
    end
  end
end

-- Writes again what a call wrote.
function variables.replay(inst, token, note)
  for _, write in ipairs(note.writes or NONE) do
    if write.is_transient then
      variables.set_transient(inst, write.name, write.value)
    else
      local set = write.is_local and variables.set_local or variables.set
      set(inst, token, write.name, write.value)
    end
  end
end

-- Raises if the call has changed a table that it has read, and has not assigned it. `place` names
-- the call; nil: by its activity.
function variables.check_copies(token, note, place)
  for name, made in pairs(note.copies or NONE) do
    local now = variables.get(token, name)
    if not variables.equal(made[1], made[2]) and not variables.equal(made[1], now) then
      error(("%s: the table in the variable %s was changed, but not assigned "
        .. "(after changing it, write: variables.%s = …)"):format(place or token.at, name, name), 0)
    end
  end
end

-- What a script sees of a value: its own copy of a table, the same one within a call.
local function shown(note, name, value)
  if type(value) ~= "table" then
    return value
  elseif not note then
    return copy(value, name, 1)
  end
  local copies = part(note, "copies")
  local made = copies[name]
  if not made or made[2] ~= value then
    made = { copy(value, name, 1), value }
    copies[name] = made
  end
  return made[1]
end

-- ---- the scope that expressions and functions ask ----

local Scope = {}
Scope.__index = Scope

-- scope(w) -> the one scope of a walk; `at` turns it to a token.
function variables.scope(w)
  return setmetatable({ walk = w }, Scope)
end

-- Turns it to a token. `note` is given where a call may assign; without it nothing can be.
function Scope:at(inst, token, note)
  self.inst, self.token, self.note, self.now = inst, token, note, self.walk.now
  self.call, self.reads, self.missing, self.foreign = nil, nil, nil, nil
  return self
end

-- The name that stands for who has given the command; in a job it is null. It goes before a
-- variable: who sets variables must not say who asks.
local USER = "authenticatedUserId"

-- get(name) -> value, whether there is one
function Scope:get(name)
  if name == USER then
    return self.walk.cause.who, true
  end
  local value = variables.get(self.token, name)
  local note = self.note or self.reads
  if note then
    note_read(note, name, value)
  end
  self.missing = value == nil and name or nil
  if type(value) == "table" and (self.note or self.foreign) then
    value = shown(self.note, name, value)
  end
  return value, value ~= nil
end

-- ask(value) -> what a compiled value is, here
function Scope:ask(value)
  if value.ask then
    return value.ask(self)
  elseif value.script then
    return self.walk:run_script(self.inst, self.token, value.script)
  end
  return value.constant
end

-- assign_transient(inst, token, note, name, value): job:set_transient of a call
function variables.assign_transient(inst, token, note, name, value)
  variables.set_transient(inst, name, value, token)
  part(note, "own")[name] = true
  table.insert(part(note, "writes"), { name = name, is_transient = true,
    value = variables.get(inst.frame.outer, name) })
end

local function assign(inst, token, note, name, value, is_local)
  if not note then
    error(("the variable %s is assigned in a condition or mapping (expected a question only)")
      :format(show(name)), 3)
  end
  local set = is_local and variables.set_local or variables.set
  set(inst, token, name, value)
  part(note, "own")[name] = true
  table.insert(part(note, "writes"), { name = name, value = variables.get(token, name),
    is_local = is_local })
end
variables.assign = assign

local function view_of(inst, token, note, reads)
  local function read(_, name)
    local value = variables.get(token, name)
    if note or reads then
      note_read(note or reads, name, value)
    end
    return shown(note, name, value)
  end
  return setmetatable({}, {
    __index = read,
    __newindex = function(_, name, value)
      assign(inst, token, note, name, value)
    end,
    __pairs = function(view)
      local all = variables.all(token)
      return function(_, name)
        local following = next(all, name)
        if following ~= nil then
          return following, read(view, following)
        end
      end, view, nil
    end,
  })
end

-- view(inst, token, note) -> the table `job.variables` of a call
variables.view = view_of

-- view() -> the table that a function(v) of a Lua form gets
function Scope:view()
  return view_of(self.inst, self.token, self.note, self.reads)
end

-- object(name) -> what methods are called on: execution, task, job, a bean; or nil. A bean gets
-- copies of tables, as a handler does.
function Scope:object(name)
  local object = self.walk:object(self, name)
  self.foreign = self.foreign or object ~= nil
  return object
end

return variables
