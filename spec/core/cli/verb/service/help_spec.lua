local core = require "moonshift.core"
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

  -- The verbs of the overview, in order.
  local function verbs()
    local _, output = program.run { "--help" }
    local list = {}
    for verb in output:gmatch("\n  (%l[%l-]* ?[%l-]*) +%l") do
      list[#list + 1] = verb:match("^(.-) *$")
    end
    return list
  end

  it("groups the verbs under headings", function()
    local _, output = program.run { "--help" }
    assert.truthy(output:find("\n\nRUN\n  init ", 1, true))
    assert.truthy(output:find("\n\nJOBS\n  job list ", 1, true))
    assert.truthy(output:find("\n\nTHE PROGRAM\n", 1, true))
    assert.is_true(#verbs() > 60)
  end)

  it("of every verb shows examples, whose flags it has", function()
    for _, verb in ipairs(verbs()) do
      local words = {}
      for word in verb:gmatch("%S+") do
        words[#words + 1] = word
      end
      local _, page = program.run { "help", table.unpack(words) }
      local examples = page:match("\nexamples:\n(.-)\n\n") or page:match("\nexamples:\n(.*)$")
      assert.truthy(examples, verb .. " has no examples")
      for line in examples:gmatch("[^\n]+") do
        assert.truthy(line:find("  moonshift " .. verb, 1, true) == 1, line)
        for flag in line:gsub("'[^']*'", ""):gsub("#.*", ""):gmatch(" (%-%-%l[%l-]*)") do
          local listed = page:find("\n  " .. flag:gsub("%-", "%%-") .. "[ %[\n]")
          assert.truthy(listed or page:find("Any setting", 1, true), line)
        end
      end
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

  it("lists the requests over HTTP, as a table or as OpenAPI", function()
    local status, output = program.run { "help", "api" }
    assert.equal(0, status)
    assert.truthy(output:find("METHOD +PATH +SCOPE +DOES\n"))
    assert.truthy(output:find("\nPOST +/v1/fetch +work +Locks jobs for a worker outside%.\n"))
    local _, described = program.run { "help", "api", "--json" }
    local paths = assert(core.rules.decode(described)).paths
    assert.equal("work", paths["/v1/fetch"].post["x-scope"])
    for method, path in output:gmatch("\n(%u+) +(/%S+)") do
      local whole = path:find("{verb}", 1, true) or paths[path] and paths[path][method:lower()]
      assert.truthy(whole, path)
    end
  end)
end)
