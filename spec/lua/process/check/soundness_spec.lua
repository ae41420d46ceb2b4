-- What can be run and is doubtful.
local models = require "spec.support.models"
local check = require "moonshift.process.check"
local report = require "moonshift.process.report"

-- Nodes by words: "s start, g exclusive, …; s>g g>a[${x}] …" -> a process.
local ELEMENTS = { start = "startEvent", ["end"] = "endEvent", task = "task", user = "userTask",
  exclusive = "exclusiveGateway", parallel = "parallelGateway", inclusive = "inclusiveGateway" }

local function process(nodes, flows)
  local out = {}
  for id, kind in nodes:gmatch "(%w+) (%w+)" do
    out[#out + 1] = ('<%s id="%s"/>'):format(ELEMENTS[kind], id)
  end
  for from, to, when in flows:gmatch "(%w+)>(%w+)(%S*)" do
    out[#out + 1] = ('<sequenceFlow id="%s_%s" sourceRef="%s" targetRef="%s">%s</sequenceFlow>')
      :format(from, to, from, to, when == "?"
        and "<conditionExpression>${a}</conditionExpression>" or "")
  end
  return models.process(table.concat(out))
end

local function warns(nodes, flows, ...)
  assert.same({ ... }, models.warnings(process(nodes, flows)))
end

describe("soundness", function()
  it("has nothing to say about a sound process", function()
    warns("s start, f parallel, a task, b task, j parallel, g exclusive, c user, d task, e end",
      "s>f f>a f>b a>j b>j j>g g>c? g>d c>g d>e",
      '"g": the flow "g_d" has no condition: it is taken for the default')
  end)

  it("names a flow without a condition that hides those behind it", function()
    warns("s start, g exclusive, c user, d task, e end", "s>g g>d g>c? c>e d>e",
      '"g": the flow "g_d" has no condition: those behind it are never taken')
  end)

  it("names what nothing leads to", function()
    warns("s start, e end, a task", "s>e a>e", '"a": nothing leads to it')
  end)

  it("names what no end can be reached from", function()
    warns("s start, a user, b task", "s>a a>b b>a",
      '"s": no end can be reached from it', '"a": no end can be reached from it',
      '"b": no end can be reached from it')
  end)

  it("names a cycle in which nothing waits", function()
    warns("s start, a task, g inclusive, e end", "s>a a>g g>a? g>e",
      '"a": begins a cycle in which nothing waits (expected a job or another wait in it)')
    warns("s start, b task, a task, e end", "s>a a>a a>b b>a? b>e",
      '"b": begins a cycle in which nothing waits (expected a job or another wait in it)')
    warns("s start, a task, e end", "s>a a>a? a>e",
      '"a": begins a cycle in which nothing waits (expected a job or another wait in it)')
    warns("s start, a user, e end", "s>a a>a? a>e")
  end)

  it("names a gateway without a default", function()
    warns("s start, g exclusive, e end, h end", "s>g g>e? g>h?",
      '"g": an exclusive gateway without a default flow')
  end)

  it("names a parallel join that an exclusive split starves", function()
    warns("s start, g exclusive, a task, b task, j parallel, e end",
      "s>g g>a? g>b? a>j b>j j>e",
      '"g": an exclusive gateway without a default flow',
      '"j": is a parallel join that "g" can starve: it sends a token to one of its flows alone')
  end)

  it("names a parallel join that a way passes by while another flow of it has a token", function()
    local nodes = "s start, f parallel, a task, g exclusive, b task, c task, j parallel, e end"
    warns(nodes .. ", h end", "s>f f>a f>g a>j g>b? g>c b>j c>h j>e",
      '"g": the flow "g_c" has no condition: it is taken for the default',
      '"j": is a parallel join that "g" can starve: a way from there passes it by')
  end)

  it("has nothing to say of a choice in a branch that comes to the join either way", function()
    local choice = '"g": the flow "g_c" has no condition: it is taken for the default'
    warns("s start, f parallel, a task, g exclusive, b task, c task, m exclusive, j parallel, "
      .. "e end", "s>f f>a f>g a>j g>b? g>c b>m c>m m>j j>e", choice)
    warns("s start, g exclusive, c task, h end, f parallel, a task, b task, j parallel, e end",
      "s>g g>f? g>c c>h f>a f>b a>j b>j j>e", choice)
  end)

  it("has nothing to say of a choice that ends everything, or of one that comes back", function()
    local stop = '<endEvent id="h"><terminateEventDefinition/></endEvent>'
    local flows = "s>f f>a f>g a>j g>b? g>h b>j j>e"
    local text = process("s start, f parallel, a task, g exclusive, b task, j parallel, e end",
      flows)
    assert.same({ '"g": the flow "g_h" has no condition: it is taken for the default' },
      models.warnings((text:gsub("</process>", stop .. "</process>"))))
    warns("s start, f parallel, a task, u user, g exclusive, j parallel, e end",
      "s>f f>a f>u a>j u>g g>u? g>j j>e",
      '"g": the flow "g_j" has no condition: it is taken for the default')
  end)

  it("wants no default where two conditions leave nothing over", function()
    local function gateway(a, b)
      return models.warnings(models.process(([[<startEvent id="s"/><exclusiveGateway id="g"/>
        <endEvent id="e"/><endEvent id="h"/><sequenceFlow id="s_g" sourceRef="s" targetRef="g"/>
        <sequenceFlow id="g_e" sourceRef="g" targetRef="e">
        <conditionExpression>%s</conditionExpression></sequenceFlow>
        <sequenceFlow id="g_h" sourceRef="g" targetRef="h">
        <conditionExpression>%s</conditionExpression></sequenceFlow>]]):format(a, b)))
    end
    for a, b in pairs {
      ["${x}"] = "${!x}", ["${ not x }"] = "${x}", ["${n == 1}"] = "${n != 1}",
      ["#{n &lt;= 10}"] = "#{n &gt; 10}", ["${!(x &amp;&amp; y)}"] = "${x &amp;&amp; y}",
      ["${state eq 'new'}"] = "${state ne 'new'}",
    } do
      assert.same({}, gateway(a, b), a)
    end
    for a, b in pairs {
      ["${x}"] = "${!y}", ["${n == 1}"] = "${n != 2}", ["${n &lt; 1}"] = "${n &gt; 1}",
      ["${a || b}"] = "${!a || b}",
    } do
      assert.same({ '"g": an exclusive gateway without a default flow' }, gateway(a, b), a)
    end
  end)

  it("names a fork whose branches reach one end", function()
    warns("s start, f parallel, a task, b task, e end", "s>f f>a f>b a>e b>e",
      '"f": 2 of its branches reach the end "e" without a join')
  end)

  it("names an inclusive join in a cycle", function()
    warns("s start, g inclusive, a user, h inclusive, e end", "s>g g>a a>h h>g? h>e",
      '"g": is an inclusive join inside a cycle')
  end)

  it("names flows that nothing takes", function()
    warns("s start, a user, e end, b task", "s>a a>e e>b a>s",
      '"s": a start event has incoming flows',
      '"e": an end event has outgoing flows, which nothing takes', '"b": nothing leads to it')
  end)

  -- Nodes and flows of a row of choices, each followed by a fork with its join; "last" is its end.
  local function row(count)
    local nodes, flows = { "s start, l task" }, { "s>x1" }
    for i = 1, count do
      nodes[#nodes + 1] = ("x# exclusive, a# task, b# task, y# exclusive, f# parallel, c# task, "
        .. "d# task, j# parallel"):gsub("#", i)
      flows[#flows + 1] = ("x#>a#? x#>b# a#>y# b#>y# y#>f# f#>c# f#>d# c#>j# d#>j# j#>%s")
        :format(i < count and "x" .. i + 1 or "l"):gsub("#", i)
    end
    return table.concat(nodes, ", "), table.concat(flows, " ")
  end

  -- How many thousand instructions of Lua the check of such a row takes.
  local function effort(length)
    local nodes, flows = row(length)
    local graph = models.graph(process(nodes .. ", e end", flows .. " l>e"))
    local told, count = report.new "processes/p.bpmn", 0
    debug.sethook(function()
      count = count + 1
    end, "", 1000)
    check.graphs({ graph }, told, true)
    debug.sethook()
    return count
  end

  it("costs twice as much for twice as many elements", function()
    local half, whole = effort(64), effort(128)
    assert.is_true(whole < 3 * half, ("%d after %d thousand instructions"):format(whole, half))
  end)

  it("finds in a long row the join and the fork that are not as they should be", function()
    local nodes, flows = row(40)
    local found = models.warnings(process(nodes
      .. ", g exclusive, a task, b task, j parallel, f parallel, c task, d task, e end",
      flows .. " l>g g>a? g>b a>j b>j j>f f>c f>d c>e d>e"))
    local told = {}
    for _, warning in ipairs(found) do
      told[#told + 1] = not warning:find "default" and warning or nil
    end
    assert.same({
      '"j": is a parallel join that "g" can starve: it sends a token to one of its flows alone',
      '"f": 2 of its branches reach the end "e" without a join' }, told)
  end)
end)
