-- Memory that runs out: one request is refused, or a hundred in a row, early and late. The process
-- goes on or ends with a message; what was acknowledged is done after it, or dead with an incident.
-- SPEC_FAULTS times six is the number of requests that are tried.
local faulty = require "spec.support.faulty"
local sweep = require "spec.support.sweep"

local tries = 6 * tonumber(os.getenv("SPEC_FAULTS") or "2")
local root = io.popen("pwd"):read("l")
local library = root .. "/build/faults/memory.so"

describe("memory that runs out", function()
  local function plans_of(who)
    local plans, requests = {}, faulty.starved(who, library, 0, 0).requests
    for _, many in ipairs { 1, 100 } do
      for i = 1, tries do -- closer together at the beginning: what comes once comes there
        plans[#plans + 1] = ("%s %d %d %s"):format(who, math.ceil(requests * (i / tries) ^ 3), many,
          library)
      end
    end
    return plans
  end

  for _, who in ipairs(faulty.victims) do
    it("ends the process clearly or not at all, and loses nothing (" .. who .. ")", function()
      if (os.getenv("SPEC_PROGRAM") or "/build/moonshift"):find("san/", 1, true) then
        return pending("a sanitizer has an allocator of its own")
      end
      local failures, refused = {}, 0
      for plan, output in pairs(sweep("spec/support/memory_run.lua", plans_of(who))) do
        local status, problems = output:match("\t(%d+)\t(%d+)\n")
        refused = refused + ((status or "0") ~= "0" and 1 or 0)
        failures[#failures + 1] = problems ~= "0" and plan .. "\n" .. output or nil
      end
      assert.equal("", table.concat(failures, "\n"))
      assert.is_true(refused > 0)
    end)
  end
end)
