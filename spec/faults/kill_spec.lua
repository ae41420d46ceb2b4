-- kill -9 at random moments under load. The handlers append to a file; what the database says is
-- read with its own tool. SPEC_KILLS sets the number of rounds.
local process = require "spec.support.process"

local rounds = tonumber(os.getenv("SPEC_KILLS") or "25")
local ENOUGH = 3 -- kills that hit a running handler

local handler = [[
local function append(line)
  local file = assert(io.open("LOG", "a"))
  file:write(line, "\n")
  file:close()
end

return function(job)
  append("run " .. job.id)
  if job.payload.parent then
    job:enqueue("work", { child = true })
  end
  local sum = 0
  for i = 1, 80000 do sum = sum + i end
  append("end " .. job.id)
end
]]

local function lines_of(text, word)
  local ids = {}
  for id in text:gmatch(word .. " (%d+)\n") do
    ids[#ids + 1] = tonumber(id)
  end
  return ids
end

local function set_of(list)
  local set = {}
  for _, value in ipairs(list) do
    set[tonumber(value)] = true
  end
  return set
end

describe("kill -9 under load", function()
  local dir, store, log

  before_each(function()
    dir = process.folder()
    store, log = dir .. "/jobs.db", dir .. "/runs.log"
    os.execute("mkdir -p " .. dir .. "/s/handlers")
    local file = io.open(dir .. "/s/handlers/work.lua", "w")
    file:write((handler:gsub("LOG", log)))
    file:close()
  end)

  after_each(function()
    process.remove(dir)
  end)

  -- One round: an executor under load, killed at a random moment. Notes the acknowledged range;
  -- the answer is how many runs have been cut off so far.
  local function round(acknowledged)
    local begun = #lines_of(process.read(log) or "", "run")
    local pid = process.start(dir .. "/log", "run", dir .. "/s", "--store", "sqlite:" .. store,
      "--workers", "2")
    local status, output = process.moonshift("enqueue", "work", '{"parent":true}', "--count",
      "300", "-C", dir .. "/s", "--store", "sqlite:" .. store)
    assert.equal(0, status)
    local count, first, last = output:match("(%d+) (%d+) (%d+)")
    assert.equal("300", count)
    acknowledged[#acknowledged + 1] = { tonumber(first), tonumber(last) }
    if math.random() < 0.75 then -- the others may be killed before they are quite there
      process.await("a run", 20, function()
        return #lines_of(process.read(log), "run") > begun
      end)
    end
    process.pause(math.random() * 0.05)
    process.kill(pid, "KILL")
    process.await_end(pid, 5)
    local text = process.read(log)
    return #lines_of(text, "run") - #lines_of(text, "end")
  end

  local function completed()
    return set_of(process.sql(store, "SELECT job FROM ended WHERE outcome=1"))
  end

  it("ends each acknowledged job as completed or an incident, and runs none after that", function()
    local acknowledged, inside, cut = {}, 0, 0
    local finished, seen = {}, 0
    for number = 1, 5 * rounds do
      if number > rounds and inside >= ENOUGH then
        break
      end
      local cut_now = round(acknowledged)
      inside, cut = inside + (cut_now > cut and 1 or 0), cut_now
      local runs = lines_of(process.read(log), "run")
      for i = seen + 1, #runs do
        assert.is_nil(finished[runs[i]], "job " .. runs[i] .. " ran after its completion")
      end
      seen, finished = #runs, completed()
    end
    local status, _, errors = process.moonshift("run", dir .. "/s", "--store",
      "sqlite:" .. store, "--drain")
    assert.equal(0, status, errors)
    finished = completed()
    local dead = set_of(process.sql(store, "SELECT job FROM incident WHERE ended IS NULL"))
    for _, range in ipairs(acknowledged) do
      for id = range[1], range[2] do
        assert.is_true(finished[id] or dead[id], "job " .. id .. " was acknowledged and is lost")
      end
    end
    assert.same({}, process.sql(store,
      "SELECT id FROM live WHERE id NOT IN (SELECT job FROM incident WHERE ended IS NULL)"))
    local _, checked = process.moonshift("check", "--store", "sqlite:" .. store)
    assert.matches(": nothing is wrong\n", checked)
    assert.same({}, process.sql(store,
      "SELECT job FROM ended WHERE outcome=1 GROUP BY job HAVING count(*)>1"))
    assert.is_true(inside >= ENOUGH, inside .. " kills hit a running handler")
  end)
end)
