-- Operators who modify instances, in the module and on the command line: what is answered, what the
-- log of operations says, and that the store is as it should be afterwards.
local engines = require "spec.support.engines"
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local rules = require("moonshift.core").rules
local testing = require "moonshift.testing"

local WORDS = 'local step, task, choose, parallel, each, receive, call = require '
  .. '"moonshift.process".words()\n'

local files = {
  ["processes/order.lua"] = WORDS .. [[return {
    task "approve" { assignee = "boss" },
    step "pack" { run = "pack", async = true },
    task "hand_over" {},
  }]],
  ["handlers/pack.lua"] = 'return function(job) error(job.variables.broken or "none", 0) end',
}

describe("a modification", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder, who = "ada" }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  it("of variables without names is refused, and the instance can be read after it", function()
    local id = assert(engine:start "order")
    local long = ("n"):rep(256)
    for given, said in pairs {
      [{ 7 }] = "operation 1: variables is a table (expected a table of names and values)",
      [{ [""] = 7 }] = 'variable is the string "" (expected a text of 1 to 255 bytes)',
      [{ [long] = 7 }] = "(expected a text of 1 to 255 bytes)",
    } do
      for _, is_local in ipairs { true, false } do
        local done, message = engine:modify_instance(id, { { start_before = "hand_over",
          variables = given, ["local"] = is_local } })
        assert.is_nil(done)
        assert.matches(said, message, 1, true)
      end
    end
    assert.has_error(function()
      engine:restart_instance(id, { { start_before = "hand_over" } }, { variables = { 7 } })
    end, "restart_instance: variables is a table (expected a table of names and values)")
    local moved, message = engine:migrate_instance(id, { to = 1, equal = true, variables = { 7 } })
    assert.is_nil(moved)
    assert.matches("variables is a table (expected a table of names and values)", message, 1, true)
    assert.equal(id, engine:modify_instance(id, { { start_before = "hand_over",
      variables = { n = 7 }, ["local"] = true } }))
  end)

  it("is told by the table of its operations in the log", function()
    local id = engine:start "order"
    local list = { { start_before = "hand_over", variables = { a = 1 } }, { cancel = "approve" } }
    assert.equal(id, engine:modify_instance(id, list, { reason = "in a hurry" }))
    local entry = engine:operations({ verb = "modify_instance" }):one()
    assert.same({ "ada", id, ('instance "%d"'):format(id) },
      { entry.who, entry.instance, entry.entity })
    assert.same(list, rules.decode(entry.new))
    assert.same({ "hand_over" }, engine:at(id))
  end)

  it("is refused of an instance that is suspended or has ended", function()
    local id = engine:start "order"
    assert(engine:suspend_instance(tostring(id)))
    local message, code = select(2, engine:modify_instance(id, { { cancel = "approve" } }))
    assert.same({ ("instance %d is suspended"):format(id), "conflict" }, { message, code })
    assert(engine:activate_instance(tostring(id)))
    assert(engine:modify_instance(id, { { cancel = "approve" } }))
    assert.equal("terminated", engine:instance(id).how)
    assert.equal("not_found", select(3, engine:modify_instance(id, { { cancel = "approve" } })))
  end)

  it("raises what is no list, and a field that is not known", function()
    assert.has_error(function()
      engine:modify_instance(1, "approve")
    end, 'operations is the string "approve" (expected a table)')
    assert.has_error(function()
      engine:modify_instance(1, {}, { skip_listener = true })
    end, 'modify_instance: unknown key "skip_listener" (did you mean "skip_listeners"?)')
    local id = engine:start "order"
    assert.matches('operation 1: unknown key "start_befor" %(did you mean "start_before"%?%)',
      (select(2, engine:modify_instance(id, { { start_befor = "pack" } }))))
    assert.equal("invalid", select(3, engine:modify_instance(id, {})))
  end)

  it("takes away a job that has failed for good, with its incident", function()
    local id = engine:start "order"
    assert(engine:modify_instance(id, { { start_after = "approve" }, { cancel = "approve" } }))
    for _ = 1, 3 do
      pcall(engine.execute, engine, engine:jobs({ instance = tostring(id) }):one().id)
    end
    assert.equal(1, engine:incidents({ open = true }):count())
    assert(engine:modify_instance(id, { { cancel = "pack" }, { start_before = "hand_over" } }))
    assert.same({ 0, 0 }, { engine:incidents({ open = true }):count(), engine:jobs({}):count() })
    assert.same({ "hand_over" }, engine:at(id))
  end)
end)

describe("an instance that begins at activities", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  it("is started alone, in a list, or tried", function()
    local there = { { start_before = "hand_over", variables = { a = 1 } } }
    local told = engine:start("order", { operations = there, dry_run = true })
    assert.same({ { cancels = {}, begins = { "hand_over" } } }, told)
    assert.equal(0, engine:instances({}):count())
    local id = engine:start("order", { operations = there, variables = { b = 2 } })
    assert.same({ "hand_over" }, engine:at(id))
    assert.same({ a = 1, b = 2 }, engine:instance(id).variables)
    local ids = engine:start { { "order" }, { "order", { operations = there } } }
    assert.same({ "approve" }, engine:at(ids[1]))
    assert.same({ "hand_over" }, engine:at(ids[2]))
    assert.same({ "entry 1 of the list: dry_run true: expected no trial in a list", "invalid" },
      { select(2, engine:start { { "order", { operations = there, dry_run = true } } }) })
  end)
end)

describe("an instance that is restarted", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  -- An instance that has ended, with x = 2 and y = 3; it was started with x = 1.
  local function ended()
    local id = engine:start("order", { key = "k", variables = { x = 1 } })
    assert(engine:set_variables(id, { x = 2, y = 3 }))
    assert(engine:modify_instance(id, { { cancel = "approve" } }))
    return id
  end

  it("has the last variables and the key of the old one, or those of its start", function()
    local id, there = ended(), { { start_before = "hand_over" } }
    local again = assert(engine:restart_instance(id, there))
    local row = engine:instance(again)
    assert.same({ { x = 2, y = 3 }, "k" }, { row.variables, row.key })
    assert.same({ "hand_over" }, engine:at(again))
    again = assert(engine:restart_instance(id, { { start_after = "approve" } },
      { initial = true, no_key = true, version = 1, variables = { z = 4 } }))
    row = engine:instance(again)
    assert.same({ x = 1, z = 4 }, row.variables)
    assert.is_nil(row.key)
    assert.same({ "pack" }, engine:at(again))
    local entry = engine:operations({ verb = "restart_instance" }):list()[1]
    assert.equal(('instance "%d"'):format(id), entry.entity)
    assert.matches(('"restarts instance %d"'):format(id), rules.encode(
      engine:trail({ instance = again }):list()[1].events))
  end)

  it("is one of several, of which all begin or none", function()
    local list, there = { ended(), ended(), ended() }, { { start_before = "hand_over" } }
    local again = assert(engine:restart_instance(list, there, { variables = { z = 4 } }))
    assert.equal(3, #again)
    for i, id in ipairs(again) do
      assert.same({ x = 2, y = 3, z = 4 }, engine:instance(id).variables)
      assert.matches(('"restarts instance %d"'):format(list[i]), rules.encode(
        engine:trail({ instance = id }):list()[1].events))
    end
    assert.equal(3, #assert(engine:restart_instance(engine:past_instances {}, there)))
    local none, message, code = engine:restart_instance({ list[1], again[1] }, there)
    assert.same({ nil, ("entry 2 of the list: instance %d has not ended"):format(again[1]),
      "conflict" }, { none, message, code })
    assert.equal(6, engine:instances({}):count())
    assert.has_error(function()
      engine:restart_instance(engine:instances {}, there)
    end, "a query of instances (expected ids, or a query of past)")
    assert.same({}, engine:restart_instance({}, there))
  end)

  it("is refused if it runs, ran on another version, or names what is not there", function()
    local id = ended()
    local again = engine:restart_instance(id, { { start_before = "hand_over" } })
    assert.same({ ("instance %d has not ended"):format(again), "conflict" },
      { select(2, engine:restart_instance(again, { { start_before = "hand_over" } })) })
    assert.same({ ("instance %d ran on version 1 of its process (expected version 2)"):format(id),
      "conflict" },
      { select(2, engine:restart_instance(id, { { start_before = "pack" } }, { version = 2 })) })
    assert.equal("not_found", select(3, engine:restart_instance(99, { { start_before = "a" } })))
    assert.matches("operation 1, start_before zz: the process order has no activity zz",
      (select(2, engine:restart_instance(id, { { start_before = "zz" } }))))
    assert.equal(1, engine:instances({}):count())
    assert.same({ { cancels = {}, begins = { "pack" } } },
      engine:restart_instance(id, { { start_before = "pack" } }, { dry_run = true }))
    assert.equal(1, engine:instances({}):count())
  end)
end)

describe("an instance that is cancelled", function()
  local folder, engine

  before_each(function()
    folder = process.folder {
      ["processes/outer.lua"] = WORDS .. 'return { on_end = "note", '
        .. 'call "inner" {} }',
      ["processes/inner.lua"] = WORDS .. 'return { on_end = "note", '
        .. 'task "look" { on_end = "note", output = { o = 1 } } }',
      ["handlers/note.lua"] = "return function(job) job.variables.heard = true end",
    }
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  it("takes what it called along, with its reason", function()
    local id = engine:start "outer"
    local inner = engine:instances({ process = "inner" }):one().id
    assert(engine:cancel_instance(id, { reason = "why" }))
    for _, one in ipairs { id, inner } do
      assert.same({ "cancelled", "why" },
        { engine:instance(one).how, engine:instance(one).reason })
    end
    assert.same({ heard = true, o = 1 }, engine:instance(inner).variables)
  end)

  it("calls no listeners, maps nothing and leaves what it called, if that is said", function()
    local id = engine:start "outer"
    local inner = engine:instances({ process = "inner" }):one().id
    assert(engine:cancel_instance(id, { skip_called = true }))
    assert.same({ "look" }, engine:at(inner))
    assert(engine:cancel_instance(inner, { skip_listeners = true, skip_mappings = true }))
    assert.same({}, engine:instance(inner).variables)
    local second = engine:start "outer"
    local left = engine:instances({ process = "inner" }):one().id
    assert(engine:cancel_instance(second, { skip_called = true }))
    assert(engine:complete(engine:tasks({}):one().id))
    assert.equal("completed", engine:instance(left).how)
  end)
end)

describe("instance modify", function()
  local place

  before_each(function()
    place = executors.place {}
    for path, text in pairs(files) do
      place.write(path, text)
    end
  end)

  after_each(function()
    place.remove()
  end)

  local function moonshift_of(...)
    return process.moonshift(...)
  end

  -- What the verb prints for an instance, and its errors.
  local function modify(id, ...)
    local status, output, errors = moonshift_of("instance", "modify", id, "-C", place.path,
      "--store", place.url, ...)
    return status, output ~= "" and output or errors
  end

  local function start()
    local _, output = moonshift_of("process", "start", "order", "-C", place.path, "--store",
      place.url)
    return output:match "%d+"
  end

  it("reads operations with their variables, and says first what they would do", function()
    local id = start()
    local words = { "--start-before", "hand_over", "a=1", "--local", "--cancel", "approve" }
    assert.same({ 0, "operation 1 would start hand_over\noperation 2 would cancel approve\n" },
      { modify(id, "--dry-run", table.unpack(words)) })
    assert.same({ 0, ("instance %s modified\n"):format(id) }, { modify(id, table.unpack(words)) })
    local engine = assert(moonshift.open { store = place.url })
    assert.same({ "hand_over" }, engine:at(math.tointeger(tonumber(id))))
    assert.same('[{"start_before":"hand_over","variables":{"a":1},"local":true},'
      .. '{"cancel":"approve"}]', engine:operations({ verb = "modify_instance" }):one().new)
    engine:close()
    place.moonshift("check", "--store", place.url)
  end)

  it("refuses words that belong to no operation, and no operations", function()
    local id = start()
    local status, told = modify(id, "a=1", "--cancel", "approve")
    assert.equal(2, status)
    assert.matches('unexpected "a=1" %(expected variables behind their operation%)', told)
    status, told = modify(id)
    assert.equal(2, status)
    assert.matches("expected %-%-start%-before, %-%-start%-after, %-%-start%-flow or %-%-cancel",
      told)
    status, told = modify(id, "--local", "--cancel", "approve")
    assert.equal(2, status)
    assert.matches("%-%-local: expected an operation before it", told)
  end)

  it("has a twin that starts an instance at an activity", function()
    local words = { "process", "start", "order", "b=2", "--before", "hand_over", "a=1", "-C",
      place.path, "--store", place.url }
    local _, output = moonshift_of("process", "start", "--dry-run", table.unpack(words, 3))
    assert.equal("operation 1 would start hand_over\n", output)
    _, output = moonshift_of(table.unpack(words))
    local engine = assert(moonshift.open { store = place.url })
    local id = math.tointeger(tonumber(output:match "%d+"))
    assert.same({ "hand_over" }, engine:at(id))
    assert.same({ a = 1, b = 2 }, engine:instance(id).variables)
    engine:close()
    place.moonshift("check", "--store", place.url)
  end)

  it("leaves what it called, if that is said, and the store is in order", function()
    place.write("processes/outer.lua", WORDS .. 'return { call "order" {} }')
    local _, output = moonshift_of("process", "start", "outer", "-C", place.path, "--store",
      place.url)
    assert.equal(0, (moonshift_of("instance", "cancel", output:match "%d+", "--skip-called",
      "--skip-listeners", "--skip-mappings", "-C", place.path, "--store", place.url)))
    place.moonshift("check", "--store", place.url)
    local engine = assert(moonshift.open { store = place.url })
    assert.equal("order", engine:instances({}):one().process)
    engine:close()
  end)

  it("is done by a job where the folder is not", function()
    local id = start()
    local status, output = moonshift_of("instance", "modify", id, "--store", place.url,
      "--start-before", "hand_over", "--cancel", "approve")
    assert.equal(0, status)
    assert.matches("job %d+ does it, on an executor with the process", output)
    place.moonshift("run", "-C", place.path, "--store", place.url, "--drain")
    local engine = assert(moonshift.open { store = place.url })
    assert.same({ "hand_over" }, engine:at(math.tointeger(tonumber(id))))
    engine:close()
    place.moonshift("check", "--store", place.url)
  end)
end)

describe("the trial of a cancellation", function()
  local folder, engine, outer, inner

  before_each(function()
    folder = process.folder {
      ["processes/outer.lua"] = WORDS
        .. 'return { parallel { { call "in" { process = "inner" } }, { task "z" {} } } }',
      ["processes/inner.lua"] = WORDS
        .. 'return { each "t" { times = 3, parallel = true, task "a" { on_end = "told" } } }',
      ["handlers/told.lua"] = "return function() error('it was called', 0) end",
    }
    engine = testing.engine { scripts = folder }
    outer = assert(engine:start("outer"))
    inner = engine:instances({ parent = outer }):one().id
  end)

  after_each(function()
    engine:close()
    process.remove(folder)
  end)

  it("says what would end of the instance and of those that it called", function()
    assert.same({ { instance = outer, cancels = { "in", "z" } },
      { instance = inner, cancels = { "t", "a" } } },
      assert(engine:cancel_instance(outer, { dry_run = true })))
    assert.same({ { instance = outer, cancels = { "in", "z" } } },
      assert(engine:cancel_instance(outer, { dry_run = true, skip_called = true })))
  end)

  it("names the activity that called it, and does nothing", function()
    assert.same({ { instance = inner, cancels = { "t", "a" } },
      { instance = outer, cancels = { "in" } } },
      assert(engine:cancel_instance(inner, { dry_run = true })))
    assert.equal(2, engine:instances({}):count())
    assert.equal(4, engine:tasks({}):count())
    assert.equal(0, engine:operations({ verb = "cancel_instance" }):count())
  end)

  it("fails for one that has ended", function()
    assert.is_nil((engine:cancel_instance(outer + 1000, { dry_run = true })))
  end)
end)
