-- What an instance says that it waits for, in every kind of waiting.
local engines = require "spec.support.engines"
local models = require "spec.support.models"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local files = {
  ["processes/meet.lua"] = [[
    local process = require "moonshift.process"
    return {
      process.parallel "all" {
        { process.pass "one" {} },
        { process.pass "two" {} },
        { process.sub "pack" { process.task "count" {}, process.pass "close" {} } },
      },
    }]],
  ["processes/some.lua"] = [[
    local process = require "moonshift.process"
    return {
      process.inclusive "some" {
        { when = "${true}", process.pass "one" {} },
        { when = "${true}", process.task "look" {} },
        { otherwise = true },
      },
    }]],
  ["processes/work.lua"] = [[
    local process = require "moonshift.process"
    return { process.step "call" { run = "fail", async = true, retry = "R3/PT5M" } }]],
  ["processes/late.lua"] = [[
    return { require("moonshift.process").task "ask" { within = { "PT1H", stop = "late" } } }]],
  ["processes/outer.lua"] = [[
    return { require("moonshift.process").call "inner" { process = "work" } }]],
  ["processes/outer_two.lua"] = [[
    return { require("moonshift.process").call "inner" { process = "two" } }]],
  ["processes/two.lua"] = [[
    local process = require "moonshift.process"
    local fails = { run = "fail", async = true, retry = "R1/PT5M" }
    return { process.parallel { { process.step "a"(fails) }, { process.step "b"(fails) } } }]],
  ["processes/large.lua"] = [[
    return { require("moonshift.process").task "look" { each = { times = 65,
      parallel = true } } }]],
  ["handlers/fail.lua"] = 'return function() error("no answer", 0) end',
}

-- What waits in each way, and what is said of it: "N" is the id of a user task or of a job.
local SENTENCES = {
  asks = { [[p.task "look" { candidates = { users = "ann, bob", groups = "sales" },
      due = "PT2H" }]],
    '"look" waits for its user task N (nobody has it; users ann, bob; groups sales, due '
      .. "2026-01-01T02:00:00.000Z)" },
  taken = { 'p.task "look" { assignee = "ann", candidates = { users = "bob" } }',
    '"look" waits for its user task N (ann)' },
  message = { 'p.receive "parcel" { message = "came", key = "k-${1 + 1}" }',
    '"parcel" waits for message "came" with key "k-2"' },
  keyless = { 'p.receive "parcel" { message = "came" }', '"parcel" waits for message "came"' },
  signal = { 'p.wait "all" { signal = "go" }', '"all" waits for signal "go"' },
  trigger = { 'p.receive "go" {}', '"go" waits to be triggered' },
  condition = { 'p.wait "low" { when = "${stock < 5}" }',
    '"low" waits for its condition ${stock < 5} (stock is 9)' },
  own = { [[p.sub "in" { input = { stock = 7 }, on_when = { "${stock < 5}", stop = "x" },
      p.wait "low" { input = { stock = 8 }, when = "${stock < 6}" } }]],
    '"low" waits for its condition ${stock < 6} (stock is 8)' },
  watched = { 'p.task "look" { input = { stock = 7 }, on_when = { "${stock < 5}", stop = "x" } }',
    '"look" waits for its user task N (nobody has it), or for the condition of "look.when" '
      .. "${stock < 5} (stock is 7)" },
  beside = { [[p.task "look" { on_timeout = { { after = "PT1H", run = "fail", id = "nag" } },
      within = { "PT2H", stop = "late" }, on_message = { "stop", stop = "x" } }]],
    '"look" waits for its user task N (nobody has it), or until 2026-01-01T02:00:00.000Z, or for '
      .. 'message "stop", its timeout "nag" comes at 2026-01-01T01:00:00.000Z' },
  first = { [[p.first { { p.wait "y" { message = "yes", key = "k" } },
      { p.wait "z" { after = "PT3H" } } }]],
    '"y.first" waits for message "yes" with key "k", or until 2026-01-01T03:00:00.000Z' },
  many = { [[p.parallel "all" { { p.task "a" {} }, { p.task "b" {} }, { p.task "c" {} },
      { p.task "d" {} }, { p.task "f" {} }, { p.task "g" {} }, { p.pass "done" {} } }]],
    '"all.join" waits for its other branches: 1 of 7 tokens have arrived, the others are at "a", '
      .. '"b", "c", "d", "f" and 1 more' },
  five = { [[p.parallel "all" { { p.task "a" {} }, { p.task "b" {} }, { p.task "c" {} },
      { p.task "d" {} }, { p.task "f" {} }, { p.pass "done" {} } }]],
    '"all.join" waits for its other branches: 1 of 6 tokens have arrived, the others are at "a", '
      .. '"b", "c", "d", "f"' },
  sixth = { [[p.parallel "all" { { p.pass "a" {} }, { p.pass "b" {} }, { p.pass "c" {} },
      { p.pass "d" {} }, { p.pass "f" {} }, { p.task "look" {} } }]],
    '"all.join" waits for its other branches: 5 of 6 tokens have arrived, the sixth is at "look"' },
  last = { [[p.parallel "all" { { p.pass "a" {} }, { p.pass "b" {} }, { p.pass "c" {} },
      { p.pass "d" {} }, { p.pass "f" {} }, { p.pass "g" {} }, { p.task "look" {} } }]],
    '"all.join" waits for its other branches: 6 of 7 tokens have arrived, the last is at "look"' },
  either = { [[p.parallel "all" { { p.pass "a" {} },
      { p.parallel "in" { { p.task "b" {} }, { p.task "c" {} } } } }]],
    '"all.join" waits for its other branches: 1 of 2 tokens have arrived, the second is at "b" '
      .. 'or "c"' },
  beside_undo = { [[p.step "book" { run = "fine", undo = "fine" },
      p.parallel "all" { { p.pass "a" {} }, { p.task "look" {} } }]],
    '"all.join" waits for its other branches: 1 of 2 tokens have arrived, the second is at "look"',
    '"book" has ended and may be taken back' },
  beside_watch = { [[p.parallel "all" { { p.pass "a" {} },
      { p.task "look" { on_message = { "more", interrupting = false, p.task "b" {} } } } }]],
    '"all.join" waits for its other branches: 1 of 2 tokens have arrived, the second is at "look"',
    '"look" waits for its user task N (nobody has it), or for message "more"' },
  joins = { [[p.each "one" { times = 2, parallel = true,
      p.parallel "all" { { p.pass "a" {} }, { p.task "look" {} } } }]],
    '"all.join" waits for its other branches: 1 of 2 tokens have arrived, the second is at "look"',
    '"all.join" waits for its other branches: 1 of 2 tokens have arrived, the second is at '
      .. '"look"' },
  undone = { [[p.sub "trip" { p.step "book" { run = "fine" },
        p.handle "own" { undo = true, p.task "ask" {} } }, p.throw "back" { undo = true }]],
    '"back" takes back what has ended', '"trip" is taken back' },
  turns = { 'p.step "call" { run = "fine", async = true, each = { times = 2, parallel = true } }',
    '"call", 2 turns: job N is ready, but no executor runs' },
  jobs = { [[p.step "call" { run = "fine", async = true, each = { times = 70, parallel = true } }]],
    '"call": 20 more turns' },
}

describe("an instance that waits", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function why(id)
    return (assert(engine:why_instance(id)))
  end

  it("at a join says how many tokens have arrived, and where the last one is", function()
    local id = assert(engine:start "meet")
    local text, facts = engine:why_instance(id)
    assert.matches('"all.join" waits for its other branches: 2 of 3 tokens have arrived, the third '
      .. 'is at "count"', text, 1, true)
    assert.matches('"count" waits for its user task %d+ %(nobody has it%)', text)
    for _, row in ipairs(facts.why) do
      if row.state == "join" then
        assert.same({ 2, 3 }, { row.arrived, row.needed })
      end
    end
    assert(engine:complete(engine:tasks():one().id))
    assert.equal(("instance %d has ended: completed"):format(id), why(id))
  end)

  it("for a person says what holds up the timer beside it, once its date has come", function()
    local id = assert(engine:start "late")
    assert.matches("^\"ask\" waits for its user task %d+ %(nobody has it%), or until "
      .. "2026%-01%-01T01:00:00.000Z$", why(id))
    local job = engine:jobs({ instance = tostring(id) }):one().id
    engine:suspend(job)
    engine:advance "PT2H"
    assert.matches((", or until 2026-01-01T01:00:00.000Z, which has come: job %d is suspended by "
      .. "itself"):format(job):gsub("%p", "%%%0"), why(id))
  end)

  it("at an inclusive join names what may still come", function()
    local id = assert(engine:start "some")
    assert.matches('"some.join" waits for its other branches: 1 token has arrived, others are at '
      .. '"look"', why(id), 1, true)
  end)

  it("at joins that wait for each other says that nothing moves them", function()
    process.remove(folder)
    folder = process.folder { ["processes/round.bpmn"] = models.process [[
      <startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="again"/>
      <exclusiveGateway id="again"/><sequenceFlow id="f2" sourceRef="again" targetRef="fork"/>
      <parallelGateway id="fork"/><sequenceFlow id="f3" sourceRef="fork" targetRef="join"/>
      <sequenceFlow id="f4" sourceRef="fork" targetRef="some"/><inclusiveGateway id="some"/>
      <sequenceFlow id="f5" sourceRef="some" targetRef="one"/>
      <sequenceFlow id="f6" sourceRef="some" targetRef="two">
      <conditionExpression>${false}</conditionExpression></sequenceFlow>
      <userTask id="one"/><userTask id="two"/>
      <sequenceFlow id="f7" sourceRef="one" targetRef="met"/>
      <sequenceFlow id="f8" sourceRef="two" targetRef="met"/><inclusiveGateway id="met"/>
      <sequenceFlow id="f9" sourceRef="met" targetRef="join"/><parallelGateway id="join"/>
      <sequenceFlow id="f10" sourceRef="join" targetRef="again"/>]] }
    engine = testing.engine { scripts = folder }
    local id = assert(engine:start "p")
    assert.matches('"join" waits for its other branches: 1 of 2 tokens have arrived, the second is '
      .. 'at "one"', why(id), 1, true)
    assert(engine:complete(engine:tasks():one().id))
    local text, facts = engine:why_instance(id)
    assert.equal('"join" is stuck: 1 of 2 tokens have arrived, and what may come waits for others '
      .. 'itself, at "met"\n"met" is stuck: 1 token has arrived, and what may come waits for '
      .. 'others itself, at "join"', text)
    assert.same({ true, true }, { facts.why[1].stuck, facts.why[2].stuck })
  end)

  it("for a job says when it is due again, what failed, the retries left #memory", function()
    local id = assert(engine:start "work")
    engine:drain()
    local job = engine:jobs():one().id
    local text, facts = engine:why_instance(id)
    assert.equal(('"call": job %d is due again at 2026-01-01T00:05:00.000Z, in 5 min, after it '
      .. "failed: no answer (2 retries left)"):format(job), text)
    assert.same({ job, "retry" }, { facts.why[1].job, facts.why[1].reason })
    assert(engine:definition("process/work/call"):suspend { include_jobs = true })
    assert.equal(('"call": job %d is suspended by its definition "process/work/call"'):format(job),
      why(id))
    assert(engine:definition("process/work/call"):activate { include_jobs = true })
    assert(engine:suspend_instance(tostring(id)))
    assert.equal(('instance %d is suspended\n"call": job %d is suspended by its instance "%d"')
      :format(id, job, id), why(id))
  end)

  it("for a called instance says which, and what has become of it", function()
    local id = assert(engine:start "outer")
    local inner = engine:instances({ parent = id }):one().id
    local text = ('"inner" waits for the end of instance %d of process "work"'):format(inner)
    assert.equal(text, why(id))
    for _ = 1, 3 do
      engine:drain()
      engine:advance "PT5M"
    end
    assert.equal(text .. ", which has 1 open incident", why(id))
    assert.matches("has no retries left %(incident %d+, failedJob%): no answer$", why(inner))
    assert(engine:suspend_instance(tostring(inner)))
    assert.equal(text .. ", which is suspended", why(id))
    id = assert(engine:start "outer_two")
    engine:drain()
    assert.matches(", which has 2 open incidents$", why(id))
  end)

  it("says how many turns of a large body it has not named", function()
    local id = assert(engine:start "large")
    local tasks = engine:tasks():list()
    for i = 1, #tasks - 51 do
      assert(engine:complete(tasks[i].id))
    end
    local text, facts = engine:why_instance(id)
    assert.matches('\n"look": 1 more turn$', text)
    assert.equal(1, facts.why[#facts.why].count)
    assert(engine:complete(tasks[#tasks].id))
    assert.is_nil(why(id):find("more turn", 1, true))
  end)

  it("says of each what it waits for", function()
    local all = { ["handlers/fine.lua"] = "return function() end",
      ["handlers/fail.lua"] = files["handlers/fail.lua"] }
    for key, one in pairs(SENTENCES) do
      all[("processes/%s.lua"):format(key)] = 'local p = require "moonshift.process"\nreturn { '
        .. one[1] .. " }"
    end
    process.remove(folder)
    folder = process.folder(all)
    engine = testing.engine { scripts = folder }
    for key, one in pairs(SENTENCES) do
      local id = assert(engine:start(key, { variables = { stock = 9 } }))
      local text = why(id):gsub("task %d+ %(", "task N ("):gsub("job %d+", "job N")
      local from = 1
      for i = 2, #one do
        from = ("\n" .. text .. "\n"):find("\n" .. one[i] .. "\n", from, true)
        assert(from, ("%s says:\n%s\n%s"):format(key, text, one[i]))
        from = from + 1
      end
    end
  end)

  it("is not found, in one clear sentence", function()
    assert.same({ "no instance 99 of a process", "not_found" },
      { select(2, engine:why_instance(99)) })
  end)
end)
