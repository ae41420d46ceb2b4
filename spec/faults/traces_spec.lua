-- A trace over the network face and real executors: from the header to the job, to what it creates,
-- to a log line.
local faces = require "spec.support.faces"
local json = require("moonshift").json
local process = require "spec.support.process"

local ID = "4bf92f3577b34da6a3ce929d0e0e4736"
local HEADER = "traceparent: 00-" .. ID .. "-00f067aa0ba902b7-01"
local JOBS = 20

describe("the trace of a request", function()
  local folder, face, executors

  local function store()
    return "sqlite:" .. folder .. "/moonshift.db"
  end

  before_each(function()
    folder = process.folder {
      ["handlers/first.lua"] = "return function(job) job:enqueue 'fail' return job.trace end\n",
      ["handlers/fail.lua"] = "return { retries = 1, run = function() error 'no' end }\n",
      ["handlers/note.lua"] = "return function() end\n",
      ["processes/order.lua"] = "local p = require 'moonshift.process'\n"
        .. "return { p.step 'say' { run = function(job) return job.trace end, async = true },"
        .. " p.step 'more' { run = function(job) error(job.trace, 0) end, async = true,"
        .. " retry = 'R1/PT1S' } }\n",
    }
    face = faces.start(folder, "serve", "--http", "unix:" .. folder .. "/socket")
    process.moonshift("enqueue", "note", "--count", "200", "-C", folder, "--store", store())
    executors = {}
    for i = 1, 2 do
      executors[i] = process.start(folder .. "/log" .. i, "run", folder, "--workers", "2",
        "--store", store(), "--name", "x" .. i, "--log-format", "logfmt")
    end
  end)

  after_each(function()
    face:stop()
    for _, pid in ipairs(executors) do
      process.kill(pid)
    end
    process.remove(folder)
  end)

  local function logs()
    return process.read(folder .. "/log1") .. process.read(folder .. "/log2")
  end

  -- How many incidents the log tells of with this trace.
  local function told(handler)
    local count = 0
    for line in logs():gmatch("[^\n]+") do
      local found = line:find("event=incident", 1, true) and line:find(handler, 1, true)
      count = count + (found and line:find("trace=00-" .. ID, 1, true) and 1 or 0)
    end
    return count
  end

  it("is that of its jobs, of theirs, and of log lines", function()
    local list = {}
    for i = 1, JOBS do
      list[i] = faces.post("/v1/jobs", { handler = "first" }, HEADER, "Idempotency-Key: k" .. i)
    end
    for i, answer in ipairs(face:ask_all(list)) do
      assert.matches("^201 ", answer)
      list[i] = list[i]:gsub("00f067aa0ba902b7", "00f067aa0ba902b8")
    end
    for _, answer in ipairs(face:ask_all(list)) do -- asked again, in another span
      assert.matches("^20[01] ", answer)
    end
    process.await("all incidents", 60, function()
      return told("handler=fail") == JOBS
    end)
    local answer = face:ask(faces.head("GET /v1/jobs?handler=fail&fields=trace&limit=100"))
    local parents = {}
    for _, row in ipairs(json.decode(answer:match("^200 (.*)$")).items) do
      parents[row.trace] = true
      assert.matches("^00%-" .. ID .. "%-%x+%-01$", row.trace)
    end
    local count = 0
    for _ in pairs(parents) do
      count = count + 1
    end
    assert.equal(JOBS, count)
  end)

  it("goes with the instances that it starts", function()
    assert.matches("^200 ", face:ask(faces.post("/v1/processes/order/start", {}, HEADER)))
    assert.matches("^202 ", face:ask(faces.post("/v1/processes/order/start", { later = true },
      HEADER)))
    assert.matches("^200 ", face:ask(faces.post("/v1/processes/order/start", {})))
    process.await("the incidents", 60, function()
      return select(2, logs():gsub("event=incident", "")) >= 3
    end)
    assert.equal(2, told("handler=process/order/more"))
  end)

  it("is refused where it is none", function()
    for _, text in ipairs { "x", "00-" .. ID .. "-0000000000000000-01" } do
      for _, path in ipairs { "/v1/jobs", "/v1/processes/order/start" } do
        assert.matches('^400 .*"code":"invalid","field":"traceparent"',
          face:ask(faces.post(path, { handler = "first" }, "traceparent: " .. text)))
      end
    end
    assert.matches("^400 ", face:ask(faces.post("/v1/jobs", { handler = "first" }, HEADER, HEADER)))
    assert.matches('^400 .*"field":"trace"', face:ask(faces.post("/v1/jobs", { handler = "first",
      trace = "x" })))
  end)
end)
