local process = require "spec.support.process"
local program = require "spec.support.program"

describe("history", function()
  local place, failed, _

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["handlers/fail.lua"] = "return { retry = 'R1/PT1S',\n"
        .. "  run = function() error('no luck') end }\n",
    }
    place.run("enqueue", "work")
    _, failed = place.run("enqueue", "fail")
    failed = failed:match("%d+")
    place.run("run", "--drain")
  end)

  after_each(function()
    place.clean()
  end)

  it("is a log of what became of jobs", function()
    local status, output = place.run("log", "--outcome", "successful,failed")
    assert.equal(0, status)
    assert.truthy(output:find("  1  work +successful "), output)
    assert.truthy(output:find("  " .. failed .. "  fail +failed .* error +.*no luck"), output)
  end)

  it("shows what a handler printed", function()
    place.run("enqueue", "log", '"hello you"')
    place.run("run", "--drain")
    local _, output = place.run("log", "--handler", "log")
    assert.truthy(output:find("  LINES\n", 1, true), output)
    assert.truthy(output:find('["hello you"]', 1, true), output)
  end)

  it("is an array with --json", function()
    local _, output = place.run("log", "--json", "--job", "1", "--outcome", "successful")
    assert.truthy(output:find('^%[{"job":1,"outcome":"successful",.*}%]\n$'), output)
  end)

  it("is followed until the program is stopped", function()
    local told = place.path .. "/told"
    local pid = process.start(told, "log", "--follow", "--json", "--limit", "1", "--handler",
      "work", "--store",
      "sqlite:" .. place.store)
    local function lines(count)
      return process.await(count .. " entries", 10, function()
        local text = process.read(told)
        return select(2, text:gsub("\n", "")) >= count and text
      end)
    end
    lines(1)
    place.run("enqueue", "work")
    lines(2)
    place.run("run", "--drain")
    local text = lines(3)
    process.kill(pid, "TERM")
    process.await_end(pid, 10)
    local outcomes = {}
    for line in text:gmatch("[^\n]+") do
      outcomes[#outcomes + 1] = line:match('^{"job":%d+,"outcome":"(%a+)".*}$')
    end
    assert.same({ "successful", "created", "successful" }, outcomes)
  end)

  it("is followed in one order only", function()
    local status, _, errors = place.run("log", "--follow", "--sort", "job")
    assert.equal("2 moonshift: --follow does not go with --sort or --page\n",
      status .. " " .. errors)
  end)

  it("keeps what operators changed", function()
    place.run("job", "retry", failed, "--retries", "2")
    local status, output = place.run("operations", "--json")
    assert.equal(0, status)
    assert.truthy(output:find('"who":"', 1, true), output)
    assert.truthy(output:find('"count":1', 1, true), output)
  end)

  it("refuses a filter that is none of its own", function()
    local status, _, errors = place.run("log", "--outcom", "failed")
    assert.equal(2, status)
    assert.equal('moonshift: unknown flag "--outcom" (did you mean "--outcome"?)\n', errors)
  end)
end)
