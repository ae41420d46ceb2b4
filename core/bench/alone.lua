-- Runs a handler so many times; returns the microseconds of CPU that took.
local asked = ...

local handler = assert(load(asked.handler))()
local job = { payload = asked.rounds }
local from = os.clock()
for _ = 1, asked.times do
  handler(job)
end
return math.ceil((os.clock() - from) * 1e6)
