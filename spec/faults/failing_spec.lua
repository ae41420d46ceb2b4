-- An executor whose turns all fail lives, and takes nothing: who looks at it is told.
local executors = require "spec.support.executors"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

-- A table that every turn looks at is gone, and comes back.
local AWAY = {
  file = "ALTER TABLE timer RENAME TO timer_away;",
  server = "ALTER TABLE timer RENAME TO timer_away;"
    .. " CREATE VIEW timer AS SELECT * FROM timer_away WHERE 1/0=1;",
}
local BACK = {
  file = "ALTER TABLE timer_away RENAME TO timer;",
  server = "DROP VIEW timer; ALTER TABLE timer_away RENAME TO timer;",
}

describe("an executor whose turns all fail", function()
  local place, server

  before_each(function()
    place = executors.place { ["handlers/work.lua"] = "return function() end\n" }
  end)

  after_each(function()
    place.remove()
    if server then
      postgres.stop(server)
    end
    server = nil
  end)

  local function by_hand(statement)
    if server then
      assert.same({}, postgres.rows(server, "jobs", statement))
      return
    end
    assert.equal(0, (process.run("sqlite3 -cmd 'PRAGMA legacy_alter_table=ON'"
      .. " -cmd '.timeout 60000' " .. process.quote(place.store) .. " "
      .. process.quote(statement))))
  end

  local function listed()
    return place.moonshift("executor", "list", "--json")
  end

  local function goes_round(kind)
    place.executor("--workers", "1")
    assert.truthy(listed():find('"failing":null', 1, true), listed())
    place.enqueue("work", 3, "--in", "PT1S")
    by_hand(AWAY[kind])
    process.await("a word of it in the list", 20, function()
      return listed():find('"failing":"2', 1, true)
    end)
    assert.truthy(listed():find(kind == "file" and "no such table" or "division by zero", 1, true),
      listed())
    local shown = place.moonshift("executor", "list")
    assert.truthy(shown:find("FAILING SINCE", 1, true), shown)
    by_hand(BACK[kind])
    process.await("its end", 20, function()
      return listed():find('"failing":null', 1, true)
    end)
    process.await("three runs", 10, function()
      return place.moonshift("stats", "--json"):find('"successful":3', 1, true)
    end)
  end

  it("says so in the list of executors and in stats, over a file", function()
    goes_round("file")
  end)

  it("says so over a server", function()
    if not postgres.programs() then
      return pending("no initdb in /usr/lib/postgresql")
    end
    server = postgres.start()
    place.url = postgres.url(server, "jobs")
    goes_round("server")
  end)
end)
