-- Commands that come into a second instance while they walk: the caller, or one that was called.
-- They never wait for each other, and what a handler did is not done again.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local files = {
  ["processes/outer.lua"] = [[
    local p = require "moonshift.process"
    return { p.parallel {
      { p.call "inner" { with = { "place" } }, p.step "stay" { run = "stay" } },
      { p.call "inner2" { process = "inner", with = { "place" } } } }, p.task "last" {} }]],
  ["processes/inner.lua"] = [[
    local p = require "moonshift.process"
    return { p.receive "ask" { message = "asked", key = "${instance.id}" },
      p.step "count" { run = "count" } }]],
  ["processes/above.lua"] = [[
    local p = require "moonshift.process"
    return { p.parallel {
      { p.call "below" { with = { "place" } } },
      { p.task "ask" { on_end = "stay" } } }, p.task "last" {} }]],
  ["processes/below.lua"] = [[
    local p = require "moonshift.process"
    return { p.task "ask" {}, p.step "count" { run = "count" }, p.step "wait" { run = "wait" } }]],
  ["handlers/count.lua"] = [[
    return function(job)
      local file <close> = assert(io.open(job.variables.place .. "/called", "a"))
      file:write(job.instance .. "\n")
    end]],
  -- Both stay until a file is there, which has a name of its own.
  ["handlers/stay.lua"] = [[
    return function(job)
      local place = job.variables.place
      assert(io.open(place .. "/begun", "w")):close()
      os.execute(("while [ ! -e %s/go ]; do sleep 0.02; done"):format(place))
    end]],
  ["handlers/wait.lua"] = [[
    return function(job)
      local place = job.variables.place
      os.execute(("while [ ! -e %s/on ]; do sleep 0.02; done"):format(place))
    end]],
}

describe("a command that comes into a second instance", function()
  local place, engine

  before_each(function()
    place = executors.place(files)
    engine = assert(moonshift.open { store = place.url, scripts = place.path })
    process.environment = "MOONSHIFT_PATIENCE=PT1M"
  end)

  after_each(function()
    process.environment = ""
    engine:close()
    place.remove()
  end)

  local function calls()
    local file = io.open(place.path .. "/called")
    return select(2, (file and file:read "a" or ""):gsub("\n", ""))
  end

  local function held(count)
    process.await(count .. " lanes", 20, function()
      return #place.sql "SELECT id FROM lane" == count
    end)
  end

  local function called(count)
    process.await(count .. " calls", 20, function()
      return calls() == count
    end)
  end

  local function ends(pid, log, text)
    process.await_end(pid, 30)
    assert.equal(text, place.log(log))
  end

  -- The instances that one has called, in their order.
  local function inner(id)
    return engine:instances({ parent = id }):ids()
  end

  -- Of two that end, one has the caller, and stays there.
  local function hold_outer()
    local outer = assert(engine:start("outer", { variables = { place = place.path } }))
    local ids = inner(outer)
    local pid = place.command("first", "message", "asked", "--key", tostring(ids[1]), "--now")
    place.there "begun"
    return outer, ids, pid
  end

  it("gives its own lane back where the second is taken, and calls nothing twice", function()
    local outer, ids, first = hold_outer()
    local second = place.command("second", "message", "asked", "--key", tostring(ids[2]), "--now")
    called(2)
    held(2) -- the second one has none
    place.write("go", "")
    ends(first, "first", ("instance %d has the message\n"):format(ids[1]))
    ends(second, "second", ("instance %d has the message\n"):format(ids[2]))
    assert.same({ 2, { "last" } }, { calls(), engine:at(outer) })
    held(0)
  end)

  it("does so in a list, too", function()
    local outer, ids, first = hold_outer()
    local other = assert(engine:start("outer", { variables = { place = place.path } }))
    local keys = { ids[2], inner(other)[2] }
    place.write("list", ('{"key":"%d"}\n{"key":"%d"}\n'):format(
      keys[1], keys[2]))
    local list = place.command("list.out", "message", "asked", "--from", place.path .. "/list",
      "--now")
    called(2)
    held(2)
    place.write("go", "")
    process.await_end(first, 30)
    process.await_end(list, 30)
    assert.same({ 3, { "last" }, { "inner", "inner.parallel.join" } },
      { calls(), engine:at(outer), engine:at(other) })
    held(0)
  end)

  it("is never waited for by what it waits for", function()
    local above = assert(engine:start("above", { variables = { place = place.path } }))
    local below = inner(above)[1]
    local task = engine:tasks({ instance = below }):one().id
    local up = place.command("up", "task", "complete", tostring(task), "--now")
    called(1)
    local down = place.command("down", "instance", "cancel", tostring(above), "--now")
    place.there "begun"
    held(2)
    place.write("on", "") -- up comes into the caller, which is held
    held(1)
    place.write("go", "") -- down comes into the called one, which is free
    ends(down, "down", ("instance %d cancelled\n"):format(above))
    ends(up, "up", ("moonshift: no task %d that is open\n"):format(task))
    assert.same({ 1, "cancelled" }, { calls(), engine:instance(above).how })
    held(0)
  end)
end)
