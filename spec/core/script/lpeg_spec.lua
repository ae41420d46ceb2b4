local process = require "spec.support.process"

local lua = os.getenv("LUA") or "lua5.4"

-- What a new interpreter prints that finds the module alone.
local function said(program)
  local status, output, errors = process.run(("%s -e '%s'"):format(lua, [[
    package.cpath = (os.getenv "BUILD" or "build") .. "/lua/?.so"
    ]] .. program))
  assert.equal(0, status, errors)
  return output
end

describe("lpeg", function()
  it("is there wherever the module is", function()
    assert.equal("3\n", said [[
      require "moonshift.core"
      local lpeg = require "lpeg"
      print(lpeg.match(lpeg.P "ab", "abc"))]])
  end)

  it("stays the copy that a program has loaded before", function()
    assert.equal("own\n", said [[
      package.loaded.lpeg = "own"
      require "moonshift.core"
      print(require "lpeg")]])
  end)
end)
