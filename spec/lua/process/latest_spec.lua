-- The records that a walk leaves are what reading its frame gives.
local driver = require "spec.lua.process.driver"
local frame = require "moonshift.process.frame"
local graphs = require "spec.lua.process.graphs"
local latest = require "moonshift.process.latest"
local nested = require "spec.lua.process.nested"
local rules = require "moonshift.rules"

local MODELS, STEPS = 150, 60

-- A frame without its links, to be compared.
local function flat(f)
  local made, count = { list = {} }, 0
  for name, value in pairs(f) do
    made[name] = name ~= "list" and name ~= "by" and name ~= "outer" and value or made[name]
  end
  for i, record in ipairs(f.list) do
    local one = {}
    for name, value in pairs(record) do
      one[name] = value
    end
    one.scope = record.scope and record.scope.id or 0
    made.list[i] = one
    assert(f.by[record.id] == record)
  end
  for _ in pairs(f.by) do
    count = count + 1
  end
  assert.equal(#f.list, count)
  assert(f.outer == f.list[1])
  return made
end

-- Calls fn while each frame that a walk leaves is compared with what its text says; the number of
-- those whose records can be used, and of those that must be read.
local function comparing(fn)
  local keep, used, read = latest.keep, 0, 0
  latest.keep = function(w)
    keep(w)
    local text = w.context.left_text
    local f = text and latest.take(w.context, text)
    used, read = used + (f and 1 or 0), read + (text and not f and 1 or 0)
    if f then
      assert.same(flat(frame.decode(text, rules.decode)), flat(f))
    end
  end
  local fine, message = pcall(fn)
  latest.keep = keep
  assert(fine, message)
  return used, read
end

-- Does something of what can be done.
local function step(d, r)
  local task, message = d.tasks[1], d.subscriptions[1]
  if d.jobs[1] then
    local job = d.jobs[r:upto(#d.jobs)]
    d.time = math.max(d.time, job.due or 0)
    d:run(job)
  elseif task then
    d:command { kind = "complete", instance = task.instance, token = task.token }
  elseif message then
    d:command { kind = "message", instance = message.instance, token = message.token }
  end
end

describe("the frame that a walk has left", function()
  it("is what its text says, in random processes", function()
    local used = comparing(function()
      for seed = 1, MODELS do
        local r = graphs.random(seed * 104729)
        local d = driver.new { nested.draw(r) }
        d:start("p", { text = "x", list = { 1, 2 } })
        for _ = 1, STEPS do
          step(d, r)
        end
      end
    end)
    assert(used > 0)
  end)

  it("is read again if data were set in it", function()
    local used, read = comparing(function()
      local d = driver.new { graphs.make("p", { a = { kind = "user" } }, { "s -> a -> e" }) }
      d:start("p", { list = { 1, 2 } })
      d:start("p", { number = 1, text = "x" })
    end)
    assert.same({ 1, 1 }, { used, read })
  end)

  it("is not read by the next job of a body", function()
    local decode, count = frame.decode, 0
    local d = driver.new { graphs.make("p", { a = { kind = "service", before = true,
      behaviour = { call = function() end }, multi = { parallel = true, count = 10 } } },
      { "s -> a -> e" }) }
    local id = d:start("p")
    frame.decode = function(...)
      count = count + 1
      return decode(...)
    end
    local fine, message = pcall(d.drain, d)
    frame.decode = decode
    assert(fine, message)
    assert.same({ "completed", 0 }, { d:ended(id), count })
  end)

  it("is not used for another text", function()
    local context = { left_text = "a", left_frame = { list = {}, by = {} } }
    assert.is_nil(latest.take(context, "b"))
    assert.is_nil(latest.take({}, nil))
    assert(latest.take(context, "a"))
    assert.is_nil(latest.take(context, "a"))
  end)
end)
