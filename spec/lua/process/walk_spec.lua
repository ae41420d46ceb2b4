local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"

-- A service task that calls this function; `more` are its other fields.
local function calls(fn, more)
  local node = { kind = "service", behaviour = { call = fn } }
  for name, value in pairs(more or {}) do
    node[name] = value
  end
  return node
end

-- A store with one process of these nodes and flows.
local function store(nodes, flows, more)
  return driver.new { graphs.make("p", nodes, flows, more) }
end

local function noted(list, word)
  return { call = function(job)
    list[#list + 1] = word .. " " .. tostring(job.activity) .. " " .. tostring(job.event)
  end }
end

describe("the walk", function()
  it("goes to the end at once when nothing waits", function()
    local d = store({ a = calls(function(job)
      job.variables.x = job.variables.x + 1
    end) }, { "s -> a -> e" })
    local id = d:start("p", { x = 1 })
    assert.equal("completed", d:ended(id))
    assert.same({ x = 2 }, d:variables(id))
    assert.same({ s = 1, a = 1, e = 1 }, (d:history(id)))
    assert.same({}, d.jobs)
  end)

  it("waits in a job before and after an activity", function()
    local d = store({ a = { kind = "task", before = true, after = true } }, { "s -> a -> e" })
    local id = d:start("p")
    assert.equal("a:before", d:at(id))
    assert.equal("process/p/a", d.jobs[1].handler)
    d:run(d.jobs[1])
    assert.equal("a:after", d:at(id))
    assert.equal("process/p/a:after", d.jobs[1].handler)
    assert.same({ s = 1, a = 1 }, (d:history(id)))
    d:run(d.jobs[1])
    assert.equal("completed", d:ended(id))
  end)

  it("says what may wait for an instance that ends: jobs only, if it stood in one place", function()
    local function left_of(flows, nodes)
      local d, left = store(nodes, flows), nil
      local write = d.write
      function d:write(unit, cause)
        left = unit.left
        return write(self, unit, cause)
      end
      d:start("p")
      while d.jobs[1] do
        d:run(d.jobs[1])
      end
      return left[#left].what
    end
    local a, b = { kind = "task", before = true }, { kind = "task", before = true }
    assert.equal("job", left_of({ "s -> a -> e" }, { a = a }))
    local stop = { kind = "end", event = { kind = "terminate" } }
    assert.equal("all", left_of({ "s -> a -> e", "s -> b -> e2" }, { a = a, b = b, e = stop }))
  end)

  it("makes a job for each flow behind an activity", function()
    local d = store({ a = { kind = "task", after = true } }, { "s -> a -> e1", "a -> e2" })
    local id = d:start("p")
    assert.equal("a:after a:after", d:at(id))
    d:drain()
    assert.same({ s = 1, a = 1, e1 = 1, e2 = 1 }, (d:history(id)))
  end)

  it("stands where it stood when a handler raises", function()
    local fails = true
    local d = store({ ask = "user", a = calls(function(job)
      job.variables.x = 2
    end), b = calls(function()
      if fails then
        error("no seats", 0)
      end
    end) }, { "s -> ask -> a -> b -> e" })
    local id = d:start("p", { x = 1 })
    local frame = d.instances[id].frame
    local ok, message = pcall(d.complete, d, "ask", { y = 1 })
    assert.is_false(ok)
    assert.equal("no seats", message)
    assert.equal(frame, d.instances[id].frame)
    assert.equal("ask", d:at(id))
    fails = false
    d:complete("ask", { y = 1 })
    assert.same({ x = 2, y = 1 }, d:variables(id))
  end)

  -- What a job of this definition does when it comes to the token.
  local function walk_job(d, token, handler)
    return d:walk { kind = "job", instance = 1, token = token, handler = handler }
  end

  it("skips a job whose token has gone, and says so in the trail alone", function()
    local d = store({ a = { kind = "task", before = true } }, { "s -> a -> e" })
    d:start("p")
    local unit = walk_job(d, 77, "process/p/a")
    assert.is_true(unit.skipped)
    assert.same({}, unit.instances)
    assert.same({ { instance = 1, events = ('[["n",77,"a",%d]]'):format(d.time) } }, unit.trail)
  end)

  it("skips a job whose instance has gone", function()
    local d = store({ a = { kind = "task", before = true } }, { "s -> a -> e" })
    local unit = walk_job(d, 2, "process/p/a")
    assert.is_true(unit.skipped)
    assert.same({}, unit.trail)
  end)

  it("does what a job is for, whatever its token waits for", function()
    local d = store({ a = calls(function() error "never" end, { before = true, after = true }),
      b = { kind = "task" } }, { "s -> a -> b -> e" })
    d:start("p")
    for _, handler in ipairs { "process/p/a:after", "process/p/a:timer", "process/p/b",
      "process/p/a#multiInstanceBody", "process/p/a:event", "handler" } do
      assert.is_true(walk_job(d, 2, handler).skipped, handler)
    end
  end)

  it("takes the first flow of an exclusive gateway that is true, else the default", function()
    local d = store({ x = "exclusive" }, { "s -> x",
      { "x -> e1", when = "${n > 10}" }, { "x -> e2", when = "${n > 5}" },
      { "x -> e3", default = true } })
    for n, e in pairs { [20] = "e1", [7] = "e2", [1] = "e3" } do
      assert.equal(1, d:history(d:start("p", { n = n }))[e])
    end
  end)

  it("names an exclusive gateway without a flow that is true, and its conditions", function()
    local d = store({ x = "exclusive" }, { "s -> x",
      { "x -> e1", when = "${n > 10}" }, { "x -> e2", when = "${n > 5}" } })
    local ok, message = pcall(d.start, d, "p", { n = 1 })
    assert.is_false(ok)
    assert.equal("exclusive x of the process p: no flow can be taken: "
      .. "${n > 10} is false, ${n > 5} is false", message)
  end)

  it("takes all flows of an activity that are true", function()
    local d = store({}, { "s -> a", { "a -> e1", when = "${n > 1}" }, "a -> e2",
      { "a -> e3", when = "${n > 5}" }, { "a -> e4", default = true } })
    assert.same({ s = 1, a = 1, e1 = 1, e2 = 1 }, (d:history(d:start("p", { n = 2 }))))
  end)

  it("ends a token whose activity has no flow that is true", function()
    local d = store({}, { "s -> a", { "a -> e1", when = "${false}" } })
    assert.equal("completed", d:ended(d:start("p")))
  end)

  it("joins as many tokens as a parallel gateway has flows into it", function()
    local d = store({ f = "parallel", j = "parallel", a = "user", b = "user" },
      { "s -> f -> a -> j -> e", "f -> b -> j" })
    local id = d:start("p")
    assert.equal("a b", d:at(id))
    d:complete("b")
    assert.equal("a j", d:at(id))
    d:complete("a")
    assert.equal("completed", d:ended(id))
    assert.same({ s = 1, f = 1, a = 1, b = 1, j = 2, e = 1 }, (d:history(id)))
  end)

  it("joins at an inclusive gateway once nothing else can come", function()
    local d = store({ f = "inclusive", j = "inclusive", a = "user", b = "user", c = "user" },
      { "s -> f -> a -> j -> e", { "f -> b", when = "${n > 1}" }, "b -> j",
        { "f -> c", when = "${n > 2}" }, "c -> e" })
    local id = d:start("p", { n = 2 })
    assert.equal("a b", d:at(id))
    d:complete("a")
    assert.equal("b j", d:at(id))
    d:complete("b")
    assert.equal("completed", d:ended(id))
    id = d:start("p", { n = 3 })
    d:complete("a")
    d:complete("b")
    assert.equal("c", d:at(id))
  end)

  it("waits at an inclusive gateway for turns that wait in their first job", function()
    local d = store({ f = "parallel", j = "inclusive", b = "user",
      a = { kind = "service", before = true, multi = { parallel = true, count = 3 },
        behaviour = { call = function() end } } }, { "s -> f -> a -> j -> e", "f -> b -> j" })
    local id = d:start("p")
    d:complete("b")
    assert.equal("a:before a:before a:before j", d:at(id))
    d:drain()
    assert.equal("completed", d:ended(id))
    assert.equal(1, d:history(id).e)
  end)

  it("goes on at an inclusive gateway when the last that could come goes elsewhere", function()
    local d = store({ f = "parallel", j = "inclusive", a = "user", x = "exclusive" },
      { "s -> f -> j -> e", "f -> a -> x", { "x -> j", when = "${to_join}" },
        { "x -> e2", default = true } })
    local id = d:start("p", { to_join = false })
    assert.equal("a j", d:at(id))
    d:complete("a")
    assert.equal("completed", d:ended(id))
    assert.equal(1, d:history(id).e)
  end)

  it("calls listeners in their order", function()
    local list = {}
    local function of(...)
      local names = { ... }
      local listeners = {}
      for _, name in ipairs(names) do
        listeners[name] = { noted(list, name) }
      end
      return listeners
    end
    local d = store({ a = calls(function()
      list[#list + 1] = "run a"
    end, { listeners = of("start", "end") }) }, { { "s -> a", listeners = { noted(list, "take") } },
      "a -> e" }, { listeners = of("start", "end") })
    d:start("p")
    assert.same({ "start s start", "take s take", "start a start", "run a", "end a end",
      "end e end" }, list)
  end)

  it("maps inputs into the activity and outputs out of it", function()
    local seen
    local d = store({ a = calls(function(job)
      seen = job.payload
      job:set_local("inner", 3)
      return { done = true }
    end, { input = { { name = "sku", value = "${order.sku}" }, { name = "n", value = 4 } },
      output = { { name = "total", value = "${n + inner}" } }, result = "answer" }) },
      { "s -> a -> e" })
    local id = d:start("p", { order = { sku = "x1" } })
    assert.same({ sku = "x1", n = 4 }, seen)
    assert.same({ order = { sku = "x1" }, total = 7, answer = { done = true } }, d:variables(id))
  end)

  it("gives handlers the fields of the activity", function()
    local seen
    local d = store({ a = calls(function(job)
      seen = { job.fields.text, job.activity, job.process, job.key, job.instance, job.event }
    end, { fields = { text = "hello ${name}" } }) }, { "s -> a -> e" })
    local id = d:start("p", { name = "you" }, { key = "k7" })
    assert.same({ "hello you", "a", "p", "k7", tostring(id) }, seen)
  end)

  it("refuses a result that is no data, where it becomes a variable", function()
    local a = calls(function()
      return print
    end)
    assert.equal("completed", (function(d)
      return d:ended(d:start("p"))
    end)(store({ a = a }, { "s -> a -> e" })))
    a.result = "x"
    local d = store({ a = a }, { "s -> a -> e" })
    local _, message = pcall(d.start, d, "p")
    assert.equal("p.lua: a: the variable x: cannot keep a function "
      .. "(expected nil, boolean, number, text or table)", message)
  end)

  it("gives listeners their own fields", function()
    local seen
    local d = store({ a = { kind = "task", listeners = { start = { { call = function(job)
      seen = job.fields.text
    end, fields = { text = "${name}" } } } } } }, { "s -> a -> e" })
    d:start("p", { name = "you" })
    assert.equal("you", seen)
  end)

  it("asks decisions, and maps their answer", function()
    local answers = { singleEntry = "gold", singleResult = { level = "gold" },
      collectEntries = { "gold" }, resultList = { { level = "gold" } } }
    for map, answer in pairs(answers) do
      local d = store({ a = { kind = "rule", result = "x", behaviour = {
        names = { "decisions/level" }, decision = "level", map = map } } }, { "s -> a -> e" })
      d.handlers["decisions/level"] = function(job)
        return job.variables.sum > 100 and job.activity == "a" and { level = "gold" } or nil
      end
      assert.same({ x = answer, sum = 120 }, d:variables(d:start("p", { sum = 120 })))
    end
  end)

  it("runs scripts in Lua and in expressions", function()
    local d = store({ a = { kind = "script", result = "y",
      behaviour = { script = "variables.x = 2 return 3", language = "lua" } },
      b = { kind = "script", result = "z",
        behaviour = { script = "${x + y}", language = "juel" } } }, { "s -> a -> b -> e" })
    assert.same({ x = 2, y = 3, z = 5 }, d:variables(d:start("p")))
  end)

  it("evaluates what an expression calls", function()
    local d = store({ a = { kind = "service", result = "r",
      behaviour = { expression = "${shop.book(3)}" } },
      b = { kind = "service", behaviour = { expression = "${execution.setVariable('y', 5)}" } } },
      { "s -> a -> b -> e" })
    d.beans.shop = { book = function(_, n)
      return n * 2
    end }
    assert.same({ r = 6, y = 5 }, d:variables(d:start("p")))
  end)

  it("calls a function for a script that is none of ours, also in a mapping", function()
    local d = store({ a = { kind = "script", result = "x", input = { { name = "y",
      value = { resource = "sum.groovy", names = { "activities/p/a/y" } } } },
      behaviour = { script = "1 + 1", language = "groovy", names = { "activities/p/a" } } } },
      { "s -> a -> e" })
    d.handlers["activities/p/a"] = function(job)
      return job.payload.y + 1
    end
    d.handlers["activities/p/a/y"] = function()
      return 4
    end
    assert.equal(5, d:variables(d:start("p")).x)
  end)

  it("names the handler that is missing", function()
    local d = store({ a = { kind = "service", behaviour = { names = { "a/b", "b" } } } },
      { "s -> a -> e" })
    local _, message = pcall(d.start, d, "p")
    assert.equal("missing handler: a of the process p has no handler (looked for a/b, b)", message)
  end)

  it("names a listener whose handler is missing by its place", function()
    local d = store({ a = { kind = "service", behaviour = { expression = "${1}" },
      listeners = { ["end"] = { { names = { "b" } } } } } }, { "s -> a -> e" })
    local _, message = pcall(d.start, d, "p")
    assert.equal("missing handler: a/end 1 of the process p has no handler (looked for b)", message)
  end)

  it("stops a cycle without a wait state, and names it", function()
    local d = store({}, { "s -> a -> b -> c -> a" })
    local ok, message = pcall(d.start, d, "p")
    assert.is_false(ok)
    assert.equal("process p: more than 10000 activities without a wait state: a -> b -> c -> a",
      (message:gsub("walk: %w -> ", "")))
  end)

  it("says in which file and line a cycle without a wait state stands", function()
    local d = store({ b = { kind = "task", line = 7 } }, { "s -> b -> b" },
      { path = "processes/p.bpmn" })
    local _, message = pcall(d.start, d, "p")
    assert.equal("processes/p.bpmn:7: process p: more than 10000 activities without a wait state: "
      .. "b -> b", message)
  end)

  it("refuses a frame that is too large, and names the largest variables", function()
    local d = store({ a = "user" }, { "s -> a -> e" })
    d.settings.frame_max = 200
    local _, message = pcall(d.start, d, "p", { small = 1, big = ("x"):rep(150) })
    assert.equal("the frame of instance 1 has 235 bytes (expected at most 200); the largest "
      .. "variables: big (152 bytes), small (1 bytes)", message)
  end)

  it("asks for the priority of a job", function()
    local d = store({ a = { kind = "task", before = true, priority = "${n * 2}" },
      b = { kind = "task", before = true }, f = "parallel" },
      { "s -> f -> a -> e", "f -> b -> e" }, { priority = 7 })
    d:start("p", { n = 4 })
    assert.equal(8, d.jobs[1].priority)
    assert.equal(7, d.jobs[2].priority)
  end)

  it("takes 0 for a priority with an unknown variable, and warns", function()
    local d = store({ a = { kind = "task", before = true, priority = "${n}" } }, { "s -> a -> e" })
    d:start("p")
    assert.equal(0, d.jobs[1].priority)
    local warned = d.trail[1].events[#d.trail[1].events]
    assert.same({ "w", 2, "the priority has no variable n: 0 is taken" }, warned)
  end)

  it("refuses a priority that is no whole number", function()
    local d = store({ a = { kind = "task", before = true, priority = "${n}" } }, { "s -> a -> e" })
    local _, message = pcall(d.start, d, "p", { n = "high" })
    assert.equal('a: the priority ${n} is the string "high" (expected a whole number)', message)
  end)

  it("keeps a trail by level", function()
    local d = store({}, { "s -> a -> e" })
    d.settings.trail = "activity"
    d:start("p", { x = 1 })
    assert.equal(6, #d.trail[1].events)
    d.settings.trail = "none"
    d:start("p", { x = 1 })
    assert.equal(1, #d.trail)
  end)

  it("discards the unit of a handler that puts its job off", function()
    local d = store({ a = calls(function(job)
      job.variables.x = 1
      job:snooze(5)
    end, { before = true }) }, { "s -> a -> e" })
    d:start("p")
    local span
    local cause = { kind = "job", instance = 1, token = 2, handler = "process/p/a" }
    local unit = d:walk(cause, { snooze = function(_, s)
      span = s
    end })
    assert.same({ snoozed = true }, unit)
    assert.equal(5, span)
  end)

  it("starts instances and enqueues jobs with the unit", function()
    local d = store({ a = calls(function(job)
      job.variables.other = job:start("q", { key = "k", variables = { n = 1 } })
      job:enqueue("mail", { to = "you" })
      job:correlate("paid", { key = "k" })
    end) }, { "s -> a -> e" })
    d:deploy(graphs.make("q", { u = "user" }, { "s -> u -> e" }))
    local unit = d:walk { kind = "start", version = 1 }
    assert.equal(2, #unit.instances)
    assert.same({ { name = "paid", key = "k", variables = {} } }, unit.messages)
    assert.equal("mail", d.enqueued[1].handler)
    d:write(unit)
    assert.equal("u", d:at(tonumber(d:variables(unit.result).other)))
  end)

  it("takes the default only where no other flow is taken", function()
    local d = driver.new { graphs.make("p", { a = "task", u = "user", v = "user" },
      { "s -> a", { "a -> u", when = "${x}" }, { "a -> v", default = true }, "u -> e1",
        "v -> e2" }) }
    assert.equal("u", d:at(d:start("p", { x = true })))
    assert.equal("v", d:at(d:start("p", { x = false })))
  end)

  it("tells of an assignment only where the task is somebody's", function()
    local told = 0
    local function user(assignee)
      return { kind = "user", assignee = assignee, listeners = { assignment = { { call = function()
        told = told + 1
      end } } } }
    end
    driver.new({ graphs.make("p", { u = user() }, { "s -> u -> e" }) }):start("p")
    assert.equal(0, told)
    driver.new({ graphs.make("p", { u = user("boss") }, { "s -> u -> e" }) }):start("p")
    assert.equal(1, told)
  end)
end)
