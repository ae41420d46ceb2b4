-- Creates jobs a thousand a call, as any program does; returns the microseconds that took.
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
local from = now()
for done = 0, asked.jobs - 1, CALL do
  local list = {}
  for i = 1, math.min(CALL, asked.jobs - done) do
    list[i] = { asked.handler, asked.payload, { priority = priority() } }
  end
  assert(engine:enqueue_many(list))
  if not tell(done) then
    break
  end
end
return now() - from
