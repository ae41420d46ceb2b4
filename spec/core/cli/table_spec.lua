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
    local _, output = program.run({ ... }, { dir = place.path, terminal = columns })
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
end)
