local moonshift = require "moonshift"
local process = require "spec.support.process"
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
    end, "register: executor is 5 (expected a name)")
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

describe("a deployment that nobody needs", function()
  local engine, folder

  local function write(name, text)
    local file = assert(io.open(folder .. "/handlers/" .. name .. ".lua", "w"))
    file:write(text)
    file:close()
  end

  before_each(function()
    folder = process.folder {
      ["handlers/a.lua"] = "return function() end",
      ["handlers/b.lua"] = "return function() end",
    }
    engine = testing.engine { scripts = folder, name = "node-1", who = "me" }
    engine:enqueue("a")
    write("a", "return function() return 2 end")
    os.remove(folder .. "/handlers/b.lua")
    assert(engine:reload())
  end)

  after_each(function()
    engine:close()
    process.remove(folder)
  end)

  local function ids()
    local list = {}
    for _, deployment in ipairs(engine:deployments()) do
      list[#list + 1] = deployment.id
    end
    return list
  end

  it("goes with its files and is in the operation log", function()
    engine:drain()
    engine:unregister(1)
    assert.equal(1, engine:delete_deployment(engine:deployments()[1]))
    assert.same({ 2 }, ids())
    local entry = engine:operations():list()[2]
    assert.same({ "delete_deployment", "deployment 1", "me" },
      { entry.verb, entry.entity, entry.who })
    assert.same({ nil, "no deployment 1", "not_found" }, { engine:delete_deployment(1) })
  end)

  it("is needed as long as a job of it is there", function()
    engine:unregister(1)
    local refused = { nil, "deployment 1 is needed by 1 job", "conflict" }
    assert.same(refused, { engine:delete_deployment(1) })
    assert.same(refused, { engine:delete_deployment(1, { dry_run = true }) })
    assert.same({ 1, 2 }, ids())
    engine:delete(1)
    assert.equal(1, engine:delete_deployment(1, { dry_run = true }))
    assert.same({ 1, 2 }, ids())
    assert.equal(1, engine:delete_deployment(1))
  end)

  it("is needed as long as it is registered", function()
    engine:drain()
    assert.same({ nil, 'deployment 1 is registered for executor "node-1"', "conflict" },
      { engine:delete_deployment(1) })
  end)

  it("is not the newest of its name", function()
    engine:unregister(2)
    assert.same({ nil, "deployment 2 is the newest of its name that definitions come from",
      "conflict" }, { engine:delete_deployment(2) })
  end)

  it("leaves the log, and what only its folder had has no deployment", function()
    engine:drain()
    engine:unregister(1)
    assert.equal(1, engine:definition("b").deployment)
    assert.equal(1, engine:delete_deployment(1))
    assert.is_nil(engine:definition("b").deployment)
    assert.equal("a", engine:log({ job = 1 }):list()[1].handler)
  end)

  it("needs an id", function()
    assert.has_error(function()
      engine:delete_deployment("a")
    end, 'deployment is the string "a" (expected an id)')
  end)
end)

describe("a deployment that was taken back from", function()
  it("gives its id to no other folder when it goes", function()
    local folder = process.folder { ["handlers/a.lua"] = "return function() end" }
    local engine = testing.engine { scripts = folder, name = "node-1" }
    for n, text in ipairs { "return function() return 2 end", "return function() end",
      "return function() return 3 end" } do
      local file = assert(io.open(folder .. "/handlers/a.lua", "w"))
      file:write(text)
      file:close()
      assert(engine:reload())
      if n == 2 then
        engine:unregister(2)
        assert.equal(1, engine:delete_deployment(2))
      end
    end
    assert.equal(3, engine:deployments()[2].id)
    engine:close()
    process.remove(folder)
  end)
end)
