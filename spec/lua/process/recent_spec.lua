-- Values that are made when asked for, and kept as long as there is room.
local recent = require "moonshift.process.recent"

describe("recent values", function()
  local made, values

  before_each(function()
    made = {}
    values = recent.new(2, function(key)
      if key == "bad" then
        error("not this one", 0)
      end
      made[#made + 1] = key
      return key:upper()
    end)
  end)

  it("are made once", function()
    assert.equal("A", values:get "a")
    assert.equal("A", values:get "a")
    assert.same({ "a" }, made)
  end)

  it("go when others were asked for since", function()
    for _, key in ipairs { "a", "b", "a", "c", "a", "b" } do
      values:get(key)
    end
    assert.same({ "a", "b", "c", "b" }, made)
  end)

  it("are not there if making them raises", function()
    values:get "a"
    values:get "b"
    assert.is_false(pcall(values.get, values, "bad"))
    values:get "a"
    values:get "b"
    assert.same({ "a", "b" }, made)
  end)
end)
