-- Jobs of one instance that were taken together: one of them is suspended or cancelled as its run
-- ends. Those beside it lose no retry, and what it has written in vain is not built on.
local process = require "spec.support.process"

local STEPS = 12

local files = {
  ["processes/many.lua"] = ([[
    local process = require "moonshift.process"
    local list = {}
    for i = 1, %d do
      list[i] = { process.step("a" .. i) { run = i %% 2 == 1 and "leave" or "stay", async = true } }
    end
    return { process.parallel(list) }]]):format(STEPS),
  ["handlers/stay.lua"] = "return function(job) job.variables[job.activity] = true end",
}

local function leaver(folder, verb)
  local program = process.command("job", verb)
  return ([[return function(job)
    os.execute(%q .. " " .. job.id .. " --store " .. %q .. " >/dev/null 2>&1 &")
    local until_then = os.clock() + 0.001 * (job.id * 7 %% 23)
    while os.clock() < until_then do end
    job.variables[job.activity] = true
  end]]):format(program, process.store(folder .. "/store"))
end

describe("jobs of an instance beside one that is taken away", function()
  local folder

  after_each(function()
    process.remove(folder)
  end)

  for _, verb in ipairs { "suspend", "cancel" } do
    it("keep their retries: " .. verb, function()
      folder = process.folder(files)
      local file = assert(io.open(folder .. "/handlers/leave.lua", "w"))
      file:write(leaver(folder, verb))
      file:close()
      local store = process.store(folder .. "/store")
      assert.equal(0, (process.run(process.command("deploy", folder) .. " --store " .. store)))
      for _ = 1, 6 do
        local start = process.command("process", "start", "many")
        assert.equal(0, (process.run(start .. " --store " .. store)))
      end
      local status, _, log = process.run(process.command("run", folder)
        .. " --drain --workers 2 --store " .. store)
      assert.equal(0, status, log)
      assert.is_nil(log:find("job failed", 1, true), log)
      local _, jobs = process.run(process.command("job", "list") .. " --json --store " .. store)
      for left in jobs:gmatch('"retries_left":%s*(%d+)') do
        assert.equal("3", left)
      end
    end)
  end
end)
