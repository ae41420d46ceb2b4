-- Tokens made and revoked over HTTP.
local asker = require "spec.support.asker"
local json = require("moonshift").json
local program = require "spec.support.program"

describe("a token over HTTP", function()
  local place

  before_each(function()
    place = program.place { ["handlers/work.lua"] = "return function() end\n" }
    place.run("deploy")
  end)

  after_each(function()
    place.clean()
  end)

  local function ask(path, body, who)
    return asker.ask(place.path, { "POST", path, body, who = who })
  end

  local function listed()
    return json.decode((select(2, place.run("token", "list", "--json"))))
  end

  it("is told once, and counts until it is revoked", function()
    local made = ask("/v1/tokens", { name = "ci", scopes = { "read", "enqueue" },
      handlers = { "work" }, expires = "P1D" })
    assert.equal(201, made.status)
    assert.matches("^ms_%x+$", made.body.token)
    assert.same({ "ci", json.null }, { listed()[1].name, listed()[1].revoked })
    assert.is_nil(json.encode(listed()):find(made.body.token, 1, true))
    assert.same({ 200, true }, { ask("/v1/tokens/ci/revoke").status,
      listed()[1].revoked ~= json.null })
    assert.equal(404, ask("/v1/tokens/ci/revoke").status)
  end)

  it("is refused with what is wrong", function()
    ask("/v1/tokens", { name = "ci", scopes = { "read" } })
    for status, body in pairs {
      [409] = { name = "ci", scopes = { "read" } },
      [400] = { name = "other", scopes = { "reed" } },
    } do
      assert.equal(status, ask("/v1/tokens", body).status)
    end
    assert.matches("secret", ask("/v1/tokens", { name = "x", scopes = { "read" },
      secret = "s" }).body.detail)
  end)

  it("is made by those alone who may do all", function()
    for _, who in ipairs { { scopes = { "operate" } }, { scopes = { "admin" }, tenant = "a" } } do
      assert.equal(403, ask("/v1/tokens", { name = "ci", scopes = { "read" } }, who).status)
      assert.equal(403, ask("/v1/tokens/ci/revoke", nil, who).status)
    end
    assert.same({}, listed())
  end)
end)
