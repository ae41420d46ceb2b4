local show = require "moonshift.show"

describe("show", function()
  it("names nil nothing", function()
    assert.equal("nothing", show(nil))
  end)

  it("shows numbers and booleans as they are", function()
    assert.equal("1.5", show(1.5))
    assert.equal("true", show(true))
  end)

  it("quotes a string and cuts a long one", function()
    assert.equal('the string "x"', show("x"))
    assert.equal('the string "' .. ("x"):rep(100) .. '…"', show(("x"):rep(101)))
  end)

  it("names the kind of everything else", function()
    assert.equal("a table", show({}))
    assert.equal("a function", show(print))
  end)
end)
