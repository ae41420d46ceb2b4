local process = require "spec.support.process"
local program = require "spec.support.program"

local work = "return function() end\n"

describe("the script folder", function()
  local place

  before_each(function()
    place = program.place {
      ["shop/moonshift.lua"] = 'return { store = "sqlite:shop.db" }\n',
      ["shop/handlers/sell.lua"] = work,
      ["bare/handlers/bare.lua"] = work,
      ["empty/readme.txt"] = "",
    }
  end)

  after_each(function()
    place.clean()
  end)

  local function there(name)
    return process.read(place.path .. "/" .. name) ~= ""
  end

  it("is the one of -C, its store beside its moonshift.lua", function()
    assert.equal(0, (place.run("-C", "shop", "enqueue", "sell")))
    assert.is_true(there("shop/shop.db"))
    assert.is_false(there("shop.db"))
  end)

  it("is the one of a variable", function()
    local status = program.run({ "enqueue", "sell" }, { dir = place.path,
      env = { MOONSHIFT_DIR = "shop" } })
    assert.equal(0, status)
    assert.is_true(there("shop/shop.db"))
  end)

  it("is the working directory if that looks like one", function()
    local status = program.run({ "enqueue", "bare" }, { dir = place.path .. "/bare" })
    assert.equal(0, status)
    assert.is_true(there("bare/moonshift.db"))
  end)

  it("may be missing where only the store is asked", function()
    program.run({ "enqueue", "bare" }, { dir = place.path .. "/bare" })
    local status, output = place.run("job", "list", "--json", "--store", "sqlite:bare/moonshift.db")
    assert.equal(0, status)
    assert.truthy(output:find('"handler":"bare"', 1, true))
  end)

  it("is needed by run and check", function()
    for _, verb in ipairs { "run", "check" } do
      local status, _, errors = program.run({ verb }, { dir = place.path .. "/empty" })
      assert.equal(2, status)
      assert.equal("moonshift: no script folder here (expected DIR, -C DIR, MOONSHIFT_DIR, or "
        .. "moonshift.lua or handlers/ in the working directory)\n", errors)
    end
  end)

  it("is named once", function()
    local status, _, errors = place.run("run", "shop", "-C", "bare")
    assert.equal(2, status)
    assert.equal('moonshift: the folder is given twice ("shop" and -C "bare")\n', errors)
  end)

  it("that is not there is refused", function()
    local status, _, errors = place.run("-C", "nowhere", "job", "list")
    assert.is_true(status ~= 0)
    assert.truthy(errors:find("nowhere", 1, true), errors)
  end)
end)

describe("the store", function()
  local place

  before_each(function()
    place = program.place { ["moonshift.lua"] = 'return { store = "sqlite:file.db" }\n',
      ["handlers/work.lua"] = work }
  end)

  after_each(function()
    place.clean()
  end)

  it("of a variable wins over the file's, that of a flag over both", function()
    local options = { dir = place.path, env = { MOONSHIFT_STORE = "sqlite:variable.db" } }
    program.run({ "enqueue", "work" }, options)
    assert.truthy(io.open(place.path .. "/variable.db"))
    program.run({ "enqueue", "work", "--store", "sqlite:flag.db" }, options)
    assert.truthy(io.open(place.path .. "/flag.db"))
    assert.is_nil(io.open(place.path .. "/file.db"))
  end)

  it("in memory is refused, for the job would be gone with the command", function()
    local status, output, errors = place.run("enqueue", "work", "--store", "sqlite::memory:")
    assert.equal(2, status)
    assert.equal("", output)
    assert.equal('moonshift: store "sqlite::memory:": would be gone with this command '
      .. "(expected sqlite:PATH)\n", errors)
  end)

  it("of an unknown scheme is refused", function()
    local status, _, errors = place.run("enqueue", "work", "--store", "mysql:x")
    assert.is_true(status == 2 or status == 78, errors)
    assert.truthy(errors:find('"mysql:x"', 1, true), errors)
  end)
end)
