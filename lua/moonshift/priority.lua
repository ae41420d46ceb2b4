-- Priorities as definitions give them: an integer, a function, the name of a file in priorities/,
-- or an expression "${…}" (rules §7).
local expression = require "moonshift.expression"
local meant = require "moonshift.meant"
local show = require "moonshift.show"

local priority = {}

local EXPECTED = "(expected a whole number, a function, the name of a file in priorities/ or an "
  .. "expression such as ${payload.priority})"

local function whole(value)
  return type(value) == "number" and math.tointeger(value) or nil
end

-- from_expression(text) -> as resolve; or nil, message. One that does not depend on the job is a
-- constant.
local function from_expression(text)
  local node, message = expression.of_job(text)
  if not node then
    return nil, ('priority "%s": %s'):format(text, message)
  elseif not node.constant or node.value == nil then
    return {
      fn = function(job)
        return expression.ask(node, job)
      end,
      shown = text,
      file = "the expression " .. text,
    }
  elseif whole(node.value) then
    return { constant = whole(node.value) }
  end
  return nil, ('priority "%s": got %s (expected a whole number)'):format(text, show(node.value))
end

-- resolve(value, files, file) -> { constant } or { fn, shown, file }; or nil, message. `files`: the
-- functions of priorities/ by name; file: where the value was declared.
function priority.resolve(value, files, file)
  if type(value) == "function" then
    return { fn = value, shown = "function", file = "the function of " .. file }
  elseif expression.is(value) then
    return from_expression(value)
  elseif type(value) == "string" and files[value] then
    return { fn = files[value], shown = value, file = ("priorities/%s.lua"):format(value) }
  elseif type(value) == "string" then
    return nil, ('priority "%s": no such file in priorities/%s'):format(value,
      meant(value, files, ""))
  elseif whole(value) then
    return { constant = whole(value) }
  end
  return nil, ("priority: got %s %s"):format(show(value), EXPECTED)
end

-- ask(entry, job) -> integer, or nil: it has no opinion and the setting counts. Raises the
-- function's error, and an error for any other result.
function priority.ask(entry, job)
  local value = entry.fn(job)
  if value == nil then
    return nil
  end
  return whole(value)
    or error(("%s returned %s (expected a whole number)"):format(entry.file, show(value)), 0)
end

return priority
