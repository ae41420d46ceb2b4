-- Priorities as definitions give them: an integer, a function, or the name of a file in
-- priorities/ (rules §7).
local meant = require "moonshift.meant"
local show = require "moonshift.show"

local priority = {}

local EXPECTED = "(expected a whole number, a function or the name of a file in priorities/)"

local function whole(value)
  return type(value) == "number" and math.tointeger(value) or nil
end

-- resolve(value, files, file) -> { constant } or { fn, shown, file }; or nil, message. `files`: the
-- functions of priorities/ by name; file: where the value was declared.
function priority.resolve(value, files, file)
  if type(value) == "function" then
    return { fn = value, shown = "function", file = "the function of " .. file }
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

-- ask(entry, job) -> integer. Raises what the function raises, and on anything else it returns.
function priority.ask(entry, job)
  local value = entry.fn(job)
  return whole(value)
    or error(("%s returned %s (expected a whole number)"):format(entry.file, show(value)), 0)
end

return priority
