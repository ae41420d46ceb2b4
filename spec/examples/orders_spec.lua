-- The example to its end, and its figures.
local process = require "spec.support.process"

local lua = os.getenv("SPEC_LUA") or "lua5.4"

describe("examples/orders", function()
  local dir

  before_each(function()
    dir = process.folder()
  end)

  after_each(function()
    process.remove(dir)
  end)

  local function run(workers)
    local command = "MOONSHIFT=%s LUA=%s STORE=%s sh examples/orders/run.sh %d %s"
    local status, output, errors = process.run(command:format(process.command(), lua,
      process.store(dir .. "/orders.db"), workers, dir))
    assert.equal(0, status, output .. errors)
    return output:match("== the report[^\n]*\n(.*)$")
  end

  -- The report's figures by what they are of; its verdicts.
  local function figures(report)
    local values, verdicts = {}, {}
    for line in report:gmatch("[^\n]+") do
      local what, value, verdict = line:match("^(.-)%s%s+(.-)%s%s+(.+)$")
      if what then
        values[what] = value
        verdicts[verdict] = (verdicts[verdict] or 0) + 1
      end
    end
    return values, verdicts
  end

  for _, workers in ipairs { 1, 8 } do
    it(("adds up with %d workers"):format(workers), function()
      local report = run(workers)
      local values, verdicts = figures(report)
      assert.same({
        ["orders paid, VIP customers"] = "100 of 100",
        ["sum, VIP customers"] = "8909.45 of 8909.45",
        ["orders paid, other customers"] = "900 of 900",
        ["sum, other customers"] = "81150.11 of 81150.11",
        ["runs declined, each tried again"] = "124 of 100 orders",
        ["VIPs first: the last one taken as"] = "number 20 of 100",
        ["first runs out of turn"] = "0",
        ["orders paid twice"] = "0",
      }, values)
      assert.same({ right = 8 }, verdicts)
      assert.truthy(report:find("the ledger adds up\n", 1, true))
    end)
  end

  it("notices a missing order", function()
    run(4)
    local text = process.read(dir .. "/ledger.csv")
    local file = io.open(dir .. "/ledger.csv", "w")
    file:write((text:gsub("\n700,[^\n]*", "", 1)))
    file:close()
    local status, output = process.run(("%s examples/orders/report %s %s/ledger.csv"):format(lua,
      "examples/orders/orders.csv", dir))
    assert.equal(1, status)
    assert.truthy(output:find("the ledger does NOT add up", 1, true))
  end)

  it("has a CSV that its generator writes", function()
    local status, output = process.run(lua .. " examples/orders/generate")
    assert.equal(0, status)
    assert.equal(process.read("examples/orders/orders.csv"), output)
  end)
end)
