local moonshift = require "moonshift"
local testing = require "moonshift.testing"

describe("a deployment-aware executor", function()
  local engine, executor

  before_each(function()
    engine = testing.engine { handlers = { a = function() end }, name = "node-1" }
    executor = moonshift.executor { engines = { engine }, deployment_aware = true, name = "node-1" }
  end)

  it("takes jobs of what it has loaded", function()
    engine:enqueue("a")
    assert.equal(1, executor:turn().done)
  end)

  it("leaves jobs of what is unregistered alone until it is registered again", function()
    engine:enqueue("a")
    assert.equal(1, engine:unregister(engine:deployments()[1]))
    assert.equal(0, executor:turn().done)
    assert.equal(1, engine:register(1))
    assert.equal(1, executor:turn().done)
  end)

  it("goes by its own name", function()
    engine:enqueue("a")
    engine:register(1, { executor = "node-2" })
    engine:unregister(1)
    assert.equal(0, executor:turn().done)
    assert.same({ "node-2" }, engine:deployments()[1].executors)
  end)
end)

describe("a registration", function()
  local engine

  before_each(function()
    engine = testing.engine { handlers = { a = function() end }, name = "node-1", who = "me" }
  end)

  it("is in the operation log, unless nothing changed", function()
    assert.equal(0, engine:register(1))
    assert.equal(1, engine:unregister(1))
    local entry = engine:operations():one()
    assert.equal("unregister", entry.verb)
    assert.equal("deployment 1", entry.entity)
    assert.equal("node-1", entry.old)
    assert.equal("me", entry.who)
  end)

  it("of an unknown deployment is refused", function()
    assert.same({ nil, "no deployment 9", "not_found" }, { engine:register(9) })
    assert.same({ nil, "no deployment 9", "not_found" }, { engine:unregister(9) })
  end)

  it("needs an id and a name", function()
    assert.has_error(function()
      engine:register("a")
    end, 'deployment is the string "a" (expected an id)')
    assert.has_error(function()
      engine:register(1, { executor = 5 })
    end, "executor is 5 (expected a name)")
  end)
end)

describe("a handler that nobody serves", function()
  local engine

  before_each(function()
    engine = testing.engine { handlers = { a = function() end } }
    engine:enqueue("b", {}, { unchecked = true })
    engine:enqueue("b", {}, { unchecked = true })
    engine:drain()
  end)

  it("costs its jobs nothing", function()
    assert.same({ "ready", 3 }, { engine:job(1).state, engine:job(1).retries })
  end)

  it("is told of in one incident", function()
    engine:drain()
    local incident = engine:incidents():one()
    assert.equal("missingHandler", incident.type)
    assert.equal("b", incident.handler)
    assert.is_nil(incident.job)
    assert.equal('no executor serves handler "b"', incident.message)
  end)

  it("is forgotten when nothing waits for it any more", function()
    engine:delete { 1, 2 }
    engine:drain()
    assert.equal("resolved", engine:incidents():one().how)
  end)
end)
