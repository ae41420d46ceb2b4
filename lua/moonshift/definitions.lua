-- One job definition as an object: the fields of its row in the store, and what can be done to its
-- jobs. engine:definition(name) makes it; it shows the moment when it was asked for.
local Definition = {}
Definition.__index = Definition
Definition.__name = "moonshift.definition"

local definitions = {}

-- A query of this definition's jobs that match `filters` too.
function Definition:jobs(filters)
  local all = { handler = self.name }
  for key, value in pairs(filters or {}) do
    all[key] = value
  end
  return self.engine:jobs(all)
end

-- Sets the retries of this definition's dead jobs, and of no others (RULES §10).
function Definition:set_retries(retries, options)
  return self.engine:set_retries(self:jobs { no_retries_left = true }, retries, options)
end

-- `row` as the store tells it.
function definitions.new(engine, row)
  row.engine = engine
  return setmetatable(row, Definition)
end

return definitions
