local program = require "spec.support.program"

describe("deployment", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["moonshift.lua"] = "return { name = 'node-1' }\n",
    }
    place.run("deploy")
  end)

  after_each(function()
    place.clean()
  end)

  local function executors()
    return select(2, place.run("deployment", "list", "--json")):match('"executors":(%b[])')
  end

  it("list shows what was loaded and for whom", function()
    local status, output = place.run("deployment", "list")
    assert.equal(0, status)
    assert.truthy(output:find("^ID +NAME +HASH +LOADED +FILES +REGISTERED FOR\n"), output)
    assert.equal('["node-1"]', executors())
  end)

  it("register and unregister are for the executor of the settings", function()
    assert.equal("1 deployment unregistered for node-1\n",
      select(2, place.run("deployment", "unregister", "1")))
    assert.equal("[]", executors())
    assert.equal('{"count":1}\n', select(2, place.run("deployment", "register", "1", "--json")))
    assert.equal('["node-1"]', executors())
  end)

  it("register takes another executor's name", function()
    place.run("deployment", "register", "1", "--name", "node-2")
    assert.equal('["node-1","node-2"]', executors())
  end)

  it("register says so if there is nothing to do", function()
    assert.equal("nothing to do: already registered for node-1\n",
      select(2, place.run("deployment", "register", "1")))
  end)

  it("register answers an unknown id with 4", function()
    local status, _, errors = place.run("deployment", "register", "99")
    assert.equal(4, status)
    assert.equal("moonshift: no deployment 99\n", errors)
  end)

  it("register refuses what is no id", function()
    assert.equal(2, (place.run("deployment", "register", "x")))
  end)
end)
