-- One job definition as an object: the fields of its row in the store, and what can be done to its
-- jobs. engine:definition(name) makes it; it shows the moment when it was asked for.
local options = require "moonshift.options"
local show = require "moonshift.show"

local Definition = {}
Definition.__index = Definition
Definition.__name = "moonshift.definition"

local definitions = {}

local function check_integer(value, name)
  local integer = type(value) == "number" and math.tointeger(value)
  if not integer then
    error(("%s is %s (expected an integer)"):format(name, show(value)), 3)
  end
  return integer
end

-- True or nil for an option that is a flag.
local function check_flag(given, verb, name)
  local value = options.only(given, verb, { [name] = true })[name]
  if value ~= nil and type(value) ~= "boolean" then
    error(("%s is %s (expected true or false)"):format(name, show(value)), 3)
  end
  return value
end

-- A query of this definition's jobs that match `filters` too.
function Definition:jobs(filters)
  local all = { handler = self.name }
  for key, value in pairs(filters or {}) do
    all[key] = value
  end
  return self.engine:jobs(all)
end

-- Sets the retries of this definition's dead jobs, and of no others.
function Definition:set_retries(retries, given)
  return self.engine:set_retries(self:jobs { no_retries_left = true }, retries, given)
end

-- Goes before the definition's own priority, for jobs created from now on; { cascade = true } also
-- rewrites those there are. Returns how many it rewrote.
function Definition:override_priority(priority, given)
  local cascade = check_flag(given, "override_priority", "cascade")
  return self.engine.core:override_priority(self.id, check_integer(priority, "priority"), cascade)
end

-- Later jobs get the definition's own priority again.
function Definition:clear_override()
  return self.engine.core:override_priority(self.id)
end

-- Later jobs are created suspended; { include_jobs = true } also suspends those there are. Returns
-- how many of them.
function Definition:suspend(given)
  local include_jobs = check_flag(given, "suspend", "include_jobs")
  return self.engine.core:suspend_definition(self.id, true, include_jobs)
end

-- The reverse of suspend.
function Definition:activate(given)
  local include_jobs = check_flag(given, "activate", "include_jobs")
  return self.engine.core:suspend_definition(self.id, false, include_jobs)
end

-- `row` as the store tells it; its override_priority is `override` here, beside the method.
function definitions.new(engine, row)
  row.engine = engine
  row.override, row.override_priority = row.override_priority, nil
  return setmetatable(row, Definition)
end

return definitions
