require "spec.support.scripts"
local expression = require "moonshift.expression"
local rules = require "moonshift.rules"

describe("expression", function()
  local job = {
    id = 7,
    payload = {
      a = { b = { c = 5 } },
      none = rules.null,
      text = "x",
      again = "a ${b}",
      long = ("x"):rep(65537),
      fits = ("x"):rep(65536),
      payload = "inner",
    },
  }

  local function ask(text, about)
    return expression.ask(assert(expression.of_job(text)), about or job)
  end

  it("knows its texts by how they begin", function()
    assert.is_true(expression.is("${1}"))
    assert.is_true(expression.is("  #{"))
    assert.is_false(expression.is("R5/PT${x}M"))
    assert.is_false(expression.is(5))
  end)

  it("reads literals", function()
    assert.equal(5, ask "${5}")
    assert.equal("integer", math.type(ask "${5}"))
    assert.equal(-2.5, ask "#{ -2.5 }")
    assert.equal(1500.0, ask "${1.5e3}")
    assert.equal("it's", ask [[${'it\'s'}]])
    assert.equal([[a "b" \]], ask [[${"a \"b\" \\"}]])
    assert.equal("it's", ask [[${"it's"}]])
    assert.equal("", ask "${''}")
    assert.is_true(ask "${true}")
    assert.is_false(ask "${false}")
    assert.is_nil(ask "${nil}")
    assert.is_nil(ask "${null}")
  end)

  it("reads paths over the payload and the job", function()
    assert.equal(5, ask "${payload.a.b.c}")
    assert.equal(5, ask "${ a . b . c }")
    assert.equal(5, ask "${job.payload.a.b.c}")
    assert.equal(7, ask "#{job.id}")
    assert.equal("x", ask "${text}")
    assert.equal("inner", ask "${payload.payload}")
    assert.equal(3, ask("${payload}", { payload = 3 }))
  end)

  it("gives nothing where a path ends in nothing", function()
    assert.is_nil(ask "${missing}")
    assert.is_nil(ask "${missing.deeper.still}")
    assert.is_nil(ask "${none}")
    assert.is_nil(ask "${none.deeper}")
    assert.is_nil(ask "${text.len}")
    assert.is_nil(ask("${a}", { payload = "no table" }))
  end)

  it("looks at the payload alone, whatever is named", function()
    for _, name in ipairs { "os", "io", "_G", "string", "require", "__index", "self" } do
      assert.is_nil(ask(("${%s}"):format(name)))
    end
    local sly = setmetatable({}, { __index = function() error("asked") end })
    assert.is_nil(ask("${a.b}", { payload = { a = sly } }))
  end)

  it("gives no text that holds an expression, and none above 64 KiB", function()
    assert.equal(65536, #ask "${fits}")
    assert.error(function()
      ask "${again}"
    end, 'the expression ${again} gives the string "a ${b}", an expression again '
      .. "(expected plain text)")
    assert.error(function()
      ask "${long}"
    end, "the expression ${long} gives a text of 65537 bytes (expected at most 65536)")
    assert.error(function()
      ask "${a}"
    end, "the expression ${a} gives a table (expected a number or a text)")
  end)

  it("refuses everything else", function()
    for _, text in ipairs {
      "${1 + 1}", "${a == b}", "${a and b}", "${a or b}", "${not a}", "${empty a}", "${a ? b : c}",
      "${f(1)}", "${a:b()}", "${a.b()}", "${a[1]}", "${a['b']}", "${{}}", "${#a}", "${'a' .. 'b'}",
      "${function() end}", "${a; b}", "${a} ${b}", "${a}b", "${0x10}", "${.5}", "${a..b}", "${a.1}",
      "${--1}", "${'a\\n'}", "${\"a'}", "${[[a]]}", "${job.enqueue}", "${job.engine}", "${job}",
      "${a\0}", "${ä}",
    } do
      local node, message = expression.of_job(text)
      assert.is_nil(node, text)
      assert.is_string(message)
    end
  end)

  it("reads any text without raising", function()
    local bytes = "${}#'\"\\ab.01-e jobpayload\0 "
    local random = 1
    for _ = 1, 20000 do
      local parts = {}
      for i = 1, 12 do
        random = (random * 1103515245 + 12345) % 2147483648
        local at = random // 65536 % #bytes + 1
        parts[i] = bytes:sub(at, at)
      end
      local node, message = expression.read("${" .. table.concat(parts) .. "}")
      assert.is_truthy(node or message)
    end
  end)
end)
