local process = require "spec.support.process"
local program = require "spec.support.program"
local rules = require("moonshift.core").rules

describe("standard output", function()
  local function shell(tail, ...)
    return process.run(process.command(...) .. " " .. tail)
  end

  it("that is full is an error", function()
    local status, _, errors = shell(">/dev/full", "version")
    assert.equal(74, status)
    assert.equal("moonshift: standard output: No space left on device\n", errors)
  end)

  it("that is closed is an error", function()
    local status, _, errors = shell(">&-", "--help")
    assert.equal(74, status)
    assert.equal("moonshift: standard output: Bad file descriptor\n", errors)
  end)

  it("that nobody reads is an error, not a death", function()
    local fifo = os.tmpname()
    os.remove(fifo)
    local script = ("mkfifo %s; exec 3<>%s 4>%s 3>&-; %s >&4 4>&-"):format(fifo, fifo, fifo,
      process.command("--help"))
    local status, _, errors = process.run(script)
    os.remove(fifo)
    assert.equal(74, status)
    assert.equal("moonshift: standard output: Broken pipe\n", errors)
  end)

  it("is never confused with a store when it is closed", function()
    local dir = process.folder { ["handlers/work.lua"] = "return function() end\n" }
    local status = shell("-C " .. dir .. " --store sqlite:" .. dir .. "/jobs.db <&- >&- 2>&-",
      "enqueue", "work")
    assert.equal(74, status)
    assert.same({ "1" }, process.sql(dir .. "/jobs.db", "SELECT count(*) FROM job"))
    process.remove(dir)
  end)
end)

describe("text that would steer a terminal", function()
  local place

  -- Of each kind: C0, DEL, C1, marks, overrides and isolates of direction, separators of lines.
  local STEERS = { 0x1B, 0x07, 0x7F, 0x80, 0x9B, 0x9F, 0x61C, 0x200E, 0x200F, 0x2028, 0x2029,
    0x202A, 0x202E, 0x2066, 0x2069 }
  local message, shown = "", ""
  for _, code in ipairs(STEERS) do
    message = message .. "a" .. utf8.char(code)
    shown = shown .. ("a\\u%04x"):format(code)
  end
  message, shown = message .. "\u{A0}é\u{200D}中", shown .. "\u{A0}é\u{200D}中"

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = ("return function(job) print(%q) error(%q, 0) end"):format(message,
        message),
    }
    assert.equal(0, (place.run("enqueue", "work", rules.encode { text = message })))
  end)

  after_each(function()
    place.clean()
  end)

  local function run(...)
    local _, output, errors = place.run("run", "--drain", "--retries", "1", ...)
    return output .. errors
  end

  local function is_plain(text)
    assert.is_nil(text:find("[\0-\8\11-\31\127]"), text)
    for _, code in ipairs(STEERS) do
      assert.is_nil(text:find(utf8.char(code), 1, true), ("U+%04X in %s"):format(code, text))
    end
  end

  for _, format in ipairs { "logfmt", "json" } do
    it("is spelled out in lines of the log in " .. format, function()
      local log = run("--log-format", format)
      is_plain(log)
      assert.truthy(log:find(shown, 1, true), log)
    end)
  end

  it("is spelled out in tables, fields and stacks", function()
    run()
    for _, words in ipairs { { "incident", "list" }, { "job", "list" }, { "job", "show", "1" },
      { "log" } } do
      local status, output = place.run(table.unpack(words))
      assert.equal(0, status)
      is_plain(output)
    end
    assert.truthy(select(2, place.run("job", "show", "1")):find(shown, 1, true))
  end)

  it("is the same text in JSON, spelled otherwise", function()
    run()
    local _, output = place.run("job", "show", "1", "--json")
    is_plain(output)
    assert.equal(message, rules.decode(output).payload.text)
  end)

  it("is spelled out in the line that shows how a run goes on", function()
    local words = { "run", "--drain", "--retries", "1", "--name", "a\u{202E}b" }
    local status, output = program.run(words, { dir = place.path, terminal = 80 })
    assert.equal(0, status, output)
    assert.is_nil(output:find("\u{202E}", 1, true), output)
    assert.truthy(output:find("a\\u202eb/1  done", 1, true), output)
  end)

  it("is spelled out in errors", function()
    local status, _, errors = place.run("enqueue", "work", '"' .. message, "--priority", "x")
    assert.is_true(status ~= 0)
    is_plain(errors)
    status, _, errors = place.run("enqueue", "a\u{202E}b")
    assert.is_true(status ~= 0)
    assert.truthy(errors:find("a\\u202eb", 1, true), errors)
  end)
end)
