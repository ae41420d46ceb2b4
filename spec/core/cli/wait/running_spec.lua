-- The verbs of the command line for what runs of processes.
local process = require "spec.support.process"
local rules = require("moonshift.core").rules

describe("the verbs of what runs of processes", function()
  local folder, store

  local function run(...)
    local words = { ... }
    words[#words + 1] = "--store"
    words[#words + 1] = store
    words[#words + 1] = "-C"
    words[#words + 1] = folder
    return process.run(process.command(table.unpack(words)))
  end

  -- An instance of the process "order" with a user task, as a unit would leave it.
  local FRAME = [=[{"v":1,"next":4,"scopes":[[1,0,""]],"tokens":[[3,1,"ask","task"]]}]=]
  local ROWS = [=[
    INSERT INTO process VALUES('order', 1, 0);
    INSERT INTO process_version(id, key, number, kind, hash, deployment, path, properties, created)
      VALUES(1, 'order', 1, 'bpmn', 'h', 1, 'processes/order.bpmn', '{}', 0);
    UPDATE meta SET value=20 WHERE key='next_id'; UPDATE meta SET value=9 WHERE key='next_token';
    INSERT INTO instance(id, version, rev, started, key, frame)
      VALUES(7, 1, 3, 1767225600000, 'o-7', '%s');
    INSERT INTO user_task(id, instance, token, activity, name, priority, created)
      VALUES(8, 7, 3, 'ask', 'Ask', 50, 0);
    INSERT INTO trail(instance, at, events) VALUES(7, 1767225600000, '[["s",3,"ask"]]');]=]

  lazy_setup(function()
    folder = process.folder { ["handlers/work.lua"] = "return function() end" }
    store = "sqlite:" .. folder .. "/jobs.db"
    assert.equal(0, (run("enqueue", "work", "--in", "1h")))
    process.change(folder .. "/jobs.db", ROWS:format(FRAME))
    local status, output = run("check", "--store")
    assert.equal(0, status, output)
  end)

  lazy_teardown(function()
    process.remove(folder)
  end)

  local function rows(...)
    local status, output, errors = run(...)
    assert.equal(0, status, errors)
    return rules.decode(output)
  end

  it("list processes, instances, what they did, and tasks", function()
    assert.equal("order", rows("process", "list", "--json")[1].key)
    assert.equal(7, rows("instance", "list", "--activity", "ask", "--json")[1].id)
    assert.same({}, rows("instance", "list", "--ended", "--json"))
    assert.equal("active", rows("instance", "show", "7", "--json").state)
    assert.same({ { "s", 3, "ask" } }, rows("instance", "trail", "7", "--json")[1].events)
    assert.equal("Ask", rows("task", "list", "--process", "order", "--json")[1].name)
  end)

  it("say in words where an instance stands and who may do a task", function()
    local _, shown = run("instance", "show", "7")
    assert.matches('\nat +"ask" waits for its user task 8 %(nobody has it%)\n', shown)
    process.change(folder .. "/jobs.db", "UPDATE user_task SET candidates="
      .. "'{\"groups\":[\"clerks\"],\"users\":[\"ada\",\"bob\"]}'")
    local _, tasks = run("task", "list")
    assert.matches(" CANDIDATES\n.* users ada, bob; groups clerks\n", tasks)
    assert.same({ "clerks" }, rows("task", "list", "--json")[1].candidates.groups)
    local _, _, errors = run("task", "claim", "8", "--who", "ada")
    assert.equal('moonshift: unknown flag "--who" (here: --as)\n', errors)
    process.change(folder .. "/jobs.db", "UPDATE user_task SET candidates=NULL")
  end)

  it("claim a task, once, and release it", function()
    assert.equal(0, (run("task", "claim", "8", "--as", "ann")))
    assert.equal("ann", rows("task", "list", "--json")[1].assignee)
    local status, _, errors = run("task", "claim", "8", "--as", "bob")
    assert.equal(5, status)
    assert.truthy(errors:find('task 8 is claimed by "ann"', 1, true), errors)
    assert.equal(0, (run("task", "release", "8")))
    assert.equal(rules.null, rows("task", "list", "--json")[1].assignee)
    assert.equal(0, (run("task", "claim", "8")))
    assert.equal("string", type(rows("task", "list", "--json")[1].assignee))
  end)

  it("suspend a process and an instance", function()
    local _, output = run("process", "suspend", "order")
    assert.equal('process "order" suspended\n', output)
    assert.is_true(rows("process", "list", "--json")[1].suspended)
    run("process", "activate", "order")
    assert.is_false(rows("process", "list", "--json")[1].suspended)
    assert.equal('instance "7" suspended\n', select(2, run("instance", "suspend", "7")))
    assert.equal("suspended", rows("instance", "show", "7", "--json").state)
    local status, _, errors = run("process", "suspend", "offer")
    assert.truthy(status ~= 0 and errors:find('unknown process "offer"', 1, true), errors)
  end)
end)
