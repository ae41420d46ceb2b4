-- Variables that are too large for the frame of their instance.
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local MIB = 1048576

local files = {
  ["processes/scan.lua"] = [[
    local process = require "moonshift.process"
    return {
      process.step "take" { async = true, run = "take", result = "picture" },
      process.task "look" {},
      process.step "count" { async = true, run = function(job) return #job.variables.picture end,
        result = "size" },
      process.task "file" {},
    }]],
  ["handlers/take.lua"] = "return function(job) return ('x'):rep(job.variables.bytes) end",
}

describe("a large variable of an instance", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function start(bytes)
    local id = assert(engine:start("scan", { variables = { bytes = bytes } }))
    engine:drain()
    return id
  end

  local function complete(variables)
    assert(engine:complete(engine:tasks():one().id, variables))
    engine:drain()
  end

  it("of ten megabytes is kept beside the frame and the trail, and read where it is used",
    function()
      local id = start(10 * MIB)
      assert.equal(10 * MIB, #engine:instance(id).variables.picture)
      complete()
      assert.equal(10 * MIB, engine:instance(id).variables.size)
      local events = 0
      for _, row in ipairs(engine:trail({ instance = id }):list()) do
        events = events + #require "moonshift.rules".encode(row.events)
      end
      assert.is_true(events < 2000, events)
    end)

  it("is gone from the instance when it is set anew", function()
    local id = start(5000)
    assert(engine:set_variables(id, { picture = ("y"):rep(6000) }))
    assert.equal(("y"):rep(6000), engine:instance(id).variables.picture)
    assert(engine:set_variables(id, { picture = "small" }))
    assert.equal("small", engine:instance(id).variables.picture)
  end)

  it("is in the history of the instance as long as that is", function()
    local id = start(5000)
    complete()
    complete { note = "done" }
    local ended = engine:instance(id)
    assert.same({ "completed", 5000, "done" }, { ended.state, #ended.variables.picture,
      ended.variables.note })
    assert.is_nil(engine:past_instances():one().variables.picture)
  end)

  it("beyond the limit is refused with its name, its size and the limit", function()
    local id = start(17 * MIB)
    local job = engine:jobs({ instance = id }):one()
    assert.equal(("the variable picture of instance %d has %d bytes (expected at most %d)"):format(
      id, 17 * MIB + 2, 16 * MIB), engine:job(job.id).message)
    local _, message = engine:set_variables(id, { own = ("z"):rep(20 * MIB) })
    assert.truthy(message:find("the variable own of instance", 1, true), message)
  end)

  it("leaves nothing in the store", function()
    local place = folder .. "/own.db"
    local store = "sqlite:" .. place
    local function run(...)
      return select(2, assert(process.moonshift(...)))
    end
    run("process", "start", "scan", "bytes=5000", "-C", folder, "--store", store)
    run("run", folder, "--drain", "--store", store, "--log-level", "error")
    assert.same({ "picture|5002" },
      process.sql(place, "SELECT name, length(data) FROM large_value"))
    run("instance", "cancel", "1", "-C", folder, "--store", store)
    run("cleanup", "-C", folder, "--store", store)
    assert.same({ "1" }, process.sql(place, "SELECT count(*) FROM large_value"))
  end)
end)
