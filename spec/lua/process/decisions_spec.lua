require "spec.support.scripts"
local decisions = require "moonshift.process.decisions"
local rules = require "moonshift.rules"

-- What a decision that returns `found` gives under `map`: ok, answer.
local function asked(map, found)
  return decisions.call(pcall, function()
    return found
  end, {}, map)
end

describe("a decision", function()
  it("may return nothing", function()
    assert.is_nil(select(2, asked("singleEntry", nil)))
    assert.equal("[]", rules.encode(select(2, asked("resultList", nil))))
  end)

  it("may return a plain value or a list of them", function()
    assert.equal(5, select(2, asked("singleEntry", 5)))
    assert.same({ 5, 6 }, select(2, asked("collectEntries", { 5, 6 })))
  end)

  it("gives a list of rows where nothing else is said", function()
    assert.same({ { a = 1 } }, select(2, asked(nil, { a = 1 })))
  end)

  it("gives variables by the names of its only row, or all rows under its own name", function()
    local function given(map, found)
      return select(2, decisions.call(pcall, function()
        return found
      end, {}, map, "risk"))
    end
    assert.same({ class = "high" }, given("variables", { class = "high" }))
    assert.same({ class = "high" }, given("variables", { { class = "high" } }))
    assert.same({ risk = { { a = 1 }, { a = 2 } } }, given("variables", { { a = 1 }, { a = 2 } }))
    assert.same({ risk = 5 }, given("variables", 5))
    assert.same({}, given("variables", nil))
    assert.same({ a = 1 }, given("hit", { a = 1 }))
    assert.equal("the decision risk gives no row (expected one)", given("hit", nil))
  end)

  it("refuses several rows or entries where one is expected", function()
    local ok, message = asked("singleResult", { { a = 1 }, { a = 2 } })
    assert.is_false(ok)
    assert.equal("the decision gives 2 rows (expected one at most)", message)
    ok, message = asked("singleEntry", { { a = 1, b = 2 } })
    assert.is_false(ok)
    assert.equal("the decision gives a row with several entries (expected one)", message)
  end)

  it("hands on what it raises", function()
    local ok, message = decisions.call(pcall, function()
      error("no table", 0)
    end, {}, "singleEntry")
    assert.is_false(ok)
    assert.equal("no table", message)
  end)
end)
