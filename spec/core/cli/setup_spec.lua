local process = require "spec.support.process"
local program = require "spec.support.program"

local work = "return function() end\n"

describe("the script folder #file", function()
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

  it("holds the default store, however it is named", function()
    assert.equal(0, (place.run("-C", "bare", "enqueue", "bare")))
    local status, _, errors = place.run("run", "bare", "--drain")
    assert.equal(0, status, errors)
    status, _, errors = program.run({ "enqueue", "bare" }, { dir = place.path,
      env = { MOONSHIFT_DIR = "bare/" } })
    assert.equal(0, status, errors)
    local _, output = program.run({ "stats", "--json" }, { dir = place.path .. "/bare" })
    assert.truthy(output:find('"successful":1', 1, true), output)
    assert.truthy(output:find('"ready":1', 1, true), output)
    assert.is_false(there("moonshift.db"))
    _, output = place.run("settings", "-C", "bare")
    assert.truthy(output:find("store +sqlite:bare/moonshift.db +default\n"), output)
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
        .. "moonshift.lua, handlers/ or processes/ in the working directory)\n", errors)
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

describe("the store #file", function()
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

  it("and its ways on a server are no files", function()
    for _, name in ipairs { "listen-url", "read-url" } do
      local status, _, errors = place.run("run", "--drain", "--" .. name, "jobs.db")
      assert.equal(2, status)
      assert.truthy(errors:find(("--%s: \"sqlite:jobs.db\" is no server (expected postgres://…)")
        :format(name), 1, true), errors)
    end
  end)

  it("of an unknown scheme is refused", function()
    local status, _, errors = place.run("enqueue", "work", "--store", "mysql:x")
    assert.is_true(status == 2 or status == 78, errors)
    assert.truthy(errors:find('"mysql:x"', 1, true), errors)
  end)
end)

describe("jobs left in the working directory #file", function()
  local place

  before_each(function()
    place = program.place { ["shop/handlers/sell.lua"] = work }
    assert.equal(0, (place.run("-C", "shop", "--store", "moonshift.db", "enqueue", "sell")))
  end)

  after_each(function()
    place.clean()
  end)

  local refusal = 'moonshift: store "shop/moonshift.db" is not there yet, but "moonshift.db" in '
    .. "the working directory holds 1 job (move it there, or use it with --store "
    .. "sqlite:moonshift.db)\n"

  it("stop every verb that would look into an empty store beside the scripts", function()
    for _, line in ipairs { { "run", "shop", "--drain" }, { "deploy", "shop" },
      { "-C", "shop", "enqueue", "sell" }, { "-C", "shop", "job", "list" } } do
      local status, output, errors = place.run(table.unpack(line))
      assert.equal(78, status)
      assert.equal("", output)
      assert.equal(refusal, errors)
      assert.is_nil(io.open(place.path .. "/shop/moonshift.db"))
    end
  end)

  it("stop the module, too", function()
    local script = 'print(require("moonshift").open { scripts = "shop" })'
    local _, output, errors = process.run(("cd %s && %s -e %s"):format(place.path,
      process.quote(os.getenv("SPEC_LUA") or "lua5.4"), process.quote(script)))
    assert.truthy(output:find('^nil.*"shop/moonshift.db" is not there yet'), output .. errors)
  end)

  it("are no hindrance once they have run, or where a store is named", function()
    assert.equal(0, (place.run("run", "shop", "--store", "moonshift.db", "--drain")))
    assert.equal(0, (place.run("-C", "shop", "enqueue", "sell")))
    assert.truthy(io.open(place.path .. "/shop/moonshift.db"))
  end)

  it("stop the start where their file cannot be read", function()
    local file = assert(io.open(place.path .. "/moonshift.db", "wb"))
    file:write(("no database "):rep(1000))
    file:close()
    os.remove(place.path .. "/moonshift.db-wal")
    local status, _, errors = place.run("run", "shop", "--drain")
    assert.equal(78, status)
    assert.truthy(errors:find('"moonshift.db" in the working directory cannot be read', 1, true),
      errors)
  end)
end)

describe("a store named by its path #file", function()
  it("needs no scheme, in flags, variables and moonshift.lua", function()
    local place = program.place { ["moonshift.lua"] = 'return { store = "file.db" }\n',
      ["handlers/work.lua"] = work }
    assert.equal(0, (place.run("enqueue", "work")))
    assert.truthy(io.open(place.path .. "/file.db"))
    assert.equal(0, (place.run("enqueue", "work", "--store", place.path .. "/flag.db")))
    assert.truthy(io.open(place.path .. "/flag.db"))
    local status, _, errors = place.run("check", "--store", place.path .. "/flag.db")
    assert.equal(0, status, errors)
    place.clean()
  end)
end)
