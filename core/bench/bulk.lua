-- Creates jobs a thousand a call, as any program does; returns the microseconds that took. The list
-- is made once: what counts is to create jobs, not to collect them.
local asked, tell, now = ...
local moonshift = require "moonshift"

local CALL = 1000
local random = 12345

-- The priorities are the same in every run.
local function priority()
  random = (random * 1103515245 + 12345) & 0xffffffff
  return (random >> 16) % asked.priorities
end

local engine <close> = assert(moonshift.open { store = asked.store, scripts = asked.scripts })
local list = {}
for i = 1, math.min(CALL, asked.jobs) do
  list[i] = { asked.handler, asked.payload, {} }
end
local from = now()
for done = 0, asked.jobs - 1, CALL do
  for i = #list, asked.jobs - done + 1, -1 do -- the last call has fewer
    list[i] = nil
  end
  for i = 1, #list do
    list[i][3].priority = priority()
  end
  assert(engine:enqueue_many(list))
  if not tell(done) then
    break
  end
end
return now() - from
