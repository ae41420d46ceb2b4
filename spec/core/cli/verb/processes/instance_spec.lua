local program = require "spec.support.program"

describe("instance", function()
  local place

  before_each(function()
    place = program.place { ["handlers/work.lua"] = "return function() end\n" }
    place.run("enqueue", "work", "--instance", "order-7")
  end)

  after_each(function()
    place.clean()
  end)

  local function states()
    local _, output = place.run("job", "list", "--json", "--handler", "work")
    local list = {}
    for state in output:gmatch('"state":"(%a+)"') do
      list[#list + 1] = state
    end
    return table.concat(list, " ")
  end

  it("says with --dry-run how many it would touch", function()
    assert.equal("1 job would be suspended\n",
      select(2, place.run("instance", "suspend", "order-7", "--dry-run")))
    assert.equal("ready", states())
    local _, output = place.run("definition", "suspend", "work", "--include-jobs", "--dry-run",
      "--json")
    assert.equal('{"count":1,"dry_run":true}\n', output)
    assert.equal("ready", states())
  end)

  it("is suspended with its jobs and those created later, and activated", function()
    assert.equal("1 job suspended\n", select(2, place.run("instance", "suspend", "order-7")))
    place.run("enqueue", "work", "--instance", "order-7")
    place.run("enqueue", "work", "--instance", "order-8")
    assert.equal("suspended suspended ready", states())
    local _, output = place.run("instance", "activate", "order-7", "--json")
    assert.equal('{"count":2}\n', output)
    assert.equal("ready ready ready", states())
  end)

  it("is listed while it is suspended", function()
    assert.same({ 0, "", "no suspended instances\n" }, { place.run("instance", "list", "--text") })
    assert.same({ 2, "", "moonshift: --instance: expected --text beside it\n" },
      { place.run("instance", "list", "--instance", "order-8") })
    local _, output
    place.run("instance", "suspend", "order-7")
    place.run("instance", "suspend", "order-8")
    _, output = place.run("instance", "list", "--text")
    assert.truthy(output:find("^SUSPENDED INSTANCE  SINCE\norder%-7 +%d%d%d%d.*\norder%-8 +%d"),
      output)
    _, output = place.run("instance", "list", "--text", "--instance", "order-8", "--json")
    assert.truthy(output:find('^%[{"instance":"order%-8","since":"[^"]+"}%]\n$'), output)
    place.run("instance", "activate", "order-7")
    _, output = place.run("instance", "list", "--text", "--json")
    assert.is_nil(output:find("order-7", 1, true))
  end)

  it("is suspended at a date", function()
    local _, output = place.run("instance", "suspend", "order-7", "--at", "2126-01-01T00:00:00Z")
    assert.equal("job 2 will do it at 2126-01-01T00:00:00.000Z\n", output)
    assert.equal("ready", states())
  end)

  it("that nobody suspended is not activated", function()
    local status, _, errors = place.run("instance", "activate", "order-7")
    assert.equal(4, status)
    assert.equal('moonshift: instance "order-7": neither it nor any of its jobs is suspended\n',
      errors)
  end)
end)
