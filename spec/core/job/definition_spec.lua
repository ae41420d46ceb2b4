local program = require "spec.support.program"
local rules = require("moonshift.core").rules

describe("a definition as users see it", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/plain.lua"] = "return function() end",
      ["handlers/billing/send.lua"] = [[
        return {
          run = function() end, retry = "R5/PT5M", priority = 20, timeout = "PT30S",
          category = "mail", limit = { cluster = 5 }, rate = "10/PT1M",
          properties = { owner = "ann" },
        }]],
      ["handlers/vip.lua"] = "return { run = function() end, priority = function() return 1 end }",
    }
  end)

  after_each(function()
    place.clean()
  end)

  local function definition(name)
    local _, output = place.run("check", "--json")
    for _, one in ipairs(assert(rules.decode(output)).definitions) do
      if one.name == name then
        return one
      end
    end
  end

  it("has what its handler declares", function()
    assert.same({
      name = "billing/send", file = "handlers/billing/send.lua",
      category = "mail", priority = 20, retry = "R5/PT5M", retries = 5, timeout = "PT30S",
      limit = { cluster = 5 }, rate = "10/PT1M",
      unique = rules.null, on_conflict = rules.null, unique_for = rules.null,
      backlog = rules.null, lane_backlog = rules.null, properties = { owner = "ann" },
      stock = false,
    }, definition "billing/send")
  end)

  it("has defaults for the rest", function()
    local plain = definition "plain"
    assert.same({ "plain", rules.null, rules.null, "PT5M", rules.null },
      { plain.name, plain.priority, plain.retry, plain.timeout, plain.limit })
  end)

  it("says when its priority is a function", function()
    assert.equal("function", definition("vip").priority)
  end)
end)
