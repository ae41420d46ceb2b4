local program = require "spec.support.program"
local rules = require("moonshift.core").rules

describe("instance trail", function()
  local place, id

  before_each(function()
    place = program.place {
      ["processes/order.lua"] = [[
        local step, task = require "moonshift.process".words()
        return {
          step "reserve" { run = "reserve", result = "stock" },
          task "look" { within = { "P1D", stop = "late" } },
          step "bad" { run = "bad" },
        }]],
      ["handlers/reserve.lua"] = "return function() return ('ä'):rep(100) end",
      ["handlers/bad.lua"] = "return function(job) job:throw('E1', 'no') end",
    }
    local _, started = place.run("process", "start", "order", "amount=5")
    id = started:match "%d+"
    local _, tasks = place.run("task", "list", "--json", "--columns", "id")
    place.run("task", "complete", tostring(rules.decode(tasks)[1].id), "fine=true")
  end)

  after_each(function()
    place.clean()
  end)

  it("says in words what was done, and what has begun", function()
    local _, output = place.run("instance", "trail", id)
    local lines = {}
    for line in output:gmatch("[^\n]+") do
      lines[#lines + 1] = line:match("^%S+ +(.-) *$")
    end
    assert.same({ "WHAT", 'amount = 5, start, reserve, stock = "' .. ("ä"):rep(29)
      .. "…, look begins",
      "fine = true, look ends, bad, warning: BPMN error E1: no at bad is caught by nothing",
    }, lines)
  end)

  it("gives machines the events, also as a column", function()
    local _, output = place.run("instance", "trail", id, "--json")
    local row = rules.decode(output)[2]
    assert.is_nil(row.what)
    assert.same({ "v", 1, "fine", true }, row.events[1])
    _, output = place.run("instance", "trail", id, "--columns", "events")
    assert.truthy(output:find('\n[["v",1,"fine",true],', 1, true), output)
  end)
end)
