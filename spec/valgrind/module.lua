-- What a Lua program does with the module: creates, runs, asks, operates.
local moonshift = require "moonshift"

local engine = assert(moonshift.open {
  scripts = "spec/valgrind/folder",
  store = "sqlite:" .. arg[1] .. "/module.db",
})
local id = engine:enqueue("fine", { n = 1 })
assert(engine:enqueue_many { { "parent", nil, { lane = "a" } }, { "fails" } })
assert(not engine:enqueue("unknown", {}))
assert(engine:execute(id))
assert(engine:drain().done > 0)
engine:jobs({ state = "dead" }):each(function(job)
  assert(engine:why(job.id))
  assert(engine:set_retries(job.id, 1))
end)
assert(engine:drain().failed > 0)
assert(#engine:incidents():list() > 0 and #engine:log():list() > 0)
assert(not engine:set_priority(999999, 1))
engine:stats()
engine:close()
