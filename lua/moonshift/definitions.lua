-- One job definition as an object: the fields of its row in the store, and what can be done to its
-- jobs. engine:definition(name) makes it; it shows the moment when it was asked for.
local options = require "moonshift.options"
local show = require "moonshift.show"

local Definition = {}
Definition.__index = Definition
Definition.__name = "moonshift.definition"

local SUSPENSION = { include_jobs = true, at = true, dry_run = true }

local definitions = {}

local function check_integer(value, name)
  local integer = type(value) == "number" and math.tointeger(value)
  if not integer then
    error(("%s is %s (expected an integer)"):format(name, show(value)), 3)
  end
  return integer
end

-- The option `name`, true or false or absent.
local function check_flag(given, name)
  local value = given[name]
  if value ~= nil and type(value) ~= "boolean" then
    error(("%s is %s (expected true or false)"):format(name, show(value)), 3)
  end
  return value
end

local function check_instant(given, name)
  local value = given[name]
  if value ~= nil and type(value) ~= "string" then
    error(("%s is %s (expected an instant as text)"):format(name, show(value)), 3)
  end
  return value
end

local function operate(self, verb, order, given)
  order.verb, order.definition = verb, self.name
  return options.operate(self.engine.core, order, given)
end

-- A query of this definition's jobs that match `filters` too.
function Definition:jobs(filters)
  local all = { handler = self.name }
  for key, value in pairs(filters or {}) do
    all[key] = value
  end
  return self.engine:jobs(all)
end

-- Sets the retries of this definition's dead jobs, and of no others; resolves their incidents.
function Definition:set_retries(retries, given)
  given = options.only(given, "set_retries", { due = true, dry_run = true })
  local count = check_integer(retries, "retries")
  if count < 0 then
    error(("retries is %d (expected 0 or more)"):format(count), 2)
  end
  return operate(self, "set_definition_retries",
    { retries = count, due = check_instant(given, "due") }, given)
end

-- Goes before the definition's own priority, for jobs created from now on; { cascade = true } also
-- rewrites those there are. Returns how many it rewrote.
function Definition:override_priority(priority, given)
  given = options.only(given, "override_priority", { cascade = true, dry_run = true })
  local cascade = check_flag(given, "cascade")
  return operate(self, "override_priority",
    { priority = check_integer(priority, "priority"), cascade = cascade }, given)
end

-- Later jobs get the definition's own priority again.
function Definition:clear_override(given)
  given = options.only(given, "clear_override", { dry_run = true })
  return operate(self, "clear_override", {}, given)
end

-- Later jobs are created suspended; { include_jobs = true } also suspends those there are, and
-- { at = "…" } does it then. Returns how many jobs, and of a date the job that will do it.
function Definition:suspend(given)
  given = options.only(given, "suspend", SUSPENSION)
  return operate(self, "suspend_definition",
    { include_jobs = check_flag(given, "include_jobs"), at = check_instant(given, "at") },
    given)
end

-- The reverse of suspend.
function Definition:activate(given)
  given = options.only(given, "activate", SUSPENSION)
  return operate(self, "activate_definition",
    { include_jobs = check_flag(given, "include_jobs"), at = check_instant(given, "at") },
    given)
end

-- `row` as the store tells it; its override_priority is `override` here, beside the method.
function definitions.new(engine, row)
  row.engine = engine
  row.override, row.override_priority = row.override_priority, nil
  return setmetatable(row, Definition)
end

return definitions
