local rules = require("moonshift.core").rules

-- The first dates of a cycle created at `origin`, as texts.
local function dates(cycle, origin, count, zone)
  local list = assert(rules.dates(cycle, zone, rules.time(origin), count))
  for i, ms in ipairs(list) do
    list[i] = rules.format_time(ms):gsub(":00%.000Z$", "")
  end
  return list
end

describe("a repetition", function()
  it("begins a period after its origin", function()
    assert.same({ "2026-01-01T01:00", "2026-01-01T02:00", "2026-01-01T03:00" },
      dates("R3/PT1H", "2026-01-01", 9))
  end)

  it("with a start begins there", function()
    assert.same({ "2026-01-05T00:00", "2026-01-05T01:00", "2026-01-05T02:00" },
      dates("R3/2026-01-05T00:00:00Z/PT1H", "2026-01-01", 9))
  end)
end)
