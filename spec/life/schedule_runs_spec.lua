-- What is known of the runs of a schedule, when they have gone on or failed.
local engines = require "spec.support.engines"

describe("a run of a schedule", function()
  local engine

  local function open(settings)
    local given = { retry = "R1/PT1S", notify = { incident = "alerts/incident" } }
    for key, value in pairs(settings or {}) do
      given[key] = value
    end
    engine = engines.private({
      ["handlers/shell.lua"] = [[return function(job)
        if job.payload.fails then error(job.schedule .. " has no disk", 0) end
        return job.schedule
      end]],
      ["handlers/alerts/incident.lua"] = "return function() end",
      ["schedules/backup.lua"] = [[return { handler = "shell", cycle = "R/PT1H",
        payload = { fails = true } }]],
      ["schedules/report.lua"] = [[return { handler = "shell", cycle = "R/PT1H" }]],
    }, given)
  end

  after_each(function()
    engine:close()
    engines.clean()
  end)

  local function runs(query)
    local names = {}
    for _, row in ipairs(query:list()) do
      names[#names + 1] = row.schedule or "none"
    end
    table.sort(names)
    return table.concat(names, " ")
  end

  it("keeps the schedule's name when it is taken, and so do jobs, log and incidents", function()
    open()
    engine:enqueue("shell", { fails = true }, { retries = 1 })
    engine:advance("PT1H")
    engine:drain()
    assert.equal("backup backup report", runs(engine:jobs { schedule = { "backup", "report" } }))
    assert.equal("dead", engine:jobs({ schedule = "backup", state = "dead" }):one().state)
    assert.equal("report", engine:log({ schedule = "report", outcome = "successful" }):one().result)
    assert.equal("backup", engine:log({ schedule = "backup", outcome = "failed" }):one().schedule)
    assert.equal("backup backup", runs(engine:log { schedule = "backup", outcome = "created" }))
    local incident = engine:incidents({ schedule = "backup" }):one()
    assert.equal("backup has no disk", incident.message)
    assert.equal("backup none", runs(engine:incidents()))
  end)

  it("that was asked for has the name, too, and what it creates has not", function()
    open()
    local id = engine:run_schedule("report")
    assert.equal("report", engine:job(id).schedule)
    engine:drain()
    assert.equal(id, engine:log({ schedule = "report", outcome = "successful" }):one().job)
  end)

  it("tells people by the schedule: two of one handler are two causes", function()
    open()
    engine:enqueue("shell", { fails = true }, { retries = 1 })
    engine:advance("PT1H")
    engine:drain()
    local causes = {}
    local told = engine:log { handler = "alerts/incident", outcome = "created" }
    for _, entry in ipairs(told:list()) do
      causes[#causes + 1] = entry.job
    end
    assert.equal(2, #causes)
  end)

  -- "job count ended" of each incident of backup.
  local function incidents()
    local list = {}
    for _, one in ipairs(engine:incidents({ schedule = "backup" }):list()) do
      list[#list + 1] = ("%d %d %s"):format(one.job, one.count, one.ended and one.how or "open")
    end
    return table.concat(list, ", ")
  end

  local function fail_again()
    engine:advance("PT1H")
    engine:drain()
    return engine:jobs({ schedule = "backup", state = "dead" }):list()
  end

  it("that fails is counted by the open incident of its schedule", function()
    open()
    local first = fail_again()[1].id
    local opened = engine:incidents():one()
    assert.is_nil(opened.seen)
    assert.equal(2, #fail_again())
    local dead = fail_again()
    assert.equal(3, #dead)
    assert.equal(dead[3].id .. " 3 open", incidents())
    local one = engine:incidents():one()
    assert.same({ opened.id, opened.created, "2026-01-01T03:00:00.000Z" },
      { one.id, one.created, one.seen })
    assert.equal(one.id, select(2, engine:why(first)).incident)
  end)

  it("leaves the incident to the others that are dead, and the last ends it", function()
    open()
    fail_again()
    fail_again()
    local dead = fail_again()
    engine:delete(dead[3].id)
    assert.equal(dead[2].id .. " 3 open", incidents())
    engine:delete(dead[1].id)
    assert.equal(dead[2].id .. " 3 open", incidents())
    engine:retry(dead[2].id)
    assert.equal(dead[2].id .. " 3 resolved", incidents())
    engine:drain()
    assert.equal(dead[2].id .. " 3 resolved, " .. dead[2].id .. " 1 open", incidents())
  end)

  it("that is resolved by hand leaves the next failure to another incident", function()
    open()
    local first = fail_again()[1].id
    engine:resolve(engine:incidents():one().id)
    local second = fail_again()[2].id
    assert.equal(("%d 1 resolved, %d 1 open"):format(first, second), incidents())
  end)

  it("keeps its name over retries, snoozes, and the end of the schedule", function()
    open { retry = "R2/PT1M" }
    engine:advance("PT1H")
    engine:drain()
    local failed = engine:jobs { schedule = "backup", with_exception = true }
    assert.equal("backup", failed:one().schedule)
    engine:advance("PT1M")
    engine:drain()
    assert.equal("backup backup", runs(engine:log { schedule = "backup", outcome = "failed" }))
  end)
end)
