-- An executor on a PostgreSQL server whose schema changes under it.
local executors = require "spec.support.executors"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

local WAITS = [[return { run = function() while not io.open("%s") do end end }]]

describe("a running executor", function()
  if not postgres.programs() then
    it("sees the schema of its server change", function()
      return pending("no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server, place

  before_each(function()
    server = postgres.start()
    place = executors.place { ["handlers/work.lua"] = "return function() end\n" }
    place.url = postgres.url(server, "jobs")
    place.write("handlers/waits.lua", WAITS:format(place.path .. "/go"))
  end)

  after_each(function()
    place.remove()
    postgres.stop(server)
  end)

  local function psql(text)
    assert.equal("", postgres.say(server, "SET search_path TO jobs;\n" .. text))
  end

  local function start()
    local pid = process.start_watched(place.path .. "/log", "run", "--store", place.url, "-C",
      place.path, "--log-format", "logfmt", "--workers", "1")
    place.pids[#place.pids + 1] = pid
    place.logged("event=started")
    return pid
  end

  local function locked()
    local _, output = process.moonshift("--store", place.url, "job", "list", "--state", "locked",
      "--json")
    return output
  end

  local function ended(count)
    process.await(count .. " jobs have ended", 30, function()
      local _, output = process.moonshift("--store", place.url, "log", "--json", "--limit", "1000")
      return select(2, output:gsub('"successful"', "")) >= count
    end)
  end

  it("goes on when the schema becomes wider than it knows, as other commands do", function()
    local pid = start()
    place.enqueue("work", 100)
    psql [[BEGIN; ALTER TABLE job ADD COLUMN more bigint NOT NULL DEFAULT 0;
      ALTER TABLE ready ADD COLUMN more text; ALTER TABLE ended ADD COLUMN more text;
      UPDATE schema_version SET version=9; COMMIT;]]
    place.enqueue("work", 100)
    ended(200)
    assert.truthy(process.alive(pid))
    place.stop(pid)
  end)

  it("gives back what it holds and ends with 78 when it cannot work with it any more", function()
    local pid = start()
    place.enqueue("waits", 3)
    process.await("a job runs", 10, function()
      return select(2, locked():gsub('"id"', "")) == 3
    end)
    psql "UPDATE schema_version SET version=9, oldest=9;"
    place.write("go", "")
    assert.equal(78, process.await_status(pid, 30))
    assert.truthy(place.log():find("schema 9 is newer than this program's 8 (upgrade moonshift)", 1,
      true), place.log())
    local status, _, errors = process.moonshift("--store", place.url, "enqueue", "work")
    assert.equal(78, status)
    assert.truthy(errors:find("upgrade moonshift", 1, true), errors)
    psql "UPDATE schema_version SET version=8, oldest=8;"
    assert.equal("[]\n", locked())
  end)
end)
