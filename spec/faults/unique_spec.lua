-- kill -9 of who creates unique jobs and of who runs them: a key is held by one job at a time, and
-- by none that is gone. SPEC_KILLS sets the number of rounds.
local process = require "spec.support.process"

local rounds = math.max(4, (tonumber(os.getenv("SPEC_KILLS") or "25") + 4) // 5)
local KEYS = 20

local handler = [[
return {
  backlog = 1000,
  unique = function(job) return "key-" .. job.payload.key end,
  run = function(job)
    if job.payload.more then job:enqueue("work", { key = job.payload.key + 1 }) end
    local sum = 0
    for i = 1, 20000 do sum = sum + i end
  end,
}]]

describe("kill -9 among unique jobs", function()
  local dir, store, input

  before_each(function()
    dir = process.folder { ["s/handlers/work.lua"] = handler }
    store, input = dir .. "/jobs.db", dir .. "/jobs.jsonl"
    local file = assert(io.open(input, "w"))
    for i = 1, 3000 do
      file:write(('{"handler":"work","payload":{"key":%d,"more":%s}}\n'):format(i % KEYS,
        i % 3 == 0 and "true" or "false"))
    end
    file:close()
  end)

  after_each(function()
    process.remove(dir)
  end)

  local function start(name, ...)
    return process.start(dir .. "/" .. name, ...)
  end

  local function round()
    local at = { "-C", dir .. "/s", "--store", "sqlite:" .. store }
    local runs = start("run.log", "run", dir .. "/s", "--store", "sqlite:" .. store)
    local creators = {
      start("first.log", "enqueue", "--from", input, table.unpack(at)),
      start("second.log", "enqueue", "--from", input, table.unpack(at)),
    }
    process.pause(0.05 + math.random() * 0.3)
    for _, pid in ipairs { creators[1], runs, creators[2] } do
      process.kill(pid, "KILL")
      process.await_end(pid, 5)
    end
  end

  it("leaves each key with one job, and no key without", function()
    process.moonshift("run", dir .. "/s", "--store", "sqlite:" .. store, "--drain")
    for _ = 1, rounds do
      round()
      local status, output, errors = process.moonshift("check", "--store", "sqlite:" .. store)
      assert.equal(0, status, output .. errors)
      assert.same({}, process.sql(store, "SELECT unique_key FROM live WHERE retries>0"
        .. " GROUP BY unique_key HAVING count(*)>1"))
    end
    local status, _, errors = process.moonshift("run", dir .. "/s", "--store",
      "sqlite:" .. store, "--drain")
    assert.equal(0, status, errors)
    assert.same({ "0" }, process.sql(store, "SELECT count(*) FROM unique_key"))
    assert.same({ "0" }, process.sql(store, "SELECT waiting FROM definition WHERE name='work'"))
  end)
end)
