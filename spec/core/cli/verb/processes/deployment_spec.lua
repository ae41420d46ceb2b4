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

  describe("delete", function()
    before_each(function()
      place.run("enqueue", "work")
      place.write("handlers/work.lua", "return function() return 2 end\n")
      place.run("deploy")
    end)

    local function free()
      place.run("run", "--drain")
      place.run("deployment", "unregister", "1")
    end

    it("removes what nobody needs, with its files", function()
      free()
      local status, output, errors = place.run("deployment", "delete", "1")
      assert.same({ 0, "1 deployment deleted\n", "" }, { status, output, errors })
      local list = select(2, place.run("deployment", "list", "--json"))
      assert.truthy(list:find('"id":2', 1, true), list)
      assert.falsy(list:find('"id":1', 1, true), list)
      assert.equal("moonshift: no deployment 1\n",
        select(3, place.run("deployment", "delete", "1")))
    end)

    it("says which jobs or executors need it", function()
      local status, _, errors = place.run("deployment", "delete", "1")
      assert.equal(5, status)
      assert.equal("moonshift: deployment 1 is needed by 1 job\n", errors)
      place.run("run", "--drain")
      status, _, errors = place.run("deployment", "delete", "1")
      assert.equal(5, status)
      assert.equal('moonshift: deployment 1 is registered for executor "node-1"\n', errors)
    end)

    it("removes all or none", function()
      free()
      local status, _, errors = place.run("deployment", "delete", "1", "2")
      assert.equal(5, status)
      assert.equal(
        "moonshift: deployment 2 is the newest of its name that definitions come from\n", errors)
      assert.equal(0, (place.run("deployment", "delete", "1")))
    end)

    it("only asks with --dry-run", function()
      assert.equal(5, (place.run("deployment", "delete", "1", "--dry-run")))
      free()
      assert.equal("1 deployment would be deleted\n",
        select(2, place.run("deployment", "delete", "1", "--dry-run")))
      assert.equal('{"count":1}\n',
        select(2, place.run("deployment", "delete", "1", "--json")))
    end)

    it("refuses what is no id", function()
      assert.equal(2, (place.run("deployment", "delete", "x")))
      assert.equal(2, (place.run("deployment", "delete")))
    end)
  end)
end)
