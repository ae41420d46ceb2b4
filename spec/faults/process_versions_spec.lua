-- Instances of a version whose folder has gone, under a newer version that lacks all that the older
-- one calls, while executors are killed. SPEC_INSTANCES sets their number.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"
local rules = require("moonshift.core").rules

local INSTANCES = tonumber(os.getenv("SPEC_INSTANCES") or "200")
local KILLS, LIST = 3, 500

local FIRST = [[
local process = require "moonshift.process"
return {
  process.receive "go" { message = "go", key = "${execution.processInstanceId}" },
  process.step "tax" { run = "tax", async = true, result = "tax" },
  process.step "book" { run = "book", async = true, result = "book" },
}
]]

-- A line for each call, and the same number as a result.
local TELL = [[
return function(job)
  local random = io.open("/dev/urandom", "rb")
  local number = string.unpack("<I6", random:read(6))
  random:close()
  local file = assert(io.open("%s", "a"))
  file:setvbuf("full")
  file:write(("%%s %%s %%d %%d\n"):format(job.instance, job.activity,
    io.open("/proc/self/stat"):read("n"), number))
  file:close()
  return number
end
]]

local SECOND = [[
return { require("moonshift.process").task "look" {} }
]]

describe(INSTANCES .. " instances of a version whose folder has gone", function()
  local place, engine, log, killed, server, ids

  before_each(function()
    place = executors.place { ["processes/sale.lua"] = SECOND }
    log, killed, ids = place.path .. "/runs", {}, {}
  end)

  after_each(function()
    engine:close()
    place.remove()
    if server then
      postgres.stop(server)
      server = nil
    end
  end)

  local function open(folder)
    engine = assert(moonshift.open { store = place.url, scripts = folder, patience = "PT1M" })
  end

  -- Calls `give` with lists of what `make` makes of the numbers up to INSTANCES.
  local function in_lists(make, give)
    for first = 1, INSTANCES, LIST do
      local list = {}
      for i = first, math.min(first + LIST - 1, INSTANCES) do
        list[#list + 1] = make(i)
      end
      for _, id in ipairs(assert(give(engine, list))) do
        ids[#ids + 1] = id
      end
    end
  end

  local function begin()
    local folder = process.folder { ["processes/sale.lua"] = FIRST,
      ["handlers/tax.lua"] = 'return require "lib.tell"',
      ["handlers/book.lua"] = 'return require "lib.tell"', ["lib/tell.lua"] = TELL:format(log) }
    open(folder)
    in_lists(function()
      return { "sale" }
    end, engine.start)
    engine:close()
    process.remove(folder)
  end

  local function ended()
    return tonumber(place.sql("SELECT count(*) FROM past")[1])
  end

  -- Sends the message to all while executors come and go.
  local function go_on()
    open(place.path)
    local both = { place.executor(), place.executor() }
    local started = table.move(ids, 1, #ids, 1, {})
    in_lists(function(i)
      return { "go", { key = tostring(started[i]) } }
    end, engine.correlate)
    for kill = 1, KILLS do
      process.await("some ends", 60, function()
        return ended() >= INSTANCES * kill // (KILLS + 2)
      end)
      local at = kill % 2 + 1
      process.kill(both[at], "KILL")
      process.await_end(both[at], 5)
      killed[both[at]] = true
      both[at] = place.executor()
    end
    process.await("all ends", 60, function()
      return ended() == INSTANCES
    end)
    place.kill()
  end

  -- Whether an activity of an instance was called again without need.
  local function check_runs()
    local last, numbers = {}, {}
    for name, pid, number in process.read(log):gmatch("(%d+ %a+) (%d+) (%d+)\n") do
      assert.is_true(not last[name] or killed[last[name]] == true, name .. " ran again")
      last[name], numbers[name .. " " .. number] = tonumber(pid), true
    end
    return numbers
  end

  local function check()
    local numbers, count = check_runs(), 0
    for _, row in ipairs(place.sql("SELECT p.id, v.number, p.how, p.variables FROM past p"
      .. " JOIN process_version v ON v.id=p.version")) do
      local id, number, how, variables = row:match("^(%d+)|(%d+)|(%a+)|(.*)$")
      assert.same({ "1", "completed" }, { number, how })
      for name, value in pairs(rules.decode(variables)) do
        assert.is_true(numbers[("%s %s %d"):format(id, name, value)], row)
        count = count + 1
      end
    end
    assert.equal(2 * INSTANCES, count)
    assert.same({ "0|0|0" }, place.sql("SELECT (SELECT count(*) FROM incident),"
      .. " (SELECT count(*) FROM instance), (SELECT count(*) FROM live)"))
    assert.truthy(place.moonshift("check"):find("nothing is wrong", 1, true))
  end

  local function live()
    begin()
    go_on()
    check()
    assert.equal(2, engine:processes():one().version)
  end

  it("end on that version, with handlers that are nowhere else any more", live)

  it("do so over a server", function()
    if not postgres.programs() then
      open(place.path)
      return pending("no initdb in /usr/lib/postgresql")
    end
    server = postgres.start()
    place.url = postgres.url(server, "sale")
    place.sql = function(statement)
      return postgres.rows(server, "sale", statement)
    end
    live()
  end)
end)
