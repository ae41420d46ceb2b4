local process = require "spec.support.process"
local testing = require "moonshift.testing"

local lua = os.getenv("SPEC_LUA") or "lua5.4"

describe("examples/nightly", function()
  it("plays the night", function()
    local status, output, errors = process.run(lua .. " examples/nightly/night")
    assert.equal(0, status, errors)
    assert.equal([[
18:00  1 done, 0 failed, 3 waiting
       done    close_day
19:00  1 done, 0 failed, 2 waiting
       done    clean_up
02:00  1 done, 1 failed, 1 waiting
       failed  reports/sales: no figures for 2026-01-02 yet, again at 2026-01-02T02:15:00.000Z
       done    reports/stock
02:15  0 done, 1 failed, 1 waiting
       failed  reports/sales: no figures for 2026-01-02 yet, again at 2026-01-02T02:45:00.000Z
02:45  1 done, 0 failed, 0 waiting
       done    reports/sales
]], output)
  end)

  it("gives the family its retry and leaves the audit's alone", function()
    local status, output = process.moonshift("check", "examples/nightly")
    assert.equal(0, status)
    local retries = {}
    for name, retry in output:gmatch("\n(%S+)[^\n]-(%S*P[%d,PTRHMS/]+)") do
      retries[name] = retry
    end
    assert.equal("PT15M,PT30M,PT1H", retries["reports/sales"])
    assert.equal("PT15M,PT30M,PT1H", retries["reports/stock"])
    assert.equal("R1/PT1S", retries["reports/audit"])
  end)

  it("ends the audit with an incident at its first failure", function()
    local engine = testing.engine { scripts = "examples/nightly" }
    local id = engine:enqueue("reports/audit")
    engine:drain()
    assert.equal("dead", engine:job(id).state)
    assert.equal("the auditor is on holiday", engine:incidents({ job = id }):one().message)
    engine:close()
  end)
end)
