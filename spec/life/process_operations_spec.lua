-- Commands to instances of processes in the log of operations: who, what, before and after.
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = 'local step, task, _, _, _, receive = require "moonshift.process".words()\n'

local files = {
  ["processes/order.lua"] = WORDS .. [[return {
    task "approve" { assignee = "boss" },
    receive "paid" { message = "paid", key = "${execution.processBusinessKey}" },
    receive "sent" {},
    step "file" { run = "file" },
  }]],
  ["processes/claim.lua"] = [[local process = require "moonshift.process"
    return { process.start "asked" { message = "claim" }, process.task "look" {} }]],
  ["handlers/file.lua"] = 'return function(job) error("no room", 0) end',
}

describe("a command to an instance", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder, who = "ada" }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  -- The entries of an instance, oldest first: "verb entity: old -> new".
  local function entries(id)
    local list = {}
    for i, entry in ipairs(engine:operations({ instance = id }):list()) do
      assert.same({ "ada", id }, { entry.who, entry.instance })
      list[i] = ("%s %s: %s -> %s"):format(entry.verb, entry.entity, entry.old or "-", entry.new)
    end
    return list
  end

  it("is in the log of operations, with the value before it and behind it", function()
    local id = assert(engine:start("order", { key = "o-1", variables = { days = 3 } }))
    local task = engine:tasks():one().id
    assert(engine:set_variables(id, { days = 4, by = "eve" }))
    assert(engine:assign(task, "eve"))
    assert(engine:complete(task))
    assert(engine:correlate("paid", { key = "o-1" }))
    assert(engine:suspend_instance(tostring(id)))
    assert(engine:activate_instance(tostring(id)))
    assert(engine:cancel_instance(id, { reason = "ordered twice" }))
    assert.same({
      ('start process "order": - -> instance %d'):format(id),
      ('set_variables instance "%d": {"days":3} -> {"by":"eve","days":4}'):format(id),
      ("set_assignee task %d: boss -> eve"):format(task),
      ("complete task %d: open -> completed at approve"):format(task),
      'correlate message "paid": - -> received at paid',
      ('suspend_instance instance "%d": active -> suspended'):format(id),
      ('activate_instance instance "%d": suspended -> active'):format(id),
      ('cancel_instance instance "%d": active -> cancelled: ordered twice'):format(id),
    }, entries(id))
  end)

  it("is there once it is done, and not if it fails", function()
    local id = assert(engine:start("order", { key = "o-1" }))
    assert(engine:complete(engine:tasks():one().id))
    assert(engine:correlate("paid", { key = "o-1" }))
    assert.is_nil(engine:trigger(id, "sent"))
    assert.equal(0, engine:operations({ verb = "trigger" }):count())
  end)

  it("says what was taken away, and what a place has for itself", function()
    local id = assert(engine:start("order", { variables = { days = 3 } }))
    assert(engine:set_variables(id, { by = "eve" }, { activity = "approve", unset = { "days" } }))
    assert.same({ by = "eve" }, engine:instance(id).variables)
    assert.equal(('set_variables instance "%d": {"days":3} -> {"by":"eve"}'):format(id),
      entries(id)[2])
    assert.same({ ("instance %d: 0 of sent are there (expected one that is, such as sent#1)")
      :format(id), "failed" },
      { select(2, engine:set_variables(id, { x = 1 }, { activity = "sent" })) })
    assert.has_error(function()
      engine:set_variables(id, nil, { unset = "days" })
    end, 'set_variables: unset is the string "days" (expected a table)')
    assert.same({ "unset {}: expected a list", "invalid" },
      { select(2, engine:set_variables(id, nil, { unset = {} })) })
  end)

  it("names variables whose values are long", function()
    local id = assert(engine:start "order")
    assert(engine:set_variables(id, { text = ("x"):rep(600), other = 1 }))
    assert(engine:set_variables(id, { text = 2 }))
    local list = engine:operations({ verb = "set_variables" }):list()
    assert.equal("other, text", list[1].new)
    assert.same({ "text", '{"text":2}' }, { list[2].old, list[2].new })
  end)

  it("is of the instance that a message has started", function()
    local id = assert(engine:correlate "claim")
    assert.same({ 'correlate message "claim": - -> received at asked' }, entries(id))
  end)
end)
