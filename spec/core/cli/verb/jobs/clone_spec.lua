local program = require "spec.support.program"

describe("job clone", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return function() end\n",
    }
  end)

  after_each(function()
    place.clean()
  end)

  local function row(id)
    local _, output = place.run("job", "list", "--json", "--id", id, "--columns",
      "payload,priority,lane,instance,tenant,unique,due,repeat,attempt,batch")
    return output
  end

  it("creates a job like one that waits, due at once and without its key and cycle", function()
    place.run("enqueue", "work", '{"n":7}', "--priority", "9", "--lane", "l", "--instance", "i",
      "--tenant", "acme", "--unique", "k", "--cycle", "R/PT1H")
    local status, output, errors = place.run("job", "clone", "1")
    assert.equal("0 2\n", status .. " " .. output .. errors)
    assert.equal('[{"payload":{"n":7},"priority":9,"lane":"l","instance":"i","tenant":"acme",'
      .. '"unique":null,"due":null,"repeat":null,"attempt":1,"batch":null}]\n', row(2))
  end)

  it("takes another payload", function()
    place.run("enqueue", "work", '{"n":7}')
    local _, output = place.run("job", "clone", "1", "[8]", "--json")
    assert.equal('{"id":2,"outcome":"created"}\n', output)
    assert.matches('"payload":%[8%]', row(2))
  end)

  it("goes by the log for a job that has ended, whose payload is asked for", function()
    place.run("enqueue", "work", "--lane", "l", "--priority", "3")
    place.run("run", "--drain")
    local status, _, errors = place.run("job", "clone", "1")
    assert.equal("2 moonshift: job 1 has ended, and its payload is not kept (expected moonshift "
      .. "job clone 1 PAYLOAD)\n", status .. " " .. errors)
    place.run("job", "clone", "1", '{"again":true}')
    assert.matches('^%[{"payload":{"again":true},"priority":3,"lane":"l"', row(2))
    status = place.run("run", "--drain")
    assert.equal(0, status)
    assert.equal("[]\n", row(2))
  end)

  it("refuses what is no job, no payload, or a handler that is not there", function()
    local function refused(...)
      local status, _, errors = place.run("job", "clone", ...)
      return status .. " " .. errors
    end
    place.run("enqueue", "lost", "--unchecked")
    assert.equal("4 moonshift: no job 9\n", refused("9"))
    assert.matches("^2 moonshift: id \"x\": expected an integer", refused("x"))
    assert.matches("^%d+ moonshift: payload: ", refused("1", "{"))
    assert.matches('^4 moonshift: unknown handler "lost"', refused("1"))
  end)
end)
