-- Exclusive jobs of one instance, run back to back by an executor with several workers: a handler
-- is called as often as the process says, and each job does what it is for.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local INSTANCES = 10

-- Notes its call.
local HANDLER = [[
return function(job)
  local file <close> = assert(io.open(%q, "a"))
  file:write(job.activity .. "\n")
end
]]

local WORDS = 'local p = require "moonshift.process"\nlocal step, sub, parallel, each = p.step,'
  .. " p.sub, p.parallel, p.each\n"

-- Processes, and how often each of their activities is called in one instance.
local processes = {
  both_sides = { { flight = 1, hotel = 1 }, [[return { parallel {
    { step "flight" { run = "book", async = true, async_after = true } },
    { step "hotel" { run = "book", async = true, async_after = true } } } }]] },
  join_in_a_job = { { flight = 1, hotel = 1, car = 1 }, [[return { parallel {
    join = { id = "all", async = true },
    { step "flight" { run = "book", async = true } },
    { step "hotel" { run = "book", async = true } },
    { step "car" { run = "book", async = true } } } }]] },
  scopes = { { x = 1, y = 1 }, [[return { parallel {
    { sub "s1" { async = true, step "x" { run = "book", async = true } } },
    { sub "s2" { async = true, step "y" { run = "book", async = true } } } } }]] },
  nested = { { a = 1, b = 1, c = 1, d = 1, last = 1 }, [[return { parallel {
    { step "a" { run = "book", async = true }, parallel {
      { step "b" { run = "book", async = true, async_after = true } },
      { step "c" { run = "book", async_after = true } } } },
    { step "d" { run = "book", async = true, exclusive = false, async_after = true } } },
    step "last" { run = "book", async = true } }]] },
  bodies = { { turn = 5, inner = 3, inner2 = 3 }, [[return { parallel {
    { step "turn" { run = "book", async = true, async_after = true,
      each = { times = 5, parallel = true, async = true, async_after = true } } },
    { each "body" { times = 3, parallel = true,
      parallel { { step "inner" { run = "book", async = true, async_after = true } },
        { step "inner2" { run = "book", async = true } } } } } } }]] },
}

-- A job that ends an instance which its own has called, while that one ends by itself.
local CALLS = WORDS .. [[return { sub "all" {
  p.parallel { { p.call "kid" { process = "kid", with = { "pick" } } },
    { step "slow" { run = "slow", async = true }, step "breaks" { run = "breaks" } } },
  p.handle "broken" { error = "E1", p.pass "over" {} } } }]]
local KID = WORDS .. [[return { step "tell" { run = "tell", async = true } }]]

describe("exclusive jobs of one instance", function()
  local place, called

  before_each(function()
    place = executors.place {}
    called = place.path .. "/called"
    place.write("handlers/book.lua", HANDLER:format(called))
    for name, one in pairs(processes) do
      place.write("processes/" .. name .. ".lua", WORDS .. one[2])
    end
  end)

  after_each(function()
    place.remove()
  end)

  local function calls()
    local counts = {}
    for activity in process.read(called):gmatch("[^\n]+") do
      counts[activity] = (counts[activity] or 0) + 1
    end
    return counts
  end

  it("do not fail where a called instance has ended that they end", function()
    local told = place.path .. "/told"
    place.write("processes/kid.lua", KID)
    place.write("processes/calls.lua", CALLS)
    place.write("handlers/tell.lua", ([[return function() assert(io.open(%q, "a")):close() end]])
      :format(told))
    place.write("handlers/slow.lua", ([[return function()
      os.execute("while [ ! -e %s ]; do sleep 0.01; done; sleep 0.2")
    end]]):format(told))
    place.write("handlers/breaks.lua", [[return function(job) job:throw "E1" end]])
    place.moonshift("process", "start", "calls", "-C", place.path)
    place.moonshift("run", "-C", place.path, "--drain", "--workers", "3")
    assert.equal("[]\n", place.moonshift("instance", "list", "--json"))
    assert.equal("[]\n", place.moonshift("log", "--outcome", "failed", "--json"))
  end)

  for name, one in pairs(processes) do
    it("are called once for each activity: " .. name, function()
      for _ = 1, INSTANCES do
        place.moonshift("process", "start", name, "-C", place.path)
      end
      place.moonshift("run", "-C", place.path, "--drain", "--workers", "3")
      local wanted = {}
      for activity, times in pairs(one[1]) do
        wanted[activity] = times * INSTANCES
      end
      assert.same(wanted, calls())
      assert.equal("[]\n", place.moonshift("instance", "list", "--json"))
      assert.equal("[]\n", place.moonshift("log", "--outcome", "skipped", "--json"))
    end)
  end
end)
