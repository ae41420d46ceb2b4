-- What an executor holds that dies, of every kind of place: another one runs each job once.
local executors = require "spec.support.executors"
local json = require("moonshift").json
local process = require "spec.support.process"

local KINDS = { "plain", "laned", "limited", "dated", "held" }
local EACH, HOLDS = 60, 2

local NOTE = [[
local function note(job)
  local file = assert(io.open(os.getenv("RUNS"), "a"))
  file:write(job.id, " ", job.handler, "\n")
  file:close()
end
]]

local files = {
  ["handlers/hold.lua"] = NOTE .. [[
return function(job)
  note(job)
  while not io.open(os.getenv("RUNS") .. ".go") do
    os.execute("sleep 0.05")
  end
end]],
  ["handlers/limited.lua"] = NOTE .. "return { limit = 3, run = note }",
}
for _, kind in ipairs { "plain", "laned", "dated", "held" } do
  files["handlers/" .. kind .. ".lua"] = NOTE .. "return note"
end

describe("what a killed executor held", function()
  local place

  before_each(function()
    place = executors.place(files)
    process.environment = "RUNS=" .. place.path .. "/runs"
  end)

  after_each(function()
    process.environment = ""
    place.remove()
  end)

  local function stats()
    return assert(json.decode(place.moonshift("stats", "--json")))
  end

  -- How often each job of a kind has run.
  local function runs()
    local seen, text = {}, process.read(place.path .. "/runs") or ""
    for id, kind in text:gmatch("(%d+) (%l+)\n") do
      seen[kind] = seen[kind] or {}
      seen[kind][id] = (seen[kind][id] or 0) + 1
    end
    return seen
  end

  local function once(seen)
    local count, most = 0, 0
    for _, times in pairs(seen or {}) do
      count, most = count + 1, math.max(most, times)
    end
    return { count, most }
  end

  local function create()
    local lines = {}
    for i = 1, EACH do
      for _, kind in ipairs(KINDS) do
        local lane = kind == "laned" and (',"lane":"l%d"'):format(i % 20) or ""
        local due = kind == "dated" and ',"due":"2020-01-01T00:00:00Z"' or ""
        lines[#lines + 1] = ('{"handler":"%s","priority":%d%s%s}'):format(kind, i % 5, lane, due)
      end
    end
    place.write("jobs.jsonl", table.concat(lines, "\n") .. "\n")
    place.enqueue("hold", HOLDS, "--priority", "9")
    place.moonshift("enqueue", "-C", place.path, "--from", place.path .. "/jobs.jsonl")
  end

  it("runs once, wherever it belongs, by four workers of another one", function()
    create()
    local pid = place.executor("--workers", tostring(HOLDS), "--page", "500", "--queue", "500")
    process.await("a queue that is full", 60, function()
      return stats().jobs.locked > 2 * EACH and once(runs().hold)[1] == HOLDS
    end)
    place.moonshift("definition", "suspend", "held", "--include-jobs")
    process.kill(pid, "KILL")
    process.await_end(pid, 60)
    assert(io.open(place.path .. "/runs.go", "w")):close()
    place.executor("--workers", "4")
    process.await("all but what is suspended", 60, function()
      local jobs = stats().jobs
      return jobs.locked + jobs.ready + jobs.scheduled + jobs.waiting == 0
    end)
    assert.is_nil(runs().held)
    assert.equal(EACH, stats().jobs.suspended)
    place.moonshift("definition", "activate", "held", "--include-jobs")
    process.await("what was suspended", 60, function()
      return once(runs().held)[1] == EACH
    end)
    for _, kind in ipairs(KINDS) do
      assert.same({ EACH, 1 }, once(runs()[kind]), kind)
    end
    assert.same({ HOLDS, 2 }, once(runs().hold))
    place.moonshift("check", "--store", place.url)
  end)
end)
