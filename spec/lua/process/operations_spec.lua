require "spec.support.scripts"
local operations = require "moonshift.process.operations"

local function wrong(list, starts_only)
  return table.concat(select(2, operations.read(list, starts_only)), "\n")
end

describe("operations", function()
  it("are read in their order, each with what it names", function()
    local list = operations.read { { start_before = "a", ["in"] = "s#2", variables = { x = 1 },
      ["local"] = true }, { cancel = "b#3" } }
    assert.same({ "start_before", "a", "s#2", { x = 1 }, true }, { list[1].kind, list[1].at,
      list[1].within, list[1].variables, list[1].is_local })
    assert.equal("operation 2, cancel b#3", list[2].what)
  end)

  it("say all that is wrong with them, by their numbers", function()
    assert.equal('operation 1: unknown key "cancl" (did you mean "cancel"?)\n'
      .. "operation 2: start_flow is 5 (expected a name)\n"
      .. "operation 3: expected one of start_before, start_after, start_flow and cancel\n"
      .. "operation 4: in, variables and local go with what starts (expected cancel alone)\n"
      .. "operation 5: local: expected variables beside it\n"
      .. 'operation 6 is the string "a" (expected a table)',
      wrong { { cancl = "a" }, { start_flow = 5 }, { start_before = "a", cancel = "b" },
        { cancel = "a", variables = {} }, { start_after = "a", ["local"] = true }, "a" })
  end)

  it("are a list that is neither empty nor too long", function()
    assert.equal("operations: got a table (expected a list of tables)", wrong {})
    assert.equal("operations: got nothing (expected a list of tables)", wrong(nil))
    local many = {}
    for i = 1, 1001 do
      many[i] = { cancel = "a" }
    end
    assert.equal("1001 operations (expected at most 1000)", wrong(many))
  end)

  it("cancel nothing where nothing is there yet", function()
    assert.equal("operation 1: expected one of start_before, start_after, start_flow",
      wrong({ { cancel = "a" } }, true))
  end)

  it("name an activity, its body, and one of several", function()
    assert.same({ "a", false }, { operations.name "a" })
    assert.same({ "a", false, 2 }, { operations.name "a#2" })
    assert.same({ "a", true }, { operations.name "a#multiInstanceBody" })
    assert.same({ "a", true, 12 }, { operations.name "a#multiInstanceBody#12" })
  end)
end)
