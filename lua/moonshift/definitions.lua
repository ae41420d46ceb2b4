-- One job definition as an object: the fields of its row in the store, and what can be done to its
-- jobs. engine:definition(name) makes it; it shows the moment when it was asked for.
local options = require "moonshift.options"
local query = require "moonshift.query"

--- What the store knows of a handler by its name: the fields of its row, and what can be done to
--- its jobs.
---@class moonshift.definition
---@field id integer
---@field name string the handler's name
---@field override? integer the priority that an operator has set
---@field limit_override? integer|"none"|table the limit that an operator has set
---@field rate_override? string the rate that an operator has set, or "none"
local Definition = {}
Definition.__index = Definition
Definition.__name = "moonshift.definition"

local SUSPENSION = { include_jobs = "flag", at = "instant", dry_run = "flag" }

local definitions = {}

local function operate(self, verb, command, given)
  command.verb, command.definition = verb, self.name
  return options.operate(self.engine.core, command, given)
end

--- Makes a query of its jobs.
---@param filters? moonshift.job_filters
---@return moonshift.job_query query
function Definition:jobs(filters)
  return self.engine:jobs(query.within({ handler = self.name }, filters))
end

--- Sets the retries of its dead jobs, and of no others; resolves their incidents.
---@param retries integer 0 or more
---@param given? moonshift.retry_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Definition:set_retries(retries, given)
  given = options.only(given, "set_retries", { due = "instant", dry_run = "flag" })
  local count = options.value(retries, "retries", "count")
  return operate(self, "set_definition_retries", { retries = count, due = given.due }, given)
end

--- Sets a priority that goes before the handler's own, for jobs that are created from now on.
---@param priority integer
---@param given? moonshift.override_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Definition:override_priority(priority, given)
  given = options.only(given, "override_priority", { cascade = "flag", dry_run = "flag" })
  local wanted = options.value(priority, "priority", "integer")
  return operate(self, "override_priority", { priority = wanted, cascade = given.cascade }, given)
end

--- Gives later jobs the handler's own priority again.
---@param given? moonshift.dry_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Definition:clear_override(given)
  given = options.only(given, "clear_override", { dry_run = "flag" })
  return operate(self, "clear_override", {}, given)
end

--- Sets how many of its jobs run at once, before the handler's own limit. A plain number counts as
--- the own limit does: for each executor, or over all. It holds at once, and after each reload.
---@param limit integer|"none"|{ cluster: integer }
---@param given? moonshift.dry_options
---@return integer? touched 0; nil on failure
---@return any note the message of a failure
---@return moonshift.code? code of a failure
function Definition:override_limit(limit, given)
  given = options.only(given, "override_limit", { dry_run = "flag" })
  return operate(self, "override_limit", { limit = limit }, given)
end

--- Lets the handler's own limit hold again.
---@param given? moonshift.dry_options
---@return integer? touched 0; nil on failure
---@return any note the message of a failure
---@return moonshift.code? code of a failure
function Definition:clear_limit(given)
  given = options.only(given, "clear_limit", { dry_run = "flag" })
  return operate(self, "clear_limit", {}, given)
end

--- Sets how many of its jobs may start in a time, such as "10/PT1M", before the handler's own rate.
--- It holds at once, and after each reload.
---@param rate string a rate, or "none"
---@param given? moonshift.dry_options
---@return integer? touched 0; nil on failure
---@return any note the message of a failure
---@return moonshift.code? code of a failure
function Definition:override_rate(rate, given)
  given = options.only(given, "override_rate", { dry_run = "flag" })
  return operate(self, "override_rate", { rate = options.value(rate, "rate", "text") }, given)
end

--- Lets the handler's own rate hold again.
---@param given? moonshift.dry_options
---@return integer? touched 0; nil on failure
---@return any note the message of a failure
---@return moonshift.code? code of a failure
function Definition:clear_rate(given)
  given = options.only(given, "clear_rate", { dry_run = "flag" })
  return operate(self, "clear_rate", {}, given)
end

--- Lets later jobs be created suspended.
---@param given? moonshift.suspension_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Definition:suspend(given)
  given = options.only(given, "suspend", SUSPENSION)
  return operate(self, "suspend_definition",
    { include_jobs = given.include_jobs, at = given.at }, given)
end

--- Ends the suspension.
---@param given? moonshift.suspension_options
---@return integer? touched how many jobs, or the id of a batch; nil on failure
---@return any note "batch", what stayed undone, or the message of a failure
---@return moonshift.code? code of a failure
function Definition:activate(given)
  given = options.only(given, "activate", SUSPENSION)
  return operate(self, "activate_definition",
    { include_jobs = given.include_jobs, at = given.at }, given)
end

-- `row` as the store tells it; what is overridden has other names here, beside the methods.
function definitions.new(engine, row)
  row.engine = engine
  row.override, row.override_priority = row.override_priority, nil
  row.limit_override, row.override_limit = row.override_limit, nil
  row.rate_override, row.override_rate = row.override_rate, nil
  return setmetatable(row, Definition)
end

return definitions
