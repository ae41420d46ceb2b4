-- `make test`: what cannot be run with what is installed is left out by name, and the rest is run.
local process = require "spec.support.process"

local quote = process.quote

-- The folders of programs, without these.
local function path_without(place, ...)
  process.run(("mkdir %s/bin; for folder in /bin /usr/bin /usr/local/bin; do "
    .. "ln -sf $folder/* %s/bin; done"):format(place, place))
  for _, name in ipairs { ... } do
    os.remove(("%s/bin/%s"):format(place, name))
  end
  return "PATH=" .. quote(place .. "/bin")
end

describe("spec/run --as-is", function()
  local place

  before_each(function()
    place = process.folder()
  end)

  after_each(function()
    process.remove(place)
  end)

  local function run(environment, ...)
    local words = { "env", environment, os.getenv("SPEC_LUA") or "lua5.4", "spec/run --as-is" }
    for _, word in ipairs { ... } do
      words[#words + 1] = quote(word)
    end
    return process.run(table.concat(words, " "))
  end

  it("leaves out what starts a program that is not here, and says so", function()
    local status, output = run(path_without(place, "sqlite3", "python3", "clang-format"),
      "--step", "a script", "python3 -c 1", "--step", "clang-format is content", "false",
      "--step", "a step", "true", "spec/faults/follow_spec.lua",
      "spec/core/script/transfer_spec.lua")
    assert.equal(0, status, output)
    assert.equal([[
  pending a script: no python3 here
  pending clang-format is content: no clang-format here
  pending spec/faults/follow_spec.lua: no sqlite3 here
  pending spec/core/script/transfer_spec.lua: no python3 here
]], (output:gsub("a step .*", "")))
    assert.matches("\n1 passed, 0 failed\n$", output)
  end)

  it("runs no spec without busted, but steps", function()
    local status, output = run("BUSTED=/nowhere/busted", "--step", "a step", "true",
      "spec/lua/show_spec.lua")
    assert.equal(0, status, output)
    assert.matches("^  pending spec/lua/show_spec.lua: no /nowhere/busted here\na step ", output)
  end)

  it("leaves out nothing where all is here", function()
    local status, output = run(path_without(place), "spec/lua/show_spec.lua")
    assert.equal(0, status, output)
    assert.is_nil(output:find("pending", 1, true))
    assert.matches("\n[1-9]%d* passed, 0 failed\n$", output)
  end)
end)

describe("make test", function()
  it("installs nothing", function()
    local status, plan = process.run("env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -n test")
    assert.equal(0, status)
    assert.is_nil(plan:find("apt-get", 1, true))
    assert.is_truthy(plan:find("spec/run --as-is", 1, true))
  end)
end)
