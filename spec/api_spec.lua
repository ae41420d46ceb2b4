-- docs/api.md: what the table of routes says.
local api = require "docs.api"
local core = require "moonshift.core"
local pages = require "spec.support.pages"
local program = require "spec.support.program"

describe("docs/api.md", function()
  local described

  setup(function()
    local status
    status, described = program.run { "help", "api", "--json" }
    assert.equal(0, status)
  end)

  it("is what the table of routes says (else: make reference)", function()
    assert.equal(api.page(described), pages.read("docs/api.md").text)
  end)

  it("has every request once, with its sentence and its scope", function()
    local text, count = pages.read("docs/api.md").text, 0
    for path, item in pairs(core.rules.decode(described).paths) do
      for method, operation in pairs(item) do
        local head = ("\n### `%s %s`\n\n%s Scope: "):format(method:upper(), path, operation.summary)
        local at = text:find(head, 1, true)
        assert.truthy(at, head)
        assert.is_nil(text:find(head, at + 1, true), head)
        count = count + 1
      end
    end
    assert.is_true(count > 100)
  end)
end)
