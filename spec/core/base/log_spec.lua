local program = require "spec.support.program"
local rules = require("moonshift.core").rules

describe("the log of a run", function()
  local place

  before_each(function()
    place = program.place { ["handlers/work.lua"] = 'return function() error("no luck") end' }
    place.run("enqueue", "work")
  end)

  after_each(function()
    place.clean()
  end)

  local function lines(...)
    local _, _, errors = place.run("run", "--drain", "--workers", "1", "--retries", "1", ...)
    local list = {}
    for line in errors:gmatch("[^\n]+") do
      list[#list + 1] = line
    end
    return list
  end

  it("is logfmt: time, level, event, values", function()
    local pattern = '^time=%d+%-%d+%-%d+T%d+:%d+:%d+%.%d%d%dZ level=%l+ event=%S+'
    for _, line in ipairs(lines()) do
      assert.truthy(line:find(pattern), line)
    end
  end)

  it("is one JSON object a line", function()
    for _, line in ipairs(lines("--log-format", "json")) do
      local event = assert(rules.decode(line))
      assert.truthy(event.time and event.level and event.event, line)
    end
  end)
end)
