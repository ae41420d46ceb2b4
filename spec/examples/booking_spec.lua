-- Two trips to their end: one is booked, one is taken back.
local process = require "spec.support.process"

describe("examples/booking", function()
  local dir

  before_each(function()
    dir = process.folder()
  end)

  after_each(function()
    process.remove(dir)
  end)

  it("books a trip, and takes back what a stolen card does not pay", function()
    local command = "MOONSHIFT=%s STORE=%s sh examples/booking/run.sh %s"
    local status, output, errors = process.run(command:format(process.command(),
      process.store(dir .. "/trips.db"), dir))
    assert.equal(0, status, output .. errors)
    local ann, bob, printed = output:match "^(trip.-)\n(trip.-)\nwhat handlers printed:\n(.*)$"
    assert.matches("confirm  began 1 time", ann)
    assert.is_nil(ann:find("undone  began", 1, true))
    assert.matches("flight%.undone  began 1 time", bob)
    assert.matches("hotel%.undone  began 1 time", bob)
    assert.is_nil(bob:find("confirm  began", 1, true))
    assert.matches('"pay 900","ann: booked"', printed)
    assert.matches('"unbook for bob","unbook for bob","bob: not booked"', printed)
    local id = bob:match "^trip (%d+)"
    assert.matches("^<svg ", process.read(("%s/trip-%s.svg"):format(dir, id)))
  end)
end)
