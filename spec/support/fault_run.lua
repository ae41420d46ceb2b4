-- One process that meets a fault, such as run fdatasync EIO 3:
--   lua5.4 spec/support/fault_run.lua VICTIM CALL ANSWER WHEN
-- Prints a line: what it was, status, whether the fault came, number of problems; then those.
local faulty = require "spec.support.faulty"

local who, call, answer, when = table.unpack(arg)
local inject = ("%s:%s=%s:when=%s"):format(call, answer == "KILL" and "signal" or "error", answer,
  when)
local result = faulty.run(who, inject)
local status, problems = result.status, result.problems

local function expect(fine, text)
  if not fine then
    problems[#problems + 1] = text
  end
end

local function check_status()
  if not result.injected then
    return expect(status == 0, "no fault came, and it did not end well")
  elseif answer == "KILL" then
    return expect(status == 137, "it was not killed")
  elseif call == "fdatasync" or (call == "pwrite64" and answer == "EIO") then
    expect(status == 74, "it went on")
    -- SQLite takes back a store that is half made, and syncs that.
    expect(not result.syncs or who == "first", "it synced once more")
  elseif answer == "EINTR" then
    return expect(status == 0, "an interrupted call ended it")
  end
  expect(status == 0 or status == 74, "it ended otherwise than by 0 or 74")
  expect(status == 0 or result.names, "it does not name the store")
end

check_status()
print(table.concat(arg, " "), status, result.injected and "injected" or "missed", #problems)
if #problems > 0 then
  print(table.concat(problems, "\n") .. "\n" .. result.said .. "\n" .. result.told)
end
