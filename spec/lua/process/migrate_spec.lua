local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"

local calls

local function note(name)
  return { call = function(job)
    calls[#calls + 1] = name .. " " .. job.activity .. " " .. job.event
  end }
end

local function heard(kind, more)
  local node = { kind = kind, listeners = { start = { note "start" }, ["end"] = { note "end" } } }
  for name, value in pairs(more or {}) do
    node[name] = value
  end
  return node
end

local function timer(text, kind)
  return { kind = "timer", timer = { kind = kind or "duration", text = text or "PT1H" } }
end

local function boundary(host, event)
  return { kind = "boundary", attached = host, event = event }
end

local function message(name)
  return { kind = "message", name = name or "go" }
end

local function inside(scope, kind, more)
  local node = { kind = kind, scope = scope }
  for name, value in pairs(more or {}) do
    node[name] = value
  end
  return node
end

local function pairs_of(words)
  local list = {}
  for from, to, update in words:gmatch "([^= ]+)=([^! ]+)(!?)" do
    list[#list + 1] = { from = from, to = to, update = update == "!" or nil }
  end
  return list
end

describe("a migration", function()
  local d, id

  -- Starts an instance of the first graph, and deploys the second.
  local function start(first, second, variables)
    calls = {}
    d = driver.new { first }
    id = d:start("p", variables)
    d:deploy(second)
    calls = {}
  end

  local function cause(words, more)
    local made = { kind = "migrate", instance = id, source = 1, target = 2, source_name = "p:1",
      target_name = "p:2", plan = { to = 2, activities = pairs_of(words) } }
    for name, value in pairs(more or {}) do
      made[name] = value
    end
    return made
  end

  local function migrate(words, more)
    return d:command(cause(words, more))
  end

  -- The message of a refusal, after which nothing has changed.
  local function refused(words, more)
    local before = d.instances[id].frame
    local ok, text = pcall(d.walk, d, cause(words, more))
    assert.is_false(ok)
    assert.equal(before, d.instances[id].frame)
    return text
  end

  local function plain(nodes, flow, more)
    return graphs.make("p", nodes, { flow }, more)
  end

  it("takes a task along, and its row", function()
    local hears = heard("user", { listeners = { update = { note "update" } } })
    start(plain({ a = heard "user" }, "s -> a -> e"), plain({ b = hears }, "s -> b -> e"))
    migrate "a=b"
    assert.equal("b", d:at(id))
    assert.same({ "b", 2, 1 }, { d.tasks[1].activity, d.instances[id].version, d.tasks[1].listens })
    migrate("b=a", { source = 2, target = 1 })
    assert.is_nil(d.tasks[1].listens)
    assert.same({}, calls)
  end)

  it("leaves a receive task in the job before or behind it where it is", function()
    for _, more in ipairs { { before = true }, { after = true } } do
      local receive = { kind = "receive", event = message(), before = more.before,
        after = more.after }
      for _, update in ipairs { "", "!" } do
        start(plain({ a = receive }, "s -> a -> e"), plain({ a = receive }, "s -> a -> e"))
        if more.after then
          d:message "a"
        end
        local token = d:token(id, "a")
        migrate("a=a" .. update)
        assert.same(token, d:token(id, "a"))
        assert.equal(1, #d.jobs)
      end
    end
  end)

  it("looks at the same plan anew for other versions", function()
    local tasks = plain({ a = "user" }, "s -> a -> e")
    start(tasks, tasks)
    d:deploy(plain({ a = "service", b = "user" }, "s -> b -> a -> e"))
    migrate "a=a"
    assert.equal(2, d.instances[id].version)
    migrate("a=a", { source = 2, target = 1 })
    assert.equal(1, d.instances[id].version)
    assert.truthy(refused("a=a", { source = 1, target = 3 }):find "a=a: ")
    migrate "a=a"
    id = d:start "p"
    assert.truthy(refused("a=a", { source = 3, target = 2 }):find "a=a: ")
  end)

  it("makes the scopes between, and gives the token a younger number", function()
    start(plain({ a = "user" }, "s -> a -> e"), graphs.make("p", {
      sub = heard("subprocess", { input = { { name = "i", value = 5 } } }),
      s2 = inside("sub", "start"), e2 = inside("sub", "end"), t = boundary("sub", timer()),
      deep = inside("sub", "subprocess", { listeners = { start = { note "start" } } }),
      s3 = inside("deep", "start"), a = inside("deep", "user"), e3 = inside("deep", "end") },
      { "s -> sub -> e", "s2 -> deep -> e2", "s3 -> a -> e3", "t -> e" }))
    migrate "a=a"
    assert.same({ "start sub start", "start deep start" }, calls)
    local frame = d:frame(id)
    assert.same({ i = 5 }, frame.scopes[2][4])
    assert.equal(frame.scopes[2][1], frame.scopes[3][2])
    for _, token in ipairs(frame.tokens) do
      assert.equal(frame.scopes[token[3] == "a" and 3 or 2][1], token[2])
    end
    assert.equal(1, #d.jobs)
    d:command { kind = "complete", instance = id, token = d.tasks[1].token }
    assert.equal(1, #d.past)
  end)

  it("shares a scope between places side by side, and calls nothing if that is said", function()
    start(graphs.make("p", { a = "user", b = "user" }, { "s -> a -> e", "s -> b -> e" }),
      graphs.make("p", { sub = heard "subprocess", s2 = inside("sub", "start"),
        a = inside("sub", "user"), b = inside("sub", "user"), e2 = inside("sub", "end") },
      { "s -> sub -> e", "s2 -> a -> e2", "s2 -> b -> e2" }))
    local told = d:walk(cause("a=a b=b", { dry_run = true }))
    assert.same({ "sub" }, told.result.begins)
    migrate("a=a b=b", { skip_listeners = true })
    assert.same({}, calls)
    assert.equal(2, #d:frame(id).scopes)
    assert.equal("a b", d:at(id))
  end)

  it("ends scopes without a pair, the inner ones first, and keeps what stands there", function()
    start(graphs.make("p", { sub = heard("subprocess", { output = { { name = "o", value = 1 } } }),
      s2 = inside("sub", "start"), deep = inside("sub", "subprocess",
        { listeners = { ["end"] = { note "end" } } }), e2 = inside("sub", "end"),
      s3 = inside("deep", "start"), a = inside("deep", "user"), e3 = inside("deep", "end"),
      t = boundary("sub", timer()) },
      { "s -> sub -> e", "s2 -> deep -> e2", "s3 -> a -> e3", "t -> e" }),
      plain({ a = "user" }, "s -> a -> e"))
    migrate "a=a"
    assert.same({ "end deep end", "end sub end" }, calls)
    assert.same({ o = 1 }, d:variables(id))
    assert.same({ 0, 1 }, { #d.jobs, #d:frame(id).scopes })
  end)

  it("keeps waits for events that are paired, ends others and begins new ones", function()
    start(plain({ a = "user", t = boundary("a", timer "PT1H"), m = boundary("a", message()) },
      "s -> a -> e -> t -> m"), plain({ a = "user", t = boundary("a", timer "PT9H"),
      n = boundary("a", message "other") }, "s -> a -> e"))
    local due = d.jobs[1].due
    migrate "a=a t=t"
    assert.same({ 1, due, "process/p/t:timer" }, { #d.jobs, d.jobs[1].due, d.jobs[1].handler })
    assert.same({ 1, "other" }, { #d.subscriptions, d.subscriptions[1].name })
  end)

  it("looks at a condition with the next change, by the new one if the plan says so", function()
    local function guarded(when)
      return graphs.make("p", { a = "user", b = "user", c = when and boundary("a",
        { kind = "conditional", when = when }) },
        { "s -> a -> e", when and "c -> b -> e" or "b -> e" })
    end
    local first = guarded()
    for _, words in ipairs { "a=a", "a=a c=c!" } do
      start(first, guarded "${x > 1}", { x = 2 })
      migrate(words)
      assert.equal("a", d:at(id))
      d:command { kind = "set", instance = id, variables = { x = 2 } }
      assert.equal("b", d:at(id))
      first = guarded "${x > 2}"
    end
  end)

  it("begins the wait of an event sub-process anew whose scope goes", function()
    local function with(scope)
      return { a = { kind = "user", scope = scope }, s2 = scope and inside(scope, "start"),
        e2 = scope and inside(scope, "end"), sub = scope and "subprocess",
        ev = { kind = "event_subprocess", scope = scope },
        s3 = { kind = "start", scope = "ev", event = timer() }, e3 = inside("ev", "end") }
    end
    start(graphs.make("p", with "sub", { "s -> sub -> e", "s2 -> a -> e2", "s3 -> e3" }),
      graphs.make("p", with(), { "s -> a -> e", "s3 -> e3" }))
    local due = d.jobs[1].due
    d:advance(1000)
    migrate "a=a s3=s3"
    assert.same({ 1, due + 1000 }, { #d.jobs, d.jobs[1].due })
  end)

  it("begins the wait for an event anew if the pair says so", function()
    local function catcher(name)
      return plain({ c = { kind = "catch", event = message(name) } }, "s -> c -> e")
    end
    start(catcher "old", catcher "new")
    local kept = cause "c=c"
    assert.same({}, d:walk(kept).subscriptions)
    migrate "c=c!"
    assert.same({ 1, "new" }, { #d.subscriptions, d.subscriptions[1].name })
    start(plain({ a = "user", t = boundary("a", timer "PT1H") }, "s -> a -> e"),
      plain({ a = "user", t = boundary("a", timer "PT2H") }, "s -> a -> e"))
    d.time = d.time + 1000
    migrate "a=a t=t!"
    assert.equal(d.time + 2 * 3600000, d.jobs[1].due)
  end)

  it("takes a signal along with its name", function()
    local function catcher(event)
      return plain({ c = { kind = "catch", event = event } }, "s -> c -> e")
    end
    local function guarded(event)
      return graphs.make("p", { a = "user", c = boundary("a", event) }, { "s -> a -> e", "c -> e" })
    end
    for words, make in pairs { ["c=c"] = catcher, ["a=a c=c"] = guarded } do
      local function named(name)
        return make { kind = "signal", name = name }
      end
      start(named "old", named "new")
      migrate(words)
      migrate(words, { source = 2, target = 1 })
      migrate(words)
      d:deploy(named "third")
      migrate(words, { source = 2, target = 3 })
      for i, name in ipairs { "new", "third", "old" } do
        d:command { kind = "signal", name = name }
        assert.equal(i // 3, #d.past)
      end
      start(named "old", named "new")
      migrate(words)
      migrate(words .. "!", { source = 2, target = 2 })
      d:command { kind = "signal", name = "new" }
      assert.equal(1, #d.past)
    end
  end)

  it("takes a job before an activity along, with what it is", function()
    local function first(name, more)
      return plain({ [name] = { kind = "service", before = more ~= "plain", priority = "7",
        behaviour = { call = function() calls[#calls + 1] = name end } } },
        "s -> " .. name .. " -> e")
    end
    start(first "a", first "b")
    local job = d.jobs[1]
    migrate "a=b"
    assert.same({ "process/p/b", "b", 7 }, { job.handler, job.activity, job.priority })
    d:drain()
    assert.same({ "b" }, calls)
    start(first "a", first("b", "plain"))
    assert.equal(("instance %d cannot be migrated: at a: b begins in no job (expected an "
      .. "asynchronous one)"):format(id), refused "a=b")
  end)

  it("takes a job after an activity along, if its flow is there", function()
    local function after(flows)
      return graphs.make("p", { a = { kind = "service", after = true }, u = "user" }, flows)
    end
    start(after { "s -> a -> u -> e" }, after { "s -> a", "a -> u -> e" })
    migrate "a=a"
    d:drain()
    assert.equal("u", d:at(id))
    start(after { "s -> a -> u -> e" }, after { "s -> a", "a -> e", "a -> u -> e" })
    migrate "a=a"
    d:drain()
    assert.equal("u", d:at(id))
    start(after { "s -> a -> u -> e" }, after { "s -> a -> e", "s -> u -> e" })
    assert.equal(("instance %d cannot be migrated: at a: its flow a>u does not lead on from a "
      .. "(expected a flow of this id)"):format(id), refused "a=a")
    start(after { "s -> a -> u -> e" }, plain({ a = "service" }, "s -> a -> e"))
    assert.matches("at a: a has no job behind it", refused "a=a")
  end)

  it("takes a job along behind which no flow led on, if one does now", function()
    local function after(flows)
      return graphs.make("p", { a = { kind = "service", after = true }, u = "user" }, flows)
    end
    start(after { "s -> a" }, after { "s -> a -> u -> e" })
    migrate "a=a"
    d:drain()
    assert.equal("u", d:at(id))
    start(after { "s -> a" }, after { "s -> a -> u -> e", "a -> e" })
    assert.matches("at a: 2 flows lead on from a %(expected one%)", refused "a=a")
  end)

  it("takes the job after a turn along, behind which no flow is taken", function()
    local function turns(flows)
      return graphs.make("p", { a = { kind = "service", after = true,
        multi = { count = 2, parallel = true } }, u = "user", v = "user" }, flows)
    end
    local second = { "s -> a -> u -> e", "a -> v -> e" }
    start(turns { "s -> a -> u -> e" }, turns(second))
    migrate "a#multiInstanceBody=a#multiInstanceBody a=a"
    d:drain()
    assert.equal("u v", d:at(id))
    start(turns { "s -> a -> u -> e" }, graphs.make("p", { a = { kind = "service", after = true },
      u = "user" }, { "s -> a -> u -> e" }))
    migrate "a=a"
    d:drain()
    assert.equal("u u", d:at(id))
  end)

  it("takes joins along, which wait for as many as the new one", function()
    start(graphs.make("p", { f = "parallel", a = "user", b = "user", j = "parallel" },
      { "s -> f -> a -> j -> e", "f -> b -> j" }),
      graphs.make("p", { f = "parallel", a = "user", b = "user", x = "user", j = "parallel" },
      { "s -> f -> a -> j -> e", "f -> b -> j", "f -> x -> j" }))
    d:command { kind = "complete", instance = id, token = d.tasks[1].token }
    migrate "b=b j=j"
    assert.same({ 2, 1, "j", "join", 3 }, d:frame(id).tokens[1])
    d:command { kind = "complete", instance = id, token = d.tasks[1].token }
    assert.equal("j j", d:at(id))
  end)

  it("takes bodies along with their turns, and dissolves those without a pair", function()
    local function each(more)
      return plain({ a = { kind = "user", multi = more } }, "s -> a -> e")
    end
    start(each { count = 3, parallel = true }, each { count = 9, parallel = true })
    migrate "a#multiInstanceBody=a#multiInstanceBody a=a"
    for _ = 1, 3 do
      d:command { kind = "complete", instance = id, token = d.tasks[1].token }
    end
    assert.equal(1, #d.past)
    start(each { count = 2, parallel = true }, each())
    migrate "a=a"
    assert.equal("a a", d:at(id))
    assert.equal(1, #d:frame(id).scopes)
    local body = d.trail[#d.trail].events[2]
    assert.same({ "c", "a#multiInstanceBody" }, { body[1], body[3] })
  end)

  it("waits for an event beside a body once, and for a listener's timer at each turn", function()
    local function each(more)
      return graphs.make("p", { a = { kind = "user", multi = { count = 3, parallel = true },
        timeouts = more and { { id = "l", timer = timer().timer, behaviour = note "l" } } },
        t = more and boundary("a", timer()) }, { "s -> a -> e", more and "t -> e" })
    end
    start(each(), each(true))
    migrate "a#multiInstanceBody=a#multiInstanceBody a=a"
    assert.equal(1 + 3, #d.jobs)
  end)

  it("takes the job before a body or behind it along, where the new one has one there", function()
    local function each(name, of_turn, of_body)
      local multi = { count = 3, parallel = true }
      for key in pairs(of_body) do
        multi[key] = true
      end
      return plain({ [name] = { kind = "user", multi = multi, before = of_turn.before,
        after = of_turn.after } }, "s -> " .. name)
    end
    start(each("a", {}, { before = true }), each("b", {}, { before = true }))
    migrate "a#multiInstanceBody=b#multiInstanceBody a=b"
    assert.same({ "process/p/b#multiInstanceBody", "b" }, { d.jobs[1].handler, d.jobs[1].activity })
    d:drain()
    assert.equal("b b b", d:at(id))
    for key, text in pairs { before = "a#multiInstanceBody begins in no job",
      after = "a#multiInstanceBody has no job behind it" } do
      local own = { [key] = true }
      for _, second in ipairs { each("a", own, {}), each("a", {}, own) } do
        start(each("a", {}, own), second)
        while d.tasks[1] do
          d:complete "a"
        end
        local moves = pcall(migrate, "a#multiInstanceBody=a#multiInstanceBody a=a")
        assert.equal(second.nodes.a.multi[key] == true, moves)
        assert.truthy(moves or refused("a#multiInstanceBody=a#multiInstanceBody a=a"):find(text))
      end
    end
  end)

  it("takes turns along that are only a range", function()
    local function each(name)
      return plain({ [name] = { kind = "service", before = true,
        behaviour = { call = function(job) calls[#calls + 1] = job.variables.loopCounter end },
        multi = { count = 3, parallel = true } } }, "s -> " .. name .. " -> e")
    end
    start(each "a", each "b")
    migrate "a#multiInstanceBody=b#multiInstanceBody a=b"
    assert.equal("process/p/b", d.jobs[3].handler)
    d:drain()
    assert.same({ 0, 1, 2 }, calls)
    assert.equal(1, #d.past)
  end)

  it("takes along what is remembered for a compensation", function()
    local function undone(handler)
      return graphs.make("p", { a = "user", b = "user", c = { kind = "throw",
        event = { kind = "compensation" } }, cb = { kind = "boundary", attached = "a",
        handler = handler, event = { kind = "compensation" } },
        [handler] = { kind = "service", compensates = true,
          behaviour = { call = function() calls[#calls + 1] = handler end } } },
        { "s -> a -> b -> c -> e" })
    end
    start(undone "u1", undone "u2")
    d:command { kind = "complete", instance = id, token = d.tasks[1].token }
    assert.equal(("instance %d cannot be migrated: at a: no pair leads from the compensation event "
      .. "cb (expected one)"):format(id), refused "b=b")
    migrate "b=b cb=cb"
    d:command { kind = "complete", instance = id, token = d.tasks[1].token }
    assert.same({ "u2" }, calls)
    start(undone "u1", graphs.make("p", { sub = "subprocess", s2 = inside("sub", "start"),
      a = inside("sub", "user"), e2 = inside("sub", "end"), b = "user", cb = { kind = "boundary",
        attached = "a", scope = "sub", handler = "u1", event = { kind = "compensation" } },
      u1 = inside("sub", "service", { compensates = true }) },
      { "s -> sub -> b -> e", "s2 -> a -> e2" }))
    d:command { kind = "complete", instance = id, token = d.tasks[1].token }
    migrate "b=b cb=cb"
    assert.equal(1, #d:frame(id).scopes)
  end)

  it("wants a pair for the compensation event of a sub-process that is remembered", function()
    local graph = function()
      return graphs.make("p", { sub = "subprocess", b = "user", s2 = inside("sub", "start"),
        x = inside("sub", "service"), e2 = inside("sub", "end"),
        es = inside("sub", "event_subprocess"), s3 = { kind = "start", scope = "es",
          event = { kind = "compensation" } }, y = inside("es", "service"),
        e3 = inside("es", "end") }, { "s -> sub -> b -> e", "s2 -> x -> e2", "s3 -> y -> e3" })
    end
    start(graph(), graph())
    assert.equal(("instance %d cannot be migrated: at sub: no pair leads from the compensation "
      .. "event s3 (expected one)"):format(id), refused "b=b sub=sub")
    migrate "b=b sub=sub es=es s3=s3"
    assert.equal("b", d:at(id))
  end)

  it("waits no more for a timer with a pair that has come, but for any other event", function()
    local function shop(more)
      local nodes = { a = "user", ev = { kind = "event_subprocess" },
        s3 = { kind = "start", scope = "ev", event = message() }, w = inside("ev", "user"),
        e3 = inside("ev", "end"), t = boundary("a", { kind = "timer", interrupting = false,
          timer = { kind = "duration", text = "PT1H" } }), b = "user", x = more }
      return graphs.make("p", nodes, { "s -> a -> e", "s3 -> w -> e3", "t -> b -> e" })
    end
    start(shop(), shop "user")
    d:advance(3600000)
    migrate "a=a b=b t=t s3=s3"
    assert.same({ 0, 1 }, { #d.jobs, #d.subscriptions })
    start(shop(), shop "user")
    d:command { kind = "message", instance = id, token = d.subscriptions[1].token }
    migrate "ev=ev w=w s3=s3"
    assert.same({ "w", 1 }, { d:at(id), #d.subscriptions })
    start(shop(), shop "user")
    d:advance(3600000)
    migrate "a=a b=b"
    assert.same({ 1, 1 }, { #d.jobs, #d.subscriptions })
  end)

  it("takes an event-based gateway along, with the events behind it", function()
    local function gate(name)
      return graphs.make("p", { g = "event_gateway", m = { kind = "catch", event = message(name) },
        t = { kind = "catch", event = timer() } }, { "s -> g -> m -> e", "g -> t -> e" })
    end
    start(gate "old", gate "new")
    migrate "g=g m=m"
    assert.same({ 1, "old", 1 }, { #d.subscriptions, d.subscriptions[1].name, #d.jobs })
    d:command { kind = "message", instance = id, token = d.subscriptions[1].token }
    assert.equal(1, #d.past)
  end)

  it("names every place without a pair, and moves nothing", function()
    start(graphs.make("p", { a = "user", b = "user", c = "user" },
      { "s -> a -> e", "s -> b -> e", "s -> c -> e" }), plain({ a = "user" }, "s -> a -> e"))
    assert.equal(("instance %d cannot be migrated: at b: no pair leads from b (expected one); "
      .. "at c: no pair leads from c (expected one)"):format(id), refused "a=a")
    assert.equal("the plan cannot be: a=zz: the process p has no activity zz", refused "a=zz")
    assert.matches("^the plan cannot be: plan: unknown key \"activites\"",
      refused("", { plan = { to = 2, activites = {} } }))
  end)

  it("sets the variables of the plan, and tells what it would do in a trial", function()
    start(graphs.make("p", { sub = "subprocess", s2 = inside("sub", "start"), a = inside("sub",
      "user"), e2 = inside("sub", "end") }, { "s -> sub -> e", "s2 -> a -> e2" }),
      graphs.make("p", { new = "subprocess", s2 = inside("new", "start"), b = inside("new", "user"),
      e2 = inside("new", "end") }, { "s -> new -> e", "s2 -> b -> e2" }))
    local plan = { to = 2, activities = pairs_of "a=b", variables = { x = 1 } }
    local told = d:walk(cause("", { plan = plan, dry_run = true }))
    local pair = { from = "a", to = "b" }
    assert.same({ pairs = { pair }, moves = { pair }, ends = { "sub" }, begins = { "new" } },
      told.result)
    assert.same({}, told.instances)
    migrate("", { plan = plan })
    assert.same({ x = 1 }, d:variables(id))
  end)

  it("is refused of an instance of another version", function()
    start(plain({ a = "user" }, "s -> a -> e"), plain({ a = "user" }, "s -> a -> e"))
    migrate "a=a"
    assert.equal(("instance %d cannot be migrated: it runs on another version (expected p:1)")
      :format(id), refused "a=a")
  end)
end)
