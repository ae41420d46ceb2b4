-- Messages that are kept before their receiver waits, taken by units that jobs of a real executor
-- walked: every kind of receiver gets what was sent.
local executors = require "spec.support.executors"

local WORDS = [[
local p = require "moonshift.process"
local step, receive, task, wait = p.step, p.receive, p.task, p.wait
]]

-- The process p of each shape. It comes to its receiver in a job, and ends once that has the
-- message m: with the key of the instance, or with any.
local shapes = {
  ["a receive task"] = [[return { step "s" { run = "h", async = true },
    receive "r" { message = "m", key = "${instance.key}" } }]],
  ["a receive task that begins in a job"] = [[return { step "s" { run = "h", async = true },
    receive "r" { message = "m", key = "${instance.key}", async = true, async_after = true } }]],
  ["a receiver of any key"] = [[return { step "s" { run = "h", async = true },
    receive "r" { message = "m" } }]],
  ["a catch event"] = [[return { step "s" { run = "h", async_after = true },
    wait "w" { message = "m", key = "${instance.key}" } }]],
  ["an event-based gateway"] = [[return { step "s" { run = "h", async = true },
    p.first { { wait "w" { message = "m", key = "${instance.key}" } },
      { wait "late" { after = "P1D" } } } }]],
  ["a boundary event"] = [[return { step "s" { run = "h", async = true },
    task "t" { on_message = { "m", key = "${instance.key}", step "other" { run = "h" } } } }]],
  ["an event sub-process"] = [[return { step "s" { run = "h", async = true }, p.sub "b" {
    p.handle "stop" { message = "m", key = "${instance.key}", step "other" { run = "h" } },
    task "t" {} } }]],
  ["a receiver beside another branch"] = [[return { p.parallel {
    { step "s" { run = "h", async = true },
      receive "r" { message = "m", key = "${instance.key}" } },
    { step "x" { run = "h", async = true, exclusive = false }, step "y" { run = "h" } } } }]],
}

describe("a message that is kept before", function()
  local place

  before_each(function()
    place = executors.place { ["handlers/h.lua"] = "return function() end" }
  end)

  after_each(function()
    place.remove()
  end)

  -- Sends the message for each key, then starts instances with each of others, and runs them.
  local function live(shape, keys, starts)
    place.write("processes/p.lua", WORDS .. shape)
    for _, key in ipairs(keys) do
      place.moonshift("message", "m", "-C", place.path, "--key", key, "--keep", "1h")
    end
    for _, key in ipairs(starts) do
      place.moonshift("process", "start", "p", "-C", place.path, "--key", key)
    end
    place.moonshift("run", "-C", place.path, "--drain", "--workers", "3")
  end

  for name, shape in pairs(shapes) do
    it("is taken by " .. name, function()
      local keys = { "k1", "k2", "k3", "k4", "k5" }
      live(shape, keys, keys)
      assert.equal("[]\n", place.moonshift("instance", "list", "--json"))
      assert.equal("[]\n", place.moonshift("incident", "list", "--json"))
      assert.truthy(place.moonshift("check"):find("nothing is wrong", 1, true))
    end)
  end

  it("is taken by what was called, and by each turn of a body", function()
    place.write("processes/inner.lua", WORDS .. shapes["a receive task"])
    live([[return { p.each "line" { times = 3, parallel = true, p.call "inner" {
      key = "c${loopCounter}" } } }]], { "c0", "c1", "c2" }, { "one" })
    assert.equal("[]\n", place.moonshift("instance", "list", "--json"))
  end)
end)
