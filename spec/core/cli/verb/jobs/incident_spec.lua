local program = require "spec.support.program"

describe("incident", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/fail.lua"] = "return { retry = 'R1/PT1S',\n"
        .. "  run = function() error('no luck') end }\n",
    }
    place.run("enqueue", "fail")
    place.run("run", "--drain")
  end)

  after_each(function()
    place.clean()
  end)

  it("counts by cause", function()
    local status, output = place.run("incident", "list", "--by", "cause", "--open")
    assert.equal(0, status)
    assert.matches("^TYPE +HANDLER +COUNT +OPEN +FIRST +LAST +NEWEST +MESSAGE\n", output)
    assert.truthy(output:find("\nfailedJob +%S+ +1 +1 "), output)
    local _, _, refused = place.run("incident", "list", "--by", "handler")
    assert.equal('moonshift: --by "handler": expected cause\n', refused)
  end)

  it("list shows what is open", function()
    local status, output = place.run("incident", "list", "--open")
    assert.equal(0, status)
    assert.truthy(output:find("failedJob", 1, true), output)
    assert.truthy(output:find("no luck", 1, true), output)
  end)

  it("list is an array with --json", function()
    local _, output = place.run("incident", "list", "--json", "--job", "1")
    assert.truthy(output:find('^%[{"id":%d+,'), output)
    assert.equal("[]\n", select(2, place.run("incident", "list", "--json", "--job", "2")))
  end)

  it("show is an object with --json", function()
    local id = select(2, place.run("incident", "list", "--json")):match('"id":(%d+)')
    local status, output = place.run("incident", "show", id, "--json")
    assert.equal(0, status)
    assert.truthy(output:find('^{"id":' .. id .. ","), output)
  end)

  it("show answers an unknown id with 4", function()
    local status, _, errors = place.run("incident", "show", "99")
    assert.equal(4, status)
    assert.equal("moonshift: no incident 99\n", errors)
  end)

  it("annotate keeps a note", function()
    local id = select(2, place.run("incident", "list", "--json")):match('"id":(%d+)')
    assert.equal("1 incident annotated\n", select(2, place.run("incident", "annotate", id, "mine")))
    assert.truthy(select(2, place.run("incident", "show", id)):find("\nnote +mine\n"))
  end)

  it("resolve closes it with a note and leaves the job dead", function()
    local status, output = place.run("incident", "resolve", "1", "--note", "known")
    assert.equal(0, status)
    assert.equal("1 incident resolved\n", output)
    local _, shown = place.run("incident", "show", "1", "--json")
    assert.truthy(shown:find('"how":"resolved","note":"known","open":false', 1, true), shown)
    assert.truthy(select(2, place.run("job", "show", "1")):find("\nstate +dead\n"))
  end)

  it("verbs say with --dry-run what they would do, or that they would be refused", function()
    local id = select(2, place.run("incident", "list", "--json")):match('"id":(%d+)')
    assert.equal("1 incident would be resolved\n",
      select(2, place.run("incident", "resolve", id, "--note", "x", "--dry-run")))
    assert.equal("1 incident would be annotated\n",
      select(2, place.run("incident", "annotate", id, "x", "--dry-run")))
    local _, output = place.run("incident", "show", id, "--json")
    assert.truthy(output:find('"note":null', 1, true), output)
    assert.truthy(output:find('"open":true', 1, true), output)
    place.run("incident", "resolve", id)
    assert.equal(5, (place.run("incident", "resolve", id, "--dry-run")))
    assert.equal(4, (place.run("incident", "annotate", "99", "x", "--dry-run")))
  end)

  it("resolve refuses what is resolved, or is not there", function()
    place.run("incident", "resolve", "1")
    local status, _, errors = place.run("incident", "resolve", "1")
    assert.equal(5, status)
    assert.equal("moonshift: incident 1 is resolved already\n", errors)
    status, _, errors = place.run("incident", "resolve", "99")
    assert.equal(4, status)
    assert.equal("moonshift: no incident 99\n", errors)
  end)
end)
