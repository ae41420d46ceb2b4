local program = require "spec.support.program"

describe("settings", function()
  local place

  before_each(function()
    place = program.place {
      ["moonshift.lua"] = 'return { store = "sqlite:shop.db", queue = 7 }\n',
      ["handlers/work.lua"] = "return function() end",
    }
  end)

  after_each(function()
    place.clean()
  end)

  local function shown(output, name)
    local value, from = output:match("\n" .. name .. " +(%S+) +(%S+)\n")
    return value, from
  end

  it("shows each value and where it came from", function()
    local status, output = program.run({ "settings", "--page", "9" }, { dir = place.path,
      env = { MOONSHIFT_LANE_RUN = "5" } })
    assert.equal(0, status)
    assert.same({ "7", "moonshift.lua" }, { shown(output, "queue") })
    assert.same({ "9", "flag" }, { shown(output, "page") })
    assert.same({ "5", "environment" }, { shown(output, "lane_run") })
    assert.same({ "PT5M", "default" }, { shown(output, "lock_time") })
  end)

  it("are one array with --json #file", function()
    local _, output = place.run("settings", "--json")
    assert.truthy(output:find('^%[{"name":"store","value":"sqlite:shop.db"'), output)
  end)

  it("let a flag win over a variable and that over the file", function()
    local env = { MOONSHIFT_QUEUE = "8" }
    local _, variable = program.run({ "settings" }, { dir = place.path, env = env })
    local _, flag = program.run({ "settings", "--queue", "9" }, { dir = place.path, env = env })
    assert.equal("8", (shown(variable, "queue")))
    assert.equal("9", (shown(flag, "queue")))
  end)

  it("of an unknown variable are refused", function()
    local status, _, errors = program.run({ "settings" }, { dir = place.path,
      env = { MOONSHIFT_QUEUEE = "8" } })
    assert.equal(78, status)
    assert.truthy(errors:find("MOONSHIFT_QUEUEE", 1, true), errors)
  end)

  it("of a bad flag are a wrong usage", function()
    local status, _, errors = place.run("settings", "--lock-time", "P5X")
    assert.equal(2, status)
    assert.truthy(errors:find('"P5X"', 1, true), errors)
  end)

  it("say with --names what other systems call them", function()
    local _, output = place.run("settings", "--names")
    assert.truthy(output:find("\nwait_factor +2.0 +default +waitIncreaseFactor\n"), output)
  end)

  it("of a flag named as elsewhere are refused with the name here", function()
    local status, _, errors = place.run("settings", "--maxJobsPerAcquisition", "3")
    assert.equal(2, status)
    assert.equal(
      'moonshift: unknown flag "--maxJobsPerAcquisition" (here it is "--page")\n',
      errors
    )
  end)

  it("of an unreadable retry configuration name where it was given", function()
    local problem = 'retry "R5/x": duration "x": expected a number with its unit, or P '
      .. '(ISO 8601) (position 1), as in "1h30m" or "PT1H30M"\n'
    local env = { MOONSHIFT_RETRY = "R5/x" }
    local _, _, variable = program.run({ "enqueue", "noop" }, { dir = place.path, env = env })
    assert.equal("moonshift: MOONSHIFT_RETRY: " .. problem, variable)
    local _, _, flag = place.run("run", ".", "--retry", "R5/x")
    assert.equal("moonshift: --retry: " .. problem, flag)
  end)

  it("of a bad file name it", function()
    local file = assert(io.open(place.path .. "/moonshift.lua", "w"))
    file:write("return { wrokers = 4 }\n")
    file:close()
    local status, _, errors = place.run("settings")
    assert.equal(78, status)
    assert.equal('moonshift: moonshift.lua: unknown setting "wrokers" (did you mean "workers"?)\n',
      errors)
  end)
end)
