-- A user task: a row for people, and its own listeners (create, assignment, complete, delete).
local coerce = require "moonshift.expression.coerce"
local calls = require "moonshift.process.calls"
local show = require "moonshift.show"
local variables = require "moonshift.process.variables"
local walk = require "moonshift.process.walk"

local user = {}

-- Each reads what the model or a listener gives a task; what is of another kind is refused.
local Read = {}

-- A number is its text.
function Read.text(value)
  local fine = type(value) == "string" or math.type(value) == "integer"
  return fine and tostring(value), "a text"
end

function Read.priority(value)
  return type(value) ~= "boolean" and math.tointeger(tonumber(value)), "a whole number"
end

-- A time, or a span from now, as ms.
function Read.due(value, w)
  local at
  if type(value) == "string" then
    at = value:find("^P") and w.context.add_span(w.now, value) or w.context.time(value)
  end
  return at, "a time or a span"
end

local FIELDS = { assignee = "text", name = "text", priority = "priority", due = "due" }
local NAMES = { due = "due date" }

-- A field of a task as its row has it; nothing and "" are nil.
local function read(w, step, field, value)
  if value == nil or value == "" then
    return nil
  end
  local found, expected = Read[FIELDS[field]](value, w)
  if not found then
    error(("%s: the %s of the task is %s (expected %s)"):format(step.id, NAMES[field] or field,
      show(value), expected), 0)
  end
  return found
end

-- Adds the names that a part of a list gives: one, several between commas, or those of a list.
local function add_names(step, names, value)
  if type(value) == "table" then
    for _, one in ipairs(value) do
      add_names(step, names, one)
    end
    return
  end
  local text, expected = Read.text(value)
  if not text then
    error(("%s: a candidate of the task is %s (expected %s)"):format(step.id, show(value),
      expected), 0)
  end
  for name in text:gmatch("[^,]+") do
    names[#names + 1] = coerce.trim(name)
  end
end

local function names_of(w, inst, token, step, parts)
  local names = parts and {}
  for _, part in ipairs(parts or {}) do
    local value = w:ask(inst, token, part)
    if value ~= nil then
      add_names(step, names, value)
    end
  end
  return names and names[1] and names or nil
end

local function row_of(w, inst, token, step)
  local users = names_of(w, inst, token, step, step.users)
  local groups = names_of(w, inst, token, step, step.groups)
  local row = { activity = step.id, form = step.form,
    candidates = (users or groups) and { users = users, groups = groups } or nil }
  for field in pairs(FIELDS) do
    row[field] = read(w, step, field, w:ask(inst, token, step["task_" .. field]))
  end
  return row
end

-- What listeners have made of a row. A due date that they left is ms by now.
local function read_again(w, step, row, due)
  for field in pairs(FIELDS) do
    if field ~= "due" or row.due ~= due then
      row[field] = read(w, step, field, row[field])
    end
  end
end

function user.enter(w, inst, token, step)
  local row = row_of(w, inst, token, step)
  local due = row.due
  if step.on_create and not walk.listen(w, inst, token, step, step.on_create, "create", row) then
    return
  end
  if row.assignee and step.on_assignment
    and not walk.listen(w, inst, token, step, step.on_assignment, "assignment", row) then
    return
  end
  read_again(w, step, row, due)
  w:await(inst, token, "task", w.unit.tasks, row)
end

function user.proceed(w, inst, token, step)
  variables.set_given(inst, token, w.cause)
  local row = step.on_complete
    and { activity = step.id, name = read(w, step, "name", w:ask(inst, token, step.task_name)) }
  if row and not walk.listen(w, inst, token, step, step.on_complete, "complete", row) then
    return
  end
  w:waited(inst, token)
  token.state = "run"
  w:push(walk.leave, inst, token, step)
end

function user.cancel(w, inst, token, step)
  for i, callout in ipairs(not w.skip_listeners and step.on_delete or {}) do
    calls.run(w, inst, token, step, callout, "delete" .. i, "delete", { activity = step.id })
  end
end

return user
