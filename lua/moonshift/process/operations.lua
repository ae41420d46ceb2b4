-- Operations of an operator on an instance, as data (rules §23). The same list of tables stands in
-- a call of the module, in a job and in the log of operations:
--
--   { start_before = "pack", ["in"] = "sub#2", variables = { … }, ["local"] = true }
--   { start_after = "pack", … }  { start_flow = "f3", … }
--   { cancel = "approve" }, { cancel = "approve#2" }
--
-- "A#2" is the second instance of an activity by the order of their numbers. The body of a repeated
-- activity is "A#multiInstanceBody".
local kinds = require "moonshift.kinds"
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local operations = {}

local MAX = 1000 -- operations in a list
local FIELDS = { start_before = "name", start_after = "name", start_flow = "name", cancel = "name",
  ["in"] = "name", variables = "map", ["local"] = "flag" }
local STARTS = { "start_before", "start_after", "start_flow" }
local BODY = "#multiInstanceBody"

-- The one of these fields that says what is done; nil: none or several do.
local function kind_of(read)
  local found
  for _, kind in ipairs { "cancel", table.unpack(STARTS) } do
    if read[kind] ~= nil then
      if found then
        return nil
      end
      found = kind
    end
  end
  return found
end

-- What cannot stand together in one operation; nil: nothing.
local function clash(read, kind, starts_only)
  if not kind or starts_only and kind == "cancel" then
    return ("expected one of start_before, start_after, start_flow%s"):format(
      starts_only and "" or " and cancel")
  elseif kind == "cancel" and (read["in"] or read.variables or read["local"] ~= nil) then
    return "in, variables and local go with what starts (expected cancel alone)"
  elseif read["local"] and not read.variables then
    return "local: expected variables beside it"
  end
end

-- name(text) -> the activity, whether its body is meant, and the number of one instance or nil
function operations.name(text)
  local at, number = text:match("^(.*)#(%d+)$")
  at = at or text
  local body = at:sub(-#BODY) == BODY
  return body and at:sub(1, -#BODY - 1) or at, body, math.tointeger(tonumber(number))
end

-- One operation of a list: { kind, at, … }; or nil, what is wrong.
local function read_one(given, n, starts_only)
  local what = ("operation %d"):format(n)
  local read, message = kinds.only(given, what, FIELDS, rules.suggest)
  if not read then
    return nil, message
  end
  local kind = kind_of(read)
  local wrong = clash(read, kind, starts_only)
  if wrong then
    return nil, ("%s: %s"):format(what, wrong)
  end
  return { kind = kind, at = read[kind], within = read["in"], variables = read.variables,
    is_local = read["local"], what = ("%s, %s %s"):format(what, kind, read[kind]) }
end

-- read(list, starts_only) -> operations in their order; or nil and all that is wrong with the list,
-- as texts. starts_only: nothing is there yet that could be cancelled.
function operations.read(list, starts_only)
  local read, wrong = {}, {}
  if type(list) ~= "table" or list[1] == nil then
    return nil, { ("operations: got %s (expected a list of tables)"):format(show(list)) }
  elseif #list > MAX then
    return nil, { ("%d operations (expected at most %d)"):format(#list, MAX) }
  end
  for n, given in ipairs(list) do
    local one, message = read_one(given, n, starts_only)
    read[#read + 1], wrong[#wrong + 1] = one, message
  end
  if wrong[1] then
    return nil, wrong
  end
  return read
end

return operations
