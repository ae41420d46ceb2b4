-- The Lua form of processes: what the words mean in the graph, and what is told of mistakes.
local processes = require "spec.support.processes"
local graph_of = require "moonshift.process.graph"

local function flows(text)
  return processes.flows(processes.graph("return {" .. text .. "}"))
end

-- The node x of a process that holds this item.
local function node(text)
  return processes.graph("return {" .. text .. "}").nodes.x
end

describe("a process in Lua", function()
  it("is the list of its activities between a start and an end", function()
    local graph = processes.graph [[
return {
  name = "Orders", priority = "${rank}", history_time_to_live = "P90D", tag = "v2",
  on_end = "report",
  step "pack" { run = "pack" },
  task "check" {},
}]]
    assert.same({ "p", "Orders", "${rank}", "P90D", "v2" },
      { graph.key, graph.name, graph.priority, graph.history_time_to_live, graph.tag })
    assert.same({ { run = "report", line = 1 } }, graph.listeners["end"])
    assert.same({ "start", "pack", "check", "end" }, graph.order)
    assert.same({ "start -> pack", "pack -> check", "check -> end" }, processes.flows(graph))
    assert.same({ "start", "service", 4 },
      { graph.start, graph.nodes.pack.kind, graph.nodes.pack.line })
    assert.equal("pack->check", graph.nodes.pack.out[1].id)
  end)

  it("names the variables that its instances are found by", function()
    assert.same({ "amount", "customer" },
      processes.graph("return { search = { 'customer', 'amount' }, task 'a' {} }").search)
    assert.same({ "1: search: got 5 (expected names of variables)" },
      processes.problems("return { search = { 'a', 5 }, task 'a' {} }"))
  end)

  it("has a key of its own, if it says so", function()
    assert.equal("other", processes.graph("return { key = 'other', task 'a' {} }").key)
  end)

  it("says of an activity what it calls, and how", function()
    local found = node [[step "x" { run = "pay", name = "Pay", async = true, async_after = true,
      exclusive = false, priority = 7, retry = "R5/PT5M", properties = { p = "q" },
      result = "paid", fields = { a = "b" },
      input = { total = "${sum}", by = "card" }, output = { { "z", 1 }, { "a", "${z}" } },
      on_start = { "log", { expression = "${log.it(execution)}" } } }]]
    assert.same({ run = "pay", line = 1 }, found.behaviour)
    assert.same({ { name = "by", value = "card" }, { name = "total", value = "${sum}" } },
      found.input)
    assert.same({ { name = "z", value = 1 }, { name = "a", value = "${z}" } }, found.output)
    assert.same({ { run = "log", line = 1 }, { expression = "${log.it(execution)}", line = 1 } },
      found.listeners.start)
    assert.same({ p = "q" }, found.properties)
    assert.same({ true, true, false, 7, "R5/PT5M", "paid" }, { found.before, found.after,
      found.exclusive, found.priority, found.retry, found.result })
  end)

  it("has words for each kind of activity and event", function()
    local graph = processes.graph [[return {
      process.start "s" { message = "order" }, process.send "send" { class = "Mail" },
      process.rule "rule" { decision = "rate" }, process.script "script" { script = "return 1" },
      process.manual "manual", process.pass "pass", process.wait "wait" { after = "PT1H" },
      process.throw "throw" { message = true, run = "tell" }, call "called" { process = "other" },
      receive "receive" { message = "m", key = "${id}" }, process.finish "f" { error = "E1" },
      process.handle "late" { every = "R3/PT1H", interrupting = false,
        step "nag" { run = "n" } } }]]
    local kinds = {}
    for _, id in ipairs(graph.order) do
      kinds[#kinds + 1] = graph.nodes[id].kind
    end
    assert.same({ "start", "send", "rule", "script", "manual", "task", "catch", "throw", "call",
      "receive", "end", "event_subprocess", "start", "service", "end" }, kinds)
    assert.same({ kind = "message", name = "order" }, graph.nodes.s.event)
    assert.same({ kind = "timer", timer = { kind = "duration", text = "PT1H" } },
      graph.nodes.wait.event)
    assert.same({ kind = "timer", interrupting = false,
      timer = { kind = "cycle", text = "R3/PT1H" } }, graph.nodes["late.start"].event)
    assert.same({ kind = "error", code = "E1" }, graph.nodes.f.event)
    assert.same({ "late" }, graph.events)
    assert.equal("lua", graph.nodes.script.behaviour.language)
  end)

  it("chooses, and comes together again", function()
    assert.same({ "start -> a.choose", "a.choose -> a?", "a.choose -> a.choose.join*",
      "a -> a.choose.join", "a.choose.join -> b", "b -> end" }, flows [[
      choose { { when = "${big}", step "a" { run = "a" } }, { otherwise = true } },
      step "b" { run = "b" } ]])
  end)

  it("keeps the order of branches, also of empty ones", function()
    assert.same({ "start -> ask", "ask -> met?", "ask -> a?", "ask -> b*", "a -> met", "b -> met",
      "met -> end" }, flows [[
      choose "ask" { join = "met", { when = "${1 > 2}" }, { when = "${x}", step "a" { run = "a" } },
        { otherwise = true, step "b" { run = "b" } } } ]])
  end)

  it("forks and joins", function()
    local graph = processes.graph [[return {
      parallel { step "a" { run = "a" }, { step "b" { run = "b" }, step "c" { run = "c" } } } }]]
    assert.same({ "start -> a.parallel", "a.parallel -> a", "a.parallel -> b",
      "a -> a.parallel.join", "b -> c", "c -> a.parallel.join", "a.parallel.join -> end" },
      processes.flows(graph))
    assert.equal("parallel", graph.nodes["a.parallel.join"].kind)
  end)

  it("brings a choice inside of a branch to one end, so that the join counts branches", function()
    local graph = processes.graph [[return { parallel {
      { choose { { when = "${x}", step "a" { run = "a" } }, { otherwise = true } } },
      { step "b" { run = "b" } } } }]]
    assert.equal(2, #graph.nodes["a.parallel.join"].into)
  end)

  it("lets a branch end by itself, or lead elsewhere", function()
    assert.same({ "start -> a", "a -> ask", "ask -> gone?", "ask -> b*", "b -> a" }, flows [[
      step "a" { run = "a" },
      choose "ask" { { when = "${x}", process.finish "gone" },
        { otherwise = true, step "b" { run = "b", to = "a" } } } ]])
  end)

  it("leads where it says, with conditions", function()
    local found = node [[step "x" { run = "x", to = {
      { "end1", when = "${done}", id = "f1", name = "yes", listeners = "log" },
      { "x", default = true } } }, process.finish "end1" {} ]]
    assert.same({ id = "f1", name = "yes", from = "x", to = "end1", when = "${done}", line = 1,
      listeners = { { run = "log", line = 1 } } }, found.out[1])
    assert.same({ "x->x", true }, { found.out[2].id, found.out[2].default })
  end)

  it("repeats a part for each element", function()
    local graph = processes.graph [[return {
      each "line" { of = "lines", parallel = true, async = true, stop = "${enough}",
        step "ship" { run = "ship", async = true } },
      step "x" { run = "x", each = { times = 3, as = "n", retry = "R2/PT1S" },
        retry = "R9/PT1S" } }]]
    assert.same({ parallel = true, collection = "${lines}", element = "line", before = true,
      ["until"] = "${enough}" }, graph.nodes.line.multi)
    assert.same({ "line", "line.start" }, { graph.nodes.ship.scope, graph.nodes.line.start })
    assert.same({ parallel = false, count = 3, element = "n", retry = "R2/PT1S" },
      graph.nodes.x.multi)
    assert.equal("R9/PT1S", graph.nodes.x.retry)
  end)

  it("interrupts an activity, and goes on behind it", function()
    local graph = processes.graph [[return {
      task "x" { assignee = "boss", within = { "P2D", step "remind" { run = "r" } } },
      step "b" { run = "b" } }]]
    assert.same({ "start -> x", "x -> x.join", "x.within -> remind", "remind -> x.join",
      "x.join -> b", "b -> end" }, processes.flows(graph))
    assert.same({ { "x.within" }, "x" },
      { graph.nodes.x.boundaries, graph.nodes["x.within"].attached })
  end)

  it("leads elsewhere behind the list of an event, with its option to", function()
    local graph = processes.graph [[return {
      step "a" { run = "a", async = true },
      task "b" { within = { "P1D", step "nag" { run = "n" }, to = "b" }, on_error = { to = "a" } },
      process.boundary "late" { on = "b", after = "P9D", step "tell" { run = "n" }, to = "a" } }]]
    assert.same({ "start -> a", "a -> b", "b -> end", "b.within -> nag", "nag -> b", "b.error -> a",
      "late -> tell", "tell -> a" }, processes.flows(graph))
  end)

  it("has boundary events of all kinds", function()
    local graph = processes.graph [[return {
      receive "x" { message = "m", within = { "P14D", stop = "lost" },
        every = { "R/PT1H", step "nag" { run = "n" } },
        on_error = { { "E1", id = "bad", to = "y" }, { step "any" { run = "a" } } },
        on_message = { "stop", key = "${id}", interrupting = false, step "note" { run = "n" } } },
      step "y" { run = "y" } }]]
    assert.same({ "x.within", "x.every", "bad", "x.error2", "x.message" }, graph.nodes.x.boundaries)
    assert.same({ "start -> x", "x -> x.join", "x.within -> lost", "x.every -> nag",
      "nag -> x.every.end", "bad -> y", "x.error2 -> any", "any -> x.join", "x.message -> note",
      "note -> x.message.end", "x.join -> y", "y -> end" }, processes.flows(graph))
    assert.equal("terminate", graph.nodes.lost.event.kind)
    assert.same({ kind = "error" }, graph.nodes["x.error2"].event)
    assert.same({ kind = "message", name = "stop", key = "${id}", interrupting = false },
      graph.nodes["x.message"].event)
  end)

  it("throws and catches escalations", function()
    local graph = processes.graph [[return {
      process.sub "x" { process.throw "late" { escalate = "late" },
        on_escalation = { "late", interrupting = false, code_variable = "code",
          step "note" { run = "n" } } },
      process.handle "y" { escalate = true, step "z" { run = "n" } } }]]
    assert.same({ kind = "escalation", code = "late" }, graph.nodes.late.event)
    assert.same({ kind = "escalation", code = "late", code_variable = "code",
      interrupting = false }, graph.nodes["x.escalation"].event)
    assert.same({ kind = "escalation" }, graph.nodes["y.start"].event)
  end)

  it("throws and catches signals", function()
    local graph = processes.graph [[return {
      process.start "s" { signal = "go" }, process.wait "w" { signal = "${name}" },
      step "x" { run = "n", on_signal = { "stop", interrupting = false, step "y" { run = "n" } } },
      process.throw "t" { signal = "done", with = { "a", b = "${c}", { all = true } } },
      process.handle "h" { signal = "now", step "z" { run = "n" } } }]]
    assert.same({ kind = "signal", name = "go" }, graph.nodes.s.event)
    assert.same({ kind = "signal", name = "${name}" }, graph.nodes.w.event)
    assert.same({ kind = "signal", name = "stop", interrupting = false },
      graph.nodes["x.signal"].event)
    assert.same({ kind = "signal", name = "done", into = { { from = "a", to = "a" },
      { all = true }, { to = "b", value = "${c}" } } }, graph.nodes.t.event)
    assert.same({ kind = "signal", name = "now" }, graph.nodes["h.start"].event)
  end)

  it("waits for conditions", function()
    local graph = processes.graph [[return {
      process.wait "w" { when = "${x > 1}", variable = "x", changes = { "create" } },
      step "a" { run = "n", on_when = { "${y}", variable = "y", step "b" { run = "n" } } },
      process.handle "h" { when = function(v) return v.z end, interrupting = false,
        step "z" { run = "n" } } }]]
    assert.same({ kind = "conditional", when = "${x > 1}", variable = "x", changes = { "create" } },
      graph.nodes.w.event)
    assert.same({ kind = "conditional", when = "${y}", variable = "y" },
      graph.nodes["a.when"].event)
    assert.equal("function", type(graph.nodes["h.start"].event.when))
    assert.is_false(graph.nodes["h.start"].event.interrupting)
  end)

  it("takes back what has ended, and cancels a transaction", function()
    local graph = processes.graph [[return {
      process.sub "x" { transaction = true, step "a" { run = "a", undo = "unbook" },
        process.finish "no" { cancel = true }, on_cancel = { step "told" { run = "n" } } },
      process.handle "y" { error = "E", process.throw "back" { undo = "x" },
        process.finish "all" { undo = true } } }]]
    assert.same({ kind = "cancel" }, graph.nodes.no.event)
    assert.same({ kind = "cancel" }, graph.nodes["x.cancel"].event)
    assert.same({ kind = "compensation", activity = "x" }, graph.nodes.back.event)
    assert.same({ kind = "compensation" }, graph.nodes.all.event)
    assert.equal("a.undone", graph.nodes["a.undo"].handler)
  end)

  it("calls another process", function()
    assert.same({ process = "other", binding = "latest", key = "${id}",
      into = { { from = "amount", to = "amount" }, { all = true }, { value = "${x}", to = "y" } },
      back = { { from = "booking", to = "booking" } } }, node [[ call "x" { process = "other",
        key = "${id}", with = { "amount", { all = true }, y = "${x}" },
        back = { "booking" } } ]].call)
    assert.equal("x", node [[ call "x" {} ]].call.process)
  end)

  it("waits for what comes first", function()
    assert.same({ "start -> a.first", "a.first -> a", "a.first -> b", "a -> a.first.join",
      "b -> a.first.join", "a.first.join -> end" }, flows [[ process.first {
        process.wait "a" { message = "m" }, process.wait "b" { after = "PT1H" } } ]])
  end)

  it("has another hash if the text of its functions differs", function()
    local function hash(text)
      return graph_of.hash(processes.graph(text))
    end
    local text = "return { step 'a' { run = function() return %d end } }"
    assert.equal(hash(text:format(1)), hash(text:format(1)))
    assert.not_equal(hash(text:format(1)), hash(text:format(2)))
    assert.equal(hash "return { task 'a' {} }", hash "\n return {task 'a' {}  }")
  end)
end)

describe("a mistake in a process", function()
  it("is told with its line and its id, and with what is expected", function()
    local expected = {
      [ [[task "a" { asignee = "x" }]] ] = '"a": task has no option "asignee" (did you mean '
        .. '"assignee"?)',
      [ [[history_time_to_live = "P1M", task "a" {}]] ] =
        'history_time_to_live: got the string "P1M" (expected a duration such as P30D: months '
        .. "and years have no fixed length)",
      [ [[history = "P9D", task "a" {}]] ] = 'process has no option "history" (did you mean '
        .. '"history_time_to_live"?)',
      [ [[step "a" {}]] ] = '"a": calls nothing (expected run, or class, delegate, expression, '
        .. "script, topic)",
      [ [[step "a" { run = "x", class = "y" }]] ] = '"a": has run and class (expected one of them)',
      [ [[step "a" { run = 5 }]] ] = '"a": run: got 5 (expected a text or a function)',
      [ [[task "a b" {}]] ] = 'task: the name is the string "a b" (expected letters, digits, _, - '
        .. "and points)",
      [ [[task "a" {}, task "a" {}]] ] = '"a": the name is taken by the user of line 2',
      [ [["text", task "a" {}]] ] = 'item 1 is the string "text" (expected a word such as step)',
      [ [[task "a" { to = "pakc" }, task "pack" {}]] ] = '"a": leads to "pakc", which is no node '
        .. '(did you mean "pack"?)',
      [ [[process.sub "s" { task "in" {} }, task "a" { to = "in" }]] ] = '"a": leads to "in" in '
        .. "another scope (a flow stays in its scope)",
      [ [[choose { { task "a" {} }, { otherwise = true } }]] ] = '"a.choose": branch 1 has no '
        .. "condition (expected when, or otherwise = true)",
      [ [[parallel { { when = "${x}", task "a" {} } }]] ] = '"a.parallel": branch 1 has a '
        .. "condition (expected none here)",
      [ [[process.wait "w"]] ] = '"w": waits for nothing (expected after, at, every, message, '
        .. "signal or when)",
      [ [[process.wait "w" { after = "PT1M", message = "m" }]] ] = '"w": has message and after '
        .. "(expected one of them)",
      [ [[task "a" { within = "PT5M" }]] ] = '"a": within: got the string "PT5M" (expected a table '
        .. 'such as { "PT1H", stop = "late" })',
      [ [[process.boundary "b" { on = "a", after = "PT1M", to = "c" }, task "c" {}]] ] =
        '"b": on: the string "a" is no activity of its scope',
      [ [[each "a" { task "b" {} }]] ] = '"a": each says neither how many turns nor of what '
        .. "(expected times or of)",
      [ [[task "a" { async = "yes" }]] ] = '"a": async: got the string "yes" (expected true or '
        .. "false)",
      [ [[task "a" { name = 5 }]] ] = '"a": name: got 5 (expected a text)',
      [ [[task "a" { to = print }]] ] = '"a": to: got a function (expected a text or a table)',
      [ [[call "a" { with = { 5 } }]] ] = '"a": with: 5 is no variable (expected names, or pairs '
        .. 'such as total = "${sum}")',
      [ [[process.wait "a" { event = { kind = 5 } }]] ] = '"a": event: its kind is 5 (expected a '
        .. "text)",
      [ [[step "a" { run = "x", result = "y", result_in = "here" }]] ] =
        '"a": result_in = "here" (expected "local" or "transient")',
      [ [[step "a" { run = "x", assignee = "b" }]] ] = '"a": step has no option "assignee" (task '
        .. "has it)",
      [ [[task "a" { within = { "PT1H", task "b" {}, to = { { "a" }, { "b" } } } }]] ] =
        '"a.within": to: got a table (expected the name of a node behind a list)',
      [ [[process.sub "s" {}]] ] = '"s": has nothing in it (expected words such as step)',
      [ [[process.gateway "g" { kind = "or" }]] ] = '"g": gateway: kind is the string "or" '
        .. "(expected exclusive, parallel, inclusive or event)",
      [ [[step "a" { run = "a", input = { x = print and {} } }]] ] = '"a": input: x is a table '
        .. "(expected a value, an expression or a function)",
      [""] = "has nothing in it (expected words such as step)",
    }
    for text, message in pairs(expected) do
      local problems = processes.problems("return {\n" .. text .. "}")
      assert.matches(message, table.concat(problems, "\n"), 1, true)
      assert.matches("^[12]: ", problems[1])
    end
  end)

  it("is not the last one told", function()
    assert.equal(3, #processes.problems [[return { step "a" {}, step "b" {}, step "c" {} }]])
  end)

  it("is told of a file that returns something else", function()
    assert.same({ '1: returned nothing (expected a table of words)' }, processes.problems "")
    assert.same({ '1: returned one word (expected a table of words)' },
      processes.problems "return task 'a' {}")
  end)

  it("is found where a word is called", function()
    for _, text in ipairs { "task(5)", "task 'a' {} {}", "task 'a' 'b'" } do
      assert.error(function()
        processes.read("return { " .. text .. " }")
      end)
    end
  end)

  it("may be a block in a block without an end", function()
    local problems = processes.problems [[
      local own = {} own[1] = process.sub "s" (own) return own ]]
    assert.matches("stands in too many blocks", table.concat(problems, "\n"), 1, true)
  end)
end)

describe("any table of words", function()
  local check = require "moonshift.process.check"
  local options = require "moonshift.process.words.options"
  local process = require "moonshift.process"
  local report = require "moonshift.process.report"
  local words = require "moonshift.process.words"
  local names, kinds, random = options.names(), {}, 20260103
  for word in pairs(process) do
    kinds[#kinds + 1] = word ~= "words" and word ~= "is_item" and word or nil
  end
  table.sort(kinds)

  local function draw(count)
    random = (random * 1103515245 + 12345) % 2147483648
    return random // 65536 % count + 1
  end

  local item

  local function value(depth)
    local kind = draw(depth > 0 and 12 or 10)
    local values = { 5, "x", true, print, "${a}", "PT5M" }
    if kind <= 6 then
      return values[kind]
    elseif kind <= 10 then
      return ({ {}, { 5, "a" }, { a = 5, [true] = 1 }, { { 5 }, { {} }, print } })[kind - 6]
    end
    return kind == 11 and item(depth - 1) or { item(depth - 1), when = "${a}" }
  end

  -- An item with any options and items, of which most mean nothing.
  function item(depth)
    local content = {}
    for _ = 1, draw(4) - 1 do
      content[names[draw(#names)]] = value(depth)
    end
    for i = 1, draw(3) - 1 do
      content[i] = value(depth)
    end
    local word = process[kinds[draw(#kinds)]]
    return word("a" .. draw(20))(content)
  end

  it("is read without raising", function()
    for _ = 1, 3000 do
      local told = report.new "processes/p.lua"
      local graph = words.read({ item(2), item(2) }, "processes/p.lua", told, "")
      if not told.problems[1] then
        check.graphs({ graph }, told)
      end
    end
  end)
end)

describe("the page of processes", function()
  local check = require "moonshift.process.check"
  local options = require "moonshift.process.words.options"
  local process = require "moonshift.process"
  local report = require "moonshift.process.report"
  local words = require "moonshift.process.words"
  local page = assert(io.open("docs/processes.md")):read("a")

  it("shows processes without a mistake", function()
    local count = 0
    for path, text in page:gmatch "```lua\n%-%- (processes/[%w_]+%.lua)\n(.-)```" do
      local told = report.new(path)
      local graph = words.read(assert(load(text))(), path, told, text)
      check.graphs({ graph }, told)
      assert.same({}, told.problems, path)
      count = count + 1
    end
    assert.equal(10, count)
  end)

  it("says what is told of mistakes", function()
    local count = 0
    for text, message in page:gmatch '\n| `([^`\n]*)` | `("[^`\n]*)` |' do
      assert.equal("1: " .. message, processes.problems("return {" .. text .. "}")[1])
      count = count + 1
    end
    assert.equal(3, count)
  end)

  it("names every word and every option", function()
    for word in pairs(process) do
      if word ~= "words" and word ~= "is_item" then
        assert.is_truthy(page:find(("`%s`"):format(word), 1, true), word)
      end
    end
    for _, name in ipairs(options.names()) do
      assert.is_truthy(page:find("[`{ ]" .. name .. "[`, ]"), name)
    end
  end)
end)
