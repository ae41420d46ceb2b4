-- moonshift.json - JSON as payloads have it: exact integers, no duplicate keys, 100 levels, and a
-- place for null and for lists that are empty.
local rules = require "moonshift.rules"

--- JSON: `require "moonshift".json`.
---@class moonshift.json
---@field null userdata stands for `null`
---@field array fun(list: table): table marks a list, so that an empty one is `[]`
local json = { null = rules.null, array = rules.array }

--- Writes a value as JSON, without blanks.
---@param value any
---@return string? text nil if it cannot be written
---@return string? message of a failure
---@return moonshift.code? code of a failure
function json.encode(value)
  local text, message = rules.encode(value)
  if not text then
    return nil, message, "invalid"
  end
  return text
end

--- Reads one value. `null` is `moonshift.null`, at the top too.
---@param text string
---@return any value nil if the text is no JSON
---@return string? message of a failure
---@return moonshift.code? code of a failure
function json.decode(text)
  if type(text) ~= "string" then
    error(("json is a %s (expected text)"):format(type(text)), 2)
  end
  local value, message = rules.decode(text)
  if value == nil then
    return nil, message, "invalid"
  end
  return value
end

return json
