-- prepare(server): makes what empties a schema and gives it out again (spec/support/stores.lua),
-- and the schema "template", which says what an empty one has.
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"
local stores = require "spec.support.stores"

return function(server)
  local said = postgres.say(server, stores.prepare)
  assert(said == "", said)
  local made, _, errors = process.moonshift("store", "create", "--store",
    postgres.url(server, "template"))
  assert(made == 0, errors)
  postgres.rows(server, "spec", "SELECT spec.remember()")
end
