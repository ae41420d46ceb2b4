local rules = require("moonshift.core").rules

describe("a retry configuration", function()
  local function runs(text)
    return assert(rules.retry(text)).runs
  end

  local function refusal(text)
    return select(2, rules.retry(text))
  end

  it("names the runs in all", function()
    assert.equal(5, runs "R5/PT5M")
    assert.equal(1, runs "R1/PT5M")
    assert.equal(1, runs "R0/PT5M")
    assert.equal(2147483647, runs "R/PT5M")
  end)

  it("of delays has one run more than delays", function()
    assert.equal(2, runs "PT8M")
    assert.equal(4, runs "PT10M,PT17M,PT20M")
  end)

  it("may have blanks around its parts", function()
    assert.equal(3, runs " PT10M , PT17M ")
    assert.equal(5, runs " R5 / PT5M ")
  end)

  it("has 64 delays at the most", function()
    assert.equal(65, runs(("PT1S,"):rep(63) .. "PT1S"))
    assert.truthy(refusal(("PT1S,"):rep(64) .. "PT1S"):find("expected at most 64 delays", 1, true))
  end)

  it("gives its delays in order", function()
    assert.same({ { months = 0, days = 1, ms = 0 }, { months = 0, days = 0, ms = 5000 } },
      rules.retry("P1D,PT5S").delays)
  end)

  for text, problem in pairs {
    ["R5"] = 'expected / and a duration, as in "R5/PT5M" (position 3)',
    ["R-1/PT1S"] = 'expected / and a duration, as in "R5/PT5M" (position 2)',
    ["R9999999999/PT1M"] = "expected at most 2147483647 runs (position 2)",
    ["R5/PT1M,PT2M"] = "expected one delay after a number of runs (position 8)",
    ["R5/PT5X"] = 'duration "PT5X": expected H, M or S (position 4), as in "1h30m" or "PT1H30M"',
    ["PT5M,"] = 'duration "": expected a number with its unit, or P (ISO 8601) (position 1), '
      .. 'as in "1h30m" or "PT1H30M"',
    ["5M"] = 'duration "5M": M may mean months: expected m for minutes, or P1M for months '
      .. '(position 2), as in "1h30m" or "PT1H30M"',
  } do
    it(('is not "%s"'):format(text), function()
      assert.equal(('retry "%s": %s'):format(text, problem), refusal(text))
    end)
  end
end)

describe("the delay after a failure", function()
  local function delay(text, before)
    return rules.retry_due(text, before, 0) / 1000
  end

  it("goes through the list as retries go down", function()
    assert.same({ 1, 2, 3 }, {
      delay("PT1S,PT2S,PT3S", 4), delay("PT1S,PT2S,PT3S", 3), delay("PT1S,PT2S,PT3S", 2),
    })
  end)

  it("that ends at 0 is the last", function()
    assert.equal(3, delay("PT1S,PT2S,PT3S", 1))
    assert.equal(3, delay("PT1S,PT2S,PT3S", 0))
  end)

  it("is the first as long as retries are above the list", function()
    assert.equal(1, delay("PT1S,PT2S,PT3S", 5))
    assert.equal(1, delay("PT1S,PT2S,PT3S", 2147483647))
  end)

  it("is always the one of a number of runs", function()
    assert.equal(300, delay("R5/PT5M", 5))
    assert.equal(300, delay("R5/PT5M", 1))
  end)
end)
