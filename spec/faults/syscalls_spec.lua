-- Errors of the system at a call on the store's files, and death at one. The process goes on, or
-- ends with a status and a message that names the store. The next one finds everything that was
-- acknowledged. SPEC_FAULTS is the number of calls of a kind that are tried with each answer.
local faulty = require "spec.support.faulty"
local life = require "spec.support.life"
local process = require "spec.support.process"
local sweep = require "spec.support.sweep"

local most = tonumber(os.getenv("SPEC_FAULTS") or "2")
local ROUNDS = 10

-- Spread over all calls of a kind, the last one among them: { kind =, call = number of the call }.
local function tries_of(who)
  local tries = {}
  for call, count in pairs(faulty.calls(who)) do
    local tried = math.min(count, most)
    for _, answer in ipairs(faulty.answers[call] or {}) do
      for i = 1, tried do
        local kind = ("%s %s %s"):format(who, call, answer)
        tries[#tries + 1] = { kind = kind, call = i * count // tried }
      end
    end
  end
  return tries
end

-- Runs the tries and notes in `came` of which kinds a fault came. Returns those that met no fault.
local function inject(tries, came, failures)
  local plans, missed = {}, {}
  for i, try in ipairs(tries) do
    plans[i] = try.kind .. " " .. try.call
  end
  local outputs = sweep("spec/support/fault_run.lua", plans)
  for i, try in ipairs(tries) do
    local injected, problems = outputs[plans[i]]:match("\t%d+\t(%w+)\t(%d+)\n")
    came[try.kind] = came[try.kind] or injected == "injected"
    missed[#missed + 1] = injected == "missed" and try or nil
    failures[#failures + 1] = problems ~= "0" and plans[i] .. "\n" .. outputs[plans[i]] or nil
  end
  return missed
end

-- How many calls there are depends on who is faster, so the next try is an earlier call.
local function earlier(tries)
  local list = {}
  for i, try in ipairs(tries) do
    list[i] = { kind = try.kind, call = math.max(1, try.call // 2) }
  end
  return list
end

-- What was never met, though the process does call it: a second count tells.
local function kinds_without(who, tries, came)
  local kinds, calls = {}, nil
  for _, try in ipairs(tries) do
    if not came[try.kind] then
      calls = calls or faulty.calls(who)
      kinds[#kinds + 1] = calls[try.kind:match("^%S+ (%S+)")] and try.kind or nil
    end
  end
  return kinds
end

describe("a call that fails", function()
  for _, who in ipairs(faulty.victims) do
    it("ends the process clearly or not at all, and loses nothing (" .. who .. ")", function()
      local tries, came, failures = tries_of(who), {}, {}
      local missed = inject(tries, came, failures)
      for _ = 2, ROUNDS do
        missed = #missed > 0 and inject(earlier(missed), came, failures) or missed
      end
      assert.equal("", table.concat(failures, "\n"))
      assert.same({}, kinds_without(who, tries, came))
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
