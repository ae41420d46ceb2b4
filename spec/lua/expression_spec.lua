local expressions = require "spec.support.expressions"
local expression = require "moonshift.expression"
local rules = require "moonshift.rules"
local scope_of, data, value_of = expressions.scope_of, expressions.data, expressions.value_of
local check_values, raised = expressions.check_values, expressions.raised

describe("expression", function()
  it("knows its texts by the brace after the sign", function()
    assert.is_true(expression.is("${1}"))
    assert.is_true(expression.is("  #{"))
    assert.is_true(expression.is("R5/PT${x}M"))
    assert.is_false(expression.is("R5/PT5M"))
    assert.is_false(expression.is(5))
  end)

  it("reads literals", function()
    check_values {
      ["${5}"] = 5, ["#{ -2.5 }"] = -2.5, ["${1.5e3}"] = 1500.0, ["${.5}"] = 0.5, ["${5.}"] = 5.0,
      [ [[${'it\'s'}]] ] = "it's", [ [[${"a \"b\" \\"}]] ] = [[a "b" \]],
      [ [[${"it's"}]] ] = "it's",
      ["${''}"] = "", ["${'}'}"] = "}", ["${true}"] = true, ["${false}"] = false,
      [ [[${'C:\dir'}]] ] = [[C:\dir]],
    }
    assert.is_nil(value_of "${null}")
  end)

  it("gives a text where text stands around", function()
    check_values {
      ["PT${n}S"] = "PT5S", ["${n}${text}"] = "5Hello", ["a ${null} b"] = "a  b",
      ["plain"] = "plain",
      ["\\${n} is ${n}"] = "${n} is 5", [" ${n} "] = 5, [" ${n} ${n} "] = " 5 5 ",
      ["$5 and #1"] = "$5 and #1",
      ["${6 / 2}x"] = "3.0x", ["${yes}!"] = "true!", [""] = "",
      ["of ${list}: ${order.lines[0]}"] = "of [10, b, null]: {sku=a}",
    }
  end)

  it("reads variables, members and elements", function()
    check_values {
      ["${n}"] = 5, ["${order.total}"] = 12, ["${order['total']}"] = 12,
      ["${order.lines[1].sku}"] = "b", ["${list[0]}"] = 10, ["${list['1']}"] = "b",
      ["${order.lines[n - 4].sku}"] = "b",
    }
    for _, text in ipairs { "${null}", "${null.deeper}", "${order.missing}", "${list[9]}",
      "${list[2]}",
      "${order[null]}" } do
      assert.is_nil(value_of(text), text)
    end
  end)

  it("coerces in arithmetic as the Expression Language does", function()
    check_values {
      ["${1 + 2 * 3}"] = 7, ["${(1 + 2) * 3}"] = 9, ["${'1' + 2}"] = 3, ["${null + null}"] = 0,
      ["${'' + 1}"] = 1, ["${digits * 2}"] = 24, ["${'1.5' + 1}"] = 2.5, ["${6 / 2}"] = 3.0,
      ["${7 div 2}"] = 3.5, ["${7 % 3}"] = 1, ["${-7 mod 3}"] = -1, ["${7.5 % 2}"] = 1.5,
      ["${- n}"] = -5,
      ["${-'3'}"] = -3, ["${2 - -1}"] = 3, ["${n - 1 - 1}"] = 3, ["${-null}"] = 0,
    }
  end)

  it("compares numbers, then truths, then texts", function()
    check_values {
      ["${n == 5.0}"] = true, ["${n eq '5'}"] = true, ["${'10' < 9}"] = false,
      ["${'10' < '9'}"] = true,
      ["${null == null}"] = true, ["${null == 0}"] = false, ["${null < 1}"] = false,
      ["${null <= null}"] = true, ["${yes == 'true'}"] = true,
      ["${'TRUE' == yes}"] = true, ["${text != 'Hello'}"] = false,
      ["${n ne 5 || n ge 5 && n le 5}"] = true, ["${n gt 4 and n lt 6}"] = true,
      ["${list == list}"] = true, ["${order.lines[0] == order.lines[1]}"] = false,
      ["${1 == 1 == true}"] = true,
    }
  end)

  it("decides", function()
    check_values {
      ["${yes and no}"] = false, ["${yes or no}"] = true, ["${not yes}"] = false, ["${!no}"] = true,
      ["${n > 3 ? 'many' : 'few'}"] = "many", ["${no ? 1 : yes ? 2 : 3}"] = 2,
      ["${'TRUE' ? 1 : 2}"] = 1, ["${'nope' ? 1 : 2}"] = 2, ["${'true ' ? 1 : 2}"] = 2,
      ["${null ? 1 : 2}"] = 2, ["${empty empty_text}"] = true, ["${empty null}"] = true,
      ["${empty none}"] = true, ["${not empty list}"] = true, ["${empty n}"] = false,
      ["${no and missing.f()}"] = false, ["${yes or missing}"] = true,
    }
  end)

  it("calls the methods of data", function()
    check_values {
      ["${text.length()}"] = 5, ["${umlaut.length()}"] = 3, ["${umlaut.substring(1)}"] = "bc",
      ["${umlaut.indexOf('c')}"] = 2, ["${text.toUpperCase()}"] = "HELLO",
      ["${text.substring(1, 3)}"] = "el", ["${text.charAt(0)}"] = "H", ["${text.indexOf('l')}"] = 2,
      ["${text.lastIndexOf('l')}"] = 3, ["${text.indexOf('z')}"] = -1,
      ["${text.contains('ell')}"] = true,
      ["${text.startsWith('He')}"] = true, ["${text.endsWith('lo')}"] = true,
      ["${' a '.trim()}"] = "a",
      ["${text.equals('Hello')}"] = true, ["${text.equalsIgnoreCase('HELLO')}"] = true,
      ["${text.replace('l', 'LL')}"] = "HeLLLLo", ["${'a,b'.split(',').get(1)}"] = "b",
      ["${text.concat(n)}"] = "Hello5", ["${n.toString()}"] = "5", ["${half.intValue()}"] = 0,
      ["${(half - 3).intValue()}"] = -2,
      ["${n.compareTo(7)}"] = -1, ["${list.size()}"] = 3, ["${list.get(0)}"] = 10,
      ["${list.contains('b')}"] = true, ["${list.indexOf(10)}"] = 0, ["${none.isEmpty()}"] = true,
      ["${list.subList(1, 2).size()}"] = 1, ["${order.containsKey('total')}"] = true,
      ["${order.get('total')}"] = 12, ["${order.getOrDefault('x', 3)}"] = 3,
      ["${order.size()}"] = 2,
      ["${order.keySet().get(0)}"] = "lines", ["${order.values().size()}"] = 2,
      ["${order.containsValue(12)}"] = true, ["${text.compareTo('Hello')}"] = 0,
    }
  end)

  it("counts dates", function()
    check_values {
      ["${now()}"] = "1970-01-01T00:00:00.000Z",
      ["${dateTime().plusDays(1)}"] = "1970-01-02T00:00:00.000Z",
      ["${now().plusMonths(1).minusHours(2).toDate()}"] = "1970-01-31T22:00:00.000Z",
      ["${now().plusMonths(2).minusDays(1).plusYears(2).minusMonths(1)}"] =
        "1972-01-28T00:00:00.000Z",
      ["${now().plusDays(58).plusDays(731).minusYears(1)}"] = "1971-02-28T00:00:00.000Z",
      ["${now().plusSeconds(2).time}"] = 2000, ["${now().plusWeeks(1) > now()}"] = true,
      ["${now().minusMinutes(1).isBefore(now())}"] = true,
      ["until ${now()}"] = "until 1970-01-01T00:00:00.000Z",
    }
  end)

  it("calls beans, which come before variables where a call follows", function()
    local scope = scope_of(data())
    assert.equal(10, value_of("${prices.rate(n)}", scope))
    assert.equal("a text", value_of("${prices}", scope))
    assert.equal(7, value_of("${prices.order().total}", scope))
    assert.equal(14, value_of("${prices.order().twice()}", scope))
    value_of("${prices.seen(now())}", scope)
    value_of("${prices.seen(execution)}", scope)
    assert.same({ "1970-01-01T00:00:00.000Z", scope.objects.execution }, scope.called)
    assert.equal('p.bpmn:7: ${prices.cost()}: the bean "prices" has no method "cost" (position 9)',
      raised "${prices.cost()}")
  end)

  it("knows the instance around it", function()
    local scope = scope_of(data())
    assert.equal("key-1", value_of("${execution.processBusinessKey}", scope))
    assert.equal("4711", value_of("${execution.getProcessInstanceId()}", scope))
    assert.equal("key-1", value_of("${instance.key}", scope))
    assert.equal("kermit", value_of("${task.assignee}", scope))
    assert.equal(6, value_of("${execution.getVariable('n') + 1}", scope))
    scope.variables.task = { name = "mine", length = 4 }
    assert.equal(4, value_of("${task.length}", scope))
    scope.objects.task = nil
    assert.equal("mine", value_of("${task.name}", scope))
    assert.equal(2, value_of("${task.size()}", scope))
    assert.equal("mine", value_of("${task['name']}", scope))
    scope.objects.task = scope.objects.execution
    assert.is_nil(value_of("${execution.getVariable('missing')}", scope))
    assert.is_false(value_of("${execution.hasVariable('missing')}", scope))
    value_of("${execution.setVariable('made', now())}", scope)
    assert.equal("1970-01-01T00:00:00.000Z", scope.variables.made)
    value_of("${execution.setVariableLocal('made', n * 2)}", scope)
    assert.same({ 10 }, scope.variables.made)
    value_of("${execution.removeVariable('made')}", scope)
    value_of("${execution.setVariables(order)}", scope)
    assert.equal(12, scope.variables.total)
    assert.is_true(value_of("${execution.getVariableNames().contains('total')}", scope))
    assert.equal("p.bpmn:7: ${execution.setVariables(5)}: setVariables: got 5 (expected a map) "
      .. "(position 12)", raised("${execution.setVariables(5)}", scope))
    assert.equal("p.bpmn:7: ${execution.eventName}: getEventName() is not known here (position 12)",
      raised("${execution.eventName}", scope))
    assert.is_nil(scope.variables.made)
    value_of("${task.setAssignee('fozzie')}", scope)
    value_of("${task.setDueDate(now().plusDays(1))}", scope)
    assert.same({ "fozzie", "1970-01-02T00:00:00.000Z" }, { scope.assigned, scope.due })
  end)

  it("says where it has no instance", function()
    local scope = { get = function() return nil, true end }
    assert.equal('p.bpmn:7: ${execution.id}: "execution" is not known here (position 12)',
      raised("${execution.id}", scope))
    assert.equal("p.bpmn:7: ${now()}: now() is not known here (position 3)",
      raised("${now()}", scope))
  end)

  it("takes variables:get and its like, for which no name is unknown", function()
    check_values {
      ["${variables:get(n)}"] = 5, ["${vars:get('n')}"] = 5, ["${var:getOrDefault(x, 3)}"] = 3,
      ["${variables:exists(x)}"] = false, ["${variables:eq(n, 5)}"] = true,
      ["${variables:gt(x, 1)}"] = false,
      ["${variables:isEmpty(x)}"] = true, ["${variables:notEmpty(text)}"] = true,
      ["${yes ? n:half}"] = 5,
    }
    assert.is_nil(value_of "${variables:get(x)}")
    check_values {
      ["${variables:contains(list, 10, 'b')}"] = true,
      ["${variables:contains(list, 10, 9)}"] = false,
      ["${variables:containsAny(list, 9, 10)}"] = true, ["${variables:contains(x, 1)}"] = false,
      ["${variables:containsAny(list, 'z')}"] = false, ["${variables:contains(n, 5)}"] = false,
      [ [[${vars:contains(text, 'ell')}]] ] = true,
    }
  end)

  it("has the methods of Spin for documents in JSON", function()
    check_values {
      ["${order.prop('total')}"] = 12, ["${order.prop('total').numberValue() > 10}"] = true,
      ["${order.hasProp('total')}"] = true, ["${order.hasProp('tax')}"] = false,
      ["${order.prop('lines').elements().size()}"] = 2,
      ["${order.prop('lines').elements().get(1).prop('sku').stringValue()}"] = "b",
      ["${order.fieldNames().contains('lines')}"] = true, ["${order.isObject()}"] = true,
      ["${order.prop('lines').isArray()}"] = true, ["${order.prop('total').isString()}"] = false,
      [ [[${S('[1, {"a": true}]').elements().get(1).prop('a').boolValue()}]] ] = true,
      [ [[${JSON('{"a": 2}').prop('a').value()}]] ] = 2, ["${S(order).prop('total')}"] = 12,
    }
    check_values {
      [ [[${S('{"a": null}').prop('a').isNull()}]] ] = true,
      [ [[${JSON('{"a": 0}').prop('a').isNull()}]] ] = false,
      ["${order.prop('total').isNull()}"] = false, ["${order.get('tax').isNull()}"] = true,
    }
    assert.equal('p.bpmn:7: ${order.prop(\'tax\')}: there is no property "tax" '
      .. "(position 8)", raised "${order.prop('tax')}")
    assert.matches("S%(%): json: .+ %(position 3%)$", raised "${S('{')}")
    assert.matches("stringValue", raised "${order.prop('total').stringValue()}")
  end)

  it("refuses what of Spin is not here, before anybody completes a task", function()
    local messages = {
      ["${order.jsonPath('$.total')}"] = "there is no jsonPath() (position 8)",
      ["${order.prop('a').childElement('b')}"] = "there is no childElement() (position 18)",
      ["${order.prop('a').nmberValue()}"] =
        'there is no nmberValue() (did you mean "numberValue"?) (position 18)',
      ["${XML('<a/>')}"] = "XML() is not known here (expected JSON()) (position 3)",
      ["${S()}"] = "S() takes one value (position 3)",
    }
    for text, message in pairs(messages) do
      local fn, got = expression.compile(text)
      assert.is_nil(fn, text)
      assert.equal(message, got)
    end
  end)

  it("names file, line and position of what it meets", function()
    local messages = {
      ["${missing}"] = 'unknown name "missing" (position 3)',
      ["${missing.sell(n)}"] = 'there is no bean "missing" (position 10)',
      ["${missing.size()}"] = 'unknown name "missing" (position 3)',
      ["${n + missing.deeper}"] = 'unknown name "missing" (position 7)',
      ["${n + text}"] = 'expected a number, got the string "Hello" (position 5)',
      ["${n + '0x10'}"] = 'expected a number, got the string "0x10" (position 5)',
      ["${n > list}"] = "expected a number, got a list (position 5)",
      ["${n and yes}"] = "expected true or false, got 5 (position 5)",
      ["${n % 0}"] = "a division by zero has no remainder (position 5)",
      ["${text.upper}"] = 'the string "Hello" has no "upper" (position 7)',
      ["${text.lenght()}"] = 'the string "Hello" has no method "lenght" (did you mean "length"?) '
        .. "(position 7)",
      ["${null.size()}"] = "size() of nothing (position 7)",
      ["${list.get(7)}"] = "get(7) of a list of 3 (position 7)",
      ["${text.substring(9)}"] = "substring(9, 5) of a text of 5 characters (position 7)",
    }
    for text, message in pairs(messages) do
      assert.equal(("p.bpmn:7: %s: %s"):format(text, message), raised(text))
    end
  end)

  it("gives finite numbers only", function()
    assert.equal("p.bpmn:7: ${n / 0}: the number is not finite", raised "${n / 0}")
    assert.is_true(value_of "${n / 0 > 3}")
  end)

  it("refuses what it cannot read, with the position", function()
    local refused = {
      ["${1 +}"] = 'unexpected "}" (position 6)',
      ["${}"] = 'unexpected "}" (position 3)',
      ["${x"] = "it ends too early (expected }) (position 4)",
      ["a ${b} ${"] = "it ends too early (expected }) (position 10)",
      ["${a.}"] = 'unexpected "}" (position 5)',
      ["${a b}"] = 'unexpected "b" (position 5)',
      ["${'x}"] = "the quoted text has no end (position 3)",
      ["${a = 1}"] = "nothing can be assigned (=) (position 5)",
      ["${a; b}"] = "one expression is expected (;) (position 4)",
      ["${x -> x}"] = "functions cannot be made (->) (position 5)",
      ["${new Foo()}"] = "objects cannot be made (new) (position 3)",
      ["${a instanceof B}"] = "types cannot be asked for (instanceof) (position 5)",
      ["${java.lang.Runtime}"] = "java: classes and reflection are not available (position 3)",
      ["${text.class}"] = "class: classes and reflection are not available (position 7)",
      ["${text.getClass()}"] = "getClass: classes and reflection are not available (position 7)",
      ["${nwo()}"] = 'there is no nwo() (did you mean "now"?) (position 3)',
      ["${now(1)}"] = "now() takes nothing (position 3)",
      ["${now().plusDay(1)}"] = 'there is no plusDay() (did you mean "plusDays"?) (position 8)',
      ["${'a'.concat(n).lenght()}"] = 'there is no lenght() (did you mean "length"?) '
        .. "(position 16)",
      ["${variables:gett(n)}"] =
        'there is no "variables:gett" (did you mean "get"?) (position 3)',
      ["${execution.kye}"] = 'execution has no field "kye" (did you mean "key"?) (position 12)',
      ["${execution.getVariabel('x')}"] = 'execution has no method "getVariabel" (did you mean '
        .. '"getVariable"?) (position 12)',
      ["${a\0}"] = "unexpected byte 0 (position 4)",
      ["${{}}"] = 'unexpected "{" (position 3)',
      ["${os.execute 'x'}"] = "the quoted text has no end (position 14)",
    }
    for text, message in pairs(refused) do
      local fn, got = expression.compile(text)
      assert.is_nil(fn, text)
      assert.equal(message, got)
    end
    local _, message, position = expression.compile("${1 +}", { file = "a.lua", line = 3 })
    assert.equal('a.lua:3: ${1 +}: unexpected "}" (position 6)', message)
    assert.equal(6, position)
  end)

  it("changes nothing where it must be pure", function()
    for _, text in ipairs { "${execution.setVariable('a', 1)}", "${execution.removeVariable('a')}",
      "${task.setAssignee('x')}",
        "${n > 1 ? execution.setVariableLocal('a', 1) : 2}" } do
      assert.is_truthy(expression.compile(text))
      local fn, message = expression.compile(text, { pure = true })
      assert.is_nil(fn, text)
      assert.matches("() changes something", message, 1, true)
    end
    assert.is_truthy(expression.compile("${prices.rate(execution.getVariable('a'))}",
      { pure = true }))
  end)

  it("bounds what it reads and makes", function()
    local _, message = expression.compile("${" .. ("1+"):rep(40000) .. "1}")
    assert.equal("an expression of 80004 bytes (expected at most 65536) (position 1)", message)
    _, message = expression.compile("${" .. ("("):rep(30000) .. "1" .. (")"):rep(30000) .. "}")
    assert.matches("^it is nested too deeply", message)
    assert.equal(20001, value_of("${1" .. ("+1"):rep(20000) .. "}"))
    local scope = scope_of { long = ("x"):rep(40000) }
    assert.equal(40000, #value_of("${long}", scope))
    assert.matches("a text of 80000 bytes or more", raised("${long}${long}", scope))
    assert.matches("a text of 80000 bytes or more", raised("${long.concat(long)}", scope))
  end)

  it("tells constants from what must be asked", function()
    assert.same({ true, 3 }, { expression.read("${1 + 2}").constant,
      expression.read("${1 + 2}").value })
    assert.equal("PT5S", expression.read("PT${5}S").value)
    assert.is_nil(expression.read("${n}").constant)
    assert.is_nil(expression.read("${now()}").constant)
    local node, message = expression.read("${1 % 0}")
    assert.is_nil(node)
    assert.equal("${1 % 0}: a division by zero has no remainder (position 5)", message)
  end)
end)

describe("expression of a plain job", function()
  local job = {
    id = 7,
    payload = {
      a = { b = { c = 5 } }, none = rules.null, no = false, text = "x", again = "a ${b}",
      long = ("x"):rep(65537), fits = ("x"):rep(65536), payload = "inner",
    },
  }

  local function ask(text, about)
    return expression.ask(assert(expression.of_job(text)), about or job)
  end

  it("reads the payload and the job", function()
    assert.equal(5, ask "${payload.a.b.c}")
    assert.equal(5, ask "${ a . b . c }")
    assert.equal(5, ask "${job.payload.a.b.c}")
    assert.equal(7, ask "#{job.id}")
    assert.equal("inner", ask "${payload.payload}")
    assert.equal(3, ask("${payload}", { payload = 3 }))
    assert.equal("R5/PT1H", ask "${no ? 'R5/PT1M' : 'R5/PT1H'}")
    assert.equal("PT5S", ask "PT${a.b.c}S")
  end)

  it("gives nothing where a path ends in nothing", function()
    assert.is_nil(ask "${missing}")
    assert.is_nil(ask "${missing.deeper.still}")
    assert.is_nil(ask "${none}")
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

  it("refuses fields that a job lacks, its engine, and what only an instance has", function()
    for text, message in pairs {
      ["${job.engine}"] = 'job has no field "engine" (position 6)',
      ["${job.atempt}"] = 'job has no field "atempt" (did you mean "attempt"?) (position 6)',
      ["${job}"] = "expected a field of the job such as job.attempt (position 3)",
      ["${now()}"] = "now() is not known in a retry or priority of a job (position 3)",
      ["${job.enqueue('x')}"] = 'job has no method "enqueue" (position 6)',
    } do
      local node, got = expression.of_job(text)
      assert.is_nil(node)
      assert.equal(message, got)
    end
  end)
end)

describe("expressions at random", function()
  local random = 20260101

  local function draw(count)
    random = (random * 1103515245 + 12345) % 2147483648
    return random // 65536 % count + 1
  end

  -- A tree of arithmetic, as the text of an expression and as its value.
  local function tree(depth)
    if depth == 0 then
      local n = draw(9)
      return tostring(n), n
    end
    local ta, a = tree(depth - 1)
    local tb, b = tree(draw(depth) - 1)
    local kind = draw(7)
    if kind == 1 then
      return ("(%s + %s)"):format(ta, tb), a + b
    elseif kind == 2 then
      return ("(%s - %s)"):format(ta, tb), a - b
    elseif kind == 3 then
      return ("%s*%s"):format("(" .. ta .. ")", "(" .. tb .. ")"), a * b
    elseif kind == 4 then
      return ("-(%s)"):format(ta), -a
    elseif kind == 5 then
      return ("(%s < %s ? %s : %s)"):format(ta, tb, tb, ta), math.max(a, b)
    elseif kind == 6 then
      return ("(%s == %s || not (%s ne %s) ? '%d' : %s)"):format(ta, tb, ta, tb, b, ta), a
    end
    return ("(empty null and %s >= %s ? %s : %s)"):format(ta, tb, ta, tb), math.max(a, b)
  end

  it("have the value that the same tree has in Lua", function()
    for _ = 1, 300 do
      local text, value = tree(4)
      assert.equal(value, value_of("${0 + (" .. text .. ")}"), text)
    end
  end)

  it("never raise when they are read", function()
    local parts = { "${", "}", "#{", "'", '"', "\\", "a", ".b", "[0]", "(", ")", " ", "1", "1.5e",
      "?", ":",
      "+", "-", "!", "empty ", "not ", "==", "=", "&&", "and", "execution", ".getVariable(",
        "variables:get(",
      "now()", "\0", "ä", "\255", "true", "null", "new ", ",", "task", "div", "%", "<", "bean",
        ".size()" }
    for _ = 1, 20000 do
      local text = { "${" }
      for i = 2, draw(12) do
        text[i] = parts[draw(#parts)]
      end
      local scope = scope_of(data())
      local fn, message = expression.compile(table.concat(text) .. "}", { file = "f", line = 1 })
      if fn then
        local fine, problem = pcall(fn, scope)
        assert.is_true(fine or type(problem) == "string" and problem:find("^f:1: ") ~= nil, problem)
      else
        assert.matches("^f:1: ", message)
      end
    end
  end)
end)

describe("the names of an expression", function()
  it("are the variables that it reads, each once", function()
    assert.same({ "a", "b", "c", "d" }, expression.names(
      "${a > 1 and (b.x == 'e' or !empty c[d]) and a < 9 and execution.id != bean.call(a)}"))
    assert.same({}, expression.names "plain")
    assert.same({}, expression.names "${a b}")
  end)
end)

describe("the page of expressions", function()
  local page = assert(io.open("docs/expressions.md")):read("a")

  local function lists_marked(value)
    if type(value) ~= "table" then
      return value
    end
    for name, member in pairs(value) do
      value[name] = lists_marked(member)
    end
    return next(value) == nil and rules.array(value) or value
  end

  it("shows what its examples give", function()
    local block = page:match "```lua\n(local variables = .-)```"
    local variables = lists_marked(assert(load(block .. "return variables", "page", "t",
      { null = rules.null }))())
    local scope, count = scope_of(variables), 0
    scope.now = rules.time "2026-01-01T00:00:00Z"
    for text, value in page:gmatch "\n| `([^`\n]*[$]{[^`\n]*)` | `([^`\n]*)` |" do
      text = text:gsub("\\|", "|")
      local expected = load("return " .. value)()
      assert.equal(expected, value_of(text, scope), text)
      assert.equal(math.type(expected), math.type(value_of(text, scope)), text)
      count = count + 1
    end
    assert.is_true(count > 50, count)
  end)

  it("names all methods of data", function()
    local row = page:match "## Methods.-\n\n(| of |.-)\n\n"
    local methods = require "moonshift.expression.methods"
    for name in row:gmatch "`(%l%a+)`" do
      assert.is_truthy(methods.names[name] or name == "plus" or name == "minus", name)
    end
    for _, value in ipairs { "", 1, true, rules.array {}, {} } do
      local _, names = methods.find(value, "none")
      for _, name in ipairs(names) do
        assert.is_truthy(row:find("`" .. name .. "`", 1, true), name)
      end
    end
  end)
end)
