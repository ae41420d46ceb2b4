-- Variables of a message that are local to what it triggers: they are seen there, and go with it.
local engines = require "spec.support.engines"
local executors = require "spec.support.executors"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local HEAD = "local p = require 'moonshift.process'\nreturn "

local files = {
  ["handlers/see.lua"] = [[return function(job)
    job.variables.seen = tostring(job.variables.note)
  end]],
  ["handlers/plain.lua"] = "return function() end",
  ["processes/waits.lua"] = HEAD .. [[{
    p.receive "wait" { message = "go", key = "${instance.key}", output = { got = "${note}" } },
    p.step "after" { run = "see", async = true }, p.task "stop" {} }]],
  ["processes/first.lua"] = HEAD .. [[{
    p.first "which" { { p.wait "come" { message = "go", key = "${instance.key}",
        output = { got = "${note}" } } }, { p.wait "late" { after = "P1D" } } },
    p.step "after" { run = "see", async = true }, p.task "stop" {} }]],
  ["processes/beside.lua"] = HEAD .. [[{
    p.task "work" { on_message = { "more", key = "${instance.key}", interrupting = false,
      p.step "there" { run = "see", async = true } } },
    p.handle "side" { message = "side", key = "${instance.key}", interrupting = false,
      p.step "aside" { run = "see", async = true }, p.task "left" {} } }]],
  ["processes/begins.lua"] = HEAD .. [[{
    p.start "began" { message = "begin" }, p.step "first" { run = "see", async = true },
    p.task "stop" {} }]],
}

local LOCAL = { local_variables = { note = "here" } }

local function with(key)
  return { key = key, local_variables = LOCAL.local_variables, variables = { kept = 1 } }
end

describe("a variable that is local to what a message triggers", function()
  local engine, folder

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function told(process_key, message)
    local id = assert(engine:start(process_key, { key = "k" }))
    assert.equal(id, assert(engine:correlate(message, with "k")))
    engine:drain()
    return engine:instance(id).variables
  end

  it("is seen by the outputs of what waits, and not behind it", function()
    assert.same({ kept = 1, got = "here", seen = "nil" }, told("waits", "go"))
    assert.same({ kept = 1, got = "here", seen = "nil" }, told("first", "go"))
  end)

  it("is seen in the event sub-process", function()
    assert.same({ kept = 1, seen = "here" }, told("beside", "side"))
  end)

  it("is gone behind a boundary event", function()
    assert.same({ kept = 1, seen = "nil" }, told("beside", "more"))
  end)

  it("is the instance's own where the message begins one", function()
    local id = assert(engine:correlate("begin", LOCAL))
    engine:drain()
    assert.same({ note = "here", seen = "here" }, engine:instance(id).variables)
  end)

  it("is refused for a message that is kept or goes to all", function()
    local errors = "correlate: a message that may be kept has neither transient nor local"
    assert.error_matches(function()
      engine:correlate("go", { key = "k", keep = "PT1H", local_variables = {} })
    end, errors)
    assert.error_matches(function()
      engine:correlate("go", { all = true, local_variables = {} })
    end, "all goes with key, business_key and variables alone")
  end)
end)

describe("messages with local variables beside a backlog", function()
  local place

  setup(function()
    place = executors.place(files)
  end)

  teardown(function()
    place.remove()
  end)

  it("reach each its own event sub-process, by four workers", function()
    local lines, ids, keys = {}, {}, 60
    for k = 1, keys do
      ids[k] = place.moonshift("process", "start", "-C", place.path, "beside", "--key",
        "k" .. k):match("%d+")
      lines[k] = ('{"key":"k%d","local_variables":{"note":"n%d"}}'):format(k, k)
    end
    place.write("side.jsonl", table.concat(lines, "\n") .. "\n")
    place.enqueue("plain", 200)
    place.start("run.log", "run", place.path, "--workers", "4")
    place.moonshift("message", "-C", place.path, "side", "--from", place.path .. "/side.jsonl")
    for k, id in ipairs(ids) do
      process.await("what the handler has seen", 60, function()
        local shown = place.moonshift("instance", "show", id, "--json")
        return shown:find('"seen": *"n' .. k .. '"')
      end)
    end
  end)

  it("is said by a flag, and refused with --keep", function()
    place.moonshift("process", "start", "-C", place.path, "waits", "--key", "flag")
    place.moonshift("message", "-C", place.path, "go", "--key", "flag", "--local", "note=five")
    local status, _, errors = process.moonshift("--store", place.url, "-C", place.path,
      "message", "go", "--key", "x", "--local", "--keep", "1h", "note=1")
    assert.equal(2, status)
    assert.matches('local_variables: a message with "keep" has none', errors, 1, true)
  end)
end)
