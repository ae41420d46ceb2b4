-- The trace of a request goes with its job, on to what that creates, and out with what it asks.
local moonshift = require "moonshift"
local program = require "spec.support.program"
local testing = require "moonshift.testing"

local ID = "4bf92f3577b34da6a3ce929d0e0e4736"
local TRACE = "00-" .. ID .. "-00f067aa0ba902b7-01"

describe("the trace of a job", function()
  local place, engine, asked

  before_each(function()
    place = program.place {
      ["handlers/first.lua"] = "return function(job)\n"
        .. "  http.request { url = 'http://api.example/' }\n"
        .. "  job:enqueue('second')\n  return job.trace\nend\n",
      ["handlers/second.lua"] = "return function(job)\n"
        .. "  http.request { url = 'http://api.example/', headers = { traceparent = 'own' } }\n"
        .. "  return job.trace\nend\n",
      ["handlers/fail.lua"] = "return { retry = 'R2/PT1M', run = function(job)\n"
        .. "  http.request { url = 'http://api.example/' }\n  error 'no' end }\n",
    }
    asked = {}
    engine = testing.engine { scripts = place.path, http = function(request)
      asked[#asked + 1] = request.headers.traceparent or "none"
      return { status = 200, body = "" }
    end }
  end)

  after_each(function()
    engine:close()
    place.clean()
  end)

  local function result(id)
    return engine:log({ job = id, outcome = "successful" }):one().result
  end

  -- The trace and the parent of a traceparent, which must be one.
  local function parts(trace)
    local id, parent = trace:match "^00%-(%x+)%-(%x+)%-01$"
    assert.same({ 32, 16 }, { #id, #parent })
    return id, parent
  end

  it("is that of its creator's run, which is also sent with its requests", function()
    local first = engine:enqueue("first", {}, { trace = TRACE })
    assert.equal(TRACE, engine:job(first).trace)
    engine:drain()
    assert.equal(TRACE, result(first))
    local second = engine:log({ handler = "second", outcome = "successful" }):one()
    local id, parent = parts(second.result)
    assert.equal(ID, id)
    assert.not_equal("00f067aa0ba902b7", parent)
    assert.same({ second.result, "own" }, asked)
  end)

  it("is another parent in each run, and nothing where there is none", function()
    engine:enqueue("fail", {}, { trace = TRACE })
    engine:drain()
    engine:advance("PT2M")
    engine:drain()
    local _, one = parts(asked[1])
    local _, other = parts(asked[2])
    assert.not_equal(one, other)
    asked = {}
    local id = engine:enqueue("first")
    assert.is_nil(engine:job(id).trace)
    engine:drain()
    assert.is_nil(result(id))
    assert.same({ "none", "own" }, asked)
  end)

  it("is found by it", function()
    engine:enqueue("second", {}, { trace = TRACE })
    engine:enqueue("second")
    assert.equal(1, engine:jobs({ trace = TRACE }):count())
  end)

  it("is a traceparent, or refused", function()
    for _, text in ipairs { "x", TRACE .. "0", TRACE:upper(), "01" .. TRACE:sub(3),
      "00-" .. ("0"):rep(32) .. "-00f067aa0ba902b7-01", "00-" .. ID .. "-" .. ("0"):rep(16)
        .. "-01", "00-" .. ID .. "-00f067aa0ba902b7_01" } do
      local _, message, code = engine:enqueue("second", {}, { trace = text })
      assert.equal("invalid", code)
      assert.truthy(message:find(('trace "%s": expected a traceparent'):format(text), 1, true),
        message)
    end
    assert.equal(0, engine:jobs({}):count())
    assert.truthy(engine:enqueue("second", {}, { trace = moonshift.null }))
  end)
end)
