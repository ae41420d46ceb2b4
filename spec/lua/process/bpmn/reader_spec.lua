-- What a graph has of the elements and attributes of a BPMN file.
local models = require "spec.support.models"

-- The node x, which stands between a start and an end.
local function node(text, beside)
  return models.graph(models.line(text, beside)).nodes.x
end

-- Of the node x the fields of `expected`.
local function has(expected, text, beside)
  local found, given = node(text, beside), {}
  for key in pairs(expected) do
    given[key] = found[key]
  end
  assert.same(expected, given)
end

-- A behaviour without its place.
local function bare(behaviour)
  local copy = {}
  for key, value in pairs(behaviour) do
    copy[key] = value
  end
  copy.line, copy.column = nil, nil
  return copy
end

local function behaviour(text)
  return bare(node(text).behaviour)
end

describe("a graph", function()
  it("has the process, its nodes in order and the flows between them", function()
    local graph = models.graph(models.definitions [[
<process id="order" name="Order" c:versionTag="v2" c:historyTimeToLive="90" c:jobPriority="10">
  <startEvent id="s" c:initiator="by"/>
  <sequenceFlow id="f" sourceRef="s" targetRef="e"/>
  <endEvent id="e" name="Done"/>
</process>]])
    local flow = { id = "f", from = "s", to = "e", line = 7, column = 3 }
    assert.same({
      key = "order", name = "Order", path = "processes/p.bpmn", line = 5, column = 1, tag = "v2",
      history_time_to_live = "P90D", initiator = "by", priority = "10", listeners = {},
      start = "s", events = {}, order = { "s", "e" },
      nodes = {
        s = { id = "s", kind = "start", event = { kind = "none" }, line = 6, column = 3,
          out = { flow }, into = {} },
        e = { id = "e", kind = "end", name = "Done", event = { kind = "none" }, line = 8,
          column = 3, out = {}, into = { flow } },
      },
    }, graph)
  end)

  it("has every process of a file that is executable", function()
    local graphs = models.read(models.definitions [[<process id="a"><startEvent id="s"/></process>
      <process id="b" isExecutable="false"/><process id="d"><startEvent id="t"/></process>]])
    assert.equal("a d", graphs[1].key .. " " .. graphs[2].key)
    assert.is_nil(graphs[3])
  end)

  it("names a flow that has no id", function()
    local graph = models.graph(models.process [[<startEvent id="s"/><endEvent id="e"/>
      <sequenceFlow sourceRef="s" targetRef="e"/><sequenceFlow sourceRef="s" targetRef="e"/>]])
    assert.equal("s->e s->e+", graph.nodes.s.out[1].id .. " " .. graph.nodes.s.out[2].id)
    assert.is_true(graph.nodes.s.out[1].unnamed)
  end)

  it("means the same by the namespaces of all products", function()
    for _, attribute in ipairs { "c:asyncBefore", "c:async", "f:async", "a:async", "fox:async" } do
      has({ before = true }, ('<task id="x" %s="true"/>'):format(attribute))
    end
    for _, attribute in ipairs { "c:asyncAfter", "f:asyncLeave" } do
      has({ after = true }, ('<task id="x" %s="true"/>'):format(attribute))
    end
    has({ exclusive = false }, '<task id="x" a:async="true" a:exclusive="false"/>')
  end)

  it("has what a service calls", function()
    assert.same({ class = "org.shop.Pay" },
      behaviour '<serviceTask id="x" c:class="org.shop.Pay"/>')
    assert.same({ delegate = "${pay}" },
      behaviour '<serviceTask id="x" f:delegateExpression="${pay}"/>')
    assert.same({ expression = "${bean.pay(x)}" },
      behaviour '<sendTask id="x" a:expression="${bean.pay(x)}"/>')
    assert.same({ decision = "d", map = "singleEntry" },
      behaviour '<businessRuleTask id="x" c:decisionRef="d" c:mapDecisionResult="singleEntry"/>')
    assert.same({ run = "http" }, behaviour '<serviceTask id="x" f:type="http"/>')
    assert.same({ script = "return 1", language = "lua" },
      behaviour '<scriptTask id="x" scriptFormat="Lua"><script> return 1 </script></scriptTask>')
    assert.same({ script = "${a}", language = "juel" },
      behaviour '<scriptTask id="x"><script>${a}</script></scriptTask>')
    has({ result = "r" }, '<serviceTask id="x" c:expression="${a}" c:resultVariable="r"/>')
    has({ result = "r", result_in = "local" }, '<serviceTask id="x" f:expression="${a}" '
      .. 'f:resultVariable="r" f:useLocalScopeForResultVariable="true"/>')
    has({ result = "r", result_in = "transient" }, '<serviceTask id="x" f:expression="${a}" '
      .. 'f:resultVariableName="r" f:storeResultVariableAsTransient="true"/>')
  end)

  it("has fields, mappings, listeners and the retry", function()
    local found = node [[<serviceTask id="x" c:class="A"><extensionElements>
      <c:field name="a" stringValue="1"/><c:field name="b">
      <c:expression>${b}</c:expression></c:field>
      <c:failedJobRetryTimeCycle> R5/PT5M </c:failedJobRetryTimeCycle>
      <c:properties><c:property name="k" value="v"/></c:properties>
      <c:executionListener event="start" class="L"/><c:executionListener event="end"
        expression="${l}"/>
      <c:variableListener class="V"/><c:variableListener event="delete" delegateExpression="${w}"/>
      <c:inputOutput><c:inputParameter name="i">${i}</c:inputParameter>
        <c:inputParameter name="l"><c:list><c:value>1</c:value></c:list></c:inputParameter>
        <c:inputParameter name="m"><c:map><c:entry key="k">v</c:entry></c:map></c:inputParameter>
        <c:outputParameter name="o"><c:script scriptFormat="lua">return 1</c:script>
        </c:outputParameter></c:inputOutput>
      </extensionElements></serviceTask>]]
    assert.same({ a = "1", b = "${b}" }, found.fields)
    assert.equal("R5/PT5M", found.retry)
    assert.same({ k = "v" }, found.properties)
    assert.same({ class = "L" }, bare(found.listeners.start[1]))
    assert.same({ expression = "${l}" }, bare(found.listeners["end"][1]))
    assert.same({ class = "V" }, bare(found.listeners.variable_create[1]))
    assert.same({ class = "V" }, bare(found.listeners.variable_update[1]))
    assert.same({ delegate = "${w}" }, bare(found.listeners.variable_delete[2]))
    assert.same({ { name = "i", value = "${i}" }, { name = "l", value = { list = { "1" } } },
      { name = "m", value = { map = { k = "v" }, order = { "k" } } } }, found.input)
    assert.same({ script = "return 1", language = "lua" }, bare(found.output[1].value))
  end)

  it("has the performer of a user task, unless it names an assignee", function()
    local performer = "<humanPerformer><resourceAssignmentExpression><formalExpression>ann"
      .. "</formalExpression></resourceAssignmentExpression></humanPerformer></userTask>"
    has({ assignee = "ann" }, [[<userTask id="x">]] .. performer)
    has({ assignee = "bob" }, [[<userTask id="x" c:assignee="bob">]] .. performer)
  end)

  it("has what a user task asks of whom", function()
    has({
      kind = "user", assignee = "${boss}", candidates = { users = "ann,${u}", groups = "g,h" },
      due = "${due}", follow_up = "${later}", task_priority = "50", form = "embedded:a",
    }, [[<userTask id="x" c:assignee="${boss}" c:candidateUsers="${u}" c:candidateGroups="h"
      c:dueDate="${due}" c:followUpDate="${later}" c:priority="50" c:formKey="embedded:a">
      <potentialOwner><resourceAssignmentExpression><formalExpression>user(ann), group(g)
      </formalExpression></resourceAssignmentExpression></potentialOwner></userTask>]])
    local listeners = node([[<userTask id="x"><extensionElements>
      <f:taskListener event="all" class="L"/></extensionElements></userTask>]]).listeners
    assert.equal("L", listeners.create[1].class)
    assert.equal("L", listeners.complete[1].class)
  end)

  it("has what a call passes", function()
    has({ call = {
      process = "bill", binding = "version", version = "3", key = "${k}",
      into = { { from = "a", to = "b" }, { value = "${c}", to = "d", ["local"] = true },
        { all = true } },
      back = { { from = "r", to = "s" } },
    } }, [[<callActivity id="x" calledElement="bill" c:calledElementBinding="version"
      c:calledElementVersion="3"><extensionElements><c:in businessKey="${k}"/>
      <c:in source="a" target="b"/><c:in sourceExpression="${c}" target="d" local="true"/>
      <c:in variables="all"/><c:out source="r" target="s"/></extensionElements></callActivity>]])
    has({ call = { process = "bill", binding = "deployment", into = { { all = true } },
      key = "${execution.processBusinessKey}" } },
      [[<callActivity id="x" calledElement="bill" f:inheritVariables="true"
        f:inheritBusinessKey="true" f:sameDeployment="true"/>]])
  end)

  it("has the attributes of the activity for the body, those of the loop for each turn", function()
    has({
      before = true, retry = "R2/PT1S",
      multi = { parallel = false, collection = "${lines}", element = "line", index = "i",
        ["until"] = "${done}", after = true, exclusive = false, retry = "R9/PT1M" },
    }, [[<task id="x" c:asyncAfter="true" c:exclusive="false"><extensionElements>
      <c:failedJobRetryTimeCycle>R9/PT1M</c:failedJobRetryTimeCycle></extensionElements>
      <multiInstanceLoopCharacteristics isSequential="true" c:asyncBefore="true"
        c:collection="lines" c:elementVariable="line" c:elementIndexVariable="i"><extensionElements>
      <c:failedJobRetryTimeCycle>R2/PT1S</c:failedJobRetryTimeCycle></extensionElements>
      <completionCondition>${done}</completionCondition></multiInstanceLoopCharacteristics>
      </task>]])
    has({ multi = { parallel = true, count = "5" } }, [[<task id="x">
      <multiInstanceLoopCharacteristics><loopCardinality>5</loopCardinality>
      </multiInstanceLoopCharacteristics></task>]])
  end)

  it("has conditions, defaults and listeners of flows", function()
    local graph = models.graph(models.process [[<startEvent id="s"/><endEvent id="e"/>
      <exclusiveGateway id="x" default="h"/><sequenceFlow id="f" sourceRef="s" targetRef="x"/>
      <sequenceFlow id="g" name="big" sourceRef="x" targetRef="e"><extensionElements>
      <c:executionListener class="L" event="take"/></extensionElements>
      <conditionExpression xsi:type="tFormalExpression"> ${a} </conditionExpression></sequenceFlow>
      <sequenceFlow id="i" sourceRef="x" targetRef="e">
      <conditionExpression language="lua">return true</conditionExpression></sequenceFlow>
      <sequenceFlow id="h" sourceRef="x" targetRef="e"/>]])
    local big, small, other = table.unpack(graph.nodes.x.out)
    assert.equal("${a}", big.when)
    assert.equal("L", big.listeners[1].class)
    assert.same({ script = "return true", language = "lua" }, bare(small.when))
    assert.is_true(other.default)
  end)

  it("takes no blank around an id or a reference", function()
    local graph = models.graph(models.process [[<startEvent id=" s"/><endEvent id="e "/>
      <exclusiveGateway id=" x " default="f "/><sequenceFlow id="f " sourceRef="x" targetRef=" e"/>
      <sequenceFlow id="g" sourceRef="s " targetRef="x"/>]])
    assert.equal("e", graph.nodes.x.out[1].to)
    assert.is_true(graph.nodes.x.out[1].default)
  end)

  it("has what events wait for", function()
    local catch = '<intermediateCatchEvent id="x">%s</intermediateCatchEvent>'
    local timer = "<timerEventDefinition><%s>%s</%s></timerEventDefinition>"
    for element, expected in pairs {
      timeDuration = { "duration", "PT5M" }, timeDate = { "date", "2026-12-24T18:00:00" },
      timeCycle = { "cycle", "R3/PT10S" },
    } do
      has({ event = { kind = "timer", timer = { kind = expected[1], text = expected[2] } } },
        catch:format(timer:format(element, expected[2], element)))
    end
    for _, last in ipairs { "2036-12-24T18:00:00Z", "${last}" } do
      has({ event = { kind = "timer", timer = { kind = "cycle", text = "R3/PT10S/" .. last } } },
        catch:format(('<timerEventDefinition><timeCycle f:endDate=" %s ">R3/PT10S</timeCycle>'
        .. "</timerEventDefinition>"):format(last)))
    end
    has({ event = { kind = "timer", timer = { kind = "date", text = "PT10M" } } },
      catch:format(timer:format("timeDate", "PT10M", "timeDate")))
    has({ event = { kind = "timer", timer = { kind = "duration", text = "R2/PT10M" } } },
      catch:format(timer:format("timeDuration", "R2/PT10M", "timeDuration")))
    has({ exclusive = false }, catch:format('<timerEventDefinition c:exclusive="false">'
      .. "<timeDuration>P1M</timeDuration></timerEventDefinition>"))
    has({ kind = "catch", event = { kind = "message", name = "parcel ${id}" } },
      catch:format '<messageEventDefinition messageRef="t:m"/>',
      '<message id="m" name="parcel ${id}"/>')
    has({ event = { kind = "message", name = "${n}" } },
      catch:format '<messageEventDefinition f:messageExpression="${n}"/>')
    has({ event = { kind = "signal", name = "${n}" } },
      catch:format '<signalEventDefinition a:signalExpression=" ${n}"/>')
    has({ kind = "receive", event = { kind = "message", name = "n" } },
      '<receiveTask id="x" messageRef="m"/>', '<message id="m" name="n"/>')
  end)

  it("has what events throw", function()
    local found = models.graph(models.process([[<startEvent id="s"/><endEvent id="x">
      <errorEventDefinition errorRef="r"/></endEvent><endEvent id="y"><errorEventDefinition
      errorRef="code"/></endEvent><endEvent id="z"><terminateEventDefinition/></endEvent>
      <sequenceFlow id="f" sourceRef="s" targetRef="x"/><sequenceFlow id="g" sourceRef="s"
      targetRef="y"/><sequenceFlow id="h" sourceRef="s" targetRef="z"/>]],
      '<error id="r" errorCode="E" c:errorMessage="m"/>')).nodes
    assert.same({ kind = "error", code = "E", message = "m" }, found.x.event)
    assert.same({ kind = "error", code = "code" }, found.y.event)
    assert.same({ kind = "terminate" }, found.z.event)
    has({ kind = "throw", before = true }, [[<intermediateThrowEvent id="x">
      <messageEventDefinition c:class="Send" c:asyncBefore="true"/></intermediateThrowEvent>]])
    has({ event = { kind = "message" } },
      '<intermediateThrowEvent id="x"><messageEventDefinition/></intermediateThrowEvent>')
  end)

  it("has boundary events at their host", function()
    local graph = models.graph(models.line([[<userTask id="x"/>
      <boundaryEvent id="b" attachedToRef="x" cancelActivity="false"><timerEventDefinition>
      <timeDuration>PT1H</timeDuration></timerEventDefinition></boundaryEvent>
      <boundaryEvent id="d" attachedToRef="x" cancelActivity="false"><errorEventDefinition
      errorRef="r" c:errorCodeVariable="v" c:errorMessageVariable="w"/></boundaryEvent>]],
      '<error id="r" errorCode="E"/>'))
    assert.same({ "b", "d" }, graph.nodes.x.boundaries)
    assert.equal("x", graph.nodes.b.attached)
    assert.is_false(graph.nodes.b.event.interrupting)
    assert.same({ kind = "error", code = "E", code_variable = "v", message_variable = "w" },
      graph.nodes.d.event)
  end)

  it("has sub-processes with their start and their event sub-processes", function()
    local graph = models.graph(models.line([[<subProcess id="x"><startEvent id="i"/>
      <subProcess id="y" triggeredByEvent="true"><startEvent id="j" isInterrupting="false">
      <messageEventDefinition messageRef="m"/></startEvent></subProcess></subProcess>
      <subProcess id="z" triggeredByEvent="true"><startEvent id="k"><errorEventDefinition/>
      </startEvent></subProcess>]], '<message id="m" name="n"/>'))
    assert.equal("subprocess", graph.nodes.x.kind)
    assert.equal("i", graph.nodes.x.start)
    assert.same({ "y" }, graph.nodes.x.events)
    assert.same({ "z" }, graph.events)
    assert.equal("event_subprocess y j", table.concat({ graph.nodes.y.kind, graph.nodes.j.scope,
      graph.nodes.y.start }, " "))
    assert.is_false(graph.nodes.j.event.interrupting)
  end)

  it("reads transactions, signals and external tasks", function()
    local graphs, told = models.read(models.line([[<transaction id="x"><startEvent id="i"/>
      <task id="t"/><boundaryEvent id="b" attachedToRef="t"><compensateEventDefinition/>
      </boundaryEvent><task id="u" isForCompensation="true"/><association id="a" sourceRef="b"
      targetRef="u"/><sequenceFlow id="g" sourceRef="i" targetRef="t"/></transaction>
      <boundaryEvent id="d" attachedToRef="x"><signalEventDefinition signalRef="q"/>
      </boundaryEvent><serviceTask id="v" c:type="external" c:topic="t" c:taskPriority="5"/>]],
      '<signal id="q" name="n"/>'))
    local found = graphs[1].nodes
    assert.same({}, told.problems)
    assert.equal("transaction", found.x.kind)
    assert.equal("u", found.b.handler)
    assert.is_true(found.u.compensates)
    assert.same({ kind = "signal", name = "n" }, found.d.event)
    assert.same({ topic = "t" }, bare(found.v.behaviour))
    assert.equal("5", found.v.external_priority)
  end)
end)

describe("a warning", function()
  local function warns(text, ...)
    assert.same({ ... }, models.warnings(models.line(text)))
  end

  it("names what is unknown, and what may be meant", function()
    warns('<task id="x" c:asyncBefor="true" c:zzzzzz="1"><extensionElements><c:inputOutputs/>'
      .. '<c:executionListener event="start" class="A" clas="B"/></extensionElements></task>',
      '"x": unknown attribute "asyncBefor" is ignored (did you mean "asyncBefore"?)',
      '"x": unknown attribute "zzzzzz" is ignored',
      '"x": unknown element <inputOutputs> is ignored (did you mean <inputOutput>?)',
      '"x": unknown attribute "clas" of <executionListener> is ignored (did you mean "class"?)')
  end)

  it("names what means nothing where it stands", function()
    warns('<task id="x" c:class="A"/>', '"x": the attribute "class" means nothing in <task>')
  end)

  it("tells of what is ignored once a kind", function()
    warns('<task id="x" c:owner="a"/><task id="y" c:owner="b"/><dataObject id="d"/>'
      .. '<dataObject id="i"/><sequenceFlow id="g" sourceRef="x" targetRef="y"/>',
      '"x": the attribute "owner" is ignored', '"d": <dataObject> is ignored')
  end)

  it("names changes of variables that are none", function()
    local _, told = models.read(models.line [[<intermediateCatchEvent id="x">
      <conditionalEventDefinition c:variableEvents="create, remove"><condition>${a}</condition>
      </conditionalEventDefinition></intermediateCatchEvent>]])
    assert.equal('"x": variableEvents has "remove", which is ignored (expected create, update, '
      .. "delete)", told.warnings[1].message)
  end)

  it("is all that a file without a target namespace gets, as in Flowable and Activiti", function()
    local text, cut = models.line('<task id="x"/>'):gsub(' targetNamespace="[^"]*"', "")
    assert.equal(1, cut)
    assert.same({ '<definitions> has no attribute "targetNamespace", which Camunda asks for' },
      models.warnings(text))
  end)

  it("is not given for other namespaces, lanes and pictures", function()
    warns [[<task id="x" xmlns:o="urn:o" o:b="1"><extensionElements><o:q/></extensionElements>
      </task>]]
    warns '<laneSet id="l"><lane id="m"><flowNodeRef>x</flowNodeRef></lane></laneSet><task id="x"/>'
  end)
end)
