-- The processes of a folder: which files are read, what they are known by, what is refused.
local models = require "spec.support.models"
local scripts = require "spec.support.scripts"

local FINE = "return function() end"

local function model(id, text)
  return models.definitions(('<process id="%s"><startEvent id="s"/>%s</process>'):format(id,
    text or ""))
end

local function load(files, options)
  local given = { reading = "folder" }
  for key, value in pairs(options or {}) do
    given[key] = value
  end
  return scripts.load(files, given)
end

local function problems(files, options)
  local list = {}
  for i, problem in ipairs(load(files, options).problems) do
    list[i] = ("%s:%s: %s"):format(problem.file, problem.line or "", problem.message)
  end
  return list
end

local function keys(loaded)
  local list = {}
  for i, row in ipairs(loaded.process_rows) do
    list[i] = row.key
  end
  return table.concat(list, " ")
end

describe("the processes of a folder", function()
  it("are those of its models, in the order of their paths", function()
    local loaded = load {
      ["processes/b.bpmn"] = model "two",
      ["processes/a/c.bpmn20.xml"] = model "one",
      ["lib/d.bpmn"] = model "three",
    }
    assert.same({}, loaded.problems)
    assert.equal("one two", keys(loaded))
    assert.equal("processes/b.bpmn", loaded.processes.two.path)
    assert.equal("s", loaded.processes.two.graph.start)
    assert.equal(64, #loaded.processes.two.hash)
  end)

  it("have one line for a retry that cannot be read", function()
    local told = problems { ["processes/a.bpmn"] = model("a", [[<task id="t">
      <extensionElements><c:failedJobRetryTimeCycle>R5/soon</c:failedJobRetryTimeCycle>
      </extensionElements></task><sequenceFlow id="f" sourceRef="s" targetRef="t"/>]]) }
    assert.equal(1, #told, table.concat(told, "\n"))
    assert.truthy(told[1]:find('"t": its retry "R5/soon": ', 1, true), told[1])
  end)

  it("may be words in Lua, whose key is their path", function()
    local words = [[local step = require "moonshift.process".words()
      return { step "charge" { run = "charge", async = true } }]]
    local loaded = load {
      ["processes/shop/order.lua"] = words, ["handlers/charge.lua"] = FINE,
    }
    assert.same({}, loaded.problems)
    assert.equal("shop/order", keys(loaded))
    local graph = loaded.read_process("processes/shop/order.lua", words, "shop/order")
    assert.equal("charge", graph.nodes.charge.behaviour.run)
    assert.same({ 'processes/a.lua:1: unknown global "x"' },
      problems { ["processes/a.lua"] = "return x.y" })
  end)

  it("are made of a stored text, too, with the places of their handlers", function()
    local stored = models.line('<serviceTask id="x" c:class="a.B"/>')
    local graph = load({}).read_process("processes/gone.bpmn", stored, "p")
    assert.same({ "activities/p/x", "a/B", "B", "b" }, graph.nodes.x.behaviour.names)
    assert.error(function()
      load({}).read_process("processes/gone.bpmn", stored, "q")
    end, 'processes/gone.bpmn: no process the string "q"')
  end)

  it("may hold scripts in Lua, which get the job", function()
    local script = load({}).script("return job.payload + 1", { file = "processes/a.bpmn" })
    assert.equal(8, script { payload = 7 })
  end)

  it("have a key that is theirs alone", function()
    assert.same({ 'processes/b.bpmn:5: "one": a process of this key is in processes/a.bpmn, too' },
      problems { ["processes/a.bpmn"] = model "one", ["processes/b.bpmn"] = model "one" })
  end)

  it("tell all problems of all files, and warnings apart", function()
    assert.same({
      "processes/a.bpmn:1: no element found",
      'processes/b.bpmn:5: "x": has nothing to call (expected class, delegateExpression, '
        .. "expression or type)",
      'processes/b.bpmn:5: "y": the sub-process has no start event',
    }, problems {
      ["processes/a.bpmn"] = "",
      ["processes/b.bpmn"] = model("b", '<serviceTask id="x"/><subProcess id="y"/>'),
    })
    local loaded = load { ["processes/a.bpmn"] = model("a", '<task id="x"/>') }
    assert.equal('"x": nothing leads to it', loaded.process_warnings[1].message)
    loaded = scripts.load { ["processes/a.bpmn"] = model("a", '<task id="x"/>') }
    assert.same({}, loaded.process_warnings)
  end)
end)

describe("a bean that the folder lacks", function()
  it("is told where an expression calls what no data has", function()
    local files = {
      ["processes/a.bpmn"] = models.line('<serviceTask id="x" c:expression="${shop.sell(n)}"/>'),
      ["processes/b.bpmn"] = model("b", '<serviceTask id="y" c:expression="${list.size()}"/>'),
    }
    local function warning()
      for _, one in ipairs(load(files, { reading = "folder" }).process_warnings) do
        if one.message:find("bean", 1, true) then
          return one.message
        end
      end
    end
    assert.equal('"x": calls the bean "shop", which is not in the folder (expected beans/shop.lua)',
      warning())
    files["beans/shop.lua"] = "return { sell = function() end }"
    assert.is_nil(warning())
  end)

  it("is told once, whatever calls it", function()
    local files = {}
    for _, key in ipairs { "a", "b", "c" } do
      files["processes/" .. key .. ".bpmn"] = model(key,
        ('<serviceTask id="x%s" c:expression="${shop.sell(n)}"/>'):format(key))
    end
    local found = {}
    for _, one in ipairs(load(files, { reading = "folder" }).process_warnings) do
      found[#found + 1] = one.message:find("bean", 1, true) and one.message
    end
    assert.same({ '"xa": calls the bean "shop", which is not in the folder (expected '
      .. "beans/shop.lua; 2 more calls of it)" }, found)
  end)
end)

describe("a word that the file has not made its own", function()
  it("is told with the line that does so", function()
    assert.same({ 'processes/a.lua:1: unknown global "wait" (a word: local wait = require '
      .. '"moonshift.process".wait)' },
      problems { ["processes/a.lua"] = "return { wait 'a' { after = 'PT1S' } }" })
    assert.same({ 'processes/a.lua:1: moonshift.process has no word "signal"' },
      problems { ["processes/a.lua"] = "return { require 'moonshift.process'.signal 'a' {} }" })
  end)
end)

describe("a call of a process that the folder lacks", function()
  local CALL = models.line('<callActivity id="x" calledElement="%s"/>')
  local files = { ["processes/b.bpmn"] = model("b", '<task id="x"/>') }

  local function warnings(key, options)
    files["processes/a.bpmn"] = CALL:format(key)
    return load(files, options).process_warnings
  end

  it("is told where the folder is checked, with what is meant", function()
    local found = warnings("bb", { reading = "folder" })
    local count = 0
    for _, one in ipairs(found) do
      count = count + (one.message == '"x": calls the process "bb", which is not in the folder '
        .. '(did you mean "b"?)' and 1 or 0)
    end
    assert.equal(1, count)
  end)

  it("is no matter elsewhere, and none if the key is an expression", function()
    for key, reading in pairs { bb = "file", b = "folder", ["${which}"] = "folder" } do
      for _, one in ipairs(warnings(key, { reading = reading })) do
        assert.is_nil(one.message:find("which is not in the folder", 1, true), key)
      end
    end
  end)
end)

describe("a foreign name", function()
  local service = model("order", '<serviceTask id="charge" %s/>')
  local MISSING = 'processes/a.bpmn:5: "charge": there is no %s (looked for '
    .. "activities/order/charge.lua%s)"

  local function finds(attributes, ...)
    for _, path in ipairs { "activities/order/charge.lua", ... } do
      assert.same({}, problems {
        ["processes/a.bpmn"] = service:format(attributes), [path] = FINE,
      })
    end
  end

  local function lacks(attributes, what, ...)
    local places = ""
    for _, path in ipairs { ... } do
      places = places .. ", " .. path
    end
    assert.same({ MISSING:format(what, places) },
      problems { ["processes/a.bpmn"] = service:format(attributes) })
  end

  it("of a class leads to its path, its name or its name with underscores", function()
    local places = { "handlers/org/shop/ChargeCard.lua", "handlers/ChargeCard.lua",
      "handlers/charge_card.lua" }
    finds('c:class="org.shop.ChargeCard"', table.unpack(places))
    lacks('c:class="org.shop.ChargeCard"', 'handler for its class "org.shop.ChargeCard"',
      table.unpack(places))
  end)

  it("of a delegate leads to its name", function()
    local places = { "handlers/chargeCard.lua", "handlers/charge_card.lua" }
    finds('f:delegateExpression="${chargeCard}"', table.unpack(places))
    lacks('f:delegateExpression="${chargeCard}"', 'handler for its delegate "${chargeCard}"',
      table.unpack(places))
    lacks('f:delegateExpression="${a.b}"', 'handler for its delegate "${a.b}"')
  end)

  it("of a decision or a mail has a place of its own", function()
    local rule = models.line('<businessRuleTask id="x" c:decisionRef="discount"/>')
    assert.same({}, problems { ["processes/a.bpmn"] = rule, ["decisions/discount.lua"] = FINE })
    lacks('c:type="http"', 'handler "http"', "handlers/http.lua; "
      .. 'the stock one is there with stock = { "http" } in moonshift.lua')
  end)

  it("of a listener leads to the event's place", function()
    local text = models.line([[<task id="x"><extensionElements>
      <c:executionListener event="start" class="a.Note"/></extensionElements></task>]])
    assert.same({}, problems { ["processes/a.bpmn"] = text, ["handlers/note.lua"] = FINE })
    assert.same({}, problems { ["processes/a.bpmn"] = text, ["activities/p/x/start.lua"] = FINE })
    assert.equal(1, #problems { ["processes/a.bpmn"] = text, ["activities/p/x.lua"] = FINE })
  end)

  it("of a script in another language leads to its activity", function()
    local text = models.line('<scriptTask id="x" scriptFormat="groovy"><script>x</script>'
      .. "</scriptTask>")
    assert.same({}, problems { ["processes/a.bpmn"] = text, ["activities/p/x.lua"] = FINE })
    assert.same({ 'processes/a.bpmn:5: "x": there is no handler for its script in groovy (looked '
      .. "for activities/p/x.lua)" }, problems { ["processes/a.bpmn"] = text })
  end)

  it("may lead nowhere if the setting says so", function()
    local files = { ["processes/a.bpmn"] = service:format 'c:class="A"' }
    local loaded = load(files, { missing_handlers = "incident" })
    assert.same({}, loaded.problems)
    assert.equal('"charge": there is no handler for its class "A" (looked for '
      .. "activities/order/charge.lua, handlers/A.lua, handlers/a.lua)",
      loaded.process_warnings[2].message)
  end)

  it("leads to a function, and a bean is a table", function()
    assert.same({ "activities/a.lua:1: returned 5 (expected a function)",
      "beans/b.lua:1: returned 6 (expected a table)" },
      problems { ["activities/a.lua"] = "return 5", ["beans/b.lua"] = "return 6" })
    assert.equal("c", load({ ["beans/b.lua"] = "return { a = 'c' }" }).beans.b.a)
  end)
end)

describe("the models of a folder that another state has read", function()
  local hash = require("moonshift.process.graph").hash
  local FILES = {
    ["processes/a.bpmn"] = models.definitions('<process id="one"><startEvent id="s"/>'
      .. '<serviceTask id="x" c:class="a.Work" c:asyncBefore="true"/>'
      .. '<sequenceFlow id="f" sourceRef="s" targetRef="x"/></process>'
      .. '<process id="two"><startEvent id="t"/></process>'),
    ["processes/b.lua"] = 'return { (require "moonshift.process").receive "r" { message = "m" } }',
    ["processes/c.bpmn"] = model "three",
    ["handlers/work.lua"] = FINE,
    ["listeners/more.lua"] = "return function(definition)\n"
      .. "  definition.priority = (definition.priority or 0) + 1\nend",
  }

  -- Loads the folder with what is known of its models, and notes which texts are read.
  local function later(known, read)
    local natives = scripts.natives(FILES)
    local text = natives.text
    function natives.text(path)
      read[path] = (read[path] or 0) + 1
      return text(path)
    end
    return require("moonshift.folder").load(natives, { borrowed = true, timeout = 300,
      models = known })
  end

  it("are read when one of their processes is needed, once", function()
    local read = {}
    local loaded = later(load(FILES, { reading = false }).process_models, read)
    assert.same({}, loaded.problems)
    assert.same({ nil, nil }, { read["processes/a.bpmn"], read["processes/c.bpmn"] })
    assert.equal("x", loaded.processes.one.graph.nodes.x.id)
    assert.equal("t", loaded.processes.two.graph.start)
    assert.equal(1, read["processes/a.bpmn"])
    assert.equal(nil, read["processes/c.bpmn"])
  end)

  it("give the same definitions and hashes, in the same order", function()
    local whole = load(FILES, { reading = false })
    local loaded = later(whole.process_models, {})
    assert.same(whole.definitions, loaded.definitions)
    for key, one in pairs(whole.processes) do
      assert.equal(one.hash, loaded.processes[key].hash)
      assert.equal(one.path, loaded.processes[key].path)
      assert.equal(one.hash, hash(loaded.processes[key].graph))
    end
  end)

  it("are those of files without a problem", function()
    local found = load({ ["processes/a.bpmn"] = "<no model", ["processes/c.bpmn"] = model "three",
      ["processes/b.lua"] = FILES["processes/b.lua"] }).process_models
    assert.equal(nil, found["processes/a.bpmn"])
    assert.equal(nil, found["processes/b.lua"])
    assert.same({ "three" }, { found["processes/c.bpmn"].processes[1].key })
  end)
end)
