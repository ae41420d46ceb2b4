require "spec.support.scripts"
local plan = require "moonshift.process.migration.plan"

describe("the table of a migration", function()
  local refused = {
    ["plan: unknown key \"version\""] = { version = 2 },
    ["to is missing (expected the number of a version)"] = { activities = {} },
    ["plan: to is 0 (expected 1 or more)"] = { to = 0 },
    ["activities: got a table (expected a list of tables)"] = { to = 2, activities = { a = "b" } },
    ["pair 1: unknown key \"form\" (did you mean \"from\"?)"] = { to = 2,
      activities = { { form = "a", to = "b" } } },
    ["pair 2: from is missing (expected from and to)"] = { to = 2,
      activities = { { from = "a", to = "b" }, { to = "b" } } },
    ["pair 1: to is missing (expected from and to)"] = { to = 2, activities = { { from = "a" } } },
  }
  for wanted, given in pairs(refused) do
    it("is refused: " .. wanted, function()
      local read, wrong = plan.read(given)
      assert.is_nil(read)
      assert.same({ wanted }, wrong)
    end)
  end

  it("tells all that is wrong with its pairs", function()
    local list = { {}, { from = "a", too = "b" } }
    assert.equal(2, #select(2, plan.read { to = 2, activities = list }))
  end)

  it("is read as pairs", function()
    local read = plan.read { to = 2, from = 1, process = "p",
      activities = { { from = "a", to = "b", update = true } }, variables = { x = 1 } }
    assert.same({ { from = "a", to = "b", update = true, what = "a=b" } }, read.list)
    assert.same({ "p", 1, 2, { x = 1 } }, { read.process, read.from, read.to, read.variables })
    assert.same({}, plan.read({ to = 2 }).list)
  end)
end)
