-- docs/rooms.svg is what the rooms and the calls of today say.
local picture = require "docs.rooms"
local source = require "spec.support.source"

describe("docs/rooms.svg", function()
  it("is what the rooms and the calls say (else: make picture)", function()
    assert.equal(picture.page(), source.read("docs/rooms.svg"))
  end)
end)
