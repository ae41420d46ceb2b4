local process = require "spec.support.process"

local lua = os.getenv("SPEC_LUA") or "lua5.4"

describe("examples/embedded", function()
  local dir

  before_each(function()
    dir = process.folder()
  end)

  after_each(function()
    process.remove(dir)
  end)

  local function library(arguments)
    local status, output, errors = process.run(("STORE=%s SHELF=%s %s " ..
      "examples/embedded/library.lua %s"):format(process.store(dir .. "/library.db"), dir, lua,
      arguments))
    assert.equal(0, status, errors)
    return output
  end

  it("keeps what is lent in its own store", function()
    library("lend ada Emma")
    library("lend bob Dracula P1D")
    assert.truthy(library("list"):find("^1  %S+  ada  Emma\n2  %S+  bob  Dracula\n$"))
    assert.equal("0 done, 0 failed\n", library("work"))
  end)

  it("reminds who is late, and again in a week", function()
    library("lend ada Emma PT0S")
    assert.equal("1 done, 0 failed\n", library("work"):match("[^\n]*\n$"))
    assert.truthy(library("list"):find("ada  Emma\n$"))
  end)

  it("is quiet when the book is back", function()
    library("lend ada Emma PT0S")
    process.run("touch " .. dir .. "/Emma")
    assert.equal("1 done, 0 failed\n", library("work"))
    assert.equal("", library("list"))
  end)
end)
