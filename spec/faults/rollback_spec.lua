-- Folders of one name in several versions (rules §13): which of them counts while nodes have
-- different ones, and how an older one is taken back.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

describe("of two folders of one name", function()
  local place, dir, store

  local function version(name, limit, cycle)
    place.write(name .. "/shop/handlers/work.lua",
      ("return { limit = %d, run = function() end }\n"):format(limit))
    place.write(name .. "/shop/schedules/tick.lua",
      ("return { handler = 'work', cycle = '%s' }\n"):format(cycle))
  end

  before_each(function()
    place = executors.place()
    dir, store = place.path, place.store
    version("old", 1, "R/P1D")
    version("new", 9, "R/P2D")
  end)

  after_each(function()
    place.remove()
  end)

  local function deploy(name)
    return place.moonshift("deploy", dir .. "/" .. name .. "/shop")
  end

  -- Runs an executor until it has told the store what it has.
  local function run(name, ...)
    local log = ("%s-%d.log"):format(name, #place.pids)
    local pid = place.start(log, "run", dir .. "/" .. name .. "/shop", "--name", name,
      "--log-format", "logfmt", ...)
    process.await("the executor", 30, function()
      return process.sql(store, ("SELECT 1 FROM executor WHERE name='%s' AND state=1"
        .. " AND CAST(json_extract(settings, '$.deployment') AS INTEGER)>0"):format(name))[1]
    end)
    return pid, function() return place.log(log) end
  end

  -- The limit of the definition and the cycle of the schedule that count.
  local function counts()
    local rows = process.sql(store, "SELECT json_extract(properties, '$.limit') FROM definition"
      .. " WHERE name='work' UNION ALL SELECT json_extract(spec, '$.cycle') FROM schedule")
    return table.concat(rows, " ")
  end

  local function rollbacks()
    return process.sql(store, "SELECT entity || ' ' || old || ' ' || new FROM operation"
      .. " WHERE verb='rollback' ORDER BY id")
  end

  it("the newer one counts while a live executor has it, and the older one is served", function()
    deploy("old")
    run("new")
    assert.equal("9 R/P2D", counts())
    local _, log = run("old")
    assert.matches('event="a live executor has a newer folder: definitions and schedules stay" '
      .. "folder=shop deployment=1 newer=2", log(), 1, true)
    assert.equal("9 R/P2D", counts())
    place.moonshift("enqueue", "work", "-C", dir .. "/old/shop")
    assert.equal("9 R/P2D", counts())
    assert.same({}, rollbacks())
  end)

  it("the older one goes by itself a day after the newer one came", function()
    deploy("old")
    deploy("new")
    process.change(store, "UPDATE deployment SET loaded=loaded-90000000")
    local _, log = run("new")
    process.await("the end of the older one", 30, function()
      return log():find('event="old deployment removed" deployment=1', 1, true)
    end)
    assert.same({ "2" }, process.sql(store, "SELECT id FROM deployment"))
    assert.same({ "2" }, process.sql(store, "SELECT DISTINCT deployment FROM deployment_file"))
  end)

  it("the older one cannot be deleted while a live executor has it", function()
    deploy("old")
    run("new")
    local pid = run("old")
    local status, _, errors = process.moonshift("deployment", "delete", "1", "--store",
      place.url)
    assert.equal(5, status)
    assert.matches('moonshift: deployment 1 is loaded by executor "old" (', errors, 1, true)
    place.stop(pid)
    place.moonshift("deployment", "unregister", "1", "--name", "old")
    place.moonshift("deployment", "unregister", "1") -- of deploy
    place.moonshift("deployment", "delete", "1")
    assert.equal("9 R/P2D", counts())
  end)

  it("the older one is taken back by an executor that is alone, as a rollback", function()
    deploy("old")
    deploy("new")
    local pid, log = run("old")
    assert.equal("1 R/P1D", counts())
    assert.matches('event="rolled back to an older folder" folder=shop deployment=1 newer=2', log(),
      1, true)
    assert.same({ 'folder "shop" deployment 2 deployment 1' }, rollbacks())
    place.stop(pid)
    run("old")
    assert.equal(1, #rollbacks())
  end)

  it("the older one is taken back by an executor that comes after one that was killed", function()
    deploy("old")
    local pid = run("new")
    process.kill(pid, "KILL")
    process.await_end(pid, 30)
    run("old")
    assert.equal("1 R/P1D", counts())
  end)

  it("the older one is taken back by deploy, whoever has the newer one", function()
    deploy("old")
    run("new")
    assert.matches("rolled back from deployment 2", deploy("old"), 1, true)
    assert.equal("1 R/P1D", counts())
    assert.same({ 'folder "shop" deployment 2 deployment 1' }, rollbacks())
  end)

  it("the older one is taken back by whoever watches it, also as an edit is undone", function()
    deploy("old")
    run("new")
    local _, log = run("old", "--watch")
    assert.matches('event="rolled back to an older folder"', log(), 1, true)
    assert.equal("1 R/P1D", counts())
    for _, limit in ipairs { 5, 1 } do
      version("old", limit, "R/P1D")
      process.await("the limit", 30, function()
        return counts() == limit .. " R/P1D"
      end)
    end
  end)

  local function await_counts(expected)
    process.await(expected, 60, function()
      return counts() == expected
    end)
  end

  it("the older one counts once the executor with the newer one has left", function()
    deploy("old")
    local pid = run("new")
    local _, log = run("old")
    assert.equal("9 R/P2D", counts())
    place.stop(pid)
    await_counts("1 R/P1D")
    assert.matches('event="rolled back to an older folder" folder=shop deployment=1 newer=2', log(),
      1, true)
    assert.same({ 'folder "shop" deployment 2 deployment 1' }, rollbacks())
  end)

  it("the older one counts once the executor with the newer one was killed", function()
    deploy("old")
    local pid = run("new")
    run("old")
    process.kill(pid, "KILL")
    await_counts("1 R/P1D")
  end)

  it("the older one counts where all executors go back to it at one moment", function()
    deploy("old")
    version("old", 9, "R/P2D")
    local first, second = run("old"), run("old", "--name", "other")
    for _ = 1, 3 do
      await_counts("9 R/P2D")
      version("old", 1, "R/P1D")
      process.kill(first, "HUP")
      process.kill(second, "HUP")
      await_counts("1 R/P1D")
      version("old", 9, "R/P2D")
      process.kill(first, "HUP")
      process.kill(second, "HUP")
    end
  end)

  it("the newer one counts again as soon as somebody starts with it", function()
    deploy("old")
    deploy("new")
    run("old")
    assert.equal("1 R/P1D", counts())
    run("new")
    assert.equal("9 R/P2D", counts())
    assert.equal(1, #rollbacks())
  end)
end)
