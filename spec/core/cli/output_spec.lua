local process = require "spec.support.process"

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
