local rules = require("moonshift.core").rules

describe("a Lua value as JSON", function()
  local encode, null, array = rules.encode, rules.null, rules.array

  local function refusal(value)
    return select(2, encode(value))
  end

  it("keeps integers and floats apart", function()
    assert.equal("[1,1.0]", encode { 1, 1.0 })
  end)

  it("is {} for an empty table and [] for a marked one", function()
    assert.equal("{}", encode {})
    assert.equal("[]", encode(array {}))
  end)

  it("is null for moonshift.null", function()
    assert.equal("[null,1]", encode { null, 1 })
    assert.equal("null", encode(nil))
  end)

  it("looks past metatables", function()
    local odd = setmetatable({ 1 }, { __index = error, __pairs = error, __len = error })
    assert.equal("[1]", encode(odd))
  end)

  it("may meet one table twice", function()
    local twice = { 1 }
    assert.equal("[[1],[1]]", encode { twice, twice })
  end)

  it("is not a function, and says where", function()
    assert.equal("value.items[2]: cannot store a function "
      .. "(expected nil, boolean, number, text or table)", refusal { items = { 1, print } })
    assert.equal('value["a b"]: cannot store a thread '
      .. "(expected nil, boolean, number, text or table)",
      refusal { ["a b"] = coroutine.create(print) })
  end)

  it("is not a table with mixed or strange keys", function()
    assert.equal("value: cannot store a table with mixed keys (expected 1 to n, or texts)",
      refusal { 1, a = 2 })
    assert.equal("value: cannot store a table with keys that are neither 1 to n nor texts",
      refusal { [1.5] = 1 })
    assert.equal("value: cannot store a table with mixed keys (expected 1 to n, or texts)",
      refusal(array { a = 1 }))
  end)

  it("is not a list with holes", function()
    assert.equal("value: cannot store a list with holes "
      .. "(expected keys 1 to n, moonshift.null for nothing)", refusal { 1, nil, 3 })
  end)

  it("is a finite number", function()
    assert.equal("value: cannot store not-a-number", refusal(0 / 0))
    assert.equal("value.x: cannot store an infinite number", refusal { x = -math.huge })
  end)

  it("is valid UTF-8 without zero bytes", function()
    assert.equal("value: cannot store a text that is not valid UTF-8", refusal "\xff")
    assert.equal("value: cannot store a text that is not valid UTF-8", refusal "\xed\xa0\x80")
    assert.equal("value: cannot store a text with a zero byte", refusal "a\0b")
    assert.equal("value: cannot store a table with a key that is not valid UTF-8 text",
      refusal { ["\xff"] = 1 })
  end)

  it("does not contain itself", function()
    local cycle = { inner = {} }
    cycle.inner.outer = cycle
    assert.equal("value.inner.outer: cannot store a table that contains itself", refusal(cycle))
  end)

  it("is not nested deeper than 100", function()
    local top = {}
    local bottom = top
    for _ = 1, 99 do
      bottom.x = {}
      bottom = bottom.x
    end
    assert.truthy(encode(top))
    bottom.x = {}
    assert.truthy(refusal(top):find(": cannot store tables nested deeper than 100", 1, true))
  end)
end)

describe("JSON as a Lua value", function()
  local decode, encode = rules.decode, rules.encode

  it("has moonshift.null inside", function()
    assert.equal(rules.null, decode('{"a":null}').a)
  end)

  it("keeps empty lists and objects apart on the way back", function()
    assert.equal('{"a":[]}', encode(decode '{"a":[]}'))
    assert.equal('{"a":{}}', encode(decode '{"a":{}}'))
  end)

  it("keeps a list a list that lost its last element", function()
    local list = decode "[1]"
    table.remove(list)
    assert.equal("[]", encode(list))
  end)

  -- The keys of the first object of a list are taken for the others.
  it("has each object of a list as it would be alone", function()
    local wide = {}
    for i = 1, 40 do
      wide[i] = ('"key%d":%d'):format(i, i)
    end
    local wider = "{" .. table.concat(wide, ",") .. "}"
    for _, list in ipairs {
      { '{"a":1,"b":2}', '{"a":3,"b":4}', '{ "a" : 5, "b" :6 }', '{"b":7,"a":8}', '{"a":9}', "{}" },
      { "{}", '{"a":1}', '{"a":2,"c":3}', '{"ab":4}', '{"a":{"a":5}}', "7", '{"a":[{"b":6}]}' },
      { '{"\\u0061":1,"b":2}', '{"a":3,"b":4}', '{"\\u0061":5,"b":6}' },
      { '{"a":1}', '[{"a":2,"b":3},{"a":4,"b":5}]', '{"a":6}' },
      { wider, wider, '{"key1":1,"key3":3}', "null", wider },
    } do
      local alone = {}
      for i, text in ipairs(list) do
        alone[i] = decode(text) or rules.null
      end
      assert.same(alone, decode("[" .. table.concat(list, ",") .. "]"))
    end
  end)

  it("refuses a key that repeats in any object of a list", function()
    for _, text in ipairs { '[{"a":1,"a":2}]', '[{"a":1},{"a":2,"a":3}]',
      '[{"a":1,"b":2},{"a":3,"b":4,"a":5}]', '[{"a":1,"b":2},{"b":3,"b":4}]' } do
      assert.is_nil((decode(text)))
    end
  end)

  it("has integers and floats", function()
    assert.equal("integer", math.type(decode "1"))
    assert.equal("float", math.type(decode "1.0"))
  end)
end)
