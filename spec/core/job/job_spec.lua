local program = require "spec.support.program"
local rules = require("moonshift.core").rules
local testing = require "moonshift.testing"

describe("a job as users see it", function()
  it("has every field, null where there is nothing", function()
    local place = program.place { ["handlers/work.lua"] = "return function() end" }
    place.run("enqueue", "work", '{"a":[],"b":1.0}', "--lane", "q")
    local _, output = place.run("job", "list", "--json")
    local job = assert(rules.decode(output))[1]
    job.created = nil
    assert.same({
      id = 1, type = "message", handler = "work", payload = { a = {}, b = 1.0 }, priority = 0,
      due = rules.null, ["repeat"] = rules.null, retries = 3, attempt = 1, crashes = 0,
      suspect = false, lock_owner = rules.null, lock_expiration = rules.null, token = rules.null,
      exclusive = true, lane = "q", instance = rules.null, root = rules.null,
      activity = rules.null, definition = job.definition, deployment = job.deployment,
      category = rules.null, tenant = rules.null, unique = rules.null, batch = rules.null,
      suspended = false, suspended_by = rules.null, state = "ready", message = rules.null,
      failed_activity = rules.null, rev = job.rev, zone = rules.null, misfire = rules.null,
      schedule = rules.null, conflicts = 0, topic = rules.null,
      trace = rules.null,
    }, job)
    place.clean()
  end)

  it("is scheduled, then ready", function()
    local engine = testing.engine { handlers = { work = function() end } }
    local id = engine:enqueue("work", nil, { after = 60 })
    assert.equal("scheduled", engine:job(id).state)
    engine:advance(60)
    assert.equal("ready", engine:job(id).state)
    engine:close()
  end)
end)
