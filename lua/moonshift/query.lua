-- Queries: a question that is asked when an answer is wanted (rules §11). The store knows the
-- filters; an unknown one is refused with nil, message, "invalid" when the question is asked.
--
--   engine:jobs({ handler = "mail" }):sort("priority", "desc"):page(2, 50):list()
--
-- sort and page return a new query; the old one stays as it was.
local show = require "moonshift.show"

local LIST_MAX = 10000 -- rows that :list and :ids hold at once
local IDS_MAX = 1000000 -- ids that :ids may be asked for
local PAGE_MAX = 0x7fffffff
local EACH_PAGE = 100  -- rows that :each holds at once
local WALK_PAGE = 1000 -- the same of the log, whose pages cost more to begin

-- Kinds whose rows are paged by id; the log has keys of its own, oldest first, and there are few
-- definitions.
local BY_ID = { jobs = true, incidents = true, operations = true, batches = true,
  instances = true, past = true, tasks = true, trail = true, versions = true }

--- A question that is asked when an answer is wanted.
---@class moonshift.query
local Query = { __metatable = false }
Query.__index = Query
Query.__name = "moonshift.query"

-- A query has no rows before it is asked. As a list it would be empty, without a word.
local function refuse_as_list()
  error("a query is no list of rows (expected :list(), :one(), :each(fn) or :count())", 2)
end

Query.__len, Query.__call = refuse_as_list, refuse_as_list
setmetatable(Query, { __index = function(_, key)
  return math.type(key) and refuse_as_list()
end })

local query = {}

-- core: the engine's C half; kind: "jobs", "definitions", "incidents", "log", "operations",
-- "suspended_instances" or "batches".
function query.new(core, kind, filters)
  if filters ~= nil and type(filters) ~= "table" then
    error(("%s: filters is a %s (expected a table)"):format(kind, type(filters)), 3)
  end
  return setmetatable({ core = core, kind = kind, filters = filters or {} }, Query)
end

-- The caller's filters and those that the object says by itself, which no caller can replace.
function query.within(own, filters)
  if filters ~= nil and type(filters) ~= "table" then
    error(("jobs: filters is a %s (expected a table)"):format(type(filters)), 3)
  end
  for key, value in pairs(filters or {}) do
    if own[key] ~= nil and own[key] ~= value then
      error(("jobs: %s is %s (expected none: its object says it)"):format(key, show(value)), 3)
    end
    own[key] = value
  end
  return own
end

function query.is(value)
  return debug.getmetatable(value) == Query
end

local function copy(self)
  local new = {}
  for key, value in pairs(self) do
    new[key] = value
  end
  return setmetatable(new, Query)
end

-- At most `limit` rows, with ids above `after`, or behind `offset` others.
local function ask(self, limit, after, offset)
  if self.size then
    offset, limit = (self.number - 1) * self.size, math.min(limit, self.size)
  end
  return self.core:ask(self.kind, self.filters, {
    sort = self.field, descending = self.descending, after = after, offset = offset, limit = limit,
  })
end

--- Returns a query that is sorted by a field of its rows.
---@param field string
---@param direction? "asc"|"desc"
---@return moonshift.query query a new one; this one stays as it was
function Query:sort(field, direction)
  if type(field) ~= "string" then
    error(("sort: field is a %s (expected a name)"):format(type(field)), 2)
  end
  if direction ~= nil and direction ~= "asc" and direction ~= "desc" then
    error(('sort: direction is "%s" (expected "asc" or "desc")'):format(tostring(direction)), 2)
  end
  local new = copy(self)
  new.field, new.descending = field, direction == "desc"
  return new
end

--- Returns a query of one page.
---@param number integer counted from 1
---@param size integer rows of a page, at most 10 000
---@return moonshift.query query a new one; this one stays as it was
function Query:page(number, size)
  if math.type(number) ~= "integer" or number < 1 then
    error(("page: number is %s (expected 1 or more)"):format(tostring(number)), 2)
  end
  if math.type(size) ~= "integer" or size < 1 or size > LIST_MAX then
    error(("page: size is %s (expected 1 to %d)"):format(tostring(size), LIST_MAX), 2)
  end
  if number > PAGE_MAX then
    error(("page: number is %d (expected at most %d)"):format(number, PAGE_MAX), 2)
  end
  local new = copy(self)
  new.number, new.size = number, size
  return new
end

--- Returns all rows, at most 10 000.
---@return table[]? rows nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Query:list()
  local rows, message, code = ask(self, LIST_MAX + 1)
  if rows and #rows > LIST_MAX then
    return nil,
      ("more than %d %s match (expected fewer: use each or page)"):format(LIST_MAX, self.kind),
      "invalid"
  end
  return rows, message, code
end

--- Returns the one row that matches.
---@return table? row nil if there is none; several are a `conflict`
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Query:one()
  local rows, message, code = ask(self, 2)
  if rows and #rows > 1 then
    return nil, ("several %s match (expected one)"):format(self.kind), "conflict"
  end
  return rows and rows[1], message, code
end

-- All rows in pages: a function that returns the next page, or nil, message, code; and how many
-- rows a page has that is not the last.
local function pages(self)
  if self.field or self.size then
    return function()
      return self:list()
    end, math.huge
  end
  if BY_ID[self.kind] then
    local after = 0
    return function()
      local rows, message, code = ask(self, EACH_PAGE, after)
      after = rows and rows[1] and rows[#rows].id
      return rows, message, code
    end, EACH_PAGE
  end
  if self.kind == "log" then
    local key
    return function()
      local rows, next_key, code = self.core:ask("walk", self.filters,
        { sort = "at", key = key, limit = WALK_PAGE })
      if rows then
        key = next_key
        return rows
      end
      return nil, next_key, code
    end, WALK_PAGE
  end
  local offset = -LIST_MAX
  return function()
    offset = offset + LIST_MAX
    return ask(self, LIST_MAX, nil, offset)
  end, LIST_MAX
end

-- Returns the number, and a warning if the question has left rows out.
local function counted(calls, warning)
  if warning then
    return calls, warning
  end
  return calls
end

--- Calls a function with each row, in pages by id; false ends it. Any number of rows fits.
---@param fn fun(row: table): boolean?
---@return integer? calls how many; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Query:each(fn)
  if type(fn) ~= "function" then
    error(("each: a %s (expected a function)"):format(type(fn)), 2)
  end
  local calls, warning = 0, nil
  local next_page, size = pages(self)
  repeat
    local rows, message, code = next_page()
    if not rows then
      return nil, message, code
    end
    warning = warning or message
    for _, row in ipairs(rows) do
      calls = calls + 1
      if fn(row) == false then
        return counted(calls, warning)
      end
    end
  until #rows < size
  return counted(calls, warning)
end

--- Counts the rows that match; a page does not change it.
---@return integer? count nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Query:count()
  if self.kind == "jobs" then
    return self.core:ask("count", self.filters)
  end
  local all = copy(self)
  all.field, all.size = nil, nil
  return all:each(function() end)
end

--- Returns the ids of all rows.
---@param max? integer more than so many (10 000) are refused; at most 1 000 000
---@return integer[]? ids nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Query:ids(max)
  local limit = max or LIST_MAX
  if math.type(limit) ~= "integer" or limit < 0 or limit > IDS_MAX then
    error(("ids: max is %s (expected 0 to %d)"):format(tostring(limit), IDS_MAX), 2)
  end
  if not (BY_ID[self.kind] or self.kind == "definitions") then
    error(("ids: the rows of %s have no id"):format(self.kind), 2)
  end
  local rows, message, code = ask(self, limit + 1)
  if not rows then
    return nil, message, code
  end
  if #rows > limit then
    return nil, ("more than %d %s match (expected fewer)"):format(limit, self.kind), "invalid"
  end
  local ids = {}
  for i, row in ipairs(rows) do
    ids[i] = row.id
  end
  return ids
end

return query
