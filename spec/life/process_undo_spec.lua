-- What people and workers throw: errors and escalations of user tasks, compensation and cancelled
-- transactions by jobs of several workers beside each other.
local engines = require "spec.support.engines"
local executors = require "spec.support.executors"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = 'local process = require "moonshift.process"\nreturn '

local files = {
  ["processes/approval.lua"] = WORDS .. [[{
    process.task "approve" { on_error = { "no", code_variable = "code", message_variable = "text",
        process.task "say" {} },
      on_escalation = { "late", interrupting = false, process.task "chief" {} } } }]],
  ["processes/trip.lua"] = WORDS .. [[{
    process.sub "trip" { transaction = true,
      process.parallel {
        { process.step "flight" { run = "book", undo = "unbook", async = true } },
        { process.step "hotel" { run = "book", undo = "unbook", async = true } } },
      process.choose { { when = "${dear}", process.finish "no" { cancel = true } },
        { otherwise = true } },
      on_cancel = { process.step "told" { run = "book" } } },
    process.choose { { when = "${regrets}", process.throw "back" { undo = "trip" } },
      { otherwise = true } } }]],
}

describe("what an instance waits for", function()
  after_each(engines.clean)

  it("is said of conditions, with what they read, and of what may be taken back", function()
    local folder = engines.folder { ["processes/shelf.lua"] = WORDS .. [[{
      process.sub "fill" { process.step "book" { run = function(job)
          job:set_local("seats", 2)
        end, undo = function() end }, process.task "look" {} },
      process.wait "empty" { when = "${big == 'a' or stock == 0 and long == open}" },
      process.wait "own" { when = function() return false end } }]] }
    local engine = testing.engine { scripts = folder }
    local id = assert(engine:start("shelf", { variables = { stock = 9, long = ("y"):rep(100),
      big = ("x"):rep(4000) } }))
    assert(engine:complete(engine:tasks():one().id))
    assert.same({ "empty" }, engine:at(id))
    local remembered = {}
    for i, one in ipairs(engine:instance(id).remembered) do
      remembered[i] = one.activity
    end
    assert.same({ "fill", "book" }, remembered)
    assert.equal([["empty" waits for its condition ${big == 'a' or stock == 0 and long == open} ]]
      .. [[(big is "…", long is a long value, open is not there, stock is 9)]] .. "\n"
      .. [["fill" has ended and may be taken back, where seats is 2]] .. "\n"
      .. [["book" has ended and may be taken back]], (engine:why_instance(id)))
    assert(engine:set_variables(id, { stock = 0, open = 1, long = 1 }))
    assert.equal('"own" waits for its condition\n', engine:why_instance(id):match "[^\n]*\n")
  end)
end)

describe("a user task", function()
  local engine, folder

  before_each(function()
    folder = process.folder({ ["processes/approval.lua"] = files["processes/approval.lua"] })
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function task()
    return engine:tasks():list()[1].id
  end

  it("ends with a BPMN error, whose event goes on", function()
    local id = assert(engine:start("approval"))
    assert.equal(id, assert(engine:throw(task(), "no", { message = "closed",
      variables = { by = "mary" } })))
    local shown = engine:instance(id)
    assert.same({ by = "mary", code = "no", text = "closed" }, shown.variables)
    assert.equal("say", shown.at[1].activity)
    assert.equal("throw no", engine:operations { verb = "throw" }:list()[1].new)
  end)

  it("escalates and stays open; of a code that nothing catches nothing is done", function()
    local id = assert(engine:start("approval"))
    assert.equal(id, assert(engine:escalate(task(), "late")))
    assert.equal(2, engine:tasks():count())
    local fine, message = engine:escalate(task(), "other", { variables = { x = 1 } })
    assert.is_nil(fine)
    assert.truthy(message:find("the escalation other at approve is caught by nothing", 1, true))
    assert.is_nil(engine:instance(id).variables.x)
    fine, message = engine:throw(99, "no")
    assert.is_nil(fine)
    assert.equal("no task 99 that is open", message)
    fine, message = pcall(engine.escalate, engine, task(), "")
    assert.is_false(fine)
    assert.truthy(message:find('code is the string "" (expected a name)', 1, true), message)
  end)
end)

describe("what several workers booked", function()
  it("is taken back once, and nothing else", function()
    local place = executors.place {}
    for path, text in pairs(files) do
      place.write(path, text)
    end
    for _, name in ipairs { "book", "unbook" } do
      place.write("handlers/" .. name .. ".lua", ([[return function(job)
        local file <close> = assert(io.open(%q, "a"))
        file:write(job.instance .. " " .. job.activity .. "\n")
      end]]):format(place.path .. "/called"))
    end
    local lines = {}
    for i = 1, 120 do
      lines[i] = ('{"variables":{"dear":%s,"regrets":%s}}'):format(i % 3 == 0, i % 3 == 1)
    end
    place.write("starts", table.concat(lines, "\n") .. "\n")
    place.moonshift("process", "start", "trip", "--from", place.path .. "/starts", "-C", place.path)
    place.moonshift("run", place.path, "--drain", "--workers", "4")
    local counts = {}
    for line in io.lines(place.path .. "/called") do
      local activity = line:match " (.*)$"
      counts[activity] = (counts[activity] or 0) + 1
    end
    assert.same({ flight = 120, hotel = 120, told = 40, ["flight.undone"] = 80,
      ["hotel.undone"] = 80 }, counts)
    place.moonshift("check", "--store", "-C", place.path)
    place.remove()
  end)
end)
