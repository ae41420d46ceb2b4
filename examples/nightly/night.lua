-- One night on a virtual clock: closes the day at 18:00 and looks in every quarter of an hour.
-- Run it as: lua5.4 examples/nightly/night.lua
local testing = require "moonshift.testing"

local START = "2026-01-01T18:00:00Z"

local engine = testing.engine {
  scripts = arg[0]:match("^(.*)/") or ".",
  clock = require("moonshift").clock.virtual(START),
}
engine:enqueue("close_day", { day = "2026-01-02" })

for quarter = 0, 48 do
  local minutes = 18 * 60 + quarter * 15
  local before = engine:jobs():list()
  local run = engine:drain()
  if run.done + run.failed > 0 then
    print(("%02d:%02d  %d done, %d failed, %d waiting"):format(minutes // 60 % 24, minutes % 60,
      run.done, run.failed, engine:jobs():count()))
    for _, job in ipairs(before) do
      local now = engine:job(job.id)
      if not now then
        print("       done    " .. job.handler)
      elseif now.attempt > job.attempt then
        print(("       failed  %s: %s, again at %s"):format(job.handler, now.message, now.due))
      end
    end
  end
  engine:advance("PT15M")
end
