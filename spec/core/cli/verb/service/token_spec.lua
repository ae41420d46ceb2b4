local program = require "spec.support.program"
local rules = require("moonshift.core").rules

describe("token", function()
  local place

  before_each(function()
    place = program.place { ["handlers/work.lua"] = "return function() end\n" }
  end)

  after_each(function()
    place.clean()
  end)

  local function rows()
    return rules.decode((select(2, place.run("token", "list", "--json"))))
  end

  -- The entries of the operation log that tokens have left.
  local function operations()
    local lines = {}
    for _, row in ipairs(rules.decode((select(2, place.run("operations", "--json"))))) do
      if row.entity:find("^token/") then
        lines[#lines + 1] = row.verb .. " " .. row.entity
      end
    end
    return lines
  end

  it("create prints it once, and keeps its first characters alone", function()
    local status, token, errors = place.run("token", "create", "ci", "--scope", "enqueue,read",
      "--scope", "work", "--tenant", "acme", "--handler", "topic/*", "--rate", "100/PT1S",
      "--expires", "P90D")
    assert.equal(0, status)
    assert.matches("^ms_%x+\n$", token)
    assert.equal(68, #token)
    assert.equal("moonshift: this is the only time that the token is shown\n", errors)
    local row = rows()[1]
    assert.equal("read,enqueue,work", row.scopes)
    assert.same({ "topic/*" }, row.handlers)
    assert.equal(token:sub(1, 9), row.hint)
    assert.equal("acme", row.tenant)
    assert.truthy(row.expires)
  end)

  it("create refuses a name twice, and a scope that is none", function()
    place.run("token", "create", "ci", "--scope", "read")
    local status, _, errors = place.run("token", "create", "ci", "--scope", "read")
    assert.equal(5, status)
    assert.matches('token "ci": the name is taken', errors)
    status, _, errors = place.run("token", "create", "x", "--scope", "reed")
    assert.equal(2, status)
    assert.matches('unknown scope "reed" %(did you mean "read"%?%)', errors)
    status, _, errors = place.run("token", "create", "x")
    assert.equal(2, status)
    assert.matches("scopes: expected one at least", errors)
  end)

  it("revoke ends it and is in the operation log", function()
    place.run("token", "create", "ci", "--scope", "read")
    assert.equal("token ci revoked\n", select(2, place.run("token", "revoke", "ci")))
    assert.truthy(rows()[1].revoked)
    assert.equal(4, (place.run("token", "revoke", "ci")))
    assert.same({ "create_token token/ci", "revoke_token token/ci" }, operations())
  end)
end)
