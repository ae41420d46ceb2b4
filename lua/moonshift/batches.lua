-- One operation for many ids (rules §17). engine:batch { … } makes a batch: its ids go to the
-- store in parts of 1 000, each in a transaction of its own, and are never all in memory.
-- engine:batch(id) is a batch as an object: the fields of its row, as they were when it was asked
-- for, and what can be done to it.
local options = require "moonshift.options"
local query = require "moonshift.query"
local show = require "moonshift.show"

local PART = 1000        -- ids in one transaction
local FAILED_MAX = 10000 -- ids that :failures returns at once
local NO_IDS = "no ids (a batch needs at least one)"

-- The options of a batch of any type; job_retries and job_priority are those of its own jobs.
local KEYS = { type = true, config = true, name = true, on_complete = true, jobs_per_seed = true,
  invocations = true, retries = true, priority = true, job_retries = true, job_priority = true }

-- The stock types. Their config may stand beside `type`, too: retries = 3. Each lists the keys that
-- would otherwise mean the batch's own jobs.
local STOCK = {
  ["set-job-retries"] = { retries = true }, ["set-external-retries"] = { retries = true },
  ["set-job-priority"] = { priority = true },
  ["enqueue"] = { retries = true, priority = true }, ["set-due-date"] = {},
  ["recalculate-due-date"] = {}, ["set-cycle"] = {}, ["suspend"] = {}, ["activate"] = {},
  ["delete-jobs"] = {}, ["cancel-jobs"] = {}, ["dead-letter"] = {}, ["set-removal-time"] = {},
  ["delete-history"] = {}, ["delete-instances"] = {}, ["suspend-instances"] = {},
  ["activate-instances"] = {}, ["cancel-instances"] = {}, ["modify"] = {}, ["migrate"] = {},
  ["restart"] = {}, ["set-variables"] = {}, ["correlate"] = {},
}
local LISTS = { jobs = true, instances = true, past = true } -- whose rows have ids for batches

--- What `engine:batch` is told about a new batch.
---@class moonshift.batch_spec
---@field type string a stock type, or a file of `batches/`
---@field ids any[]|moonshift.query|function ids, a query of jobs, or a function for the next id
---@field config? table what the type is told; for stock types its members may stand beside `type`
---@field name? string to find it by
---@field invocations? integer ids of one job
---@field jobs_per_seed? integer jobs that one run of the seed makes
---@field job_retries? integer retries of its own jobs
---@field job_priority? integer priority of its own jobs
---@field on_complete? string a handler that gets a job once the batch has ended

--- One operation for many ids. The fields are those of its row, as they were when it was asked
--- for.
---@class moonshift.batch
---@field id integer
---@field type string
---@field state string "filling", "active", "suspended", "completed" or "deleted"
---@field total integer execution jobs in all
---@field created integer execution jobs made so far
---@field completed integer execution jobs that have ended
---@field remaining integer execution jobs that have not ended
---@field failed integer execution jobs that have failed for good
---@field ids integer how many ids it has
local Batch = {}
Batch.__index = Batch
Batch.__name = "moonshift.batch"

-- ---- filling ----

-- ids as a function that returns the next one, nil at the end.
local function iterator(ids, level)
  if type(ids) == "function" then
    return ids
  elseif type(ids) ~= "table" then
    error(("batch: ids is %s (expected a list, an iterator or a query)"):format(show(ids)),
      level + 1)
  end
  local i = 0
  return function()
    i = i + 1
    return ids[i]
  end
end

-- The same, of numbers of jobs: anything else is raised with its place.
local function numbers(next_id, level)
  local i = 0
  return function()
    local id = next_id()
    i = i + 1
    if id ~= nil and math.type(id) ~= "integer" then
      error(("batch: ids[%d] is %s (expected the number of a job)"):format(i, show(id)), level)
    end
    return id
  end
end

-- The next part: a list, empty at the end.
local function part_of(next_id)
  local part = {}
  while #part < PART do
    local id = next_id()
    if id == nil then
      break
    end
    part[#part + 1] = id
  end
  return part
end

local function add_parts(core, id, part, next_id)
  while #part > 0 do
    local done, message, code = core:batch_add(id, part)
    if not done then
      return nil, message, code
    end
    part = #part == PART and part_of(next_id) or {}
  end
  return true
end

local function add_found(core, id, ids)
  local after, more = 0, true
  while more do
    local code
    after, more, code = core:batch_find(id, ids.kind, ids.filters, after)
    if not after then
      return nil, more, code
    end
  end
  return true
end

-- Begins the batch, lets `fill` add its ids, and starts it. A failure leaves nothing behind.
local function make(core, spec, fill)
  local id, message, code = core:batch_begin(spec)
  if not id then
    return nil, message, code
  end
  local fine, done, why, what = pcall(fill, id)
  if fine and done then
    done, why, what = core:batch_start(id)
  end
  if fine and done then
    return id
  end
  core:batch_abandon(id)
  if not fine then
    error(done, 0)
  end
  return nil, why, what
end

local function from_query(core, spec, ids)
  local some, message, code = core:ask(ids.kind, ids.filters, { limit = 1 })
  if not some then
    return nil, message, code
  elseif #some == 0 then
    return nil, NO_IDS, "invalid"
  end
  return make(core, spec, function(id)
    return add_found(core, id, ids)
  end)
end

-- Makes the store's options from the caller's: the config apart, without the ids.
local function spec_of(given)
  local spec, own = {}, STOCK[given.type]
  local config = type(given.config) == "table" and given.config or {}
  local inline = {}
  for key, value in pairs(given) do
    if key ~= "ids" and own and (not KEYS[key] or (own[key] and config[key] == nil)) then
      inline[key] = value
    elseif key ~= "ids" then
      spec[key] = value
    end
  end
  if next(inline) then
    for key, value in pairs(config) do
      inline[key] = value
    end
    spec.config = inline
  end
  for _, own_key in ipairs { "retries", "priority" } do
    local long = "job_" .. own_key
    if spec[long] ~= nil then
      spec[own_key], spec[long] = spec[long], nil
    end
  end
  return spec
end

-- { type, ids, … } -> id, or nil, message, code.
local function create(engine, given, level)
  local core, spec, ids = engine.core, spec_of(given), given.ids
  if query.is(ids) and not LISTS[ids.kind] then
    error(("batch: ids is a query of %s (expected one of jobs or instances)"):format(ids.kind),
      level + 1)
  end
  local next_id = not query.is(ids) and iterator(ids, level + 1)
  local fine, message, code = core:batch_check(spec)
  if fine and query.is(ids) then
    fine, message, code = core:batch_takes(spec.type, ids.kind)
  end
  if not fine then
    return nil, message, code
  end
  if next_id and STOCK[spec.type] and spec.type ~= "enqueue" then
    next_id = numbers(next_id, 0)
  end
  if query.is(ids) and not ids.size then
    return from_query(core, spec, ids)
  elseif query.is(ids) then
    local page
    page, message, code = ids:ids()
    if not page then
      return nil, message, code
    end
    next_id = iterator(page, level + 1)
  end
  local first = part_of(next_id)
  if #first == 0 then
    return nil, NO_IDS, "invalid"
  end
  return make(core, spec, function(id)
    return add_parts(core, id, first, next_id)
  end)
end

-- ---- one batch ----

local function operate(self, verb, command)
  command.verb, command.batch = verb, self.id
  return self.engine.core:command(command)
end

--- Keeps its jobs from being run, and those that are made later.
---@param given? { jobs_only?: boolean } `jobs_only`: its seed and its monitor go on
---@return integer? touched how many jobs; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Batch:suspend(given)
  local jobs_only = options.only(given, "suspend", { jobs_only = "flag" }).jobs_only
  return operate(self, "suspend_batch", { jobs_only = jobs_only })
end

--- Sets the priority of its jobs, and of those that are made later.
---@param priority integer
---@return integer? touched how many jobs; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Batch:set_priority(priority)
  local wanted = options.value(priority, "priority", "integer")
  return operate(self, "set_batch_priority", { priority = wanted })
end

--- Sets when the batch goes from the history. It must have ended.
---@param time string an instant, "never", or "computed" from its end and the time to live
---@return integer? touched 1; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Batch:set_removal_time(time)
  if type(time) ~= "string" then
    error(('time is %s (expected an instant, "never" or "computed")'):format(show(time)), 2)
  end
  return operate(self, "set_batch_removal_time", { removal_time = time })
end

--- Lets its jobs run again.
---@return integer? touched how many jobs; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Batch:activate()
  return operate(self, "activate_batch", {})
end

--- Deletes its jobs; the batch ends as deleted. One that has ended can only go with its history.
---@param given? { history?: boolean } `history`: nothing of it is kept
---@return integer? touched 1; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Batch:delete(given)
  local history = options.only(given, "delete", { history = "flag" }).history
  return operate(self, "delete_batch", { history = history })
end

--- Gives its failed jobs their runs again.
---@return integer? touched how many jobs; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Batch:retry_failed()
  return operate(self, "retry_failed", {})
end

--- Makes a query of its execution jobs.
---@param filters? moonshift.job_filters
---@return moonshift.job_query query
function Batch:jobs(filters)
  local own = { batch = self.id, handler = "batch/" .. self.type }
  return self.engine:jobs(query.within(own, filters))
end

--- Lists the ids whose jobs have failed for good, at most 10 000.
---@return { id: any, job: integer, message: string }[]? failures nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Batch:failures()
  local list, over = {}, false
  local calls, message, code = self:jobs({ no_retries_left = true }):each(function(job)
    for _, id in ipairs(job.payload.ids) do
      list[#list + 1] = { id = id, job = job.id, message = job.message }
    end
    over = #list > FAILED_MAX
    return not over
  end)
  if over then
    return nil, ("more than %d ids have failed (expected fewer: use jobs)"):format(FAILED_MAX),
      "invalid"
  end
  return calls and list, message, code
end

-- ---- methods of engines ----

---@class moonshift.engine
local Engine = {}

--- Makes a batch, or returns one: with a table, makes a batch; with an id, returns that one as
--- an object.
---@param what integer|moonshift.batch_spec
---@return integer|moonshift.batch|nil batch the new id, or the object; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:batch(what)
  if type(what) == "table" then
    return create(self, what, 2)
  end
  local id = type(what) == "number" and math.tointeger(what)
  if not id then
    error(("batch is %s (expected an id, or { type = …, ids = … })"):format(show(what)), 2)
  end
  local row, message, code = self.core:ask("batch", nil, { id = id })
  if not row then
    return nil, message, code
  end
  row.engine = self
  return setmetatable(row, Batch)
end

--- Makes a query of batches.
---@param filters? moonshift.batch_filters
---@return moonshift.query query
function Engine:batches(filters)
  return query.new(self.core, "batches", filters)
end

return Engine
