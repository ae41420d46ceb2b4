-- A user task: a row for people, and its own listeners (create, assignment, complete, delete).
local coerce = require "moonshift.expression.coerce"
local calls = require "moonshift.process.calls"
local variables = require "moonshift.process.variables"
local walk = require "moonshift.process.walk"

local user = {}

-- A date as ms, from what the model or a listener says: a time or a span from now.
local function due_of(w, step, due)
  if type(due) ~= "string" or due == "" then
    return math.type(due) == "integer" and due or nil
  end
  local at = due:find("^P") and w.context.add_span(w.now, due) or w.context.time(due)
  return at or error(("%s: the due date is %s (expected a time or a span)"):format(step.id, due), 0)
end

local function list_of(value)
  if type(value) ~= "string" then
    return type(value) == "table" and value or nil
  end
  local list = {}
  for name in value:gmatch("[^,]+") do
    list[#list + 1] = coerce.trim(name)
  end
  return list
end

-- The name that people read; nil for none.
local function name_of(w, inst, token, step)
  local name = w:ask(inst, token, step.task_name)
  return name ~= nil and tostring(name) or nil
end

local function row_of(w, inst, token, step)
  local users, groups = w:ask(inst, token, step.users), w:ask(inst, token, step.groups)
  return {
    activity = step.id, name = name_of(w, inst, token, step),
    assignee = w:ask(inst, token, step.assignee),
    due = due_of(w, step, w:ask(inst, token, step.due)),
    priority = math.tointeger(tonumber(w:ask(inst, token, step.task_priority))), form = step.form,
    candidates = (users or groups) and { users = list_of(users), groups = list_of(groups) } or nil,
  }
end

function user.enter(w, inst, token, step)
  local row = row_of(w, inst, token, step)
  if step.on_create and not walk.listen(w, inst, token, step, step.on_create, "create", row) then
    return
  end
  if row.assignee and step.on_assignment
    and not walk.listen(w, inst, token, step, step.on_assignment, "assignment", row) then
    return
  end
  row.due = due_of(w, step, row.due)
  w:await(inst, token, "task", w.unit.tasks, row)
end

function user.proceed(w, inst, token, step)
  variables.set_given(inst, token, w.cause)
  local row = step.on_complete
    and { activity = step.id, name = name_of(w, inst, token, step) }
  if row and not walk.listen(w, inst, token, step, step.on_complete, "complete", row) then
    return
  end
  w:waited(inst, token)
  token.state = "run"
  w:push(walk.leave, inst, token, step)
end

function user.cancel(w, inst, token, step)
  for i, callout in ipairs(step.on_delete or {}) do
    calls.run(w, inst, token, step, callout, "delete" .. i, "delete", { activity = step.id })
  end
end

return user
