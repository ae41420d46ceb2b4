local program = require "spec.support.program"

describe("a table", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["handlers/fail.lua"] = "return { retry = 'R1/PT1S',\n"
        .. "  run = function(job) error(job.payload.text) end }\n",
    }
  end)

  after_each(function()
    place.clean()
  end)

  local function on_terminal(columns, ...)
    local _, output = program.run({ ... }, { dir = place.path, terminal = columns,
      env = { TERM = "dumb" } })
    return (output:gsub("\r", ""))
  end

  it("aligns its columns and leaves out what nobody has", function()
    place.run("enqueue", "work", "--priority", "100")
    place.run("enqueue", "work", "--priority", "-1")
    local _, output = place.run("job", "list")
    assert.equal("ID  HANDLER  STATE  PRIORITY  RETRIES\n"
      .. " 1  work     ready       100        3\n"
      .. " 2  work     ready        -1        3\n", output)
  end)

  it("is nothing where there is no row", function()
    place.run("enqueue", "work")
    local status, output = place.run("job", "list", "--state", "dead")
    assert.equal(0, status)
    assert.equal("", output)
  end)

  it("that is empty says so on standard error, but for --json", function()
    place.run("enqueue", "work")
    for things, line in pairs {
      jobs = { "job", "list", "--state", "dead" }, incidents = { "incident", "list" },
      batches = { "batch", "list" }, schedules = { "schedule", "list" },
      operations = { "operations" }, entries = { "log", "--job", "99" },
    } do
      local status, output, errors = place.run(table.unpack(line))
      assert.equal(0, status)
      assert.equal("", output)
      assert.equal(("no %s\n"):format(things), errors)
      line[#line + 1] = "--json"
      status, output, errors = place.run(table.unpack(line))
      assert.same({ 0, "[]\n", "" }, { status, output, errors })
    end
  end)

  it("that is cut says of how many on standard error", function()
    place.run("enqueue", "work", "--count", "121")
    local _, output, errors = place.run("job", "list")
    assert.equal(51, select(2, output:gsub("\n", "\n")))
    assert.equal("50 of 121 jobs\n", errors)
    assert.equal("3 of 121 jobs\n", (select(3, place.run("job", "list", "--limit", "3",
      "--page", "2"))))
    assert.equal("", (select(3, place.run("job", "list", "--limit", "121"))))
    _, output, errors = place.run("log", "--limit", "2")
    assert.equal(3, select(2, output:gsub("\n", "\n")))
    assert.equal("2 entries, and more (--limit, --page)\n", errors)
    _, output, errors = place.run("job", "list", "--json", "--limit", "2")
    assert.equal(2, select(2, output:gsub('"id":', "")))
    assert.equal("", errors)
  end)

  it("counts what characters take on the screen", function()
    place.run("enqueue", "work", "--lane", "日本")
    place.run("enqueue", "work", "--lane", "abcde")
    place.run("enqueue", "work", "--lane", "e\u{301}")
    local lines = {}
    for line in select(2, place.run("job", "list", "--sort", "id")):gmatch("[^\n]+") do
      lines[#lines + 1] = line:match("  (%S+)$")
    end
    assert.same({ "LANE", "日本", "abcde", "e\u{301}" }, lines)
  end)

  it("is cut to the terminal", function()
    place.run("enqueue", "work", "--lane", ("long "):rep(40))
    for line in on_terminal(60, "job", "list"):gmatch("[^\n]+") do
      assert.is_true(utf8.len(line) <= 60, line)
    end
    assert.truthy(on_terminal(60, "job", "list"):find("…", 1, true))
  end)

  it("is as wide as it gets where there is no terminal", function()
    local lane = ("x"):rep(200)
    place.run("enqueue", "work", "--lane", lane)
    assert.truthy(select(2, place.run("job", "list")):find(lane, 1, true))
  end)

  it("never hands a job's text to the terminal as it is", function()
    place.run("enqueue", "fail", '{"text":"a\\u001b[31mb\u{9b}c\\nd"}')
    place.run("run", "--drain")
    local _, output = place.run("job", "list")
    assert.truthy(output:find("a\\u001b[31mb\\u009bc d", 1, true), output)
    assert.is_nil(select(2, place.run("job", "show", "1")):find("\27", 1, true))
  end)

  describe("on a terminal", function()
    local function coloured(env, ...)
      local _, output = program.run({ ... }, { dir = place.path, terminal = 100, env = env })
      return (output:gsub("\r", ""))
    end

    it("has colours, unless NO_COLOR, TERM or a pipe say otherwise", function()
      place.run("enqueue", "work")
      assert.truthy(coloured({ TERM = "xterm", NO_COLOR = "" }, "job", "list"):find(
        "\27[1mHANDLER\27[0m  \27[1mSTATE\27[0m  ", 1, true))
      assert.truthy(coloured({ TERM = "xterm", NO_COLOR = "" }, "job", "list"):find(
        " 1  work     \27[32mready\27[0m", 1, true))
      for _, env in ipairs { { TERM = "xterm", NO_COLOR = "1" }, { TERM = "dumb" } } do
        assert.is_nil(coloured(env, "job", "list"):find("\27", 1, true))
      end
      local _, output = program.run({ "job", "list" }, { dir = place.path,
        env = { TERM = "xterm" } })
      assert.is_nil(output:find("\27", 1, true))
    end)

    it("shows how far away times are; a pipe has them whole", function()
      place.run("enqueue", "work", "--in", "3h")
      place.run("enqueue", "work", "--at", "2026-01-01T00:00:00Z")
      local shown = on_terminal(100, "job", "list", "--sort", "id")
      assert.truthy(shown:find("\n 1 .* in 2 h\n"), shown)
      assert.truthy(shown:find("\n 2 .* %d+ d ago\n"), shown)
      assert.truthy(on_terminal(100, "job", "show", "2"):find(
        "\ndue +2026%-01%-01T00:00:00.000Z %(%d+ d ago%)\n"))
      assert.truthy(select(2, place.run("job", "list")):find("2026-01-01T00:00:00.000Z\n", 1,
        true))
      local _, fields = place.run("job", "show", "2")
      assert.truthy(fields:find("2026-01-01T00:00:00.000Z\n", 1, true))
    end)

    it("cuts the message before names", function()
      local text = ("word "):rep(30)
      place.run("enqueue", "fail", ('{"text":"%s"}'):format(text), "--lane", ("lane"):rep(20))
      place.run("run", "--drain")
      local _, row = on_terminal(120, "job", "list"):match("^([^\n]*)\n([^\n]*)\n")
      assert.equal(120, utf8.len(row))
      assert.truthy(row:find("  " .. ("lane"):rep(12), 1, true), row)
      assert.truthy(row:find("  handlers/fail.lua:2…", 1, true), row)
    end)

    it("shows texts where a pipe has JSON", function()
      local file = assert(io.open(place.path .. "/handlers/say.lua", "w"))
      file:write("return function() print('one') print('two') end\n")
      file:close()
      place.run("enqueue", "say")
      place.run("run", "--drain")
      assert.truthy(on_terminal(100, "log", "--outcome", "successful"):find("  one; two\n"))
      assert.truthy(select(2, place.run("log", "--outcome", "successful")):find('["one","two"]', 1,
        true))
    end)

    it("lists the folder's own definitions before the stock ones", function()
      place.run("deploy", ".")
      local function first(output)
        return output:match("\n *%d+  (%S+)")
      end
      assert.equal("fail", first(on_terminal(100, "definition", "list")))
      assert.equal("batch/activate", first(select(2, place.run("definition", "list"))))
      assert.equal("fail", on_terminal(100, "check", "."):match("\n(%S+)"))
    end)
  end)
end)
