local program = require "spec.support.program"

describe("flags", function()
  local place

  before_each(function()
    place = program.place { ["handlers/work.lua"] = "return function() end\n" }
  end)

  after_each(function()
    place.clean()
  end)

  local function refused(...)
    local status, output, errors = place.run(...)
    assert.equal("", output)
    return status, errors
  end

  it("that nobody knows are refused with what was meant", function()
    local status, errors = refused("enqueue", "work", "--pirority", "5")
    assert.equal(2, status)
    assert.equal('moonshift: unknown flag "--pirority" (did you mean "--priority"?)\n', errors)
  end)

  it("that resemble nothing point at the help", function()
    local status, errors = refused("version", "--xyzzy")
    assert.equal(2, status)
    assert.equal('moonshift: unknown flag "--xyzzy" (see moonshift help version)\n', errors)
  end)

  it("of one letter resemble no other one", function()
    local status, _, errors = program.run { "job", "list", "-x", "5" }
    assert.equal('2 moonshift: unknown flag "-x" (see moonshift help job list)\n',
      status .. " " .. errors)
  end)

  it("that other programs have lead to those of the verb", function()
    for flag, here in pairs { ["job list -n"] = "--limit", ["job list --status"] = "--state",
      ["instance list --state"] = "--ended", ["instance list --status"] = "--ended" } do
      local noun, verb, name = flag:match "^(%S+) (%S+) (%S+)$"
      local _, _, errors = program.run { noun, verb, name, "5" }
      assert.equal(('moonshift: unknown flag "%s" (here: %s)\n'):format(name, here), errors)
    end
  end)

  it("for another form of output lead to --json", function()
    local _, _, errors = program.run { "job", "list", "-o", "json" }
    assert.equal('moonshift: unknown flag "-o" (here: --json)\n', errors)
  end)

  it("of settings are known to run and suggested", function()
    local status, errors = refused("run", "--lock-tme", "PT1M")
    assert.equal(2, status)
    assert.equal('moonshift: unknown flag "--lock-tme" (did you mean "--lock-time"?)\n', errors)
  end)

  it("without their value are refused", function()
    local status, errors = refused("enqueue", "work", "--priority")
    assert.equal(2, status)
    assert.equal('moonshift: flag "--priority" needs a value (expected N)\n', errors)
  end)

  it("that take no value refuse one", function()
    local status, errors = refused("version", "--json=yes")
    assert.equal(2, status)
    assert.equal('moonshift: flag "--json" takes no value\n', errors)
  end)

  it("with a number name what was expected", function()
    local status, errors = refused("job", "list", "--limit", "ten")
    assert.equal(2, status)
    assert.equal('moonshift: --limit "ten": expected an integer from 1 to 10000\n', errors)
  end)

  it("refuse numbers beyond 64 bits", function()
    local status, errors = refused("enqueue", "work", "--priority", "9223372036854775808")
    assert.equal(2, status)
    assert.equal('moonshift: --priority "9223372036854775808": expected a 64-bit integer\n', errors)
  end)

  it("take their value behind a blank or an equals sign", function()
    assert.equal(0, (place.run("enqueue", "work", "--priority", "-5")))
    assert.equal(0, (place.run("enqueue", "work", "--priority=-6")))
    local _, output = place.run("job", "list", "--json")
    assert.truthy(output:find('"priority":-5', 1, true))
    assert.truthy(output:find('"priority":-6', 1, true))
  end)

  it("are text, as every word is", function()
    for _, words in ipairs {
      { "enqueue", "w\xff" }, { "job", "list", "--handler", "\xff" },
      { "incident", "annotate", "1", "\xc3" }, { "definition", "show", "\xff" },
      { "job", "list", "--columns=\xff" },
    } do
      local status, errors = refused(table.unpack(words))
      assert.equal(2, status)
      assert.truthy(errors:find('^moonshift: "[^\xff\xc3]*": not valid UTF%-8\n$'), errors)
    end
  end)

  it("may stand before the verb", function()
    local status, output = place.run("--json", "--store", "sqlite:other.db", "enqueue", "work")
    assert.equal(0, status)
    assert.equal('{"id":1,"outcome":"created"}\n', output)
    local function jobs(store)
      return select(2, select(2, place.run("job", "list", "--json", "--store", store)):gsub(
        '"id":', ""))
    end
    assert.same({ 1, 0 }, { jobs("sqlite:other.db"), jobs("sqlite:moonshift.db") })
  end)

  it("end at two dashes", function()
    local status, errors = refused("enqueue", "work", "--", "--json")
    assert.equal(2, status)
    assert.truthy(errors:find("^moonshift: payload: "), errors)
  end)

  it("leave negative numbers to be arguments", function()
    assert.equal(0, (place.run("enqueue", "work", "-5")))
    local _, output = place.run("job", "show", "1", "--json")
    assert.truthy(output:find('"payload":-5', 1, true))
  end)

  it("leave no argument over", function()
    local status, errors = refused("version", "now")
    assert.equal(2, status)
    assert.equal('moonshift: unexpected "now" (usage: moonshift version)\n', errors)
  end)
end)
