-- What the system may answer to a call on the store's files, and death at one: the process ends
-- with a status and a message that names the store, or goes on; the next one finds everything that
-- was acknowledged. SPEC_FAULTS is the number of calls of a kind that are tried with each answer.
local faulty = require "spec.support.faulty"
local life = require "spec.support.life"
local process = require "spec.support.process"
local sweep = require "spec.support.sweep"

local most = tonumber(os.getenv("SPEC_FAULTS") or "2")
-- A slow build shares more of its commits: of some calls there are fewer in the next run.
local enough = (os.getenv("SPEC_PROGRAM") or ""):find("san/", 1, true) and 0.5 or 0.8

-- Spread over all calls of a kind, the last one among them.
local function plans_of(who)
  local plans = {}
  for call, count in pairs(faulty.calls(who)) do
    local tried = math.min(count, most)
    for _, answer in ipairs(faulty.answers[call] or {}) do
      for i = 1, tried do
        plans[#plans + 1] = ("%s %s %s %d"):format(who, call, answer, i * count // tried)
      end
    end
  end
  table.sort(plans)
  return plans
end

describe("a call that fails", function()
  for _, who in ipairs(faulty.victims) do
    it("ends the process clearly or not at all, and loses nothing (" .. who .. ")", function()
      local plans, failures, injected = plans_of(who), {}, 0
      for plan, output in pairs(sweep("spec/support/fault_run.lua", plans)) do
        local came, problems = output:match("\t%d+\t(%w+)\t(%d+)\n")
        injected = injected + (came == "injected" and 1 or 0)
        failures[#failures + 1] = problems ~= "0" and plan .. "\n" .. output or nil
      end
      assert.equal("", table.concat(failures, "\n"))
      assert.is_true(injected > #plans * enough, injected .. " of " .. #plans .. " faults came")
    end)
  end
end)

describe("a disk that takes 300 ms for a sync", function()
  local SLEEP = [[
return function(job)
  local file = assert(io.open(os.getenv("RUNS"), "a"))
  file:write("run 0 ", job.id, " - 0 -\n")
  file:close()
  os.execute("sleep 0.7")
end
]]

  it("takes no lock away, and lets nothing run twice", function()
    local one = life.new({ ["handlers/work.lua"] = SLEEP }, "delivered")
    one:command("jobs", "enqueue", "work", "--count", "6", "--ids", "-C", one.dir)
    one.tracer = "strace -E ASAN_OPTIONS=detect_leaks=0 -f -qq -o /dev/null -e trace=fdatasync"
      .. " -e inject=fdatasync:delay_exit=300000"
    assert.equal(0, (one:start("run", one.dir, "--drain", "--lock-time", "PT2S")))
    one.tracer = nil
    one:sound()
    assert.same({}, one.problems)
    assert.same({ "6" }, process.sql(one.store, "SELECT count(*) FROM ended WHERE outcome=1"))
    local _, runs = process.read(one.runs):gsub("run", "")
    assert.equal(6, runs, process.read(one.log))
    assert.equal(0, one:refused())
    one:close()
  end)
end)
