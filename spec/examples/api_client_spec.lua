-- The example to its end, and its figures.
local process = require "spec.support.process"

local lua = os.getenv("SPEC_LUA") or "lua5.4"

describe("examples/api-client", function()
  local dir

  before_each(function()
    dir = process.folder()
  end)

  after_each(function()
    process.remove(dir)
  end)

  local function run(environment)
    local command = "MOONSHIFT=%s LUA=%s STORE=%s %s sh examples/api-client/run.sh 4 %s"
    return process.run(command:format(process.command(), lua, process.store(dir .. "/jobs.db"),
      environment, dir))
  end

  -- The report on a log that is written here.
  local function report(log)
    for name, text in pairs { log = log, enqueued = '{"kept":45}' } do
      local file <close> = assert(io.open(dir .. "/" .. name, "w"))
      file:write(text)
    end
    return process.run(("%s examples/api-client/report %s/log %s/enqueued"):format(lua, dir, dir))
  end

  it("delivers every invoice once, at no more than the rate", function()
    local status, output, errors = run("")
    assert.equal(0, status, output .. errors)
    assert.matches('\n{"count":45,"first":1,"last":45,"kept":45,"replaced":0}\n', output)
    local text = output:match("== the report[^\n]*\n(.*)$"):gsub("  +", "  ")
    text = text:gsub("%d+, 20 allowed", "N, 20 allowed")
    assert.equal("invoices delivered  45 of 45  right\n"
      .. "sent again after that  0  right\n"
      .. "duplicates kept  45 of 45  right\n"
      .. "answers 503, each tried again  12 of 12  right\n"
      .. "requests  57  right\n"
      .. "most of them in any second  N, 20 allowed  right\n"
      .. "the figures hold\n", text)
  end)

  it("notices more requests in a second than are allowed", function()
    local status, output = report(("1.000000 7 201\n"):rep(20) .. "1.999999 7 200\n")
    assert.equal(1, status)
    assert.matches("\nmost of them in any second +21, 20 allowed +WRONG\n", output)
  end)

  it("notices an answer 503 that nobody tried again", function()
    local status, output = report("1.000000 5 503\n")
    assert.equal(1, status)
    assert.matches("\nanswers 503, each tried again +0 of 1 +WRONG\n", output)
  end)

  it("says what it needs where there is no python3", function()
    local status, _, errors = run("PYTHON=no-python3")
    assert.equal(1, status)
    assert.equal("api-client needs no-python3 for its server, found none\n", errors)
  end)
end)
