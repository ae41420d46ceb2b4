-- The plan of a migration, as data (rules §23). The same table stands in a call of the module, in a
-- job and in the log of operations:
--
--   { process = "order", from = 1, to = 2, to_process = "order_v2",
--     activities = { { from = "approve", to = "check" }, { from = "t", to = "t", update = true } },
--     variables = { … } }
--
-- With `equal` the pairs of equal activities are added of which the list says nothing else. `from`
-- and `to` are numbers of versions; without `from`, instances of any version fit that the
-- pairs fit. The body of a repeated activity is "A#multiInstanceBody".
local kinds = require "moonshift.kinds"
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local plan = {}

local MAX = 1000 -- pairs
local FIELDS = { process = "name", from = "positive", to = "positive", to_process = "name",
  equal = "flag", activities = "object", variables = "map" }
local PAIR = { from = "name", to = "name", update = "flag" }

-- One pair of the list; or nil, what is wrong.
local function read_pair(given, n)
  local what = ("pair %d"):format(n)
  local read, message = kinds.only(given, what, PAIR, rules.suggest)
  if not read then
    return nil, message
  elseif not read.from or not read.to then
    return nil, ("%s: %s is missing (expected from and to)"):format(what,
      read.from and "to" or "from")
  end
  return { from = read.from, to = read.to, update = read.update or nil,
    what = read.from .. "=" .. read.to }
end

local function read_pairs(list)
  local read, wrong = {}, {}
  if type(list) ~= "table" or next(list) ~= nil and list[1] == nil then
    return read, { ("activities: got %s (expected a list of tables)"):format(show(list)) }
  elseif #list > MAX then
    return read, { ("%d pairs (expected at most %d)"):format(#list, MAX) }
  end
  for n, given in ipairs(list) do
    local one, message = read_pair(given, n)
    read[#read + 1], wrong[#wrong + 1] = one, message
  end
  return read, wrong
end

-- read(given) -> { process, from, to, to_process, equal, list = pairs, variables }; or nil and all
-- that is wrong with the table, as texts
function plan.read(given)
  local read, message = kinds.only(given, "plan", FIELDS, rules.suggest)
  if not read then
    return nil, { message }
  elseif not read.to then
    return nil, { "to is missing (expected the number of a version)" }
  end
  local wrong
  read.list, wrong = read_pairs(read.activities or {})
  read.activities = nil
  if wrong[1] then
    return nil, wrong
  end
  return read
end

return plan
