local executors = require "spec.support.executors"
local process = require "spec.support.process"
local program = require "spec.support.program"

describe("job wait", function()
  local place, pid

  before_each(function()
    place = executors.at(program.place {
      ["handlers/gated.lua"] = [[
return { retries = 1, run = function(job)
  os.execute("until [ -e '" .. os.getenv("GATE") .. "' ]; do sleep 0.02; done")
  if job.payload.fails then error("no luck", 0) end
end }
]],
    })
    pid = nil
  end)

  after_each(function()
    os.execute("touch " .. place.path .. "/gate")
    if pid then
      place.stop(pid)
    end
    place.clean()
  end)

  local function start()
    process.environment = "GATE=" .. place.path .. "/gate"
    pid = place.executor("--workers", "2")
    process.environment = ""
  end

  -- In the background; its output and status come into files.
  local function wait_behind(words)
    local command = "cd %s && (%s %s --timeout 60s >out 2>err; echo $? >status) &"
    os.execute(command:format(place.path, place.line("job", "wait"), words))
  end

  local function status()
    return process.await("its end", 10, function()
      local text = process.read(place.path .. "/status")
      return text:find("\n") and text:gsub("%s", "")
    end)
  end

  it("ends with 0 when all have succeeded", function()
    place.run("enqueue", "gated", "--count", "2")
    wait_behind("1 2")
    process.await("a note", 10, function()
      return process.read(place.path .. "/err"):find("no executor runs", 1, true)
    end)
    assert.equal("", process.read(place.path .. "/status"))
    os.execute("touch " .. place.path .. "/gate")
    start()
    assert.equal("0", status())
    local output = process.read(place.path .. "/out")
    assert.truthy(output:find("job 1 has ended successfully at ", 1, true), output)
    assert.truthy(output:find("job 2 has ended successfully at ", 1, true), output)
  end)

  it("ends with 1 when one has died, and says which", function()
    place.run("enqueue", "gated")
    place.run("enqueue", "gated", '{"fails":true}')
    os.execute("touch " .. place.path .. "/gate")
    start()
    wait_behind("1 2")
    assert.equal("1", status())
    assert.truthy(process.read(place.path .. "/out"):find("job 2 has no retries left", 1, true))
    assert.equal("moonshift: 1 of 2 jobs have not succeeded, job 2 first\n",
      process.read(place.path .. "/err"):gsub("moonshift: no executor[^\n]*\n", ""))
  end)

  it("ends with 1 when one is deleted", function()
    place.run("enqueue", "gated")
    wait_behind("1 --json")
    process.await("a look", 10, function()
      return io.open(place.path .. "/err")
    end)
    place.run("job", "delete", "1")
    assert.equal("1", status())
    assert.truthy(process.read(place.path .. "/out"):find('"outcome":"deleted"', 1, true))
  end)

  it("gives up when its time is up", function()
    place.run("enqueue", "gated")
    local code, _, errors = place.run("job", "wait", "1", "--timeout", "0.2s")
    assert.equal(1, code)
    assert.truthy(errors:find("time is up: 1 job has not ended, job 1 first", 1, true), errors)
    code, _, errors = place.run("job", "wait", "1", "--timeout", "soon")
    assert.equal(2, code, errors)
  end)

  it("of a job that never was is not found", function()
    place.run("enqueue", "gated")
    local code, _, errors = place.run("job", "wait", "7")
    assert.equal("4 moonshift: no job 7\n", code .. " " .. errors)
  end)
end)

describe("enqueue --wait", function()
  local place, pid

  before_each(function()
    place = executors.at(program.place {
      ["handlers/add.lua"] = [[
return { retries = 1, run = function(job)
  if job.payload.bad then error("no number", 0) end
  return { sum = job.payload.a + job.payload.b }
end }
]],
      ["handlers/quiet.lua"] = "return function() end\n",
    })
    pid = nil
  end)

  after_each(function()
    if pid then
      place.stop(pid)
    end
    place.clean()
  end)

  local function enqueued(...)
    local status, output, errors = place.run("enqueue", ...)
    return ("%d %s%s"):format(status, output, errors)
  end

  it("prints the result and ends by the outcome", function()
    place.run("enqueue", "quiet", "--count", "200")
    pid = place.executor("--workers", "3")
    assert.equal('0 {"sum":3}\n', enqueued("add", '{"a":1,"b":2}', "--wait"))
    assert.equal("0 ", enqueued("quiet", "--wait"))
    assert.match('^0 {"id":%d+,"outcome":"created","result":{"sum":3}}\n$',
      enqueued("add", '{"a":1,"b":2}', "--wait", "--json"))
    assert.match('^0 {"id":%d+,"outcome":"created","result":null}\n$',
      enqueued("quiet", "--wait", "--json"))
    assert.match("^1 moonshift: job %d+ has no retries left .*: no number\n$",
      enqueued("add", '{"bad":true}', "--wait"))
  end)

  it("waits for a job that was there", function()
    place.run("enqueue", "add", '{"a":1,"b":2}', "--unique", "sum")
    local function both(...)
      return enqueued("add", '{"a":1,"b":2}', "--unique", "sum", "--wait", ...),
        enqueued("add", '{"a":3,"b":4}', "--request", "once", "--wait", ...)
    end
    local kept, asked = both("--timeout", "0")
    assert.match("^1 .*time is up: 1 job has not ended, job %d+ first", kept)
    assert.match("^1 .*time is up: 1 job has not ended, job %d+ first", asked)
    pid = place.executor("--workers", "2")
    assert.equal('0 {"sum":7}\n', select(2, both()))
    assert.equal('0 {"sum":7}\n', select(2, both()))
  end)

  it("is about one job that ends", function()
    for _, other in ipairs { "--count 2", "--cycle R/PT1H", "--ids" } do
      local flag, value = other:match("(%S+) ?(.*)")
      assert.equal(("2 moonshift: --wait and %s: expected one of them\n"):format(flag),
        enqueued("quiet", "--wait", flag, value ~= "" and value or nil))
    end
    assert.equal("2 moonshift: --timeout: expected --wait with it\n",
      enqueued("quiet", "--timeout", "5"))
  end)
end)
