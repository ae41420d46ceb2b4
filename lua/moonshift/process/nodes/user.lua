-- A user task: a row for people, and its own listeners.
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
  return math.tointeger(tonumber(value)), "a whole number"
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
  if type(value) == "table" and (next(value) == nil or value[1] ~= nil) then
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
  row.priority = row.priority or 0
  return row
end

-- Reads again what listeners have made of a row. A due date that they left is ms by now.
local function read_again(w, step, row, due)
  for field in pairs(FIELDS) do
    if field ~= "due" or row.due ~= due then
      row[field] = read(w, step, field, row[field])
    end
  end
end

-- ---- listeners ----

-- The task at which a token waits, as listeners see it: of this walk, else its row.
local function row_of_task(w, inst, token, step)
  local row = token.task or w.context.task(inst.id, inst:number(token))
  local seen = { activity = step.id, id = row.id }
  for field in pairs(FIELDS) do
    seen[field] = row[field]
  end
  return seen
end

local CHANGES = { name = 1, assignee = 2, due = 4, priority = 8 }

-- Writes with the unit what differs from `before`.
local function change(w, inst, token, step, row, before)
  read_again(w, step, row, before.due)
  local changes = 0
  for field, bit in pairs(CHANGES) do
    changes = changes | (row[field] ~= before[field] and bit or 0)
  end
  if changes ~= 0 and row.id then
    row.changes = changes
    w:await(inst, token, "task", w.unit.tasks, row)
    token.fresh = nil -- its row is there
  end
end

local function copy_of(row)
  local copy = {}
  for field, value in pairs(row) do
    copy[field] = value
  end
  return copy
end

-- Listeners of an event hear of a task. False: one threw a BPMN error, which has been dealt with.
local function hear(w, inst, token, step, event, row)
  local listeners = step["on_" .. event]
  return not listeners or walk.listen(w, inst, token, step, listeners, event, row)
end

function user.enter(w, inst, token, step)
  local row = row_of(w, inst, token, step)
  local due = row.due
  token.task = row
  if not hear(w, inst, token, step, "create", row)
    or row.assignee and not hear(w, inst, token, step, "assignment", row) then
    return
  end
  read_again(w, step, row, due)
  row.listens = step.hears_changes and 1 or nil
  w:await(inst, token, "task", w.unit.tasks, row)
end

function user.proceed(w, inst, token, step)
  variables.set_given(inst, token, w.cause)
  if step.on_complete
    and not hear(w, inst, token, step, "complete", row_of_task(w, inst, token, step)) then
    return
  end
  w:waited(inst, token)
  token.state, token.begun = "run", true
  w:push(walk.leave, inst, token, step)
end

-- changed(w, inst, token, step, set): a task that is there gets other fields; `update` comes before
-- `assignment`.
function user.changed(w, inst, token, step, set)
  local row = row_of_task(w, inst, token, step)
  local before = copy_of(row)
  set(row)
  token.task = row
  local assigned = row.assignee ~= before.assignee
  if hear(w, inst, token, step, "update", row)
    and (not assigned or hear(w, inst, token, step, "assignment", row)) then
    change(w, inst, token, step, row, before)
  end
end

-- timed_out(w, inst, token, step, listener): the timer of a listener has come; the task waits on.
function user.timed_out(w, inst, token, step, listener)
  local row = row_of_task(w, inst, token, step)
  local before = copy_of(row)
  local _, thrown = calls.run(w, inst, token, step, listener.call_out, listener.id, "timeout", row)
  if thrown then
    return w.errors.throw(w, inst, token, thrown)
  end
  change(w, inst, token, step, row, before)
end

-- A BPMN error has nowhere to go from here: the unit fails.
function user.cancel(w, inst, token, step)
  local row = step.on_delete and row_of_task(w, inst, token, step)
  for i, callout in ipairs(not w.skip_listeners and step.on_delete or {}) do
    local _, thrown = calls.run(w, inst, token, step, callout, "delete" .. i, "delete", row)
    if thrown then
      error(("%s: %s is thrown where the task goes (expected no BPMN error there)"):format(
        callout.place, tostring(thrown)), 0)
    end
  end
end

return user
