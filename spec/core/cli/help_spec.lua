local program = require "spec.support.program"

describe("help", function()
  it("lists every verb in one line", function()
    local status, output, errors = program.run { "--help" }
    assert.equal(0, status)
    assert.equal("", errors)
    for _, verb in ipairs { "run", "check", "enqueue", "job list", "job show", "job retry",
      "job delete", "incident list", "incident show", "stats", "settings", "version", "help" } do
      assert.truthy(output:find("\n  " .. verb .. "  ", 1, true), verb)
    end
  end)

  it("of a verb shows its usage and its flags", function()
    local status, output = program.run { "help", "enqueue" }
    assert.equal(0, status)
    assert.truthy(output:find("usage: moonshift enqueue HANDLER [PAYLOAD | -]", 1, true))
    assert.truthy(output:find("\n  --skip-bad ", 1, true))
    assert.truthy(output:find("\n  --store URL ", 1, true))
  end)

  it("shows in one column what flags do, and values that may be left out", function()
    local _, output = program.run { "help", "job", "list" }
    assert.truthy(output:find("\n  --handler NAME,…           of these handlers\n", 1, true))
    assert.truthy(output:find("\n  --timer[=BOOL]             timers\n", 1, true))
  end)

  it("is the same page by a flag", function()
    local _, page = program.run { "help", "job", "list" }
    local status, output = program.run { "job", "list", "--help" }
    assert.equal(0, status)
    assert.equal(page, output)
  end)

  it("of a group lists its verbs", function()
    local status, output = program.run { "help", "incident" }
    assert.equal(0, status)
    assert.truthy(output:find("incident show", 1, true))
    assert.is_nil(output:find("job show", 1, true))
  end)

  it("of an unknown verb suggests one", function()
    local status, _, errors = program.run { "help", "stat" }
    assert.equal(2, status)
    assert.equal('moonshift: unknown verb "stat" (did you mean "stats"?)\n', errors)
  end)

  it("fits into 80 columns where it lists verbs", function()
    local _, output = program.run { "--help" }
    for line in output:gmatch("[^\n]+") do
      assert.is_true(utf8.len(line) <= 80, line)
    end
  end)

  it("knows the version, as text and as JSON", function()
    local _, text = program.run { "version" }
    local _, same = program.run { "--version" }
    local _, document = program.run { "version", "--json" }
    assert.equal(text, same)
    assert.equal('{"version":"' .. text:match("^moonshift (%S+)\n$") .. '"}\n', document)
  end)
end)
