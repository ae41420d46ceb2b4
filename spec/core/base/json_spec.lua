local rules = require("moonshift.core").rules

describe("json", function()
  local function again(text)
    return rules.encode(assert(rules.decode(text)))
  end

  local function refusal(text)
    return select(2, rules.decode(text))
  end

  it("keeps integers exact", function()
    assert.equal("9223372036854775807", again "9223372036854775807")
    assert.equal("-9223372036854775808", again "-9223372036854775808")
  end)

  it("writes the shortest floats that read back", function()
    assert.equal("[0.1,1.0,1e+300,-0.0]", again "[0.1,1.0,1e300,-0.0]")
    assert.equal(0.1 + 0.2, rules.decode(rules.encode(0.1 + 0.2)))
  end)

  it("escapes what must be escaped", function()
    assert.equal([["\"\\\n\t\u0001/ü"]], rules.encode('"\\\n\t\1/ü'))
  end)

  it("reads any value", function()
    assert.equal("text", rules.decode '"text"')
    assert.equal(true, rules.decode " true ")
  end)

  for text, problem in pairs {
    ['{"a":1,"a":2}'] = [[duplicate object key near '"a"' (line 1, column 10)]],
    ["[1,]"] = "unexpected token near ']' (line 1, column 4)",
    ["01"] = "invalid token near '0' (line 1, column 1)",
    ["nan"] = "invalid token near 'nan' (line 1, column 3)",
    ["1 2"] = "end of file expected near '2' (line 1, column 3)",
    ["9223372036854775808"] = "too big integer near '9223372036854775808' (line 1, column 19)",
    ["1e999"] = "real number overflow near '1e999' (line 1, column 5)",
    ['"\\u0000"'] = [[\u0000 is not allowed (line 1, column 8)]],
    ['"\255"'] = [[unable to decode byte 0xff near '"' (line 1, column 1)]],
    [""] = "unexpected token near end of file (line 1, column 0)",
  } do
    it("refuses " .. ("%q"):format(text), function()
      assert.equal("json: " .. problem, refusal(text))
    end)
  end

  it("refuses a million brackets", function()
    assert.equal("json: arrays and objects nested deeper than 100", refusal(("["):rep(1000000)))
  end)

  it("takes a hundred levels, and brackets in texts", function()
    local deep = ("["):rep(100) .. ("]"):rep(100)
    assert.equal("json: arrays and objects nested deeper than 100", refusal("[" .. deep .. "]"))
    assert.equal(deep, again(deep))
    local text = '"' .. ("["):rep(300) .. '\\\\\\""'
    assert.equal(text, again(text))
  end)
end)
