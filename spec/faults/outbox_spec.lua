-- Jobs from transactions of other programs on a server: each that is committed becomes a job once,
-- by one of several executors, whatever dies. No other one does.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local pages = require "spec.support.pages"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

local testing = os.getenv("SPEC_TESTING") or "build/testing/moonshift"

-- A line for each run.
local work = [[
return function(job)
  local file = assert(io.open("PLACE/runs", "a"))
  file:write(job.id, " ", job.priority, " ", tostring(job.payload), "\n")
  file:close()
end
]]

local rated = [[
return {
  priority = function(job) return job.payload.priority end,
  unique = function(job) return job.payload.key end,
  run = function() end,
}
]]

describe("jobs from transactions of other programs", function()
  if not postgres.programs() then
    it("are made once they are committed", function()
      return pending("no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server, standby, place

  local function sql(text, role, name)
    local path = place.path .. "/" .. (name or "sql")
    local file = assert(io.open(path, "w"))
    file:write(text, "\n")
    file:close()
    local line = ("%s/psql -XqAt -v VERBOSITY=terse -d '%s' -f %s"):format(server.programs,
      (place.url:gsub("&schema=%a+", ""):gsub("owner@", role .. "@")), path)
    return line
  end

  -- What a role is told, lines of rows and errors.
  local function say(text, role)
    local _, output, errors = process.run(sql(text, role or "caller"))
    return output .. errors
  end

  local function rows(statement, which)
    return postgres.rows(which or server, "jobs", statement)
  end

  local function start(with_standby)
    server = postgres.start()
    standby = with_standby and postgres.standby(server)
    place = executors.place {}
    place.url = standby and postgres.urls({ server, standby }, "jobs")
      or postgres.url(server, "jobs")
    place.write("handlers/work.lua", (work:gsub("PLACE", place.path)))
    place.write("handlers/rated.lua", rated)
    place.write("runs", "")
    place.moonshift("store", "create")
    assert.equal("", say("CREATE ROLE caller LOGIN; CREATE TABLE fate(n text);"
      .. "GRANT INSERT ON fate TO caller;", "owner"))
    assert.equal("", say(place.moonshift("store", "functions", "--enqueuer", "caller"), "owner"))
  end

  after_each(function()
    place.remove()
    postgres.stop(server)
  end)

  local function runs()
    local list = {}
    for line in place.log("runs"):gmatch("[^\n]+") do
      list[#list + 1] = line
    end
    return list
  end

  local function await_none(which)
    process.await("no row and no job is left", 60, function()
      return rows("SELECT (SELECT count(*) FROM job)+(SELECT count(*) FROM outbox)", which)[1]
        == "0"
    end)
  end

  it("are made as they are committed, and leave nothing behind a rollback", function()
    start()
    place.executor("--workers", "3")
    assert.equal("1\n", say [[SELECT jobs.enqueue('work', '1');]])
    say [[BEGIN; SELECT jobs.enqueue('work', '2'); ROLLBACK;]]
    say [[BEGIN; SELECT jobs.enqueue('work', '3', '{"priority": 7}'); SAVEPOINT s;
      SELECT jobs.enqueue('work', '4'); ROLLBACK TO s; SELECT jobs.enqueue('work', '5'); COMMIT;]]
    say [[SELECT jobs.enqueue('rated', '{"priority": 5, "key": "a"}');]]
    process.await("three runs", 20, function() return #runs() == 3 end)
    await_none()
    local list = runs()
    for i, line in ipairs(list) do
      list[i] = line:gsub("^%d+ ", "")
    end
    table.sort(list)
    assert.same({ "0 1", "0 5", "7 3" }, list)
    assert.same({ "rated|5" },
      rows("SELECT d.name, e.priority FROM ended e JOIN stream s ON s.id=e.stream"
        .. " JOIN definition d ON d.id=s.definition WHERE d.name='rated'"))
    assert.truthy(place.moonshift("check", "--store"):find("nothing is wrong", 1, true))
  end)

  it("have defaults, checks and functions of their definitions", function()
    start()
    say [[SELECT jobs.enqueue('rated', '{"priority": 5, "key": "a"}', '{"after": "PT1H"}');
      SELECT jobs.enqueue('rated', '{"priority": 6, "key": "a"}');
      SELECT jobs.enqueue('work', NULL, '{"at": "2100-01-01T00:00:00Z", "tenant": "acme"}');]]
    place.moonshift("run", "-C", place.path, "--drain")
    assert.same({ "5||PT1H", "0|acme|2100-01-01T00:00:00Z" },
      rows("SELECT priority, tenant, term FROM job ORDER BY id"))
    assert.same({}, rows("SELECT * FROM outbox"))
    assert.same({ "t" }, rows("SELECT due-created<=3600000 FROM job WHERE term='PT1H'"))
  end)

  it("are made by a program that drains its engine", function()
    start()
    local engine <close> = assert(moonshift.open { store = place.url, scripts = place.path })
    engine:drain()
    say [[SELECT jobs.enqueue('work', '1'); SELECT jobs.enqueue('rated', '{"priority": 5}');]]
    assert.same({ done = 2, failed = 0 }, engine:drain())
    say [[SELECT jobs.enqueue('work', '2');]]
    assert.equal(0, engine:turn().wait)
    assert.equal(1, engine:turn().done)
    assert.same({ "1 0 1", "3 0 2" }, runs())
  end)

  it("keep the order in which they are committed", function()
    start()
    -- The first waits with its commit for the second, which begins once it waits.
    local first = process.quote(sql([[BEGIN; SELECT jobs.enqueue('work', '"early"');
      SELECT pg_advisory_lock(1); COMMIT;]], "owner", "first"))
    local second = sql([[SELECT pg_advisory_lock(1);
      \! sh -c ]] .. first .. [[ >/dev/null 2>&1 &
      DO $$ BEGIN WHILE NOT EXISTS(SELECT 1 FROM pg_locks WHERE locktype='advisory'
        AND NOT granted) LOOP PERFORM pg_sleep(0.01); END LOOP; END $$;
      SELECT jobs.enqueue('work', '"late"'); SELECT pg_advisory_unlock(1);]], "owner")
    process.run(second)
    process.await("both rows", 20, function()
      return rows("SELECT count(*) FROM outbox")[1] == "2"
    end)
    place.moonshift("run", "-C", place.path, "--drain", "--workers", "1")
    assert.same({ "1 0 late", "2 0 early" }, runs())
  end)

  it("of which no job can be made are incidents that keep the row", function()
    start()
    place.executor()
    say [[SELECT jobs.enqueue('nothing', '1'); SELECT jobs.enqueue('work', '2');
      SELECT jobs.enqueue('work', '3', '{"prio": 1}');
      SELECT jobs.enqueue('moonshift/operate', '{}');
      SELECT jobs.enqueue('rated', '{"priority": "x"}');]]
    local told = say("SELECT jobs.enqueue('work', '3', '[]');")
    assert.truthy(told:find("expected an object", 1, true), told)
    process.await("four incidents", 20, function()
      return rows("SELECT count(*) FROM incident")[1] == "4"
    end)
    local list = place.moonshift("incident", "list", "--type", "refusedRow")
    for _, text in ipairs { 'unknown handler "nothing"', 'unknown key "prio"',
      "names under moonshift/ are reserved", "expected a whole number" } do
      assert.truthy(list:find(text, 1, true), list)
    end
    assert.same({ "nothing|1", "work|3", "moonshift/operate|{}", 'rated|{"priority": "x"}' },
      rows("SELECT handler, payload FROM outbox ORDER BY place"))
    place.write("handlers/nothing.lua", (work:gsub("PLACE", place.path)))
    process.kill(place.pids[1], "HUP")
    process.await("the folder", 20, function()
      return place.log():find("folder loaded", 1, true)
    end)
    local id = list:match("(%d+)%s+refusedRow[^\n]*nothing")
    place.moonshift("incident", "resolve", id)
    process.await("the run of a row that was tried again", 20, function() return #runs() == 2 end)
    assert.same({ "3" }, rows("SELECT count(*) FROM outbox"))
  end)

  it("are asked for as the page shows", function()
    start()
    say("CREATE TABLE orders(id int, customer text); CREATE ROLE billing LOGIN;", "owner")
    place.url = postgres.url(server, "moonshift")
    place.moonshift("store", "create")
    say(place.moonshift("store", "functions", "--enqueuer", "caller"), "owner")
    for _, section in ipairs(pages.read("docs/transactions.md").sections) do
      for _, block in ipairs(section.blocks) do
        local told = block.language == "sql" and say(block.text, "owner") or ""
        assert.truthy(told:find("^%d*\n?$"), told)
      end
    end
    say("INSERT INTO orders VALUES(1, 'acme');", "owner")
    place.moonshift("run", "-C", place.path, "--drain")
    assert.same({ "ship|{\"order\": 1042}", "remind|{\"order\": 1042}", "ship|{\"order\": 1}" },
      postgres.rows(server, "moonshift", "SELECT handler, payload FROM outbox ORDER BY place"))
  end)

  it("let a role enqueue and do nothing else", function()
    start()
    for _, statement in ipairs { "SELECT * FROM jobs.outbox", "INSERT INTO jobs.outbox VALUES(1)",
      "DELETE FROM jobs.outbox", "SELECT * FROM jobs.job", "SELECT jobs.outbox_place()" } do
      assert.truthy(say(statement .. ";"):find("permission denied", 1, true), statement)
    end
    say("CREATE ROLE other LOGIN; GRANT USAGE ON SCHEMA jobs TO other;", "owner")
    assert.truthy(say("SELECT jobs.enqueue('work');", "other"):find("permission denied", 1, true))
  end)

  for _, point in ipairs { "enqueue_accepted", "create_begun", "enqueue_committed" } do
    it("are made once although an executor dies at " .. point, function()
      start()
      say("SELECT jobs.enqueue('work', to_jsonb(n)) FROM generate_series(1, 50) n;")
      local status = process.run(("env CRASH_AT=%s:1 %s run --store '%s' -C %s --state-dir %s")
        :format(point, testing, place.url, place.path, place.path))
      assert.equal(137, status)
      place.moonshift("run", "-C", place.path, "--drain")
      assert.equal(50, #runs())
      assert.same({ "50" }, rows("SELECT count(DISTINCT job) FROM ended"))
      await_none()
    end)
  end

  -- Each transaction notes its own fate in a table: so it is known whatever the client was told.
  local CLIENTS, FILES = 8, 8

  local function transaction(tag)
    local lines = { "BEGIN;" }
    local function add()
      local n = ("%s-%d"):format(tag, #lines)
      lines[#lines + 1] = ([[SELECT jobs.enqueue('work', '"%s"'); INSERT INTO fate VALUES('%s');]])
        :format(n, n)
    end
    for _ = 1, math.random(1, 3) do
      add()
    end
    if math.random(3) == 1 then
      lines[#lines + 1] = "SAVEPOINT s;"
      add()
      lines[#lines + 1] = "ROLLBACK TO s;"
    end
    lines[#lines + 1] = math.random(3) == 1 and "ROLLBACK;" or "COMMIT;"
    return table.concat(lines, "\n")
  end

  -- One program for each file: a connection that is lost ends it, and the next one goes on.
  local function client(number)
    local lines = {}
    for i = 1, FILES do
      local text = {}
      for t = 1, 6 do
        text[t] = transaction(("%d-%d-%d"):format(number, i, t))
      end
      lines[#lines + 1] = sql(table.concat(text, "\n"), "caller",
        ("client-%d-%d"):format(number, i)) .. (" || sleep 0.2; : > %s/done-%d-%d"):format(
        place.path, number, i)
    end
    lines[#lines + 1] = (": > %s/over-%d"):format(place.path, number)
    local path = ("%s/client-%d.sh"):format(place.path, number)
    local file = assert(io.open(path, "w"))
    file:write(table.concat(lines, "\n"), "\n")
    file:close()
    os.execute(("sh %s >/dev/null 2>&1 &"):format(path))
  end

  it("are made once or not at all, from eight clients over a promoted server", function()
    start(true)
    local seed = tonumber(os.getenv("SPEC_SEED")) or os.time()
    math.randomseed(seed)
    postgres.say(server,
      "ALTER SYSTEM SET synchronous_standby_names='*';\nSELECT pg_reload_conf();\n")
    postgres.say(server, "CHECKPOINT;\n")
    place.executor("--name", "one", "--workers", "3")
    place.executor("--name", "two", "--workers", "2")
    for number = 1, CLIENTS do
      client(number)
    end
    place.there(("done-%d-%d"):format(CLIENTS, FILES // 2))
    postgres.promote(server, standby)
    for number = 1, CLIENTS do
      process.await("client " .. number, 120, function()
        return process.run(("test -e %s/over-%d"):format(place.path, number)) == 0
      end)
    end
    await_none(standby)
    local fates, made, wrong = {}, {}, {}
    for _, n in ipairs(rows("SELECT n FROM public.fate", standby)) do
      fates[n] = true
    end
    for _, line in ipairs(runs()) do
      local id, n = line:match("^(%d+) %d+ (%S+)$")
      wrong[#wrong + 1] = (not fates[n] or (made[n] and made[n] ~= id)) and line or nil
      made[n] = id
    end
    for n in pairs(fates) do
      wrong[#wrong + 1] = not made[n] and n .. " was not made" or nil
    end
    assert.same({}, wrong, "seed " .. seed)
    assert.truthy(next(fates))
    assert.same({}, rows("SELECT * FROM incident", standby))
  end)
end)
