-- The store at a glance while the server of that store hangs: keys are answered all the same.
local json = require("moonshift").json
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

describe("top, over a server that hangs", function()
  if not postgres.programs() then
    it("answers keys", function()
      return pending("no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server, folder, url

  before_each(function()
    server = postgres.start()
    folder = process.folder { ["handlers/work.lua"] = "return function() end" }
    url = postgres.url(server, "jobs")
    assert.equal(0, (process.moonshift("enqueue", "work", "--store", url, "-C", folder)))
  end)

  after_each(function()
    process.remove(folder)
    postgres.stop(server)
  end)

  it("filters, and leaves with q", function()
    local sessions = ("$(%s/psql -XqAt -h %s -U owner -d postgres -c %s)"):format(server.programs,
      server.folder,
      process.quote("SELECT pid FROM pg_stat_activity WHERE application_name='moonshift'"))
    local steps = {
      { "shows", "ready 1" },
      { "shell", ("set -- %s; echo $* >%s/stopped; kill -STOP $*"):format(sessions, folder) },
      { "shows", "the store does not answer" },
      { "type", "w" }, { "shows", "no incident is open" },
      { "type", "/nothing" }, { "shows", "filter: nothing" }, { "hides", "work" },
      { "type", "\27" }, { "shows", "work" },
      { "type", "q" }, { "end" }, { "restored" },
      { "shell", ("kill -CONT $(cat %s/stopped)"):format(folder) },
    }
    local lines = {}
    for i, step in ipairs(steps) do
      lines[i] = json.encode(step)
    end
    local file = assert(io.open(folder .. "/steps", "w"))
    file:write(table.concat(lines, "\n"), "\n")
    file:close()
    local inner = process.quote("exec " .. process.command("top", "--store", url))
    local _, output, errors = process.run(("python3 spec/support/screen.py 24 90 sh -c %s "
      .. "<%s/steps"):format(inner, folder))
    assert.equal("", errors)
    assert.equal("shown shown shown shown hidden shown 0 restored ", (output:gsub("\n", " ")))
  end)
end)
