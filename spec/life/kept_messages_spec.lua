-- Messages that come before something waits for them.
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local files = {
  ["processes/parcel.lua"] = [[
    local process = require "moonshift.process"
    return {
      process.task "pack" {},
      process.receive "delivered" { message = "parcel", key = "${instance.key}" },
    }]],
  ["processes/any.lua"] = [[
    local process = require "moonshift.process"
    return { process.receive "first" { message = "news" },
      process.receive "next" { message = "news" } }]],
  ["processes/both.lua"] = [[
    local step, _, _, parallel, _, receive = require "moonshift.process".words()
    return { step "begin" { run = function() end, async = true }, parallel {
      { receive "left" { message = "news" } }, { receive "right" { message = "news" } } } }]],
  ["processes/both_now.lua"] = [[
    local _, _, _, parallel, _, receive = require "moonshift.process".words()
    return { parallel {
      { receive "left" { message = "news" } }, { receive "right" { message = "news" } } } }]],
  ["processes/send.lua"] = [[
    local step = require "moonshift.process".words()
    return { step "send" { async = true, run = function(job)
      job:correlate("parcel", { key = "o-7", keep = "PT1H", variables = { from = job.instance } })
    end } }]],
  ["processes/two.lua"] = [[
    local process = require "moonshift.process"
    return { process.receive "left" { message = "left" },
      process.receive "right" { message = "right" } }]],
  ["processes/twice.lua"] = [[
    local step = require "moonshift.process".words()
    return { step "send" { async = true, run = function(job)
      job:correlate "left"
      job:correlate "left"
    end } }]],
  ["processes/stairs.lua"] = [[
    local p = require "moonshift.process"
    return { p.receive "first" { message = "step", key = "${instance.key}" },
      p.choose {
        { when = function(v) return v.slow == true end, p.wait "pause" { after = "PT1M" } },
        { otherwise = true } },
      p.receive "second" { message = "step", key = "${instance.key}" } }]],
  ["processes/steps.lua"] = [[
    local step = require "moonshift.process".words()
    return { step "send" { async = true, run = function(job)
      for _ = 1, job.variables.count do
        job:correlate("step", { key = "k", keep = "PT1H" })
      end
    end } }]],
  ["processes/tells.lua"] = [[
    local step = require "moonshift.process".words()
    return { step "send" { run = function(job)
      job:correlate("news", { keep = "PT1H" })
    end } }]],
  ["processes/wrong.lua"] = [[
    local step = require "moonshift.process".words()
    return { step "send" { async = true, run = function(job)
      job:correlate("parcel", { keep = "an hour" })
    end } }]],
}

local STARTS = [[
  local process = require "moonshift.process"
  return { process.start "came" { message = "begin" }, process.task "look" {} }]]

describe("a message that is kept", function()
  local folder, engine

  before_each(function()
    folder = process.folder(files)
    engine = testing.engine { scripts = folder }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  -- An instance that begins to wait for its parcel.
  local function wait_for_parcel(key)
    local id = assert(engine:start("parcel", { key = key }))
    assert(engine:complete(engine:tasks({ instance = id }):one().id))
    return id
  end

  local function how(id)
    engine:drain()
    return engine:instance(id).state
  end

  it("is given to the next that waits for its name and key, once", function()
    assert.equal(0, assert(engine:correlate("parcel", { key = "o-7", keep = "PT1H",
      variables = { weight = 2 } })))
    local kept = engine:kept_messages({ name = "parcel" }):one()
    assert.same({ "o-7", { weight = 2 } }, { kept.key, kept.variables })
    local other, id, later = wait_for_parcel "o-8", wait_for_parcel "o-7", wait_for_parcel "o-7"
    assert.same({ "active", "completed", "active" }, { how(other), how(id), how(later) })
    assert.equal(2, engine:instance(id).variables.weight)
    assert.equal(0, engine:kept_messages():count())
  end)

  it("goes to what waits for it now, and is not kept", function()
    local id = wait_for_parcel "o-7"
    assert.equal(id, engine:correlate("parcel", { key = "o-7", keep = "PT1H" }))
    assert.equal("completed", how(id))
    assert.equal(0, engine:kept_messages():count())
  end)

  it("is not kept beyond its time", function()
    assert(engine:correlate("parcel", { key = "o-7", keep = "PT1H" }))
    engine:advance "PT1H"
    assert.equal(0, #engine:kept_messages():list())
    local id = wait_for_parcel "o-7"
    assert.equal("active", how(id))
    assert(engine:correlate("parcel", { key = "o-9", keep = 60 }))
    assert.equal(1, #engine:kept_messages({ until_after = "2000-01-01" }):list())
  end)

  it("is for the instance and the business key that it names", function()
    local mine = assert(engine:start("parcel", { key = "o-7" }))
    assert(engine:correlate("parcel", { key = "o-7", instance = mine, keep = "PT1H" }))
    assert(engine:correlate("news", { business_key = "b", keep = "PT1H" }))
    local other = wait_for_parcel "o-7"
    assert.equal("active", how(other))
    local a, b = engine:start("any", { key = "a" }), engine:start("any", { key = "b" })
    engine:drain()
    assert.same({ { "first" }, { "next" } }, { engine:at(a), engine:at(b) })
    assert(engine:complete(engine:tasks({ instance = mine }):one().id))
    assert.equal("completed", how(mine))
  end)

  it("comes in the order in which messages came", function()
    for i = 1, 3 do
      assert(engine:correlate("news", { keep = "PT1H", variables = { ["n" .. i] = i } }))
      engine:advance "PT1S"
    end
    local id = engine:start "any"
    assert.equal("completed", how(id))
    assert.same({ n1 = 1, n2 = 2 }, engine:instance(id).variables)
    assert.equal(1, engine:kept_messages():count())
  end)

  it("is given once to what begins to wait for it with one unit", function()
    for _, name in ipairs { "both", "both_now" } do
      assert.equal(0, assert(engine:correlate("news", { keep = "PT1H" })))
      local id = assert(engine:start(name))
      engine:drain()
      assert.same({ "left.parallel.join", "right" }, engine:at(id))
      assert.equal(0, engine:kept_messages():count())
      assert(engine:cancel_instance(id))
    end
  end)

  it("is given once to what begins to wait for it by one list", function()
    assert.equal(0, assert(engine:correlate("news", { keep = "PT1H" })))
    local ids = assert(engine:start { { "any" }, { "any" } })
    engine:drain()
    assert.same({ { "next" }, { "first" } }, { engine:at(ids[1]), engine:at(ids[2]) })
    assert.equal(0, engine:kept_messages():count())
  end)

  it("is sent by a handler with its unit", function()
    local sender = assert(engine:start "send")
    engine:drain()
    local id = wait_for_parcel "o-7"
    assert.equal("completed", how(id))
    assert.equal(tostring(sender), engine:instance(id).variables.from)
  end)

  it("starts the process that is deployed later", function()
    assert(engine:correlate("begin", { keep = "PT1H", business_key = "o-7",
      variables = { a = 1 } }))
    local file = assert(io.open(folder .. "/processes/later.lua", "wb"))
    file:write(STARTS)
    file:close()
    assert(engine:reload())
    engine:drain()
    local id = engine:instances({ process = "later" }):one().id
    assert.same({ "o-7", 1 }, { engine:instance(id).key, engine:instance(id).variables.a })
  end)

  it("is in the log of operations", function()
    assert(engine:correlate("parcel", { key = "o-7", keep = "PT1H" }))
    local entry = engine:operations({ verb = "correlate" }):one()
    assert.equal('message "parcel"', entry.entity)
    assert.truthy(entry.new:find("^kept until 20"), entry.new)
  end)

  it("needs a time that can be read", function()
    local _, message = engine:correlate("parcel", { keep = "an hour" })
    assert.truthy(message:find('keep: duration "an hour"', 1, true), message)
    local id = assert(engine:start "wrong")
    engine:drain()
    local job = engine:jobs({ instance = id }):one()
    assert.truthy(engine:job(job.id).message:find("job:correlate: keep: ", 1, true))
  end)

  it("is still refused if several wait for it", function()
    wait_for_parcel "o-7"
    wait_for_parcel "o-7"
    local _, message, code = engine:correlate("parcel", { key = "o-7", keep = "PT1H" })
    assert.equal("conflict", code, message)
  end)

  it("is refused to a unit with the names of three that wait", function()
    local ids = {}
    for i = 1, 4 do
      ids[i] = wait_for_parcel "o-7"
    end
    local sender = assert(engine:start "send")
    engine:drain()
    local message = engine:jobs({ instance = sender }):one().message
    assert.equal(('message "parcel" with key "o-7": 4 wait for it: instance %d at "delivered",'
      .. ' instance %d at "delivered", instance %d at "delivered"'):format(table.unpack(ids)),
      message)
  end)

  it("goes on waiting if several wait once its receiver has gone", function()
    assert(engine:correlate("parcel", { key = "o-7", keep = "PT1H" }))
    local gone, one, other = wait_for_parcel "o-7", wait_for_parcel "o-7", wait_for_parcel "o-7"
    assert(engine:cancel_instance(gone))
    assert.same({ "active", "active" }, { how(one), how(other) })
    assert.equal(1, engine:kept_messages():count())
  end)

  it("goes to no receiver behind its own: the second of two fails visibly", function()
    local id = assert(engine:start "two")
    assert(engine:start "twice")
    engine:drain()
    assert.same({ "right" }, engine:at(id))
    local job = engine:jobs({ instance = id }):one()
    assert.equal('message "left": nothing waits for it', job.message)
  end)

  -- Sends messages "step" of the key k by jobs, while the instance stands at its first receiver.
  local function send(count)
    assert(engine:start("steps", { variables = { count = count } }))
    engine:drain()
  end

  it("goes to the next receiver if it was sent twice before the first one took it", function()
    local id = assert(engine:start("stairs", { key = "k" }))
    send(2)
    assert.equal("completed", how(id))
    assert.equal(0, engine:kept_messages():count())
    assert.equal(0, engine:incidents():count())
    assert.equal(1, engine:log({ outcome = "skipped" }):count())
  end)

  it("waits for a receiver behind an asynchronous step, with what is left of its time", function()
    local id = assert(engine:start("stairs", { key = "k", variables = { slow = true } }))
    send(2)
    assert.same({ "pause" }, engine:at(id))
    local kept = engine:kept_messages():one()
    engine:advance "PT1M"
    engine:drain()
    assert.truthy(kept)
    assert.equal("completed", how(id))
    assert.equal(0, engine:kept_messages():count())
  end)

  it("is kept no longer than it was to be, though it was sent anew", function()
    local id = assert(engine:start("stairs", { key = "k", variables = { slow = true } }))
    send(3)
    local times = {}
    for _, one in ipairs(engine:kept_messages():list()) do
      times[#times + 1] = one["until"]
    end
    assert.equal(2, #times)
    assert.equal(times[1], times[2])
    engine:advance "PT1H"
    engine:drain()
    assert.same({ "second" }, engine:at(id))
    assert.equal(0, engine:kept_messages():count())
  end)

  it("is not lost with the instance that it was on its way to", function()
    local id = assert(engine:start("stairs", { key = "k" }))
    assert(engine:start("steps", { variables = { count = 1 } }))
    engine:drain { max = 1 }
    assert.truthy(engine:kept_messages():one().job)
    assert(engine:cancel_instance(id))
    assert.equal(1, engine:kept_messages():count())
    local other = assert(engine:start("stairs", { key = "k" }))
    engine:drain()
    assert.same({ "second" }, engine:at(other))
  end)

  it("goes to another receiver that waits already, if its own is cancelled", function()
    local id = assert(engine:start("stairs", { key = "k" }))
    assert(engine:start("steps", { variables = { count = 1 } }))
    engine:drain { max = 1 }
    local other = assert(engine:start("stairs", { key = "k" }))
    assert(engine:cancel_instance(id))
    engine:drain()
    assert.same({ "second" }, engine:at(other))
    assert.equal(0, engine:kept_messages():count())
  end)

  it("is not given without its variables, where these are no JSON object", function()
    engine:close()
    engine = testing.engine { scripts = folder, store = "sqlite:" .. folder .. "/jobs.db",
      failed_job_wait = "PT0S" }
    assert.equal(0, assert(engine:correlate("parcel", { key = "o-7", keep = "PT1H",
      variables = { n = 1 } })))
    process.change(folder .. "/jobs.db", "UPDATE kept_message SET variables='[1]'")
    local id = wait_for_parcel "o-7"
    engine:drain()
    assert.equal("active", engine:instance(id).state)
    assert.matches('message "parcel" with key "o%-7": its variables are no JSON object',
      engine:jobs({ instance = tostring(id) }):one().message)
  end)

  it("is found by what begins to wait in the same transaction", function()
    local ids = assert(engine:start { { "two" }, { "tells" }, { "any" } })
    engine:drain()
    assert.same({ "next" }, engine:at(ids[3]))
    assert.equal(0, engine:kept_messages({}):count())
  end)
end)
