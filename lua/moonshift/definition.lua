-- One job definition: from what a handler file returns to a checked row and its functions
-- (rules §9: the handler's own goes before a listener's).
local priority = require "moonshift.priority"
local retry = require "moonshift.retry"
local rules = require "moonshift.rules"
local show = require "moonshift.show"
local unique = require "moonshift.unique"

local definition = {}

local NAME_MAX = 255          -- bytes
local INVOCATIONS_MAX = 1000 -- ids of one job of a batch
local KEYS = {
  "run", "priority", "retry", "timeout", "category", "retries", "limit", "rate", "properties",
  "description", "unique", "on_conflict", "unique_for", "backlog",
}
local BATCH_KEYS = {
  "run", "priority", "retry", "timeout", "category", "retries", "limit", "rate", "invocations",
  "properties", "description",
}
local LISTENER_KEYS = { "run", "all", "description" }
-- The fields that a listener sees and may change.
local OPEN_KEYS = {
  "priority", "retry", "retries", "timeout", "category", "limit", "rate", "properties",
}

local function is_one_of(name, list)
  for _, known in ipairs(list) do
    if known == name then
      return true
    end
  end
  return false
end

local function unknown_key(key, list)
  local meant = type(key) == "string" and rules.suggest(key, list)
  return ('unknown key "%s" (%s)'):format(tostring(key),
    meant and ('did you mean "%s"?'):format(meant) or "known: " .. table.concat(list, ", "))
end

-- Keys in an order of their own, so that problems come in the same order each time.
local function sorted_keys(table_)
  local keys = {}
  for key in pairs(table_) do
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b)
    return tostring(a) < tostring(b)
  end)
  return keys
end

definition.sorted_keys, definition.unknown_key = sorted_keys, unknown_key

-- Makes the function for the jobs of a batch: it calls the type's own with the ids and the config.
local function with_ids(run)
  return function(job)
    local ids = job.payload.ids
    if not ids or not job.batch then
      error({ message = "not a job of a batch", permanent = true })
    end
    return run(job, ids, job.config)
  end
end

-- True for a table with a function `run`. Unknown keys are reported; they do not make it false.
-- outside: it may be without the function.
local function is_table_of(keys, value, report, outside)
  if type(value) ~= "table" then
    report(('returned %s (expected a function, or a table with a function "run")'):format(
      show(value)))
    return false
  end
  for _, key in ipairs(sorted_keys(value)) do
    if not is_one_of(key, keys) then
      report(unknown_key(key, keys), key)
    end
  end
  if type(value.run) ~= "function" and not (outside and value.run == nil) then
    report(value.run == nil and "run is missing (expected a function)"
      or ("run: got %s (expected a function)"):format(show(value.run)), "run")
    return false
  end
  return true
end

-- read(value, report, of_batch, outside) -> a table with `run` and the declared fields; nil if it
-- has no shape. report(message, key) is called for each problem. of_batch: it is a type of batches.
-- outside: workers outside may do its jobs, and `run` may be absent: then `outside` is true.
function definition.read(value, report, of_batch, outside)
  local keys = of_batch and BATCH_KEYS or KEYS
  if type(value) == "function" then
    return { run = of_batch and with_ids(value) or value }
  elseif not is_table_of(keys, value, report, outside) then
    return nil
  end
  local declared = {}
  for _, key in ipairs(keys) do
    declared[key] = value[key]
  end
  declared.run = of_batch and with_ids(value.run) or value.run
  declared.outside = outside and not value.run or nil
  return declared
end

-- listener(value, report) -> { run, all } of a file in listeners/; nil if it is no listener.
-- all: it is called for the product's own definitions, too.
function definition.listener(value, report)
  if type(value) == "function" then
    return { run = value }
  elseif not is_table_of(LISTENER_KEYS, value, report) then
    return nil
  elseif value.all ~= nil and type(value.all) ~= "boolean" then
    report(("all: got %s (expected true or false)"):format(show(value.all)), "all")
    return nil
  end
  return { run = value.run, all = value.all }
end

-- view(name, declared, stock): the table that listeners are called with.
function definition.view(name, declared, stock)
  local view = { name = name, stock = stock }
  for _, key in ipairs(OPEN_KEYS) do
    view[key] = declared[key]
  end
  if type(view.properties) ~= "table" then
    view.properties = {} -- in place of what settle refuses
  end
  return view
end

-- changes(name, declared, own_retry, view, report) -> the keys that a listener changed, taken over
-- into `declared`. The handler's own retry goes before a listener's.
function definition.changes(name, declared, own_retry, view, report)
  local changed = {}
  if view.name ~= name then
    report(("name: got %s (a name is its path)"):format(show(view.name)))
  end
  for _, key in ipairs(sorted_keys(view)) do
    if key ~= "name" and key ~= "stock" and not is_one_of(key, OPEN_KEYS) then
      report(unknown_key(key, OPEN_KEYS), key)
    end
  end
  for _, key in ipairs(OPEN_KEYS) do
    local value = rawget(view, key)
    if key == "retry" and own_retry ~= nil then
      value = own_retry
    end
    local refused = key == "properties" and declared[key] ~= nil
      and type(declared[key]) ~= "table"
    if value ~= declared[key] and not refused then
      changed[#changed + 1] = key
      declared[key] = value
    end
  end
  return changed
end

local function check_timeout(value)
  if type(value) ~= "number" and type(value) ~= "string" then
    return nil, ('timeout: got %s (expected seconds or a duration such as "PT30S")'):format(
      show(value))
  end
  local ms, message = rules.duration(value)
  if not ms then
    return nil, "timeout: " .. message
  elseif ms <= 0 then
    return nil, ("timeout: got %s (expected more than 0 seconds)"):format(show(value))
  end
  return ms % 1000 == 0 and ms // 1000 or ms / 1000
end

local function check_retries(value)
  local whole = type(value) == "number" and math.tointeger(value)
  if not whole or whole < 1 or whole > 2147483647 then
    return nil, ("retries: got %s (expected a whole number from 1)"):format(show(value))
  end
  return whole
end

local function count_of(value)
  local whole = type(value) == "number" and math.tointeger(value)
  return whole and whole >= 1 and whole <= 2147483647 and whole or nil
end

-- limit = 5: jobs at once by each executor; { cluster = 5 }: by all of them together.
local function check_limit(value)
  if type(value) ~= "table" then
    local count = count_of(value)
    if not count then
      return nil, ("limit: got %s (expected a whole number from 1, or { cluster = 5 })"):format(
        show(value))
    end
    return count
  end
  for key in pairs(value) do
    if key ~= "cluster" then
      return nil, "limit: " .. unknown_key(key, { "cluster" })
    end
  end
  local count = count_of(value.cluster)
  if not count then
    return nil, ("limit.cluster: got %s (expected a whole number from 1)"):format(
      show(value.cluster))
  end
  return { cluster = count }
end

local function check_invocations(value)
  local count = count_of(value)
  if not count or count > INVOCATIONS_MAX then
    return nil, ("invocations: got %s (expected a whole number from 1 to %d)"):format(show(value),
      INVOCATIONS_MAX)
  end
  return count
end

-- rate = "10/PT1M": starts in any window of that length, by all executors together.
local function check_rate(value)
  if type(value) ~= "string" then
    return nil, ('rate: got %s (expected a text such as "10/PT1M")'):format(show(value))
  end
  return rules.rate(value)
end

local function check_category(value)
  if type(value) ~= "string" then
    return nil, ("category: got %s (expected a text)"):format(show(value))
  elseif value == "" or #value > NAME_MAX or not utf8.len(value) or value:find("%c") then
    return nil, ('category "%s": expected 1 to %d bytes of text'):format(value, NAME_MAX)
  end
  return value
end

local function check_properties(value)
  if type(value) ~= "table" then
    return nil, ("properties: got %s (expected a table)"):format(show(value))
  end
  local text, message = rules.encode(value)
  if not text then
    return nil, (message:gsub("^value", "properties"))
  elseif text:sub(1, 1) ~= "{" then
    return nil, "properties: got a list (expected names for keys)"
  end
  return value
end

-- Jobs of batches, history cleanup and dates are not created by a Lua state that could be asked.
local function check_priority(value, files, file, name)
  local wanted, message = priority.resolve(value, files, file)
  if wanted and wanted.fn and (name:match("^batch/") or name:match("^moonshift/")) then
    return nil, "priority: expected a whole number (the store makes these jobs and calls no "
      .. "function)"
  end
  return wanted, message
end

-- settle(name, file, declared, context, report) -> row, functions. `context`: priorities, retries
-- (by name), retry (the setting, if it is good) and timeout (the setting, seconds). The row is what
-- definitions_read of core/job/definition.h expects.
function definition.settle(name, file, declared, context, report)
  local function check(key, fn, ...)
    if declared[key] == nil then
      return nil
    end
    local value, message = fn(declared[key], ...)
    if value == nil then
      report(message, key)
    end
    return value
  end
  local wanted = check("priority", check_priority, context.priorities, file, name) or {}
  local setting = context.retry and retry.resolve(context.retry, context.retries)
  local strategy = check("retry", retry.resolve, context.retries, setting) or setting or {}
  local row = {
    name = name,
    file = file,
    priority = wanted.constant or wanted.shown,
    retry = strategy.shown,
    retries = check("retries", check_retries) or strategy.runs,
    retries_asked = declared.retries == nil and strategy.runs_of and true or nil,
    timeout = check("timeout", check_timeout) or context.timeout,
    category = check("category", check_category),
    limit = check("limit", check_limit),
    invocations = check("invocations", check_invocations),
    rate = check("rate", check_rate),
    properties = check("properties", check_properties) or {},
    outside = declared.outside,
  }
  local key = unique.settle(row, check, file)
  local functions = {
    run = declared.run,
    priority = wanted.fn and wanted,
    strategy = strategy.fn or strategy.text,
    runs_of = strategy.runs_of,
    unique = key,
  }
  return row, functions
end

-- reserved(name): the prefix under which no folder has handlers, or nil.
function definition.reserved(name)
  return name:match("^moonshift/") or name:match("^process/")
end

-- check_name(name): nil, or the fault of a name that was made from a path.
function definition.check_name(name)
  if not utf8.len(name) or name:find("%c") then
    return "a name must be UTF-8 text without control characters"
  elseif #name > NAME_MAX then
    return ("the name has %d bytes, at most %d are allowed"):format(#name, NAME_MAX)
  end
  return nil
end

return definition
