-- A backlog whose every second job asks for what the store refuses at the commit. An executor with
-- several workers runs it. Each of them fails once, waits as its own retry says, and is done.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local handlers = {
  ["handlers/held.lua"] = "return function() end",
  -- "PT0.2S" is far from the ten seconds of the standard rule. A line tells each run.
  ["handlers/text.lua"] = [[
return { retry = "R3/PT0.2S", run = function(job)
  print("run")
  if job.attempt == 1 then
    job:enqueue("held", nil, { unique = "key", on_conflict = "refuse" })
  end
end }]],
  ["handlers/asks.lua"] = [[
return { retry = function(_, failure)
  assert(failure.message:find('held by job 1', 1, true) and failure.reason == "error")
  return "PT0.2S", 7
end, run = function(job)
  print("run")
  if job.attempt == 1 then
    job:enqueue("asks", nil, { lane = job.lane })
    job:enqueue("held", nil, { unique = "key", on_conflict = "refuse" })
  end
end }]],
  ["handlers/plain.lua"] = "return function() print('run') end",
}

local COUNT = 60

describe("runs that the store refuses beside others", function()
  local place

  before_each(function()
    place = executors.place(handlers)
    place.enqueue("held", 1, "--unique", "key", "--in", "PT1H")
  end)

  after_each(function()
    place.remove()
  end)

  local function rows(query)
    return tonumber((place.sql(query)[1]))
  end

  local function counted(handler, outcome)
    local words = { "log", "--handler", handler, "--outcome", outcome, "--columns", "job",
      "--limit", "1000" }
    return select(2, place.moonshift(table.unpack(words)):gsub("\n%s*%d+", ""))
  end

  local function enqueue(lanes)
    local lines = {}
    for i = 1, COUNT do
      local lane = lanes and (',"lane":"lane%d"'):format(i % 3) or ""
      for _, handler in ipairs { "text", "asks", "plain" } do
        lines[#lines + 1] = ('{"handler":"%s"%s}'):format(handler, lane)
      end
    end
    place.write("jobs.jsonl", table.concat(lines, "\n"))
    place.moonshift("enqueue", "-C", place.path, "--from", place.path .. "/jobs.jsonl")
  end

  for _, lane in ipairs { "none", "few" } do
    it("are retried by their own rule, lanes: " .. lane, function()
      enqueue(lane == "few")
      local pid = place.start("log", "run", "-C", place.path, "--workers", "4")
      process.await("every job is done", 20, function()
        return counted("text", "successful") == COUNT and counted("asks", "successful") == COUNT
      end)
      place.stop(pid)
      for _, handler in ipairs { "text", "asks" } do
        assert.equal(COUNT, counted(handler, "failed"))
      end
      assert.equal(COUNT, counted("plain", "successful"))
      assert.equal(0, counted("plain", "failed"))
      assert.equal(0, rows "SELECT count(*) FROM locked")
    end)
  end
end)
