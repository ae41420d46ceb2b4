-- Operators' verbs at every kind of place where an instance may stand, as it is, suspended and with
-- a job that has failed for good: what is left, and that the store is in order.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local WORDS = 'local process = require "moonshift.process"\n'
  .. "local step, task, choose, parallel, each, receive, call = process.words()\n"

-- By kind of place: the list that comes to the activity "at".
local PLACES = {
  { "task", 'task "at" {}' },
  { "job before", 'step "at" { run = "fail", async = true }' },
  { "failed job", 'step "at" { run = "fail", async = true }' },
  { "job after", 'step "at" { run = "none", async_after = true }' },
  { "timer", 'process.wait "at" { after = "P1D" }' },
  { "message", 'receive "at" { message = "m" }' },
  { "trigger", 'receive "at" {}' },
  { "call", 'call "at" { process = "inner" }' },
  { "turns", 'each "at" { times = 3, parallel = true, task "in" {} }' },
  { "turn after turn", 'each "at" { times = 3, task "in" {} }' },
  { "many turns", 'each "at" { times = 70, parallel = true, task "in" {} }' },
  { "join", 'parallel { { step "a" { run = "none" } }, { task "at" {} } }' },
  { "boundary event", 'task "at" { within = { "P1D", stop = "late" } }' },
  { "compensation", 'step "a" { run = "none", undo = "none" }, task "at" {}' },
}

local function files_of()
  local files = { ["handlers/none.lua"] = "return function() end",
    ["handlers/fail.lua"] = 'return function() error("fails", 0) end',
    ["processes/inner.lua"] = WORDS .. 'return { task "look" {} }' }
  for i, place in ipairs(PLACES) do
    files[("processes/p%d.lua"):format(i)] = WORDS .. "return { " .. place[2]
      .. ', task "behind" {} }'
  end
  return files
end

local BEHIND = { { start_before = "behind" }, { cancel = "at" } }

describe("a verb of an operator", function()
  local place, engine

  before_each(function()
    place = executors.place {}
    for path, text in pairs(files_of()) do
      place.write(path, text)
    end
    engine = assert(moonshift.open { store = place.url, scripts = place.path })
  end)

  after_each(function()
    engine:close()
    place.remove()
  end)

  -- A new instance that stands there; a job that fails has failed for good.
  local function start(i)
    local id = assert(engine:start("p" .. i))
    local job = PLACES[i][1] == "failed job"
      and engine:jobs({ instance = tostring(id) }):one()
    for _ = 1, job and 3 or 0 do
      pcall(engine.execute, engine, job.id)
    end
    return id
  end

  -- Where it stands, but for what waits at a join.
  local function stands(id)
    local names = {}
    for _, one in ipairs(engine:instance(id).at) do
      if one.state ~= "join" then
        names[#names + 1] = one.activity
      end
    end
    return names
  end

  local function in_order(name)
    local status, output, errors = process.moonshift("check", "--store", place.url)
    assert(status == 0, name .. ": " .. output .. errors)
  end

  for i, kind in ipairs(PLACES) do
    it(("does what it says at a %s"):format(kind[1]), function()
      local id = start(i)
      assert.equal(id, engine:modify_instance(id, BEHIND))
      assert.same({ "behind" }, stands(id))
      in_order "modify to another place"
      assert.equal(id, engine:modify_instance(id, { { start_before = "at" } }))
      assert.is_true(#stands(id) > 1)
      in_order "modify to one more place"
      assert(engine:cancel_instance(id))
      in_order "cancel"
      id = start(i)
      local before = engine:at(id)
      assert(engine:suspend_instance(tostring(id), { hierarchy = true }))
      assert.equal("conflict", select(3, engine:modify_instance(id, BEHIND)))
      assert.same(before, engine:at(id))
      assert(engine:cancel_instance(id, { skip_listeners = true }))
      in_order "cancel while it is suspended"
      id = start(i)
      local list = { { cancel = "at" }, { cancel = "a.parallel.join" } }
      assert.equal(1, #engine:modify_instance(id, list, { dry_run = true })[1].cancels)
      assert.same(before, engine:at(id))
      assert(engine:modify_instance(id, list))
      in_order "modify to nowhere"
      assert.equal("terminated", engine:instance(id).how)
      local again = assert(engine:restart_instance(id, { { start_before = "behind" } }))
      assert.same({ "behind" }, engine:at(again))
      assert(engine:start("p" .. i, { operations = { { start_before = "at" } } }))
      in_order "restart and start elsewhere"
    end)
  end
end)
