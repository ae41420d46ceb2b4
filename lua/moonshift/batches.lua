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

-- What a batch of any type may be told; job_retries and job_priority are those of its own jobs.
local KEYS = { type = true, config = true, name = true, on_complete = true, jobs_per_seed = true,
  invocations = true, retries = true, priority = true, job_retries = true, job_priority = true }

-- The stock types. Their config may stand beside `type`, too: retries = 3. Said here: what of it
-- would otherwise be of the batch's own jobs.
local STOCK = {
  ["set-job-retries"] = { retries = true }, ["set-job-priority"] = { priority = true },
  ["enqueue"] = { retries = true, priority = true }, ["set-due-date"] = {},
  ["recalculate-due-date"] = {}, ["set-cycle"] = {}, ["suspend"] = {}, ["activate"] = {},
  ["delete-jobs"] = {}, ["cancel-jobs"] = {}, ["dead-letter"] = {}, ["set-removal-time"] = {},
  ["delete-history"] = {},
}

local Batch = {}
Batch.__index = Batch
Batch.__name = "moonshift.batch"

local batches = {}

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

local function add_found(core, id, filters)
  local after, more = 0, true
  while more do
    local code
    after, more, code = core:batch_find(id, filters, after)
    if not after then
      return nil, more, code
    end
  end
  return true
end

-- Begins the batch, lets `fill` add its ids, and starts it; what fails leaves nothing behind.
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
  local some, message, code = core:jobs(ids.filters, nil, false, 0, 0, 1)
  if not some then
    return nil, message, code
  elseif #some == 0 then
    return nil, NO_IDS, "invalid"
  end
  return make(core, spec, function(id)
    return add_found(core, id, ids.filters)
  end)
end

-- What the store is told, from what the caller said: the config apart, without the ids.
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
  spec.retries, spec.job_retries = spec.job_retries or spec.retries, nil
  spec.priority, spec.job_priority = spec.job_priority or spec.priority, nil
  return spec
end

-- { type, ids, … } -> id, or nil, message, code.
local function create(engine, given, level)
  local core, spec, ids = engine.core, spec_of(given), given.ids
  if query.is(ids) and ids.kind ~= "jobs" then
    error(("batch: ids is a query of %s (expected one of jobs)"):format(ids.kind), level + 1)
  end
  local next_id = not query.is(ids) and iterator(ids, level + 1)
  local fine, message, code = core:batch_check(spec)
  if not fine then
    return nil, message, code
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

local function operate(self, verb, order)
  order.verb, order.batch = verb, self.id
  return self.engine.core:operate(order)
end

-- Its jobs wait until it is activated, those that are made later, too. Returns how many.
function Batch:suspend()
  return operate(self, "suspend_batch", {})
end

function Batch:activate()
  return operate(self, "activate_batch", {})
end

-- Deletes its jobs; it ends as deleted. { history = true }: nothing of it is kept, and one that has
-- ended goes.
function Batch:delete(given)
  local history = options.only(given, "delete", { history = true }).history
  if history ~= nil and type(history) ~= "boolean" then
    error(("history is %s (expected true or false)"):format(show(history)), 2)
  end
  return operate(self, "delete_batch", { history = history })
end

-- Its failed jobs get their runs again. Returns how many.
function Batch:retry_failed()
  return operate(self, "retry_failed", {})
end

-- A query of its execution jobs that match `filters`, too.
function Batch:jobs(filters)
  local all = { batch = self.id, handler = "batch/" .. self.type }
  for key, value in pairs(filters or {}) do
    all[key] = value
  end
  return self.engine:jobs(all)
end

-- The ids whose jobs have failed for good, at most 10 000: { { id, job, message }, … }.
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

function batches.verbs(Engine)
  -- batch { type = …, ids = list, iterator or query, config = { … }, retries, priority,
  -- invocations, jobs_per_seed, name, on_complete = handler } -> the new batch's id.
  -- batch(id) -> that batch as an object, or nil, message, "not_found".
  function Engine:batch(what)
    if type(what) == "table" then
      return create(self, what, 2)
    end
    local id = type(what) == "number" and math.tointeger(what)
    if not id then
      error(("batch is %s (expected an id, or { type = …, ids = … })"):format(show(what)), 2)
    end
    local row, message, code = self.core:batch(id)
    if not row then
      return nil, message, code
    end
    row.engine = self
    return setmetatable(row, Batch)
  end

  -- Batches that match { id, type, name, state, running, finished }.
  function Engine:batches(filters)
    return query.new(self.core, "batches", filters)
  end
end

return batches
