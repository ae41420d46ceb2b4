-- Lists of the command line that are asked of a standby.
local executors = require "spec.support.executors"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

describe("a replica", function()
  if not postgres.programs() then
    it("is asked for lists", function()
      return pending("no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server, standby, place, url

  setup(function()
    server = postgres.start()
    standby = postgres.standby(server)
    url = postgres.url(server, "jobs")
    place = executors.place { ["handlers/work.lua"] = "return function() end\n" }
    place.url = url
    place.enqueue("work", 3)
  end)

  teardown(function()
    place.remove()
    postgres.stop(server)
  end)

  -- Status, output and errors of a verb that knows the replica.
  local function ask(...)
    return process.run(("MOONSHIFT_READ_URL=%s %s"):format(
      process.quote(postgres.url(standby, "jobs")), process.command("--store", url, ...)))
  end

  local function count()
    local _, output = ask("job", "list", "--json")
    return select(2, output:gsub('"id"', ""))
  end

  it("is asked for lists and counts, and it is said how far it is behind", function()
    process.await("the standby has the jobs", 5, function()
      return count() == 3
    end)
    postgres.say(standby, "SELECT pg_wal_replay_pause();")
    process.await("the standby stands still", 5, function()
      return postgres.say(standby, "\\pset tuples_only\nSELECT pg_get_wal_replay_pause_state();\n")
        :find("paused", 1, true)
    end)
    place.enqueue("work", 4)
    assert.equal(3, count())
    for _, words in ipairs { { "job", "list" }, { "stats" }, { "definition", "list" },
      { "history", "status" } } do
      local status, _, errors = ask(table.unpack(words))
      assert.equal(0, status, errors)
      assert.matches("^asked of a replica, %d+%.%d s behind\n", errors)
    end
  end)

  it("is asked in the schema of the store, whatever its URL names", function()
    for _, schema in ipairs { "", "&schema=other" } do
      local at = postgres.url(standby, "jobs"):gsub("&schema=jobs", schema)
      local status, output, errors = process.run(("MOONSHIFT_READ_URL=%s %s"):format(
        process.quote(at), process.command("--store", url, "definition", "list")))
      assert.equal(0, status, errors)
      assert.truthy(output:find("work", 1, true), output)
    end
  end)

  it("is not asked for what must be known as it is now", function()
    for _, verb in ipairs { "show", "why" } do
      local status, _, errors = ask("job", verb, "7")
      assert.equal(0, status, errors)
      assert.is_nil(errors:find("replica", 1, true))
    end
  end)

  it("takes no jobs", function()
    local status, _, errors = process.moonshift("--store", postgres.url(standby, "jobs"), "-C",
      place.path, "enqueue", "work")
    assert.equal(69, status)
    assert.truthy(errors:find("read only (expected the primary)", 1, true), errors)
  end)
end)
