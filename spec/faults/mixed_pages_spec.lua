-- Random jobs of every kind, taken in pages of random sizes by two executors: each runs once, which
-- is counted on the disk, in the log and in the metrics. SPEC_MIXES rounds, from SPEC_SEED on.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local NOTE = [[
local function note(job)
  local file = assert(io.open(os.getenv("RUNS"), "a"))
  file:write(job.id, "\n")
  file:close()
end
]]
local HANDLERS = {
  ["handlers/plain.lua"] = NOTE .. "return function(job) note(job) end",
  ["handlers/few.lua"] = NOTE .. "return { limit = 3, run = note }",
  ["handlers/paced.lua"] = NOTE .. "return { rate = '500/1s', run = note }",
  ["handlers/parent.lua"] = NOTE .. [[
return function(job)
  note(job)
  job:enqueue("plain", nil, { lane = job.id % 2 == 0 and "of " .. job.id % 5 or nil })
end
]],
  ["hooks/quiet.lua"] = "return { ended = function() end }",
}

local NAMES = { "plain", "plain", "plain", "few", "paced", "parent" }

-- Pages of one kind come behind each other, so runs of a kind are as long as a page or longer.
local function jobs(random)
  local lines, kind = {}, 0
  for i = 1, 1500 do
    if i % 150 == 1 then
      kind = i == 1 and 1 or random(6)
    end
    local options = { ('"handler":"%s"'):format(NAMES[random(#NAMES)]) }
    local function with(text, ...)
      options[#options + 1] = text:format(...)
    end
    if kind == 1 or kind == 2 and random(2) == 1 then
      with('"lane":"l%d"', random(300))
    end
    if kind == 3 then
      with('"unique":"k%d"', i)
    elseif kind == 4 then
      with('"tenant":"t%d"', random(3))
    elseif kind == 5 then
      with('"due":"+%ds"', random(2))
    end
    if random(4) == 1 then
      with('"priority":%d', random(9))
    end
    lines[i] = "{" .. table.concat(options, ",") .. "}"
  end
  return table.concat(lines, "\n") .. "\n"
end

describe("pages of mixed jobs", function()
  local place

  before_each(function()
    place = executors.place(HANDLERS)
    place.write("runs", "")
    process.environment = "MALLOC_PERTURB_=165 RUNS=" .. place.path .. "/runs"
  end)

  after_each(function()
    process.environment = ""
    place.remove()
  end)

  local function counts()
    local seen, all, twice = {}, 0, 0
    for id in place.log("runs"):gmatch("%d+") do
      all, twice = all + 1, twice + (seen[id] and 1 or 0)
      seen[id] = true
    end
    return all, twice
  end

  local first = tonumber(os.getenv("SPEC_SEED") or 1)
  for seed = first, first + tonumber(os.getenv("SPEC_MIXES") or 1) - 1 do
    it("are run once each, seed " .. seed, function()
      math.randomseed(seed)
      place.write("jobs.jsonl", jobs(math.random))
      local parents = select(2, place.log("jobs.jsonl"):gsub('"parent"', ""))
      place.moonshift("enqueue", "-C", place.path, "--from", place.path .. "/jobs.jsonl")
      for _, name in ipairs { "one", "two" } do
        place.executor("--name", name, "--workers", tostring(math.random(8)), "--page",
          tostring(60 + math.random(140)))
      end
      local wanted = 1500 + parents
      process.await("all runs", 60, function()
        return place.moonshift("stats", "--json"):find('"successful":' .. wanted, 1, true)
      end)
      local all, twice = counts()
      assert.same({ wanted, 0 }, { all, twice })
      local log = place.log()
      assert.falsy(log:find("turn failed", 1, true) or log:find("stale", 1, true), log)
      assert.equal("[]", (place.moonshift("incident", "list", "--json"):gsub("%s", "")))
    end)
  end
end)
