-- The example to its end: an executor is killed, a standby promoted, and nothing is lost.
require "spec.support.scripts"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

describe("examples/cluster", function()
  it("loses nothing", function()
    if not postgres.programs() then
      return pending("no initdb in /usr/lib/postgresql")
    end
    local dir = process.folder()
    local command = "chmod 755 %s; MOONSHIFT=%s sh examples/cluster/run.sh 3000 %s"
    local status, output, errors = process.run(command:format(dir, process.command(), dir))
    process.run("rm -rf " .. dir)
    assert.equal(0, status, output .. errors)
    assert.matches("jobs charged   3000 of 3000\n", output)
    assert.matches("nothing was lost\n$", output)
  end)

  it("says what it lacks, before it starts a server", function()
    local status, _, errors = process.run("MOONSHIFT=/nowhere sh examples/cluster/run.sh")
    if not postgres.programs() then
      assert.matches("no PostgreSQL server", errors)
    else
      assert.matches("no program /nowhere %(expected it in PATH", errors)
    end
    assert.equal(69, status)
    status, _, errors = process.run("sh examples/cluster/run.sh many")
    assert.matches('jobs "many": expected a number', errors)
    assert.equal(2, status)
  end)
end)
