-- Queries: a question that is asked when an answer is wanted (rules §11). The store knows the
-- filters; an unknown one is refused with nil, message, "invalid" when the question is asked.
--
--   engine:jobs({ handler = "mail" }):sort("priority", "desc"):page(2, 50):list()
--
-- sort and page return a new query; the old one stays as it was.
local LIST_MAX = 10000 -- rows that :list and :ids hold at once
local EACH_PAGE = 100  -- rows that :each holds at once
local WALK_PAGE = 1000 -- the same of the log, whose pages cost more to begin

-- Kinds whose rows are paged by id; the log has keys of its own, oldest first, and there are few
-- definitions.
local BY_ID = { jobs = true, incidents = true, operations = true, batches = true }

local Query = {}
Query.__index = Query
Query.__name = "moonshift.query"

local query = {}

-- core: the engine's C half; kind: "jobs", "definitions", "incidents", "log", "operations",
-- "suspended_instances" or "batches".
function query.new(core, kind, filters)
  if filters ~= nil and type(filters) ~= "table" then
    error(("%s: filters is a %s (expected a table)"):format(kind, type(filters)), 3)
  end
  return setmetatable({ core = core, kind = kind, filters = filters or {} }, Query)
end

function query.is(value)
  return getmetatable(value) == Query
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
  local ask_core = self.core[self.kind]
  return ask_core(self.core, self.filters, self.field, self.descending, after, offset, limit)
end

-- Sorts by a field of the rows; "asc" unless told.
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

-- The n-th page of `size` rows, counted from 1.
function Query:page(number, size)
  if math.type(number) ~= "integer" or number < 1 then
    error(("page: number is %s (expected 1 or more)"):format(tostring(number)), 2)
  end
  if math.type(size) ~= "integer" or size < 1 or size > LIST_MAX then
    error(("page: size is %s (expected 1 to %d)"):format(tostring(size), LIST_MAX), 2)
  end
  local new = copy(self)
  new.number, new.size = number, size
  return new
end

-- All rows, or nil, message, "invalid" if there are more than 10 000.
function Query:list()
  local rows, message, code = ask(self, LIST_MAX + 1)
  if rows and #rows > LIST_MAX then
    return nil,
      ("more than %d %s match (expected fewer: use each or page)"):format(LIST_MAX, self.kind),
      "invalid"
  end
  return rows, message, code
end

-- The one row, nil if there is none, or nil, message, "conflict" if there are several.
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
      local rows, next_key, code = self.core:walk_log(self.filters, "at", false, key, WALK_PAGE)
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

-- The number, and what the question has left out, if it has.
local function counted(calls, warning)
  if warning then
    return calls, warning
  end
  return calls
end

-- Calls fn(row) for each row and holds a page of rows at a time; the order is by id. With sort or
-- page the rows are those of :list. fn returning false ends it. Returns the number of calls.
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

-- How many rows match; a page does not change it.
function Query:count()
  if self.kind == "jobs" then
    return self.core:count_jobs(self.filters)
  end
  local all = copy(self)
  all.field, all.size = nil, nil
  return all:each(function() end)
end

-- The ids of all rows, at most `max` (10 000).
function Query:ids(max)
  local limit = max or LIST_MAX
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
