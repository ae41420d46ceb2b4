-- What waits in the queue of an executor whose workers are busy for long, with executors that are
-- processes of their own. A gated run goes on until the spec opens the gate.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local note = [[
local function note(job)
  local file = assert(io.open(os.getenv("RUNS"), "a"))
  file:write(job.id, "\n")
  file:close()
end
]]

local handlers = {
  ["handlers/gated.lua"] = [[
return function(job)
  os.execute("touch $RUNS.began; "
    .. "until [ -e $RUNS.gate ] || [ ! -e ${RUNS%/*} ]; do sleep 0.02; done")
end]],
  ["handlers/quick.lua"] = note .. "return note",
  ["handlers/capped.lua"] = note .. "return { limit = { cluster = 2 }, run = note }",
  ["handlers/chain.lua"] = note .. [[
return function(job)
  job:enqueue("quick", nil, { lane = job.lane })
  note(job)
end]],
  ["handlers/paced.lua"] = note .. 'return { rate = "2/PT1H", run = note }',
}

describe("the queue of a busy executor", function()
  local place, dir, file, store, runs

  before_each(function()
    place = executors.place(handlers)
    dir, file, store = place.path, place.store, place.url
    runs = dir .. "/runs"
    process.environment = "RUNS=" .. runs
  end)

  after_each(function()
    os.execute("touch " .. runs .. ".gate")
    place.remove()
  end)

  local function start(...)
    return place.start("log", "run", dir, ...)
  end

  local function enqueue(handler, count, ...)
    return place.enqueue(handler, count, ...)
  end

  local function count(question)
    return tonumber(process.sql(file, "SELECT count(*) FROM " .. question)[1])
  end

  local function await(what, question, wanted)
    process.await(what, 20, function()
      return count(question) == wanted
    end)
  end

  local function ran()
    local ids = {}
    for id in process.read(runs):gmatch("%d+") do
      ids[#ids + 1] = id
    end
    return ids
  end

  -- An executor whose only worker is busy, with these jobs in its queue.
  local function busy(handler, jobs, ...)
    enqueue("gated", 1, "--priority", "90")
    local ids = enqueue(handler, jobs, ...)
    start("--workers", "1")
    return ids
  end

  local function stays(question, wanted)
    for _ = 1, 15 do
      assert.equal(wanted, count(question))
      process.pause(0.1)
    end
  end

  local function open_gate()
    os.execute("touch " .. runs .. ".gate")
  end

  local function verify()
    local status, output = process.moonshift("check", "-C", dir, "--store", store)
    assert.equal(0, status, output)
  end

  it("goes to one that has nothing to do, in its order, counted as nothing", function()
    local ids = busy("quick", 60)
    await("all to be locked", "locked", 61)
    place.there("runs.began")
    process.pause(0.3) -- until it is known to be long, so that no job of the queue waits for it
    start("--workers", "1")
    await("the others to have run", "ended", 60)
    assert.same(ids, ran())
    assert.equal(60, count("ended WHERE executor=2"))
    assert.equal(0, count("job WHERE attempt<>1 OR crashes<>0 OR retries<>3"))
    assert.equal(0, count("attempt"))
    open_gate()
    await("the end", "ended", 61)
    verify()
  end)

  it("stays while nobody else could take it", function()
    busy("quick", 60)
    await("all to be locked", "locked", 61)
    local tokens = process.sql(file, "SELECT id, token FROM locked ORDER BY id")
    local written
    for _ = 1, 5 do -- a sign that the executor sleeps may still be on its way
      local size = #process.read(file .. "-wal")
      stays("locked", 61)
      written = #process.read(file .. "-wal") - size
      if written == 0 then
        break
      end
    end
    assert.equal(0, written)
    assert.same(tokens, process.sql(file, "SELECT id, token FROM locked ORDER BY id"))
    start("--workers", "1", "--priority-range", "50:")
    stays("locked", 61)
    assert.same(tokens, process.sql(file, "SELECT id, token FROM locked ORDER BY id"))
    start("--workers", "1", "--priority-range", ":10")
    await("the others to have run", "ended", 60)
  end)

  it("lets a late job of higher priority go first", function()
    enqueue("gated", 1, "--priority", "90")
    local ids = enqueue("quick", 20)
    start("--workers", "1", "--queue", "20")
    await("all to be locked", "locked", 21)
    local urgent = enqueue("quick", 1, "--priority", "50")[1]
    await("the others to be given back", "locked", 1)
    open_gate()
    await("the end", "ended", 22)
    assert.same({ urgent, table.unpack(ids) }, ran())
    verify()
  end)

  it("gives the run of a lane back whole", function()
    local ids = busy("quick", 30, "--lane", "a")
    await("a run of the lane to be locked", "locked", 17)
    start("--workers", "4")
    await("the lane to have run", "ended", 30)
    assert.same(ids, ran())
    assert.equal(0, count("lane"))
    assert.equal(0, count("parked"))
    verify()
  end)

  it("goes on behind a lane in which nothing may follow", function()
    place.moonshift("deploy", dir)
    place.moonshift("definition", "suspend", "quick")
    enqueue("chain", 3, "--lane", "a")
    start("--workers", "1")
    await("all to have run", "ended", 3)
    assert.equal(3, #ran())
    assert.equal(3, count("job WHERE suspended<>0"))
    verify()
  end)

  it("frees the places of a limit", function()
    local ids = busy("capped", 10)
    await("two to be locked", "limited", 2)
    start("--workers", "4")
    await("all to have run", "ended", 10)
    assert.equal(#ids, #ran())
    assert.equal(0, count("limited"))
    verify()
  end)

  it("holds no job with a rate", function()
    busy("paced", 3)
    await("the gated one to be locked", "locked", 1)
    start("--workers", "2")
    await("two to have run", "ended", 2)
    assert.equal(2, #ran())
    assert.equal(1, count("ready"))
    verify()
  end)

  -- It may expect the run to end when the first one did, and then have one more at hand.
  it("stays empty once runs are known to be long", function()
    enqueue("gated", 1)
    start("--workers", "1")
    place.there("runs.began")
    process.pause(0.2) -- a run that lasts longer than an item may wait
    open_gate()
    await("its end", "ended", 1)
    os.remove(runs .. ".gate")
    enqueue("gated", 10)
    process.await("the next to run", 20, function()
      return count("locked") > 0
    end)
    for _ = 1, 15 do
      assert.is_true(count("locked") <= 2)
      process.pause(0.1)
    end
    open_gate()
    await("the end", "ended", 11)
  end)
end)
