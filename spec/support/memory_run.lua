-- One process that is refused memory: lua5.4 spec/support/memory_run.lua VICTIM AT MANY LIBRARY.
-- Prints a line: what it was, status, number of problems; then those.
local faulty = require "spec.support.faulty"

local who, at, many, library = table.unpack(arg)
local result = faulty.starved(who, library, tonumber(at), tonumber(many))
print(table.concat(arg, " "), result.status, #result.problems)
if #result.problems > 0 then
  print(table.concat(result.problems, "\n") .. "\n" .. result.said .. "\n" .. result.told)
end
