-- One depth for everything that is JSON: a hundred levels, whoever brings it.
local moonshift = require "moonshift"
local process = require "spec.support.process"
local program = require "spec.support.program"
local testing = require "moonshift.testing"

local function deep(levels)
  return ("["):rep(levels) .. ("]"):rep(levels)
end

local function nested(levels)
  local value = {}
  for _ = 2, levels do
    value = { value }
  end
  return value
end

describe("the depth of a payload", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["batches/mark.lua"] = "return function() end\n",
    }
  end)

  after_each(function()
    place.clean()
  end)

  local function write(name, text)
    local file = assert(io.open(place.path .. "/" .. name, "w"))
    file:write(text)
    file:close()
  end

  local function refused(...)
    local status, _, errors = place.run(...)
    assert.truthy(status == 2 and errors:find("nested deeper than", 1, true), errors)
  end

  it("is a hundred levels on the command line", function()
    assert.equal(0, (place.run("enqueue", "work", deep(100))))
    refused("enqueue", "work", deep(101))
    refused("enqueue", "work", '{"a":' .. deep(100) .. "}")
  end)

  it("is the same in a file", function()
    write("good", '{"handler":"work","payload":' .. deep(100) .. "}\n")
    write("bad", '{"handler":"work","payload":' .. deep(101) .. "}\n")
    assert.equal(0, (place.run("enqueue", "--from", "good")))
    local status, _, errors = place.run("enqueue", "--from", "bad")
    assert.equal(2, status)
    assert.truthy(errors:find("bad:1: ", 1, true), errors)
    assert.truthy(errors:find("deeper than 100", 1, true), errors)
  end)

  it("is the same in programs and in handlers", function()
    local engine = testing.engine {
      handlers = {
        work = function() end,
        parent = function(job) job:enqueue("work", nested(job.payload)) end,
        result = function(job) return nested(job.payload) end,
      },
      retries = 1,
    }
    assert(engine:enqueue("work", nested(100)))
    local id, message = engine:enqueue("work", nested(101))
    assert.truthy(not id and message:find("deeper than 100", 1, true))
    local fine, failed = engine:enqueue("parent", 100), engine:enqueue("parent", 101)
    local kept, dropped = engine:enqueue("result", 100), engine:enqueue("result", 101)
    engine:drain()
    assert.is_nil(engine:job(fine))
    assert.matches("deeper than 100", engine:job(failed).message)
    assert.is_table(engine:log({ job = kept, outcome = "successful" }):one().result)
    assert.is_nil(engine:log({ job = dropped, outcome = "successful" }):one().result)
  end)

  it("leaves room for what is around an id of a batch", function()
    refused("batch", "create", "mark", "--ids-from", "ids", "--config", deep(101))
    write("ids", deep(98) .. "\n")
    local status, output = place.run("batch", "create", "mark", "--ids-from", "ids", "--json")
    assert.equal(0, status, output)
    assert.equal(0, (place.run("run", ".", "--drain")))
    assert.same({ "1" }, process.sql(place.store,
      "SELECT count(*) FROM batch WHERE state=4 AND failed=0"))
    write("ids", deep(99) .. "\n")
    refused("batch", "create", "mark", "--ids-from", "ids")
  end)

  describe("that an older version has let in #file", function()
    before_each(function()
      for i = 1, 3 do
        assert.equal(0, (place.run("enqueue", "work", '{"n":' .. i .. "}")))
      end
      process.run(("sqlite3 %s \"UPDATE job SET payload=CAST('%s' AS BLOB) WHERE id=2\""):format(
        place.store, deep(2048)))
    end)

    local warning = "moonshift: jobs with payloads nested deeper than 100 were left out "
      .. "(check --store names them)\n"

    it("is left out by a search, which says so", function()
      local status, output, errors = place.run("job", "list", "--payload", "n=3", "--json")
      assert.equal(0, status)
      assert.equal(warning, errors)
      assert.truthy(output:find('"id":3', 1, true) and not output:find('"id":1', 1, true))
      status, output, errors = place.run("job", "priority", "9", "--payload", "n=1")
      assert.equal("0 1 job changed\n", status .. " " .. output)
      assert.equal(warning, errors)
    end)

    it("is shown where nobody looks into it", function()
      local status, output, errors = place.run("job", "list", "--json")
      assert.equal(0, status)
      assert.equal("", errors)
      assert.truthy(output:find('"id":2', 1, true))
      assert.equal(0, (place.run("job", "show", "2")))
    end)

    it("is found by the check", function()
      local status, output, errors = place.run("check", "--store")
      output = output .. errors
      assert.equal(65, status)
      assert.truthy(output:find("job 2 has a payload nested deeper than 100: searches by payload "
        .. "leave it out", 1, true), output)
    end)

    it("runs under a handler that does not look at it", function()
      assert.equal(0, (place.run("run", ".", "--drain")))
      assert.same({ "0" }, process.sql(place.store, "SELECT count(*) FROM job"))
    end)

    it("is a second result for programs #file", function()
      local engine = assert(moonshift.open { store = "sqlite:" .. place.store })
      local rows, left = engine:jobs({ payload = { n = 3 } }):list()
      assert.equal(1, #rows)
      assert.matches("nested deeper than 100", left)
      local count
      count, left = engine:jobs({ payload = { n = 3 } }):count()
      assert.equal(1, count)
      assert.matches("nested deeper than 100", left)
      assert.is_nil(select(2, engine:jobs({ handler = "work" }):count()))
      engine:close()
    end)
  end)
end)
