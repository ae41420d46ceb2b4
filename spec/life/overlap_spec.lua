-- What a schedule's occurrence does when it meets the run before it, and how its dates are spread,
-- held back and caught up.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local testing = require "moonshift.testing"

describe("a schedule", function()
  local folder, store, clock, opened, runs, body

  before_each(function()
    folder = engines.folder { ["handlers/tick.lua"] = "return function() end\n" }
    store = "sqlite:" .. folder .. "/jobs.db"
    clock = moonshift.clock.virtual(engines.START)
    opened, runs, body = {}, {}, nil
  end)

  after_each(function()
    for _, engine in ipairs(opened) do
      engine:close()
    end
    engines.clean()
  end)

  -- One more executor of the schedule; `body` is what its runs do.
  local function open(text)
    os.execute(("mkdir -p '%s/schedules'"):format(folder))
    if text then
      local file = assert(io.open(folder .. "/schedules/tick.lua", "w"))
      file:write("return ", text, "\n")
      file:close()
    end
    local engine = testing.engine { store = store, scripts = folder, clock = clock,
      lock_time = "PT9H", handlers = { tick = function(job)
        runs[#runs + 1] = ("%d %s"):format(job.id, clock:now():sub(12, 16))
        if body then
          return body(job)
        end
      end } }
    opened[#opened + 1] = engine
    return engine
  end

  local function ran()
    return table.concat(runs, ", ")
  end

  local function due(engine)
    local list = {}
    for _, job in ipairs(engine:jobs():list()) do
      list[#list + 1] = ("%d %s %s"):format(job.id, job.due:sub(12, 16), job.state)
    end
    return table.concat(list, ", ")
  end

  -- The first run takes 90 minutes; meanwhile another executor looks for work, at both instants.
  -- What `check` raises inside the run is raised when that has ended.
  local function long_run(engine, other, check)
    local fine, problem = true, nil
    body = function()
      body = nil
      for _ = 1, 2 do
        other:advance("PT45M")
        other:drain()
      end
      if check then
        fine, problem = pcall(check)
      end
    end
    engine:advance("PT1H")
    engine:drain()
    if not fine then
      error(problem, 0)
    end
  end

  it("passes over an occurrence that falls due while the one before it runs", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H" }]]
    local other = open()
    long_run(engine, other, function()
      assert.equal("1 01:00 locked, 2 03:00 scheduled", due(other))
    end)
    assert.equal("1 01:00", ran())
    engine:advance("PT30M")
    engine:drain()
    assert.equal("1 01:00, 2 03:00", ran())
  end)

  it("with overlap \"queue\" runs it once that one has ended", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H", overlap = "queue" }]]
    local other = open()
    long_run(engine, other, function()
      assert.equal("1 01:00 locked, 2 02:00 ready", due(other))
    end)
    assert.equal("1 01:00, 2 02:30", ran())
    assert.equal("3 03:00 scheduled", due(engine))
  end)

  it("with overlap \"replace\" cancels that one and runs it", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H", overlap = "replace" }]]
    local other = open()
    long_run(engine, other, function()
      assert.equal("1 01:00", ran())
      assert.equal("2 02:00 ready", due(other))
      assert.matches("waits for job 1, the run of its schedule", (other:why(2)))
    end)
    assert.equal("1 01:00, 2 02:30", ran())
    assert.equal("3 03:00 scheduled", due(engine))
    assert.equal(1, engine:log({ job = 1, outcome = "cancelled" }):count())
  end)

  for _, verb in ipairs { "cancel", "suspend" } do
    it(("meets a run that an operator did %s until that run has ended"):format(verb), function()
      local engine = open [[{ handler = "tick", cycle = "R/PT1H", overlap = "queue" }]]
      local other = open()
      long_run(engine, other, function()
        assert(other[verb](other, 1))
        assert.equal(0, other:drain().done)
      end)
      assert.equal("1 01:00, 2 02:30", ran())
      assert.equal(verb == "suspend" and "suspended" or nil, (engine:job(1) or {}).state)
      engine:advance("PT30M")
      engine:drain()
      assert.equal("1 01:00, 2 02:30, 3 03:00", ran())
    end)
  end

  it("replaces one that is due and waits", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H", overlap = "replace" }]]
    local extra = engine:run_schedule("tick")
    engine:advance("PT1H")
    engine:drain()
    assert.equal("1 01:00", ran())
    assert.equal(1, engine:log({ job = extra, outcome = "cancelled" }):count())
  end)

  it("is not held up by one that waits for its retry, or is dead", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H", overlap = "queue", retries = 2 }]]
    body = function()
      error("no")
    end
    engine:advance("PT1H")
    engine:drain()
    engine:set_due(1, "2026-01-01T09:00:00Z")
    engine:advance("PT1H")
    engine:drain()
    engine:advance("PT10S")
    engine:drain()
    assert.equal(1, engine:jobs({ state = "dead" }):count())
    engine:advance("PT1H")
    engine:drain()
    assert.equal("1 01:00, 2 02:00, 2 02:00, 3 03:00", ran())
  end)

  it("runs what it has missed one after the other, also where others are passed over", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H", misfire = "all" }]]
    engine:advance("PT3H")
    engine:drain()
    assert.equal("1 03:00, 2 03:00, 3 03:00", ran())
  end)

  it("with catch_up runs the last of what it has missed, no more", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H", misfire = "all", catch_up = 3 }]]
    local dates = {}
    body = function(job)
      dates[#dates + 1] = job.due:sub(1, 16)
    end
    engine:advance("P10DT30M")
    engine:drain()
    assert.same({ "2026-01-10T22:00", "2026-01-10T23:00", "2026-01-11T00:00" }, dates)
    assert.equal("2026-01-11T01:00:00.000Z", engine:schedules()[1].next)
  end)

  it("does not catch up what is not more than it may", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H", misfire = "all", catch_up = 3 }]]
    engine:advance("PT3H")
    engine:drain()
    assert.equal("1 03:00, 2 03:00, 3 03:00", ran())
  end)

  it("with jitter is due somewhat later, never early, and always the same", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H", jitter = "PT30S" }]]
    local different = {}
    for hour = 1, 12 do
      local at = engine:schedules()[1].next
      local late = moonshift.time(at) - moonshift.time(engines.START) - hour * 3600000
      assert.is_true(late >= 0 and late < 30000, at)
      different[late] = true
      engine:advance("PT1H")
      engine:drain()
      if late > 0 then
        assert.equal(hour - 1, #runs)
      end
      engine:advance("PT30S")
      engine:drain()
      assert.equal(hour, #runs)
      engine:advance("PT59M30S")
      clock:set(("2026-01-01T%02d:00:00Z"):format(hour))
    end
    assert.is_true(next(different, next(different)) ~= nil)
  end)

  -- By how many hours the first dates are late; they are so many hours apart.
  local function delays(text, apart)
    local engine, hours = open(text), {}
    for i = 1, 6 do
      local at = moonshift.time(engine:schedules()[1].next)
      hours[i] = (at - moonshift.time(engines.START)) / 3600000 - i * apart
      engine:advance(("PT%.3fS"):format((at - moonshift.time(clock:now())) / 1000))
      engine:drain()
    end
    table.sort(hours)
    return hours
  end

  it("with more jitter than there is room is due before its next date", function()
    local hours = delays([[{ handler = "tick", cycle = "R/PT1H", jitter = "P9D" }]], 1)
    assert.is_true(hours[1] >= 0 and hours[6] < 1 and hours[6] > 0.1)
  end)

  it("with jitter of a day may be due a day later", function()
    local hours = delays([[{ handler = "tick", cycle = "R/P3D", jitter = "P1D" }]], 72)
    assert.is_true(hours[1] >= 0 and hours[6] < 24 and hours[6] > 1)
  end)

  -- The delays are those of the first store, as names and dates are the same.
  it("with jitter comes to a date that has passed and is not due yet, and to no other", function()
    local text, dues = [[{ handler = "tick", cycle = "R/PT1H", jitter = "PT50M" }]], {}
    local engine = open(text)
    for i = 1, 3 do
      dues[i] = engine:schedules()[1].next
      clock:set(dues[i])
      engine:drain()
    end
    for _, case in ipairs { { -1, 2 }, { 0, 3 } } do
      store = ("sqlite:%s/%d.db"):format(folder, case[2])
      clock:set(engines.START)
      engine = open(text)
      local span = moonshift.time(dues[2]) - moonshift.time(engines.START) + case[1]
      engine:advance(("PT%.3fS"):format(span / 1000))
      engine:turn()
      assert.equal(dues[case[2]], engine:schedules()[1].next)
    end
  end)

  it("says the dates to come with their jitter", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H", jitter = "PT10M" }]]
    local first = engine:schedules()[1].next
    engine:close()
    assert.equal(first, open():schedules()[1].next)
  end)

  it("is paused until it is resumed, through reloads and restarts", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H" }]]
    assert.is_true(engine:pause_schedule("tick"))
    assert.is_true(engine:reload())
    engine = open [[{ handler = "tick", cycle = "R/PT2H" }]]
    assert.is_true(engine:schedules()[1].paused)
    engine:advance("PT5H")
    engine:drain()
    assert.equal("", ran())
    assert.is_true(engine:resume_schedule("tick"))
    engine:drain()
    assert.equal("2 05:00", ran())
    assert.equal("2026-01-01T06:00:00.000Z", engine:schedules()[1].next)
  end)

  it("follows its misfire policy when it is resumed", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H", misfire = "skip" }]]
    engine:pause_schedule("tick")
    engine:advance("PT3H30M")
    engine:resume_schedule("tick")
    engine:drain()
    assert.equal("", ran())
    assert.equal("2026-01-01T04:00:00.000Z", engine:schedules()[1].next)
  end)

  it("stays paused when somebody activates its definition's jobs", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H" }]]
    engine:pause_schedule("tick")
    engine:activate(engine:jobs())
    engine:advance("PT1H")
    engine:drain()
    assert.equal("", ran())
    assert.equal('job 1 waits until its schedule "tick" is resumed', (engine:why(1)))
    engine:resume_schedule("tick")
    engine:drain()
    assert.equal("1 01:00", ran())
  end)

  it("is run now with a job more, and keeps its dates", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H", payload = { n = 1 }, priority = 4,
      retries = 5 }]]
    engine:pause_schedule("tick")
    local id = engine:run_schedule("tick")
    local job = engine:job(id)
    assert.same({ 1, 4, 5, "ready" }, { job.payload.n, job.priority, job.retries, job.state })
    engine:drain()
    assert.equal("2 00:00", ran())
    assert.equal("2026-01-01T01:00:00.000Z", engine:schedules()[1].next)
  end)

  -- Of a job, what is its own alone: the copy that is run now has others.
  local OWN = { id = true, created = true, due = true, cycle = true, zone = true, misfire = true,
    state = true, retries = true, rev = true,
    suspended = true, suspended_by = true }

  it("is run now as the job that waits, with the retries of a new one", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H", payload = { n = 1 },
      category = "night", tenant = "north", lane = "one", exclusive = true, instance = "i7",
      root = "r7", activity = "count", priority = 4, retries = 5 }]]
    engine:set_priority(1, 7)
    engine:set_retries(1, 2)
    engine:definition("tick"):override_priority(9)
    engine:pause_schedule("tick")
    local waiting, copy = engine:job(1), engine:job(engine:run_schedule("tick"))
    for name, value in pairs(waiting) do
      if not OWN[name] then
        assert.same({ name, value }, { name, copy[name] })
      end
    end
    assert.same({ 7, 5, "ready" }, { copy.priority, copy.retries, copy.state })
  end)

  it("that runs at a start is asked for with its own word, its definition or settings", function()
    local files = { ["handlers/tick.lua"] = "return function() end\n",
      ["handlers/tock.lua"] = "return { retry = 'R4/PT1M', priority = 6, category = 'night',\n"
        .. "  run = function() end }\n",
      ["schedules/plain.lua"] = "return { handler = 'tick', at = 'start' }\n",
      ["schedules/defined.lua"] = "return { handler = 'tock', at = 'start' }\n",
      ["schedules/own.lua"] = "return { handler = 'tock', at = 'start', retries = 2,\n"
        .. "  priority = 1, category = 'day', payload = { 1 } }\n" }
    local engine = engines.private(files, { retries = 9 })
    local function asked(name)
      local job = engine:job(engine:run_schedule(name))
      return { job.schedule, job.retries, job.priority, job.category or "none" }
    end
    assert.same({ "plain", 9, 0, "none" }, asked "plain")
    assert.same({ "defined", 4, 6, "night" }, asked "defined")
    assert.same({ "own", 2, 1, "day" }, asked "own")
    engine:close()
  end)

  it("leaves what was done to it in the operation log", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H" }]]
    engine:pause_schedule("tick")
    engine:run_schedule("tick")
    engine:resume_schedule("tick")
    engine:resume_schedule("tick")
    local list = {}
    for _, row in ipairs(engine:operations():list()) do
      list[#list + 1] = ("%s %s %s-%s %d"):format(row.verb, row.entity, row.old, row.new, row.count)
    end
    assert.same({ 'pause_schedule schedule "tick" active-paused 1',
      'run_schedule schedule "tick" nil-job 2 1',
      'resume_schedule schedule "tick" paused-active 1',
      'resume_schedule schedule "tick" active-active 0' }, list)
  end)

  it("is refused by a name that nobody has scheduled", function()
    local engine = open()
    for _, verb in ipairs { "pause_schedule", "resume_schedule", "run_schedule" } do
      assert.same({ nil, 'no schedule "tock"', "not_found" }, { engine[verb](engine, "tock") })
    end
  end)

  it("cannot be run now when its dates are over", function()
    local engine = open [[{ handler = "tick", cycle = "R1/PT1H" }]]
    engine:advance("PT1H")
    engine:drain()
    assert.same({ nil, 'schedule "tick": no job waits (its dates are over, or the job was deleted)',
      "conflict" }, { engine:run_schedule("tick") })
  end)

  it("tells why an occurrence waits for the run before it", function()
    local engine = open [[{ handler = "tick", cycle = "R/PT1H", overlap = "queue" }]]
    local other, why = open(), nil
    long_run(engine, other, function()
      why = other:why(2)
    end)
    assert.equal('job 2 waits for job 1, the run of its schedule "tick" before it', why)
  end)

  it("takes a changed overlap or catch_up over, and keeps its dates", function()
    open [[{ handler = "tick", cycle = "R/PT1H" }]]
    clock:advance("PT30M")
    local engine = open [[{ handler = "tick", cycle = "R/PT1H", overlap = "queue" }]]
    assert.equal("1 01:00 scheduled", due(engine))
    assert.equal("queue", engine:schedules()[1].overlap)
  end)

  it("refuses values that mean nothing", function()
    local function refuses(text, message)
      os.execute(("mkdir -p '%s/schedules'"):format(folder))
      local file = assert(io.open(folder .. "/schedules/tick.lua", "w"))
      file:write("return { handler = 'tick', cycle = 'R/PT1H',\n ", text, " }\n")
      file:close()
      local engine, said = moonshift.open { store = store, scripts = folder, clock = clock }
      assert.is_nil(engine)
      assert.equal("schedules/tick.lua:2: " .. message, said)
    end
    refuses("overlap = 'later'", 'overlap "later": expected "skip", "queue" or "replace"')
    refuses("jitter = 'P1M'", 'jitter "P1M": expected a duration without months')
    refuses("catch_up = 0, misfire = 'all'",
      "catch_up 0: expected a whole number from 1 to 10000")
    refuses("catch_up = 3", 'catch_up: expected misfire = "all" beside it')
  end)
end)

describe("a cycle that is no schedule", function()
  it("has no overlap, jitter or catch_up", function()
    local engine = testing.engine { handlers = { tick = function() end } }
    assert.same({ nil, 'job: unknown key "overlap"', "invalid" },
      { engine:enqueue("tick", {}, { cycle = "R/PT1H", overlap = "skip" }) })
    engine:close()
  end)
end)
