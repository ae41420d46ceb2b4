-- What is written of a graph reads as an equal graph, whichever form it came from.
local models = require "spec.support.models"
local processes = require "spec.support.processes"
local graph_of = require "moonshift.process.graph"
local write = require "moonshift.process.write"

-- Reads what is written of a graph, and compares.
local function written(graph)
  local text = assert(write(graph))
  local again, problems = processes.read(text)
  assert.same({}, problems, text)
  assert.equal(graph_of.hash(graph), graph_of.hash(again), text)
  return text
end

local function of_lua(text)
  return written(processes.graph(text))
end

describe("a graph written in Lua", function()
  it("reads well", function()
    assert.equal([[
local process = require "moonshift.process"
local choose, finish, start, step, task =
  process.choose, process.finish, process.start, process.step, process.task

return {
  key = "p",
  priority = "${rank}",
  initiator = "by",
  search = { "amount", "sku" },
  start "start" {},
  step "reserve" { run = "reserve", async = true, retry = "R5/PT5M", input = { sku = "${sku}" } },
  choose "ask" {
    join = { id = "ask.join" },
    { when = "${amount > 1000}", task "approve" { assignee = "boss" } },
    { otherwise = true },
  },
  finish "end" {},
}
]], (of_lua [[return { priority = "${rank}", search = { "sku", "amount" }, initiator = "by",
  step "reserve" { run = "reserve", input = { sku = "${sku}" }, async = true, retry = "R5/PT5M" },
  choose "ask" { { when = "${amount > 1000}", task "approve" { assignee = "boss" } },
    { otherwise = true } } }]]))
  end)

  it("has all that the words say", function()
    local texts = {
      [[ step "a" { run = "a", name = "A\nB", async_after = true, exclusive = false, priority = 3,
        fields = { x = "y" }, result = "r", on_start = { { class = "L", fields = { f = "1" } } },
        output = { { "z", 1.5 }, { "a", "${z}" }, { "m", { map = { k = { list = { "1",
          "2" } } } } } }
        } ]],
      [[ process.script "a" { script = "local x = [=[y]=]\nreturn x", result = "r",
        result_in = "local" } ]],
      [[ task "a" { candidates = { users = "u", groups = "g" }, due = "${now()}", form = "f",
        task_priority = "5", on_create = "told", each = { times = "${n}",
        index = "i", parallel = true } } ]],
      [[ receive "a" { message = "m", key = "${id}", within = { "P14D", stop = "lost" },
        every = { "R/PT1H", step "nag" { run = "n" } }, on_error = { step "any" { run = "a" } },
        on_message = { "stop", interrupting = false, step "note" { run = "n" } } } ]],
      [[ call "a" { process = "${which}", binding = "version", version = "3", with = { "x",
        { all = true }, y = "${z}" }, back = { { from = "b", to = "c", ["local"] = true } } } ]],
      [[ parallel { { step "a" { run = "a" }, choose { { when = "${x}", step "b" { run = "b" } },
        { otherwise = true } } }, { step "c" { run = "c" } }, {} } ]],
      [[ process.inclusive { { when = "${x}", step "a" { run = "a" } },
        { when = "${y}", step "b" { run = "b" } } }, step "c" { run = "c", undo = "uncall" } ]],
      [[ process.first { process.wait "a" { message = "m" },
        process.wait "b" { after = "PT1H" } } ]],
      [[ process.sub "a" { process.throw "late" { escalate = "late" }, on_escalation = {
        { "late", interrupting = false, code_variable = "code", step "b" { run = "b" } },
        { step "c" { run = "c" } } } }, process.handle "h" { escalate = true,
        step "d" { run = "d" } } ]],
      [[ process.sub "a" { transaction = true, step "b" { run = "b", undo = "c" },
        process.finish "no" { cancel = true }, on_cancel = { step "d" { run = "d" } } },
        process.throw "t" { undo = "a" }, process.finish "e" { undo = true } ]],
      [[ each "line" { of = "lines", parallel = true, async = true, stop = "${done}",
        step "ship" { run = "ship", async = true } } ]],
      [[ step "a" { run = "a", on_variable_update = "log",
        to = { { "a", when = "${again}", name = "again" },
          { "done", default = true, listeners = "log" } } },
          process.finish "done" { terminate = true } ]],
      [[ process.start "s" { every = "0 8 * * MON" }, process.throw "t" { link = "L" },
        process.wait "w" { link = "L" }, process.finish "f" { error = "E1",
          error_message = "bad" } ]],
      [[ process.handle "late" { error = "E", code_variable = "c", step "x" { run = "x" } },
        process.throw "a" { message = true, class = "Tell" },
        process.wait "c" { signal = "go" }, process.throw "d" { signal = "${n}", with = { "a",
        b = "${c}" } }, process.throw "e" { event = { kind = "signal", name = "s", async = true } },
        process.wait "h" { when = "${x}", variable = "x", changes = { "create", "delete" } },
        task "i" { on_when = { "${x > 1}", interrupting = false, step "j" { run = "g" } } },
        task "f" { on_signal = { "stop", step "g" { run = "g" } } } ]],
      [[ on_start = "begun", key = "other", name = 'a "name"', tag = "v1", on_variable_create = "l",
        on_variable_delete = { "m", { expression = "${n}" } }, task "a" {},
        process.sub "s" { transaction = true, task "in" {} } ]],
    }
    for _, text in ipairs(texts) do
      of_lua("return {" .. text .. "}")
    end
  end)

  it("comes from a BPMN file as it does from a Lua file", function()
    local graph = models.graph(models.process([[
<startEvent id="s"/>
<sequenceFlow id="f1" sourceRef="s" targetRef="g"/>
<exclusiveGateway id="g" name="Big?" default="f3"/>
<sequenceFlow id="f2" sourceRef="g" targetRef="a">
  <conditionExpression xsi:type="tFormalExpression">${amount > 1000}</conditionExpression>
</sequenceFlow>
<sequenceFlow id="f3" name="no" sourceRef="g" targetRef="j"/>
<userTask id="a" c:assignee="${boss}" c:candidateGroups="g1,g2"/>
<boundaryEvent id="late" attachedToRef="a"><timerEventDefinition>
  <timeDuration>PT1H</timeDuration></timerEventDefinition></boundaryEvent>
<sequenceFlow sourceRef="late" targetRef="b"/>
<sequenceFlow id="f4" sourceRef="a" targetRef="j"/>
<exclusiveGateway id="j"/>
<sequenceFlow id="f5" sourceRef="j" targetRef="b"/>
<serviceTask id="b" c:class="org.shop.Charge" c:asyncBefore="true"><extensionElements>
  <c:failedJobRetryTimeCycle>R5/PT5M</c:failedJobRetryTimeCycle>
  <c:inputOutput><c:inputParameter name="z">1</c:inputParameter>
  <c:inputParameter name="list"><c:list><c:value>x</c:value></c:list></c:inputParameter>
  </c:inputOutput></extensionElements>
  <multiInstanceLoopCharacteristics c:collection="lines" c:elementVariable="line"/></serviceTask>
<sequenceFlow id="f6" sourceRef="b" targetRef="sub"/>
<subProcess id="sub"><startEvent id="s2"/><sequenceFlow id="f7" sourceRef="s2" targetRef="e2"/>
<endEvent id="e2"/></subProcess>
<sequenceFlow id="f8" sourceRef="sub" targetRef="e"/>
<endEvent id="e"><terminateEventDefinition/></endEvent>]]))
    local text = written(graph)
    for _, part in ipairs { 'choose "g"', 'name = "Big?"', 'boundary "late"', 'sub "sub"',
      'finish "e" { terminate = true }' } do
      assert.is_truthy(text:find(part, 1, true), part)
    end
  end)

  it("has what is kept and does not matter", function()
    local graph = processes.graph "return { task 'a' { properties = { p = 'q' } } }"
    assert.truthy(written(graph):find('properties = { p = "q" }', 1, true))
  end)

  it("has no functions", function()
    local text, message = write(processes.graph "return { step 'a' { run = function() end } }")
    assert.is_nil(text)
    assert.equal("p: a function has no text", message)
  end)

  it("says who maps the variables of a call", function()
    local text = of_lua [[
local process = require "moonshift.process"
return { process.call "book" { process = "books", mapping = { class = "org.shop.Mapping" } } }
]]
    assert.truthy(text:find('mapping = { class = "org.shop.Mapping" }', 1, true), text)
  end)
end)

describe("graphs at random", function()
  local random = 20260102

  local function draw(count)
    random = (random * 1103515245 + 12345) % 2147483648
    return random // 65536 % count + 1
  end

  local make

  local function list(depth, count)
    local parts = {}
    for i = 1, count do
      parts[i] = make(depth)
    end
    return table.concat(parts, ", ")
  end

  local number = 0

  -- An item, whose activities are a1, a2, …
  function make(depth)
    number = number + 1
    local id, kind = "a" .. number, draw(depth > 0 and 8 or 2)
    if kind <= 2 then
      local to = draw(15) == 1 and (', to = { { "a%d", when = "${x}" }, { "%s", default = true } }')
        :format(draw(number), id) or ""
      return ('step "%s" { run = "r"%s%s }'):format(id, to,
        draw(5) == 1 and (', within = { "PT1H", step "%s_late" { run = "l" } }'):format(id) or "")
    elseif kind <= 4 then
      return ('choose { { when = "${x}", %s }, { otherwise = true%s } }'):format(
        list(depth - 1, draw(2)), draw(2) == 1 and ", " .. list(depth - 1, 1) or "")
    elseif kind <= 6 then
      return ("parallel { { %s }, { %s } }"):format(list(depth - 1, draw(2)), list(depth - 1, 1))
    elseif kind == 7 then
      return ("process.inclusive { { when = '${x}', %s }, { when = '${y}', %s } }"):format(
        list(depth - 1, 1), list(depth - 1, 1))
    end
    return ('process.finish "%s" {}, task "%s_more" {}'):format(id, id)
  end

  it("are written so that they read as equal ones", function()
    local whole = 0
    for _ = 1, 200 do
      number = 0
      local graph, problems = processes.read("return {" .. list(3, 3) .. "}")
      if not problems[1] then -- a flow may lead to no activity, or into another scope
        whole = whole + 1
        written(graph)
      end
    end
    assert.is_true(whole > 50, whole)
  end)
end)
