-- What an expression costs over large data, and where it is refused.
local expressions = require "spec.support.expressions"
local expression = require "moonshift.expression"
local rules = require "moonshift.rules"
local scope_of, value_of, raised = expressions.scope_of, expressions.value_of, expressions.raised

describe("an expression over data of any size", function()
  local MIB = 1 << 20

  -- Each would take hours with a search that begins anew at each byte.
  local half = ("a"):rep(MIB // 2)
  local hostile = {
    blanks = (" "):rep(MIB) .. "x" .. (" "):rep(MIB) .. "x",
    long = half .. half, part = half .. "b", late = "b" .. half,
    nines = ("9"):rep(MIB),
  }

  for text, expected in pairs {
    ["${blanks.trim().length()}"] = MIB + 2,
    ["${long.contains(part)}"] = false,
    ["${long.contains(late)}"] = false,
    ["${long.indexOf(part)}"] = -1,
    ["${long.lastIndexOf(late)}"] = -1,
    ["${long.lastIndexOf(part)}"] = -1,
    ["${long.split(part).size()}"] = 1,
    ["${long.replace(late, 'x').length()}"] = MIB,
    ["${long.startsWith(part)}"] = false,
    ["${long.equalsIgnoreCase(part)}"] = false,
    ["${nines == 1}"] = false,
    ["${blanks == 1 ? 2 : 3}"] = "number",
  } do
    it("takes time in proportion to it: " .. text, function()
      local fn = assert(expression.compile(text))
      local begun = os.clock()
      local fine, value = pcall(fn, scope_of(hostile))
      assert.is_true(os.clock() - begun < 20)
      if expected == "number" then
        assert.is_false(fine)
      elseif text:find "replace" then
        assert.matches("a text of 1048576 bytes or more", value, 1, true)
      else
        assert.is_true(fine, value)
        assert.equal(expected, value)
      end
    end)
  end

  it("finds what a search byte by byte finds", function()
    for _ = 1, 3000 do
      local function word(most)
        local bytes = {}
        for i = 1, math.random(0, most) do
          bytes[i] = math.random(2) == 1 and "a" or "b"
        end
        return table.concat(bytes)
      end
      local text, part = word(12), word(3)
      local first, last = text:find(part, 1, true), nil
      for at = 1, #text - #part + 1 do
        last = text:sub(at, at + #part - 1) == part and at or last
      end
      local scope = scope_of { text = text, part = part }
      assert.equal((first or 0) - 1, value_of("${text.indexOf(part)}", scope))
      assert.equal((last or 0) - 1, value_of("${text.lastIndexOf(part)}", scope))
      assert.equal(first ~= nil, value_of("${text.contains(part)}", scope))
      if part ~= "" then
        local parts = value_of("${text.split(part)}", scope)
        assert.equal(text, table.concat(parts, part))
        assert.equal(select(2, text:gsub(part, "")) + 1, #parts)
        assert.equal(text:gsub(part, "c"), value_of("${text.replace(part, 'c')}", scope))
      end
      local padded = (" "):rep(math.random(0, 2)) .. text .. ("\t"):rep(math.random(0, 2))
      assert.equal(text, value_of("${text.trim()}", scope_of { text = padded }))
    end
  end)

  local function list_of(count, element)
    local list = {}
    for i = 1, count do
      list[i] = element
    end
    return rules.array(list)
  end

  it("has a budget of elements", function()
    local scope = scope_of { list = list_of(600000, "a") }
    assert.is_false(value_of("${list.contains('b')}", scope))
    local steps = "looks at more than 1000000 elements"
    assert.matches(steps, raised("${list.contains('b') or list.contains('c')}", scope))
    assert.is_false(value_of("${list.contains('b')}", scope)) -- each has its own
  end)

  it("has a budget of elements for lists in each other", function()
    local list = rules.array { 1 }
    for _ = 1, 60 do
      list = rules.array { list, list }
    end
    local scope = scope_of { one = list, list = rules.array { list } }
    assert.matches("looks at more than", raised("${one.toString().length()}", scope))
    local other = rules.array { 1 }
    for _ = 1, 60 do
      other = rules.array { other, other }
    end
    assert.matches("looks at more than",
      raised("${one == other}", scope_of { one = list, other = other }))
  end)

  it("has a budget of bytes", function()
    local scope = scope_of { text = ("a"):rep(20 * MIB) }
    assert.is_false(value_of("${text.contains('b')}", scope))
    assert.matches("reads and makes texts of more than 64 MiB",
      raised("${text.contains('b') or text.contains('c') or text.contains('d') or "
        .. "text.contains('e')}", scope))
  end)

  it("counts the bytes of what a method is given", function()
    local scope = scope_of { text = ("a"):rep(20 * MIB) }
    assert.matches("reads and makes texts of more than 64 MiB",
      raised("${'b'.equals(text) or 'c'.equals(text) or 'd'.equals(text) or 'e'.equals(text)}",
        scope))
  end)
end)
