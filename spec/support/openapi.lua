-- What an answer over HTTP must be like: holds it against the description of the API.
local json = require("moonshift").json

local openapi = {}

local function type_of(value)
  if value == json.null then
    return "null"
  elseif math.type(value) == "integer" then
    return "integer"
  elseif type(value) == "table" then
    local listed = #value > 0 or getmetatable(value) == getmetatable(json.array {})
    return listed and "array" or "object"
  end
  return type(value)
end

-- An empty table is a list or an object; a whole number is a number.
local function has_type(value, wanted)
  local is = type_of(value)
  if type(wanted) == "table" then
    for _, one in ipairs(wanted) do
      if has_type(value, one) then
        return true
      end
    end
    return false
  end
  return is == wanted or wanted == "number" and is == "integer"
    or type(value) == "table" and next(value) == nil and (wanted == "array" or wanted == "object")
end

local check

-- Keys that the description does not know are wrong here, although a client passes over them.
local function check_object(api, schema, value, at)
  for _, name in ipairs(schema.required or {}) do
    if value[name] == nil then
      return ("%s.%s is missing"):format(at, name)
    end
  end
  for name, one in pairs(value) do
    local known = schema.properties[name]
    local wrong = not known and ("%s.%s is not described"):format(at, name)
      or check(api, known, one, ("%s.%s"):format(at, name))
    if wrong then
      return wrong
    end
  end
end

function check(api, schema, value, at)
  if schema["$ref"] then
    schema = api.components.schemas[schema["$ref"]:match("[^/]+$")]
  end
  if schema.type and not has_type(value, schema.type) then
    return ("%s is %s (expected %s)"):format(at, json.encode(value),
      type(schema.type) == "table" and table.concat(schema.type, " or ") or schema.type)
  elseif schema.properties and value ~= json.null then
    return check_object(api, schema, value, at)
  elseif schema.items and value ~= json.null then
    for i, one in ipairs(value) do
      local wrong = check(api, schema.items, one, ("%s[%d]"):format(at, i))
      if wrong then
        return wrong
      end
    end
  end
end

-- The operation of a path such as /v1/jobs/7: of the patterns that are like it the one that says
-- most; nil: none is.
function openapi.operation(api, method, path)
  local best, most
  for pattern, item in pairs(api.paths) do
    local plain = pattern:gsub("{%l+}", "")
    local like = pattern:gsub("[%-%.]", "%%%0"):gsub("{id}", "%%d+"):gsub("{name}", ".+")
    if item[method:lower()] and path:find("^" .. like .. "$") and #plain > (most or 0) then
      best, most = item[method:lower()], #plain
    end
  end
  return best
end

-- What is wrong with an answer { status, body }; nil: nothing, or nothing is described.
function openapi.wrong(api, method, path, answer)
  local operation = openapi.operation(api, method, path)
  local responses = operation and operation.responses
  if not responses or type(answer.body) ~= "table" then
    return nil
  end
  local described = responses[tostring(answer.status)] or answer.status >= 400 and responses.default
  if not described then
    return ("%s %s: the status %d is not described"):format(method, path, answer.status)
  end
  local _, content = next(described.content)
  local wrong = check(api, content.schema, answer.body, "answer")
  return wrong and ("%s %s: %s"):format(method, path, wrong)
end

return openapi
