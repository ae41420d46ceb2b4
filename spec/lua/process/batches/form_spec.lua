-- What the jobs of a batch write from a form is what the walk of each instance writes.
require "spec.support.scripts"
local batch_form = require "moonshift.process.batches.form"
local commands = require "moonshift.process.commands"
local process = require "spec.support.process"
local rules = require "moonshift.rules"
local testing = require "moonshift.testing"

local PLACES = { "task", "job", "behind", "timer", "message", "plain", "event", "beside", "outside",
  "topic", "other" }

-- A process in which an instance waits where its variable `at` says.
local MODEL = [[
local process = require "moonshift.process"
local step, task, choose, parallel, _, receive = process.words()
return { %s
  choose { name = "way",
    { when = "${at == 'task'}", task "t1" { assignee = "${who}" } },
    { when = "${at == 'job'}", step "j1" { run = "note", async = true, priority = 7 } },
    { when = "${at == 'behind'}", step "k1" { run = "note", async_after = true } },
    { when = "${at == 'timer'}", process.wait "w1" { after = "PT1H" } },
    { when = "${at == 'message'}", receive "m1" { message = "paid", key = "${who}" } },
    { when = "${at == 'plain'}", task "p1" { name = "Plain" } },
    { when = "${at == 'event'}", task "e1" { on_message = { "stop", task "e2" {} } } },
    { when = "${at == 'beside'}", parallel { { task "b1" {} }, { task "b2" {} } } },
    { when = "${at == 'outside'}", step "x1" { topic = "charge" } },
    { when = "${at == 'topic'}", step "y1" { topic = "weigh" } },
    { otherwise = true, task "o1" {} } }, %s }]]

local PAIRS = { t1 = "p1", p1 = "t1", j1 = "k1", m1 = "m1", w1 = "w1", e1 = "o1", b1 = "b1",
  o1 = "e1", x1 = "x1" }

local function pairs_of()
  local list = {}
  for from, to in pairs(PAIRS) do
    list[#list + 1] = { from = from, to = to }
  end
  table.sort(list, function(a, b)
    return a.from < b.from
  end)
  return list
end

local BATCHES = {
  ["a migration"] = { made = 12, type = "migrate",
    config = { plan = { process = "order", from = 1, to = 2, activities = pairs_of() } } },
  ["a migration with variables"] = { made = 0, type = "migrate",
    config = { plan = { process = "order", to = 2, equal = true, variables = { moved = 1 } } } },
  ["a modification"] = { made = 18, type = "modify",
    config = { operations = { { start_before = "last" }, { cancel = "t1" }, { cancel = "p1" },
      { cancel = "o1" }, { cancel = "m1" } } } },
  ["a modification by jobs"] = { made = 18, type = "modify",
    config = { operations = { { start_before = "j1" }, { start_before = "p1" },
      { cancel = "t1" } } } },
  ["a modification by external tasks"] = { made = 18, type = "modify",
    config = { operations = { { start_before = "x1" }, { start_before = "y1" },
      { cancel = "x1" } } } },
  ["one that calls"] = { made = 0, type = "modify",
    config = { operations = { { start_before = "k1" }, { cancel = "t1" } } } },
  ["one that ends"] = { made = 16, type = "modify",
    config = { operations = { { cancel = "t1" } } } },
}

-- All but what is empty.
local function said(unit)
  local made = {}
  for name, value in pairs(unit) do
    if value and (type(value) ~= "table" or next(value) ~= nil) then
      made[name] = value
    end
  end
  return rules.decode(rules.encode(made))
end

-- Two instances at each place, and one that has a key, a tenant and no other variables.
local function start_all(engine)
  for _, at in ipairs(PLACES) do
    for n = 1, 2 do
      assert(engine:start("order", { key = n == 1 and at or nil,
        tenant = n == 2 and "north" or nil,
        variables = { at = at, who = "eve", n = n, more = n == 2 and { 1, "]]" } or nil } }))
    end
  end
end

local function write_model(folder, head, tail)
  local file <close> = assert(io.open(folder .. "/processes/order.lua", "w"))
  assert(file:write(MODEL:format(head, tail)))
end

-- What the units of the batch's jobs say, and the state of all instances behind it.
local function recorded(folder, spec)
  local run, units = commands.run, {}
  commands.run = function(context, cause)
    local unit = run(context, cause)
    units[#units + 1] = cause.kind == "batch" and said(unit) or nil
    return unit
  end
  write_model(folder, 'search = { "n" },', 'task "last" {}')
  local engine <close> = testing.engine { scripts = folder, failed_job_wait = "PT0S" }
  local fine, message = pcall(function()
    start_all(engine)
    write_model(folder, 'name = "Newer", search = { "n" },', 'task "next" {}, task "last" {}')
    assert(engine:reload())
    assert(engine:batch { type = spec.type, config = spec.config,
      ids = engine:instances { process = "order" } })
    engine:drain()
  end)
  commands.run = run
  assert(fine, message)
  local state = { trail = engine:trail({}):list(), tasks = engine:tasks({}):list(),
    instances = engine:instances({}):list(), past = engine:past_instances({}):list() }
  return units, rules.decode(rules.encode(state))
end

describe("units of batches from forms", function()
  local folder, run, counts

  before_each(function()
    folder = process.folder { ["handlers/note.lua"] = "return function() end\n",
      ["handlers/topic/weigh.lua"] = "return function() end\n",
      ["processes/order.lua"] = MODEL:format("", "task \"last\" {}") }
    run, counts = batch_form.run, { made = 0, walked = 0 }
    batch_form.run = function(...)
      local unit = run(...)
      local what = unit and "made" or "walked"
      counts[what] = counts[what] + 1
      return unit
    end
  end)

  after_each(function()
    batch_form.run = run
    process.remove(folder)
  end)

  for what, spec in pairs(BATCHES) do
    it("are those of the walk: " .. what, function()
      local units, state = recorded(folder, spec)
      assert.same({ made = spec.made, walked = 2 * #PLACES - spec.made }, counts)
      batch_form.run = function() end
      local walked, wanted = recorded(folder, spec)
      assert.same(walked, units)
      assert.same(wanted, state)
    end)
  end
end)
