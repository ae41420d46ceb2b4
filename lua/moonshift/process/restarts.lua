-- Instances begin anew like ones that have ended (rules §17): with their variables and their
-- business key, at activities.
local modify = require "moonshift.process.modify"
local scopes = require "moonshift.process.scopes"

local restarts = {}

-- The first values of the instance's own variables that its first unit has set, before its first
-- activity began.
local function first_values(events)
  local values = {}
  for _, event in ipairs(events) do
    if event[1] == "s" then
      break
    elseif event[1] == "v" and event[2] == 1 and values[event[3]] == nil then
      values[event[3]] = event[4]
    end
  end
  return values
end

local function initial_values(w, id)
  local row = w.context.first_of_trail(id)
  if not row then
    w:refuse(("instance %d has left no trail (expected a restart with its last variables)"):format(
      id))
  end
  return first_values(row.events)
end

local function variables_of(w, row)
  local cause = w.cause
  local values = cause.initial and initial_values(w, row.id) or row.variables or {}
  for name, value in pairs(cause.variables or {}) do
    values[name] = value
  end
  return values
end

-- The row of one that has ended, on the version that is expected.
local function ended_row(w, id)
  local row, message = w.context.past(id)
  if not row then
    w:refuse(message)
  elseif not row.how then
    w:refuse(("instance %d has not ended"):format(id))
  elseif w.cause.version and w.cause.version ~= row.version then
    w:refuse(("instance %d ran on version %d of its process (expected version %d)"):format(id,
      row.version, w.cause.version))
  end
  return row
end

-- run(w): the command "restart"
function restarts.run(w)
  local cause = w.cause
  local row = ended_row(w, cause.instance)
  local version = cause.into and w.context.version(row.process, "version", cause.into)
    or row.version_id
  cause.restarts = row.id
  local inst = scopes.begin(w, { id = w.context.next_instance(), version = version,
    key = not cause.no_key and row.key or nil, tenant = row.tenant,
    variables = variables_of(w, row), elsewhere = true })
  w.unit.result = inst.id
  modify.begin(w, inst)
end

return restarts
