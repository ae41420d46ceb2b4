-- Runs a workload with a planned death, for the crash points:
--
--     lua5.4 spec/support/crash_run.lua WORKLOAD POINT HIT AFTER
--
-- A process that starts when AFTER have died before dies at its HIT-th pass of POINT. The first
-- line of the output is "died" or "lived", and the number of problems.
local workloads = require "spec.support.workloads"

local name, point, hit, after = table.unpack(arg)
local result = workloads.run(name, { point = point, hit = tonumber(hit), after = tonumber(after) })
print(table.concat(arg, " "), result.died and "died" or "lived", #result.problems)
if #result.problems > 0 then
  print(table.concat(result.problems, "\n") .. "\n" .. result.told)
end
