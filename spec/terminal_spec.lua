-- The picture of a terminal in the README: its commands are those of the page, and what it shows of
-- the program is what the page promises.
local source = require "spec.support.source"
local terminal = require "docs.terminal"

describe("docs/terminal.svg", function()
  local shown = {}

  setup(function()
    for text in source.read("docs/terminal.svg"):gmatch("<text.->(.-)</text>") do
      text = text:gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&amp;", "&")
      shown[#shown + 1] = text
    end
  end)

  it("shows the commands of the README, in their order", function()
    local typed = {}
    for _, line in ipairs(shown) do
      typed[#typed + 1] = line:match("^<tspan.->%$ </tspan>(.*)$")
    end
    assert.same(terminal.commands(), typed)
    assert.truthy(#typed > 3)
  end)

  it("shows what the program prints today", function()
    local function words(text) -- without dates, and however wide a column is
      return (text:gsub("%d%d%d%d%-%d%d%-%d%dT[%d:.]+Z", "…"):gsub("%d+%.%d+", "…"):gsub(" +", " "))
    end
    assert.equal(words(source.read("docs/terminal.svg")), words(terminal.page()))
  end)
end)
