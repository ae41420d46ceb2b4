-- Asking again under the same key: the same answer, and no second job.
local process = require "spec.support.process"
local program = require "spec.support.program"
local testing = require "moonshift.testing"

describe("a request", function()
  local place

  before_each(function()
    place = program.place { ["handlers/work.lua"] = "return function() end\n" }
  end)

  after_each(function()
    place.clean()
  end)

  local function write(name, lines)
    local file = assert(io.open(place.path .. "/" .. name, "w"))
    for i = 1, lines do
      file:write(('{"handler":"work","payload":%d}\n'):format(i))
    end
    file:close()
  end

  local function enqueue(...)
    local status, output, errors = place.run("enqueue", ...)
    assert.equal("0 ", status .. " " .. errors)
    return output
  end

  local function count()
    return tonumber(process.sql(place.store, "SELECT count(*) FROM job")[1])
  end

  it("for one job is answered with its id again", function()
    local id = enqueue("work", '{"a":1,"b":2}', "--request", "r-1")
    assert.equal(id, enqueue("work", '{"a":1,"b":2}', "--request", "r-1"))
    assert.equal('{"id":' .. id:match("%d+") .. ',"outcome":"created"}\n',
      enqueue("work", '{"a":1,"b":2}', "--request", "r-1", "--json"))
    assert.equal(1, count())
    assert.not_equal(id, enqueue("work", '{"a":1,"b":2}', "--request", "r-2"))
  end)

  it("for something else under the same key is a conflict", function()
    enqueue("work", "1", "--request", "r-1")
    local status, output, errors = place.run("enqueue", "work", "2", "--request", "r-1")
    assert.equal(5, status)
    assert.equal("", output)
    assert.equal('moonshift: request "r-1": the key was used for something else (expected the same '
      .. "content, or another key)\n", errors)
    assert.equal(5, (place.run("enqueue", "work", "1", "--priority", "3", "--request", "r-1")))
    assert.equal(5, (place.run("enqueue", "work", "1", "--count", "2", "--request", "r-1")))
    assert.equal(1, count())
  end)

  it("for many equal jobs makes them once", function()
    local answer = enqueue("work", "1", "--count", "2500", "--request", "r-1")
    assert.equal("2500 1 2500\n", answer)
    assert.equal(answer, enqueue("work", "1", "--count", "2500", "--request", "r-1"))
    assert.equal(2500, count())
  end)

  for _, lines in ipairs { 3, 9000 } do
    it(("for a file of %d lines writes it once"):format(lines), function()
      write("jobs.jsonl", lines)
      local answer = enqueue("--from", "jobs.jsonl", "--request", "r-1")
      assert.equal(("%d 1 %d\n"):format(lines, lines), answer)
      assert.equal(answer, enqueue("--from", "jobs.jsonl", "--request", "r-1"))
      local ids = enqueue("--from", "jobs.jsonl", "--request", "r-1", "--ids")
      assert.equal(lines, select(2, ids:gsub("\n", "")))
      assert.truthy(ids:find("^1\n2\n3\n"))
      assert.equal(lines, count())
      write("jobs.jsonl", lines + 1)
      assert.equal(5, (place.run("enqueue", "--from", "jobs.jsonl", "--request", "r-1")))
      assert.equal(lines, count())
    end)
  end

  it("that failed may be asked again", function()
    write("jobs.jsonl", 2)
    local status = place.run("enqueue", "wrok", "1", "--request", "r-1")
    assert.equal(4, status)
    enqueue("work", "1", "--request", "r-1")
    assert.equal(1, count())
  end)

  it("needs a key", function()
    local status, _, errors = place.run("enqueue", "work", "--request", "")
    assert.equal(2, status)
    assert.truthy(errors:find("--request: expected a text of 1 to 255 bytes", 1, true), errors)
  end)
end)

describe("a request of a program", function()
  local engine

  before_each(function()
    engine = testing.engine { handlers = { work = function() end } }
  end)

  it("is answered again, also for a list", function()
    local id, outcome = assert(engine:enqueue("work", { a = 1, b = 2 }, { request = "r" }))
    local again, same = assert(engine:enqueue("work", { b = 2, a = 1 }, { request = "r" }))
    assert.same({ id, outcome }, { again, same })
    local list = { { "work", 1 }, { "work", 2, { priority = 3 } } }
    local ids = assert(engine:enqueue_many(list, { request = "many" }))
    assert.same(ids, (engine:enqueue_many(list, { request = "many" })))
    assert.equal(3, engine:jobs():count())
  end)

  it("is a conflict for something else", function()
    assert(engine:enqueue("work", 1, { request = "r" }))
    local id, message, code = engine:enqueue("work", 2, { request = "r" })
    assert.is_nil(id)
    assert.equal("conflict", code)
    assert.truthy(message:find('request "r"', 1, true))
  end)

  it("is forgotten after its time", function()
    local first = assert(engine:enqueue("work", 1, { request = "r" }))
    engine:advance("P1D")
    local second = assert(engine:enqueue("work", 2, { request = "r" }))
    assert.not_equal(first, second)
    assert.error_matches(function() engine:enqueue_many({}, { unknown = 1 }) end, "unknown key")
  end)
end)
