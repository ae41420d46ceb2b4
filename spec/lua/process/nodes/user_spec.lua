local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"

describe("a user task", function()
  local d, id, heard

  before_each(function()
    heard = {}
  end)

  -- Listeners of an event: what they hear is noted, and `act` is called.
  local function hears(act)
    return { { call = function(job)
      heard[#heard + 1] = job.event .. " " .. (job.task.assignee or "-")
      if act then
        act(job)
      end
    end } }
  end

  local function start(node, variables)
    node.kind = "user"
    d = driver.new { graphs.make("p", { a = node, u = "user", b = { kind = "boundary",
      attached = "a", event = { kind = "error", code = "no" } } },
      { "s -> a -> e", "b -> u -> e2" }) }
    id = d:start("p", variables)
  end

  local function assign(name)
    d:command { kind = "assign", instance = id, token = d.tasks[1].token, task = d.tasks[1].id,
      assignee = name }
  end

  it("has no field that is empty, and refuses what is of another kind", function()
    start({ assignee = "${x}", name = "${x}", due = "${x}", task_priority = "${x}" }, { x = "" })
    local row = d.tasks[1]
    assert.same({ priority = 0 }, { priority = row.priority, assignee = row.assignee,
      name = row.name, due = row.due })
    assert.has_error(function()
      start({ task_priority = "${x}" }, { x = true })
    end, "a: the priority of the task is true (expected a whole number)")
  end)

  it("keeps the due date that a listener lets be", function()
    start { due = "PT1H", listeners = { create = hears() } }
    assert.same({ d.time + 3600000, "create -" }, { d.tasks[1].due, heard[1] })
  end)

  it("changes in what a listener has changed, and in nothing else", function()
    for field, value in pairs { name = "n", assignee = "z", due = "P1D", priority = 7 } do
      start { assignee = "ann", name = "x", due = "PT1H", listeners = { update = hears(function(job)
        job.task[field] = value
      end) } }
      local before = {}
      for key, one in pairs(d.tasks[1]) do
        before[key] = one
      end
      assign "ann"
      before[field] = field == "due" and d.time + 24 * 3600000 or value
      for _, key in ipairs { "name", "assignee", "due", "priority" } do
        assert.equal(before[key], d.tasks[1][key], field .. " " .. key)
      end
    end
  end)

  it("tells of an assignment behind the update, and only if it is one", function()
    start { assignee = "ann", listeners = { update = hears(), assignment = hears() } }
    heard = {}
    assign "ann"
    assert.same({ "update ann" }, heard)
    assign "bob"
    assert.same({ "update ann", "update bob", "assignment bob" }, heard)
  end)

  it("is changed no more by a timer's listener that throws", function()
    start { timeouts = { { id = "l", timer = { kind = "duration", text = "PT1H" },
      behaviour = hears(function(job)
        job.task.assignee = "bob"
        job:throw "no"
      end)[1] } } }
    d:advance(3600000)
    assert.same({ "u", 1 }, { d:at(id), #d.tasks })
  end)

  it("goes without a word where its listeners are skipped", function()
    for _, skips in ipairs { false, true } do
      start { listeners = { delete = hears() } }
      d:command { kind = "cancel", instance = id, skip_listeners = skips or nil }
      assert.equal(1, #heard)
    end
  end)
end)
