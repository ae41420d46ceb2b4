local rules = require("moonshift.core").rules

describe("rules", function()
  it("return nil and a message for bad input", function()
    assert.same({ nil, 'time "x": expected year (4 digits) (position 1), '
      .. 'as in "2026-12-24T18:00:00+01:00"' }, { rules.time "x" })
  end)

  it("raise for a wrong type", function()
    assert.error(function()
      rules.time {}
    end, "bad argument #1 to 'time' (string expected, got table)")
  end)

  it("see a text to its end", function()
    assert.error(function()
      rules.time "2026-01-01\0junk"
    end, "bad argument #1 to 'time' (text with a zero byte)")
  end)

  it("hash a text, with its zero bytes", function()
    assert.equal("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      rules.hash "abc")
    assert.not_equal(rules.hash "a", rules.hash "a\0")
  end)

  it("suggest from texts only", function()
    assert.equal("lane", rules.suggest("lan", { 1, {}, "lane" }))
  end)
end)
