-- Dead jobs and their incidents: exactly one is open as long as a job has no retries left.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

describe("an incident", function()
  after_each(engines.clean)

  local function failing(settings, fails)
    local given = {
      failed_job_wait = "PT0S",
      handlers = {
        work = function()
          if not fails or fails() then
            error("no luck", 0)
          end
        end,
      },
    }
    for key, value in pairs(settings or {}) do
      given[key] = value
    end
    return testing.engine(given)
  end

  local function open_count(engine, id)
    return engine:incidents({ job = id, open = true }):count()
  end

  it("says what failed, where, and that it is its own cause", function()
    local engine = failing()
    local id = engine:enqueue("work", nil, { retries = 1, activity = "charge" })
    engine:drain()
    local incident = engine:incidents({ job = id }):one()
    assert.same({ "failedJob", id, "work", "charge", "charge", "no luck", true },
      { incident.type, incident.job, incident.handler, incident.activity, incident.failed_activity,
        incident.message, incident.open })
    assert.same({ incident.id, incident.id }, { incident.cause, incident.root_cause })
    assert.equal(engine:definition("work").id, incident.definition)
  end)

  it("is counted with those of the same cause", function()
    local engine = testing.engine {
      failed_job_wait = "PT0S",
      handlers = {
        mail = function(job) error("no address " .. (job.payload.n or ""), 0) end,
        post = function() error("no stamp", 0) end,
      },
    }
    local once = { retries = 1 }
    engine:enqueue("post", {}, once)
    for n = 1, 3 do
      engine:enqueue("mail", { n = n }, once)
      engine:drain()
      engine:advance "PT1H"
    end
    engine:resolve(engine:incidents({ handler = "mail" }):sort("id"):page(1, 1):one().id)
    local rows = engine:incident_causes():list()
    assert.equal(2, #rows)
    local mail = rows[1]
    assert.same({ "failedJob", "mail", 3, 2, 3, "no address 3" },
      { mail.type, mail.handler, mail.count, mail.open, mail.messages, mail.message })
    assert.same({ "2026-01-01T00:00:00.000Z", "2026-01-01T02:00:00.000Z" },
      { mail.first, mail.last })
    assert.same({ "post", 1 }, { rows[2].handler, rows[2].count })
    assert.equal("mail", engine:incident_causes({ open = true }):list()[1].handler)
    assert.equal(2, engine:incident_causes({ open = true }):list()[1].count)
    assert.equal("post", engine:incident_causes():sort("count"):list()[1].handler)
    assert.equal("post", engine:incident_causes({ message = "stamp" }):list()[1].handler)
  end)

  it("of another process is seen by an engine that has found none before", function()
    local first, folder = engines.durable { ["handlers/work.lua"] = "return function(job)\n"
      .. "  if job.payload.fails then error('no luck', 0) end\nend\n" }
    first:enqueue("work", {})
    first:drain()
    local second = moonshift.open { store = "sqlite:" .. folder .. "/jobs.db", scripts = folder,
      clock = first.clock }
    local id = second:enqueue("work", { fails = true }, { retries = 1 })
    second:drain()
    assert.equal(1, open_count(first, id))
    first:retry(id)
    assert.equal(0, open_count(first, id))
    second:close()
    first:close()
  end)

  it("is resolved when retries are set, and another is opened by the next end", function()
    local engine = failing()
    local id = engine:enqueue("work", nil, { retries = 1 })
    engine:drain()
    engine:set_retries(id, 2)
    assert.equal(0, open_count(engine, id))
    engine:drain()
    assert.equal(1, open_count(engine, id))
    assert.equal(2, engine:incidents({ job = id }):count())
  end)

  it("is resolved by a success, deleted with its job, and kept as history", function()
    local fails = true
    local engine = failing(nil, function()
      return fails
    end)
    local first = engine:enqueue("work", nil, { retries = 1 })
    local second = engine:enqueue("work", nil, { retries = 1 })
    engine:drain()
    fails = false
    engine:execute(first)
    engine:delete(second)
    assert.equal("resolved", engine:incidents({ job = first }):one().how)
    assert.equal("deleted", engine:incidents({ job = second }):one().how)
  end)

  it("stays the only one when a dead job fails again by hand", function()
    local engine = failing()
    local id = engine:enqueue("work", nil, { retries = 1 })
    engine:drain()
    pcall(engine.execute, engine, id)
    assert.equal(1, engine:incidents({ job = id }):count())
  end)

  it("is opened by retries set to 0, at once, also while the job runs", function()
    local engine, seen
    engine = testing.engine {
      handlers = {
        work = function(job)
          engine:set_retries(job.id, 0)
          seen = open_count(engine, job.id)
        end,
      },
    }
    local id = engine:enqueue("work")
    engine:drain()
    assert.equal(1, seen)
    assert.equal("resolved", engine:incidents({ job = id }):one().how)
  end)

  it("stays resolved when other things of its dead job are changed", function()
    local engine = failing()
    local id = engine:enqueue("work", nil, { retries = 1 })
    engine:drain()
    engine:resolve(engine:incidents({ job = id }):one().id)
    engine:set_priority(id, 5)
    engine:suspend(id)
    engine:activate(id)
    assert.equal(0, open_count(engine, id))
  end)

  it("goes with the dead jobs of a definition whose retries are set, and no others", function()
    local engine = failing()
    local dead = engine:enqueue("work", nil, { retries = 1 })
    engine:drain()
    local waiting = engine:enqueue("work", nil, { retries = 7, after = 60 })
    assert.equal(1, engine:definition("work"):set_retries(4))
    assert.same({ 4, 7 }, { engine:job(dead).retries, engine:job(waiting).retries })
    assert.equal(0, open_count(engine, dead))
  end)

  it("is not made with incidents = false", function()
    local engine = failing { incidents = false }
    local id = engine:enqueue("work", nil, { retries = 1 })
    engine:drain()
    engine:set_retries(id, 0)
    assert.equal("dead", engine:job(id).state)
    assert.equal(0, engine:incidents():count())
  end)

  -- One thing that may happen to a job, by its number.
  local function happen(engine, id, what)
    if what == 1 then
      engine:set_retries(id, math.random(0, 3))
    elseif what == 2 then
      pcall(engine.execute, engine, id)
    elseif what == 3 then
      engine:suspend(id)
    elseif what == 4 then
      engine:activate(id)
    elseif what == 5 then
      engine:set_priority(id, math.random(-5, 5))
    elseif what == 6 then
      engine:retry(id)
    else
      engine:drain { max = 1 }
    end
  end

  it("is open exactly for the jobs without retries, whatever happens", function()
    local seed = tonumber(os.getenv("SPEC_SEED")) or 1
    math.randomseed(seed)
    local engine = failing(nil, function()
      return math.random(4) > 1
    end)
    local ids = {}
    for i = 1, 5 do
      ids[i] = engine:enqueue("work", nil, { lane = i < 4 and "a" or nil })
    end
    for step = 1, 400 do
      local id = ids[math.random(#ids)]
      happen(engine, id, math.random(8))
      for _, one in ipairs(ids) do
        local job = engine:job(one)
        local expected = job and job.retries == 0 and 1 or 0
        assert.equal(expected, open_count(engine, one), ("seed %d, step %d"):format(seed, step))
      end
    end
  end)

  describe("after kill -9", function()
    local FAIL = "return { retry = 'R2/PT0S', run = function(job)"
      .. " if job.payload.kill then os.execute('kill -9 $PPID') end error('no luck', 0) end }"

    it("is there once for each dead job and for no other", function()
      local dir = engines.folder { ["handlers/work.lua"] = FAIL }
      local store = dir .. "/jobs.db"
      local where = { "-C", dir, "--store", "sqlite:" .. store }
      process.moonshift("enqueue", "work", "--count", "3000", table.unpack(where))
      for _ = 1, 6 do
        local pid = process.start(dir .. "/log", "run", table.unpack(where))
        process.pause(0.02 + math.random() * 0.15)
        process.kill(pid)
        process.await_end(pid, 5)
        assert.same({ "0" }, process.sql(store, [[
          SELECT count(*) FROM job j WHERE CASE WHEN retries=0 THEN 1 ELSE 0 END <> (SELECT
          count(*) FROM incident i WHERE i.job=j.id AND i.ended IS NULL)]]))
      end
      process.moonshift("run", "--drain", table.unpack(where))
      assert.same({ "3000|3000" },
        process.sql(store, "SELECT count(*), count(DISTINCT job) FROM incident"))
    end)

    it("says that the worker died, and is resolved by a fresh start", function()
      local dir = engines.folder { ["handlers/work.lua"] = FAIL,
        ["moonshift.lua"] = "return { crash_limit = 2, workers = 1 }" }
      local store = dir .. "/jobs.db"
      local where = { "-C", dir, "--store", "sqlite:" .. store }
      process.moonshift("enqueue", "work", '{"kill":true}', table.unpack(where))
      process.moonshift("run", "--drain", table.unpack(where))
      process.moonshift("run", "--drain", table.unpack(where))
      process.moonshift("run", "--drain", table.unpack(where))
      assert.same({ "workerDied|the process died 2 times while this job ran" },
        process.sql(store, "SELECT type, message FROM incident WHERE ended IS NULL"))
      process.moonshift("job", "retry", "1", "--retries", "1", table.unpack(where))
      assert.same({ "1|0" },
        process.sql(store, "SELECT how, (SELECT crashes FROM job) FROM incident"))
    end)
  end)
end)
