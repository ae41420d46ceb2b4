local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"

local function store(nodes, flows)
  return driver.new { graphs.make("p", nodes, flows) }
end

local function refusal(d, cause)
  local ok, message = pcall(d.walk, d, cause)
  assert.is_false(ok)
  return message
end

describe("a user task", function()
  it("is a row for people", function()
    local d = store({ u = { kind = "user", name = "Approve", assignee = "${boss}", due = "PT1H",
      task_priority = "7", form = "f1", candidates = { users = "ann, bob", groups = "${groups}" } }
      }, { "s -> u -> e" })
    d:start("p", { boss = "eve", groups = { "sales" } })
    local row = d.tasks[1]
    row.id, row.made = nil, nil
    assert.same({ instance = 1, token = 2, activity = "u", name = "Approve", assignee = "eve",
      due = d.time + 3600000, priority = 7, form = "f1",
      candidates = { users = { "ann", "bob" }, groups = { "sales" } } }, row)
  end)

  it("calls its listeners", function()
    local list = {}
    local function note(job)
      list[#list + 1] = job.event
      if job.event == "create" then
        job.task.assignee = "zoe"
      end
    end
    local listeners = {}
    for _, event in ipairs { "start", "create", "assignment", "complete", "delete", "end" } do
      listeners[event] = { { call = note } }
    end
    local d = store({ u = { kind = "user", listeners = listeners } }, { "s -> u -> e" })
    d:start("p")
    assert.equal("zoe", d.tasks[1].assignee)
    d:complete("u")
    assert.same({ "start", "create", "assignment", "complete", "end" }, list)
    list = {}
    d:command { kind = "cancel", instance = d:start("p") }
    assert.same({ "start", "create", "assignment", "delete", "end" }, list)
  end)

  it("is completed under its number, which the store compares", function()
    local d = store({ u = "user", v = "user" }, { "s -> u -> v -> e" })
    d:start("p")
    local unit = d:walk { kind = "complete", instance = 1, token = 2, task = 7, activity = "u" }
    assert.same({ { 1, 2, 7 } }, { { unit.left[1].instance, unit.left[1].token,
      unit.left[1].task } })
  end)

  it("is completed once", function()
    local d = store({ u = "user", v = "user" }, { "s -> u -> v -> e" })
    d:start("p")
    local token = d.tasks[1].token
    d:complete("u")
    d:complete("v")
    assert.equal("there is no instance 1", refusal(d,
      { kind = "complete", instance = 1, token = token }))
  end)
end)

describe("a command", function()
  it("triggers a receive task without a message", function()
    local d = store({ r = "receive" }, { "s -> r -> e" })
    local id = d:start("p")
    local token = d:token(id, "r")
    d:command { kind = "trigger", instance = id, token = token, variables = { x = 1 } }
    assert.equal("completed", d:ended(id))
    assert.same({ x = 1 }, d:variables(id))
  end)

  it("is refused where nothing waits for it", function()
    local d = store({ r = "receive" }, { "s -> r -> e" })
    local id = d:start("p")
    assert.equal("instance 1: the task 2 waits no longer", refusal(d,
      { kind = "complete", instance = id, token = 2 }))
    assert.equal("instance 1: the subscription 9 waits no longer", refusal(d,
      { kind = "message", instance = id, token = 9 }))
  end)

  it("is refused where its token has gone on to another activity", function()
    local d = store({ u = "user", v = "user" }, { "s -> u -> v -> e" })
    local id = d:start("p")
    local cause = { kind = "complete", instance = id, token = d:token(id, "u"), activity = "u" }
    d:command(cause)
    assert.equal(("instance 1: the task %d waits no longer"):format(cause.token), refusal(d, cause))
  end)

  it("cancels an instance with all that waits for it", function()
    local d = store({ f = "parallel", u = "user", t = { kind = "catch", event = { kind = "timer",
      timer = { kind = "duration", text = "PT1M" } } }, m = { kind = "receive",
        event = { kind = "message", name = "x" } } },
      { "s -> f -> u -> e", "f -> t -> e", "f -> m -> e" })
    local id = d:start("p")
    d:command { kind = "cancel", instance = id, reason = "wrong" }
    assert.equal("cancelled", d:ended(id))
    assert.equal("wrong", d.past[1].reason)
    assert.same({ {}, {}, {} }, { d.jobs, d.tasks, d.subscriptions })
    assert.same({ u = 1, t = 1, m = 1 }, (select(2, d:history(id))))
  end)

  it("sets variables of an instance or of a place", function()
    local d = store({ u = { kind = "user", input = { { name = "x", value = 1 } } } },
      { "s -> u -> e" })
    local id = d:start("p")
    d:command { kind = "set", instance = id, variables = { y = 2 } }
    d:command { kind = "set", instance = id, place = "u", variables = { x = 3 } }
    assert.same({ y = 2 }, d:variables(id))
    assert.same({ x = 3 }, d:frame(id).tokens[1][6])
  end)

  it("starts at the start event that is named", function()
    local d = store({ s2 = { kind = "start", event = { kind = "message", name = "go" } } },
      { "s -> a -> e", "s2 -> b -> e" })
    local id = d:start("p", nil, { at = "s2" })
    assert.same({ s2 = 1, b = 1, e = 1 }, (d:history(id)))
  end)

  it("sets nothing at a place that is not there, or not the only one", function()
    local d = store({ f = "parallel", u = "user", v = "user" },
      { "s -> f -> u -> e", "f -> v -> e", "f -> v2" , "v2 -> v" })
    local id = d:start("p")
    local function told(place)
      return refusal(d, { kind = "set", instance = id, place = place, variables = { x = 1 } })
    end
    assert.equal(("instance %d: 2 of v are there (expected one that is, such as v#1)"):format(id),
      told "v")
    assert.equal(("instance %d: 2 of v are there (expected one that is, such as v#1)"):format(id),
      told "v#3")
    assert.equal(("instance %d: 0 of e are there (expected one that is, such as e#1)"):format(id),
      told "e")
    assert.equal(('instance %d: the process p has no activity w'):format(id),
      told "w")
    assert.same({}, d:variables(id))
  end)

  it("gives a place beside others variables of its own", function()
    local d = store({ f = "parallel", u = "user", v = "user" },
      { "s -> f -> u -> e", "f -> v -> e", "f -> v2" , "v2 -> v" })
    local id = d:start("p")
    d:command { kind = "set", instance = id, place = "v#2", variables = { x = 1 } }
    d:command { kind = "set", instance = id, place = "u", unset = { "x" } }
    assert.same({}, d:variables(id))
    local own = {}
    for i, token in ipairs(d:frame(id).tokens) do
      own[i] = token[6] and token[6].x or 0
    end
    table.sort(own)
    assert.same({ 0, 0, 1 }, own)
    d:command { kind = "set", instance = id, place = "v#2", unset = { "x" } }
    d:complete("u")
    assert.is_nil(d:frame(id).tokens[1][6])
  end)

  it("takes variables away, each where it is seen from", function()
    local d = store({ sub = "subprocess", s2 = { kind = "start", scope = "sub" },
      u = { kind = "user", scope = "sub" }, e2 = { kind = "end", scope = "sub" } },
      { "s -> sub -> e", "s2 -> u -> e2" })
    local id = d:start("p", { a = 1, b = 2, c = 3 })
    d:command { kind = "set", instance = id, place = "sub", variables = { a = 9 } }
    d:command { kind = "set", instance = id, place = "sub", unset = { "a", "b", "zz" } }
    assert.same({ a = 1, c = 3 }, d:variables(id))
    assert.same({ a = 1, c = 3 }, d:command({ kind = "set", instance = id,
      variables = { c = 4 }, unset = { "a" } }).result)
    assert.equal("the name of a variable is 1 (expected a text of 1 to 255 bytes)",
      refusal(d, { kind = "set", instance = id, unset = { 1 } }))
    assert.same({ c = 4 }, d:variables(id))
  end)
end)
