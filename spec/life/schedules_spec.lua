-- What the files in schedules/ declare, and what loading a folder makes of it.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"

local function write(path, text)
  os.execute(("mkdir -p '%s'"):format(path:match("^(.+)/")))
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

local function base_name(path)
  return path:match("([^/]+)$")
end

local HANDLER = "return function() end\n"

describe("a schedule", function()
  local folder, store, opened

  before_each(function()
    folder = engines.folder {
      ["handlers/tick.lua"] = HANDLER,
      ["handlers/tock.lua"] = HANDLER,
      ["handlers/rated.lua"] = "return { run = function() end, priority = function(job)\n"
        .. "  return job.payload.n end }\n",
    }
    store = "sqlite:" .. engines.folder({}) .. "/jobs.db"
    opened = {}
  end)

  after_each(function()
    for _, engine in ipairs(opened) do
      engine:close()
    end
    engines.clean()
  end)

  local function declare(name, text)
    write(folder .. "/schedules/" .. name .. ".lua", "return " .. text .. "\n")
  end

  local function forget(name)
    os.remove(folder .. "/schedules/" .. name .. ".lua")
  end

  -- One more engine on the store, at an instant of the first of January.
  local function load_folder(at)
    local clock = moonshift.clock.virtual("2026-01-01T" .. (at or "00:00") .. ":00Z")
    local engine, message, code = moonshift.open { store = store, scripts = folder, clock = clock }
    opened[#opened + 1] = engine
    return engine, message, code
  end

  -- "id due" of each job.
  local function jobs(engine)
    local list = {}
    for _, job in ipairs(engine:jobs():list()) do
      list[#list + 1] = ("%d %s"):format(job.id, (job.due or "none"):sub(12, 16))
    end
    return table.concat(list, ", ")
  end

  it("alone says when its job runs", function()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H" }]])
    local engine = load_folder()
    local touched, message, code = engine:set_cycle(1, "R/PT2H")
    assert.is_nil(touched)
    assert.equal('job 1: the schedule "hourly" says when: change its file', message)
    assert.equal("conflict", code)
    assert.equal("R/PT1H", engine:job(1)["repeat"])
  end)

  it("is a job of its handler once the folder is loaded", function()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H", payload = { n = 1 }, priority = 7,
      lane = "a", tenant = "t", category = "c", retries = 2, misfire = "all" }]])
    local engine = load_folder()
    local job = engine:jobs():one()
    assert.equal("tick", job.handler)
    assert.equal("timer", job.type)
    assert.equal("2026-01-01T01:00:00.000Z", job.due)
    assert.same({ 1, 7, "a", "t", "c", 2 },
      { job.payload.n, job.priority, job.lane, job.tenant, job.category, job.retries })
  end)

  it("is in the zone of the settings, and follows a change of it", function()
    local file = io.open(folder .. "/moonshift.lua", "w")
    file:write('return { zone = "Europe/Berlin" }')
    file:close()
    declare("daily", [[{ handler = "tick", cycle = "0 8 * * *" }]])
    declare("own", [[{ handler = "tick", cycle = "0 8 * * *", zone = "UTC" }]])
    local dates = {}
    for _, row in ipairs(load_folder():schedules()) do
      dates[row.name] = row.zone .. " " .. row.next
    end
    assert.same({ daily = "Europe/Berlin 2026-01-01T07:00:00.000Z",
      own = "UTC 2026-01-01T08:00:00.000Z" }, dates)
    os.remove(folder .. "/moonshift.lua")
    assert.equal("UTC 2026-01-01T08:00:00.000Z", (function(row)
      return row.zone .. " " .. row.next
    end)(load_folder():schedules()[1]))
  end)

  it("is shown with its next date, in UTC and in its zone", function()
    declare("daily", [[{ handler = "tick", cycle = "0 8 * * *", zone = "Europe/Berlin" }]])
    local engine = load_folder()
    assert.same({
      name = "daily",
      handler = "tick",
      cycle = "0 8 * * *",
      zone = "Europe/Berlin",
      misfire = "once",
      overlap = "skip",
      paused = false,
      next = "2026-01-01T07:00:00.000Z",
      next_local = "2026-01-01T08:00:00.000+01:00",
      job = 1,
      source = base_name(folder),
    }, engine:schedules()[1])
  end)

  it("tells when it ran last, and waits with its next job", function()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H" }]])
    local engine = load_folder()
    engine:advance("PT1H10M")
    engine:drain()
    local schedule = engine:schedules()[1]
    assert.equal("2026-01-01T01:10:00.000Z", schedule.last)
    assert.equal("2026-01-01T02:00:00.000Z", schedule.next)
    assert.equal(engine:jobs():one().id, schedule.job)
  end)

  it("goes on when the same folder is loaded again", function()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H" }]])
    load_folder()
    assert.equal("1 01:00", jobs(load_folder("00:30")))
    local engine = load_folder("01:00")
    engine:drain()
    assert.equal("2 02:00", jobs(load_folder("01:30")))
  end)

  it("stays as it is when another file of the folder changes", function()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H" }]])
    load_folder()
    write(folder .. "/handlers/tick.lua", HANDLER .. "-- new\n")
    declare("daily", [[{ handler = "tick", cycle = "@daily" }]])
    assert.equal("1 01:00, 2 00:00", jobs(load_folder("00:30")))
  end)

  it("gives its waiting job a changed payload, priority or number of retries", function()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H", payload = { n = 1 } }]])
    load_folder()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H", payload = { n = 2 }, priority = 5,
      retries = 9 }]])
    local engine = load_folder("00:30")
    local job = engine:jobs():one()
    assert.equal("1 01:00", jobs(engine))
    assert.same({ 2, 5, 9 }, { job.payload.n, job.priority, job.retries })
    engine:advance("PT30M")
    engine:drain()
    job = engine:jobs():one()
    assert.same({ 2, 5, 9 }, { job.payload.n, job.priority, job.retries })
  end)

  it("takes the priority that its handler's function gives", function()
    declare("hourly", [[{ handler = "rated", cycle = "R/PT1H", payload = { n = 3 } }]])
    assert.equal(3, load_folder():jobs():one().priority)
    declare("hourly", [[{ handler = "rated", cycle = "R/PT1H", payload = { n = 4 } }]])
    assert.equal(4, load_folder():jobs():one().priority)
  end)

  it("leaves an operator's priority alone while the file says the same", function()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H", priority = 5 }]])
    load_folder():set_priority(1, 8)
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H", priority = 5, payload = { n = 1 } }]])
    assert.equal(8, load_folder():jobs():one().priority)
  end)

  it("has the priority of its file, whatever overrides its handler's", function()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H", priority = 5 }]])
    load_folder():definition("tick"):override_priority(9)
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H", priority = 6 }]])
    assert.equal(6, load_folder():jobs():one().priority)
  end)

  it("begins anew when its cycle, zone, policy or handler changes", function()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H" }]])
    load_folder()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT2H" }]])
    assert.equal("2 02:30", jobs(load_folder("00:30")))
    declare("hourly", [[{ handler = "tock", cycle = "R/PT2H" }]])
    local engine = load_folder("00:30")
    assert.equal("3 02:30", jobs(engine))
    assert.equal("tock", engine:jobs():one().handler)
    assert.equal(1, #engine:schedules())
  end)

  it("goes with its waiting job when its file goes", function()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H" }]])
    load_folder()
    forget("hourly")
    local engine = load_folder("00:30")
    assert.equal("", jobs(engine))
    assert.same({}, engine:schedules())
  end)

  it("leaves its running and failed jobs to end by themselves", function()
    write(folder .. "/handlers/tick.lua", "return function() error('no') end\n")
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H", retries = 1 }]])
    local engine = load_folder()
    engine:advance("PT1H")
    engine:drain()
    assert.equal("1 01:00, 2 02:00", jobs(engine))
    forget("hourly")
    assert.equal("1 01:00", jobs(load_folder("01:30")))
  end)

  it("is over after its last date, also for those who load it later", function()
    declare("twice", [[{ handler = "tick", cycle = "R2/2026-01-01T01:00:00Z/PT1H" }]])
    local engine = load_folder()
    for _ = 1, 3 do
      engine:advance("PT1H")
      engine:drain()
    end
    assert.equal("", jobs(engine))
    local again = load_folder("05:00")
    assert.equal("", jobs(again))
    assert.is_nil(again:schedules()[1].next)
  end)

  it("that is over does not begin again when another file of the folder changes", function()
    declare("twice", [[{ handler = "tick", cycle = "R2/PT1H" }]])
    local engine = load_folder()
    for _ = 1, 3 do
      engine:advance("PT1H")
      engine:drain()
    end
    write(folder .. "/handlers/tick.lua", HANDLER .. "-- new\n")
    local again = load_folder("05:00")
    assert.same({ "", nil }, { jobs(again), again:schedules()[1].next })
  end)

  it("comes back with the next load when its waiting job was deleted or made dead", function()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H" }]])
    load_folder():delete(1)
    local engine = load_folder("00:30")
    assert.equal("2 01:30", jobs(engine))
    engine:set_retries(2, 0)
    assert.equal("2 01:30, 3 01:40", jobs(load_folder("00:40")))
  end)

  it("stays suspended when its waiting job is replaced", function()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H" }]])
    load_folder():suspend(1)
    declare("hourly", [[{ handler = "tick", cycle = "R/PT2H" }]])
    assert.is_true(load_folder():jobs():one().suspended)
  end)

  it("is refused when it belongs to a folder of another name", function()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H" }]])
    load_folder()
    local first = base_name(folder)
    folder = engines.folder { ["handlers/tick.lua"] = HANDLER }
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H" }]])
    local engine, message, code = load_folder()
    assert.is_nil(engine)
    assert.equal("conflict", code)
    assert.equal(('schedule "hourly" belongs to the scripts "%s" (expected another name in "%s",'
      .. " or the other folder loaded once without it)"):format(first, base_name(folder)),
      message)
  end)

  it("leaves the schedules of folders of other names alone", function()
    declare("hourly", [[{ handler = "tick", cycle = "R/PT1H" }]])
    load_folder()
    folder = engines.folder { ["handlers/tick.lua"] = HANDLER }
    declare("daily", [[{ handler = "tick", cycle = "@daily" }]])
    assert.equal(2, #load_folder():schedules())
  end)

  describe("is refused", function()
    local function refuses(text, message)
      declare("bad", text)
      local engine, said, code = load_folder()
      assert.is_nil(engine)
      assert.equal("config", code)
      assert.equal("schedules/bad.lua:" .. message, said)
    end

    it("without a handler that the folder has", function()
      refuses([[{ cycle = "R/PT1H" }]], "1: handler is missing (expected the name of a handler)")
      refuses('{\n handler = "tic", cycle = "R/PT1H" }',
        '2: unknown handler "tic" (did you mean "tick"?)')
    end)

    it("without a cycle, or with one that is not readable", function()
      refuses([[{ handler = "tick" }]],
        '1: cycle is missing (expected one such as "0 8 * * *" or "R/PT5M")')
      refuses('{\n handler = "tick",\n cycle = "61 * * * *" }',
        '3: cron "61 * * * *": minute 61 is not in 0-59 (position 1)')
    end)

    it("with a key or a value that means nothing", function()
      refuses('{\n handler = "tick", cycle = "R/PT1H",\n zon = "UTC" }',
        '3: unknown key "zon" (did you mean "zone"?)')
      refuses('{\n handler = "tick", cycle = "R/PT1H",\n priority = "high" }',
        '3: priority "high": expected a whole number of 64 bits')
    end)

    it("if it is no table", function()
      refuses("5", "1: returned 5 (expected a table with handler and cycle)")
    end)
  end)
end)
