require "spec.support.scripts"
local compile = require "moonshift.process.compile"
local fit = require "moonshift.process.migration.fit"
local graphs = require "spec.lua.process.graphs"
require "moonshift.process.commands"

local BODY = "a#multiInstanceBody"

describe("whether a plan fits", function()
  local function plan()
    return compile.plan(graphs.make("p", { a = { kind = "user", multi = { count = 3,
      parallel = true } }, b = "user" }, { "s -> a -> b -> e" }))
  end

  local function body(more)
    return { at = BODY, state = "body", scope = {}, more = more }
  end

  -- What does not fit of a body of which this is known, where a pair leads on from it or not.
  local function wrong(more, paired)
    local c = { from = plan(), to = plan(), by_from = { [BODY] = paired and { to = BODY } or nil } }
    return fit.trouble(c, body(more))
  end

  it("a body says its turns, up to ten thousand outside of the frame or as ranges", function()
    local most = { { 10, 4000, 0 }, { 5000, 6000, 4000 } }
    assert.is_nil(wrong({ 10000, 0, 10000, most }, true))
    assert.is_nil(wrong { 10000, 0, 10000, most })
    assert.is_nil(wrong({ 10000, 0, 10000, nil, 7 }, true))
    most[2][2] = 6001
    for _, more in ipairs { { 10001, 0, 10001, most }, { 10001, 0, 10001, nil, 7 } } do
      assert.equal("10001 turns (expected at most 10000)", wrong(more, true))
    end
    assert.equal("no pair leads from a#multiInstanceBody (expected one): its turns stand outside "
      .. "of the frame", wrong { 3, 0, 3, nil, 7 })
  end)

  it("is told once of places that are alike", function()
    local scope, list = { at = "" }, {}
    local f = { list = { { at = "a", state = "task", scope = scope, kids = 0 },
      { at = "a", state = "task", scope = scope, kids = 0 },
      { at = "b", state = "task", scope = scope, kids = 0 } } }
    fit.troubles({ from = plan(), to = plan(), by_from = {} }, f, list)
    assert.same({ "at a: no pair leads from a (expected one)",
      "at b: no pair leads from b (expected one)" }, list)
  end)
end)
