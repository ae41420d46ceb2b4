-- kill -9 at random moments while instances of a process with one of everything run on two
-- executors, and while commands come to them. A checker that knows nothing of the engine reads the
-- trail and the log of the handlers. SPEC_KILLS sets the number of kills, SPEC_SEED draws others.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"
local rules = require("moonshift.core").rules
local shop = require "spec.support.shop"

local KILLS = tonumber(os.getenv("SPEC_KILLS") or "8")
local INSTANCES = 3 -- that begin before each kill
local SEED = tonumber(os.getenv("SPEC_SEED") or "14")

-- Codes of a command that came too late, or beside another one.
local REFUSED = { not_found = true, conflict = true, busy = true }

describe("kill -9 at random, seed " .. SEED, function()
  local place, engine, log, started, told, killed, server

  local function start_shop()
    math.randomseed(SEED)
    place = executors.place {}
    if server then
      place.url = postgres.url(server, "shop")
      place.sql = function(statement)
        return postgres.rows(server, "shop", statement)
      end
    end
    log = place.path .. "/runs"
    for name, text in pairs(shop.files(log)) do
      place.write(name, text)
    end
    started, told, killed = 0, { approve = {}, hurry = {}, delivered = {} }, {}
    engine = assert(moonshift.open { store = place.url, scripts = place.path })
  end

  after_each(function()
    engine:close()
    place.remove()
    if server then
      postgres.stop(server)
      server = nil
    end
  end)

  -- Notes that a command was acknowledged for this instance, whose id is the key of its messages.
  local function tell(what, id, answer, message, code)
    assert(answer or REFUSED[code] or message:find("waits no longer", 1, true), message)
    if answer then
      assert.is_nil(told[what][id], what .. " was done twice for " .. id)
      told[what][id] = true
    end
  end

  local function complete(task)
    tell("approve", tostring(task.instance), engine:complete(task.id))
  end

  local function correlate(name, key)
    tell(name, key, engine:correlate(name, { key = key }))
  end

  -- A server that starts again answers a little later.
  local function rows_of(query)
    return process.await("an answer", 10, function()
      return query:list()
    end)
  end

  -- The keys under which instances wait for this message.
  local function waiting(name)
    local keys = {}
    for i, one in ipairs(rows_of(engine:subscriptions({ name = name }))) do
      keys[i] = one.key
    end
    return keys
  end

  local function one_of(list)
    return list[math.random(#list)]
  end

  -- The program does it, and may be killed before it has.
  local function outside(...)
    local pid = place.start("outside", ...)
    process.pause(math.random() * 0.04)
    process.kill(pid, "KILL")
    process.await_end(pid, 5)
    killed[pid] = true
  end

  local commands = {
    function()
      local task = one_of(rows_of(engine:tasks()))
      return task and complete(task)
    end,
    function()
      local key = one_of(waiting "hurry")
      return key and not told.hurry[key] and correlate("hurry", key)
    end,
    function()
      local key = one_of(waiting "delivered")
      return key and correlate("delivered", key)
    end,
    function()
      local task = one_of(rows_of(engine:tasks()))
      return task and outside("task", "complete", tostring(task.id), "-C", place.path)
    end,
  }

  local function times_ready()
    local text = process.read(server.folder .. "/log")
    return select(2, text:gsub("ready to accept connections", ""))
  end

  -- The server ends all its connections when one of its processes is killed, and starts again. What
  -- runs then may be called again. An executor that is started before it answers would end.
  local function kill_backend()
    local pids = place.sql("SELECT pid FROM pg_stat_activity WHERE backend_type='client backend'"
      .. " AND pid<>pg_backend_pid()")
    local before = times_ready()
    process.run("kill -KILL " .. one_of(pids))
    setmetatable(killed, { __index = function() return true end })
    process.await("the server", 10, function()
      return times_ready() > before
    end)
  end

  -- Kills one of two executors while commands come, and starts another.
  local function round()
    for _ = 1, INSTANCES do
      started = started + 1
      assert(process.await("a start", 10, function()
        return engine:start("order", { key = tostring(started) })
      end))
    end
    for _ = 1, 1 + math.random(4) do
      one_of(commands)()
      process.pause(math.random() * 0.05)
    end
    if server and math.random(2) == 1 then
      kill_backend()
    end
    local at = math.random(2)
    process.kill(place.both[at], "KILL")
    process.await_end(place.both[at], 5)
    killed[place.both[at]] = true
    place.both[at] = place.executor("--workers", "2")
  end

  -- Commands come until no instance is there.
  local function finish()
    process.await("the end of all instances", 30, function()
      for _, task in ipairs(rows_of(engine:tasks())) do
        complete(task)
      end
      for _, key in ipairs(waiting "delivered") do
        correlate("delivered", key)
      end
      return engine:instances():count() == 0
    end)
  end

  -- What was acknowledged is in the trail of the instance.
  local function check_told(id, ends)
    local function expect(fine, what)
      assert.is_true(fine, ("%s of %s: %s"):format(what, id, rules.encode(ends)))
    end
    expect(not told.approve[id] or ends.approve == 1, "approve")
    expect((ends.hurry or 0) == (told.hurry[id] and 1 or 0), "hurry")
    expect((ends.rush or 0) == (ends.hurry or 0), "rush")
  end

  local function check()
    local problems, instances = shop.check(place.sql, process.read(log), killed)
    assert.equal("", table.concat(problems, "\n"))
    local past = place.sql "SELECT id FROM past WHERE parent IS NULL"
    assert.equal(started, #past)
    for _, id in ipairs(past) do
      assert.equal("completed", instances[id].how)
      check_told(id, instances[id].ends)
    end
    assert.same({ "0|0|0|0|0" }, place.sql("SELECT (SELECT count(*) FROM instance),"
      .. " (SELECT count(*) FROM live), (SELECT count(*) FROM locked),"
      .. " (SELECT count(*) FROM subscription), (SELECT count(*) FROM incident)"))
    assert.truthy(place.moonshift("check"):find("nothing is wrong", 1, true))
  end

  local function live()
    start_shop()
    place.both = { place.executor("--workers", "2"), place.executor("--workers", "2") }
    for _ = 1, KILLS do
      round()
    end
    finish()
    place.kill()
    check()
  end

  it("loses no token, doubles none, and commits no result twice", live)

  it("does no harm over a server whose processes are killed, too", function()
    if not postgres.programs() then
      return pending("no initdb in /usr/lib/postgresql")
    end
    server = postgres.start()
    live()
  end)
end)
