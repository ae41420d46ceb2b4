-- `unique` of a start: one running instance for a business key of a process and tenant.
local engines = require "spec.support.engines"
local executors = require "spec.support.executors"
local process = require "spec.support.process"
local rules = require("moonshift.core").rules
local testing = require "moonshift.testing"

local WORDS = "local process = require 'moonshift.process'\n"
  .. "local step, task = process.step, process.task\n"

local files = {
  ["processes/night.lua"] = WORDS .. [[return { step "begin" { run = "begin" }, task "look" {} }]],
  ["processes/other.lua"] = WORDS .. [[return { task "look" {} }]],
  ["processes/beside.lua"] = WORDS .. [[return {
    step "begin" { run = "begin" },
    step "beside" { run = "beside" },
    task "look" {} }]],
  ["handlers/begin.lua"] = [[return function(job)
    job:enqueue("seen", { key = job.key })
  end]],
  ["handlers/seen.lua"] = "return function() end",
}

local function conflict(id, key)
  return { nil, ('instance %d of this process runs with the business key "%s"'):format(id, key),
    "conflict" }
end

describe("a start that is unique", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder, missing = function() end }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function start(name, key, given)
    given = given or {}
    given.key, given.unique = key, true
    return engine:start(name, given)
  end

  it("begins once for a business key, and names the one that runs", function()
    local id = assert(start("night", "monday"))
    assert.same(conflict(id, "monday"), { start("night", "monday") })
    assert.is_truthy(start("night", "tuesday"))
    assert.equal(2, engine:instances():count())
  end)

  it("is refused before any handler is called", function()
    assert(start("night", "monday"))
    start("night", "monday")
    assert.equal(1, engine:jobs({ handler = "seen" }):count())
  end)

  it("is refused where the other one was not unique, and holds no later start back", function()
    local id = assert(engine:start("night", { key = "monday" }))
    assert.same(conflict(id, "monday"), { start("night", "monday") })
    assert.is_truthy(engine:start("night", { key = "monday" }))
  end)

  it("begins again when the one before has ended", function()
    local id = assert(start("night", "monday"))
    assert(engine:complete(engine:tasks({ instance = id }):one().id))
    local second = assert(start("night", "monday"))
    assert(engine:cancel_instance(second))
    assert.is_truthy(start("night", "monday"))
  end)

  it("counts instances of its own process and tenant alone", function()
    local id = assert(start("night", "monday"))
    assert.is_truthy(start("other", "monday"))
    local eu = assert(start("night", "monday", { tenant = "eu" }))
    assert.is_truthy(start("night", "monday", { tenant = "us" }))
    assert.same(conflict(eu, "monday"), { start("night", "monday", { tenant = "eu" }) })
    assert.same(conflict(id, "monday"), { start("night", "monday") })
  end)

  it("counts those of all versions", function()
    local id = assert(start("night", "monday"))
    local file = io.open(folder .. "/processes/night.lua", "w")
    file:write(WORDS .. [[return { task "look" {}, task "again" {} }]])
    file:close()
    engine:reload()
    assert.same(conflict(id, "monday"), { start("night", "monday") })
    assert.equal(2, engine:instance(assert(start("night", "tuesday"))).version)
  end)

  it("needs a business key", function()
    local message = "unique true: expected a business key beside it"
    assert.same({ nil, message, "invalid" }, { engine:start("night", { unique = true }) })
    assert.is_truthy(engine:start("night", { unique = false }))
  end)

  it("is one of a list: all are started, or none", function()
    local function entry(key)
      return { "night", { key = key, unique = true } }
    end
    local ids = assert(engine:start { entry "a", entry "b" })
    local _, message, code = engine:start { entry "c", entry "b" }
    assert.equal(("entry 2 of the list: %s"):format(conflict(ids[2], "b")[2]), message)
    assert.equal("conflict", code)
    _, message = engine:start { entry "c", entry "d", entry "c" }
    assert.matches("^entry 3 of the list: instance %d+ of this process runs", message)
    assert.equal(2, engine:instances():count())
  end)

  -- Between the walk of a start and its writing another program starts the same; `turns` starts
  -- before it know the store.
  local function race(turns)
    local place, second, id = "sqlite:" .. folder .. "/jobs.db", nil, nil
    local first = testing.engine { scripts = folder, store = place, missing = function(_, job)
      if job.key == "monday" and not id then
        id = assert(second:start("beside", { key = "monday", unique = true }))
      end
    end }
    second = testing.engine { scripts = folder, store = place, missing = function() end }
    for i = 1, turns do
      assert(first:start("beside", { key = "before " .. i, unique = true }))
    end
    local got = { first:start("beside", { key = "monday", unique = true }) }
    assert.same(conflict(id, "monday"), got)
    assert.equal(turns + 1, first:instances():count())
    assert.equal(turns + 1, first:jobs({ handler = "seen" }):count())
    assert.equal(turns + 1, first:operations({ verb = "start" }):count())
  end

  it("is refused as it is written if another program was first: nothing of it is kept", function()
    race(0)
  end)

  it("is refused so as well where the store is known", function()
    race(3)
  end)
end)

describe("starts that are unique", function()
  local place

  before_each(function()
    place = executors.place(files)
    place.write("handlers/beside.lua", "return function() end")
  end)

  after_each(function()
    place.remove()
  end)

  local function start(...)
    return { "process", "start", "beside", "--key", "monday", "--unique", ... }
  end

  local function rows(...)
    return rules.decode(place.moonshift(...))
  end

  it("of eight programs at once begin one instance", function()
    place.moonshift("process", "start", "other", "-C", place.path)
    local list = {}
    for i = 1, 8 do
      list[i] = start()
    end
    local said = place.race(list)
    assert.same({ ["N\n"] = 1, ['moonshift: instance N of this process runs with the business key '
      .. '"monday"\n'] = 7 }, said)
    assert.equal(1, #rows("instance", "list", "--process", "beside", "--json"))
    assert.equal(1, #rows("job", "list", "--handler", "seen", "--json"))
  end)

  it("are done by no job, but here by the handlers of the deployment", function()
    place.moonshift("process", "start", "other", "-C", place.path)
    local words = { "--store", place.url, table.unpack(start()) }
    local status, _, errors = process.moonshift(table.unpack(words))
    assert.same({ 2, "moonshift: unique: no job does it (expected the script folder here, or "
      .. "--now)\n" }, { status, errors })
    assert.same({}, rows("job", "list", "--json"))
    place.moonshift(table.unpack(start("--now")))
    assert.equal(1, #rows("instance", "list", "--process", "beside", "--json"))
  end)
end)
