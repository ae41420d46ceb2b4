-- Releases behind a link, as capistrano and the like lay them out: shop/current -> releases/3. They
-- are one folder, called shop (rules §13).
local executors = require "spec.support.executors"
local process = require "spec.support.process"

describe("a folder of releases behind a link", function()
  local place, dir

  local function release(number, files)
    for name, text in pairs(files) do
      place.write(("shop/releases/%d/%s"):format(number, name), text)
    end
  end

  local function link(number)
    os.execute(("cd %s/shop && ln -sfn releases/%d current"):format(dir, number))
  end

  local function work(limit)
    return { ["handlers/work.lua"] =
      ("return { limit = %d, run = function() end }\n"):format(limit) }
  end

  local function scheduled(limit)
    local files = work(limit)
    files["schedules/tick.lua"] = "return { handler = 'work', cycle = 'R/P1D' }\n"
    return files
  end

  before_each(function()
    place = executors.place()
    dir = place.path
    release(1, scheduled(1))
    release(2, scheduled(2))
    release(3, work(3))
    link(1)
  end)

  after_each(function()
    place.remove()
  end)

  local function run(name, ...)
    local pid = place.start(name, "run", dir .. "/shop/current", "--name", name, "--log-format",
      "logfmt", ...)
    process.await("the executor", 30, function()
      return place.sql(("SELECT 1 FROM executor WHERE name='%s' AND state=1"
        .. " AND CAST(json_extract(settings, '$.deployment') AS INTEGER)>0"):format(name))[1]
    end)
    return pid
  end

  local function reload(pid, name, number)
    local _, before = place.log(name):gsub('event="folder loaded"', "")
    link(number)
    process.kill(pid, "HUP")
    place.logged('event="folder loaded"', before + 1, name)
  end

  local function names()
    return place.sql("SELECT DISTINCT name FROM deployment ORDER BY name")
  end

  -- The limit that counts, and the names of the schedules.
  local function counts()
    return table.concat(place.sql("SELECT json_extract(properties, '$.limit') FROM definition"
      .. " WHERE name='work' UNION ALL SELECT name || ' of ' || source FROM schedule"), ", ")
  end

  it("goes from release to release, and back, under one name", function()
    local pid = run("one")
    assert.equal("1, tick of shop", counts())
    reload(pid, "one", 2)
    assert.equal("2, tick of shop", counts())
    reload(pid, "one", 3)
    assert.equal("3", counts())
    reload(pid, "one", 2)
    assert.equal("2, tick of shop", counts())
    assert.same({ "shop" }, names())
  end)

  it("is the same on three nodes that go one after the other, aware of deployments", function()
    local pids = {}
    for i, name in ipairs { "one", "two", "three" } do
      pids[i] = run(name, "--deployment-aware", "true")
    end
    for i, name in ipairs { "one", "two", "three" } do
      reload(pids[i], name, 2)
      place.moonshift("enqueue", "work", "-C", dir .. "/shop/current")
    end
    assert.equal("2, tick of shop", counts())
    assert.same({ "shop" }, names())
    process.await("the jobs", 30, function()
      return place.sql("SELECT count(*) FROM ended")[1] == "3"
    end)
  end)

  it("takes over what was deployed under the names of its releases", function()
    for _, number in ipairs { 1, 3 } do
      place.moonshift("run", dir .. "/shop/releases/" .. number, "--name", "one", "--drain")
    end
    place.moonshift("enqueue", "work", "-C", dir .. "/shop/releases/3")
    assert.same({ "1", "3" }, names())
    link(2)
    run("one", "--deployment-aware", "true")
    assert.same({ "shop" }, names())
    assert.equal("2, tick of shop", counts())
    assert.matches('event="deployments renamed" folder=shop', place.log("one"), 1, true)
    process.await("the job of before", 30, function()
      return place.sql("SELECT count(*) FROM ended")[1] == "1"
    end)
  end)

  it("leaves a deployment that a live executor has its name", function()
    local pid = place.start("old", "run", dir .. "/shop/releases/1", "--log-format", "logfmt")
    place.logged("event=started", 1, "old")
    link(2)
    run("one")
    assert.same({ "1", "shop" }, names())
    assert.equal("2, tick of shop", counts())
    place.stop(pid)
  end)

  it("keeps the newer of two with one text, and what belonged to the other one", function()
    release(4, work(3))
    place.moonshift("deploy", dir .. "/shop/releases/3")
    place.moonshift("deploy", dir .. "/shop/releases/4")
    place.moonshift("enqueue", "work", "-C", dir .. "/shop/releases/4")
    link(4)
    place.moonshift("deploy", dir .. "/shop/current")
    assert.same({ "2 shop" }, place.sql("SELECT id || ' ' || name FROM deployment"))
    assert.same({ "2" }, place.sql("SELECT DISTINCT deployment FROM definition WHERE name='work'"))
    place.moonshift("check", "--store")
  end)

  it("is called as the setting says, wherever it lies", function()
    place.moonshift("deploy", dir .. "/shop/current")
    assert.matches("^sale: ", place.moonshift("run", dir .. "/shop/current", "--deployment", "sale",
      "--active", "false"))
    assert.same({ "sale" }, names())
    assert.equal("1, tick of sale", counts())
  end)

  it("with another name by the setting leaves another application its own", function()
    place.moonshift("deploy", dir .. "/shop/current")
    place.write("other/shop/handlers/else.lua", "return function() end\n")
    place.moonshift("run", dir .. "/other/shop", "--deployment", "sale", "--active", "false")
    assert.same({ "sale", "shop" }, names())
    assert.equal("1, tick of shop", counts())
  end)

  it("is refused beside another application of its name", function()
    run("one")
    place.write("other/shop/handlers/else.lua", "return function() end\n")
    local status, _, errors = process.moonshift("deploy", dir .. "/other/shop", "--store",
      place.url)
    assert.equal(5, status)
    assert.matches('folder "shop": executor "one" ', errors, 1, true)
    assert.matches("by the setting deployment", errors, 1, true)
    assert.equal("1, tick of shop", counts())
  end)

  it("is renamed by hand, unless a live executor has it", function()
    local pid = run("one")
    local status, _, errors = process.moonshift("deployment", "rename", "shop", "sale", "--store",
      place.url)
    assert.equal(5, status)
    assert.matches('deployment "shop" is loaded by executor "one"', errors, 1, true)
    place.stop(pid)
    place.moonshift("deployment", "rename", "shop", "sale")
    assert.same({ "sale" }, names())
    assert.equal("1, tick of sale", counts())
    assert.same({ "shop sale" },
      place.sql("SELECT old || ' ' || new FROM operation WHERE verb='rename_deployment'"))
    status, _, errors = process.moonshift("deployment", "rename", "shop", "x", "--store", place.url)
    assert.equal(4, status)
    assert.matches('no deployment is called "shop"', errors, 1, true)
  end)

  it("has its name from the directory in which it is started, with its links", function()
    local function deployed(folder, ...)
      local words = { ... }
      local _, output = process.run(("cd %s && %s"):format(process.quote(folder),
        process.command("deploy", "--store", place.url, table.unpack(words))))
      return output:match("^(.-):")
    end
    assert.equal("shop", deployed(dir .. "/shop/current", "."))
    assert.equal("shop", deployed(dir .. "/shop", "current"))
    assert.equal("shop", deployed(dir .. "/shop", "current/"))
    assert.equal("shop", deployed(dir, "shop/./current/."))
    assert.equal("3", deployed(dir, "shop/releases/3"))
  end)
end)
