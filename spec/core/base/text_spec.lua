local rules = require("moonshift.core").rules

describe("a suggestion", function()
  local names = { "handler", "lane", "workers", "wait", "max_wait" }

  it("is the closest name", function()
    assert.equal("workers", rules.suggest("wrokers", names))
    assert.equal("handler", rules.suggest("handlr", names))
    assert.equal("max_wait", rules.suggest("maxwait", names))
  end)

  it("is not made for a word that is like none", function()
    assert.is_nil(rules.suggest("colour", names))
    assert.is_nil(rules.suggest("-n", { "-C" }))
    assert.is_nil(rules.suggest("top", { "job" }))
    assert.equal("run", rules.suggest("rnu", { "run" }))
    assert.is_nil(rules.suggest("zz", names))
    assert.is_nil(rules.suggest("", names))
    assert.is_nil(rules.suggest(("x"):rep(100000), names))
  end)
end)
