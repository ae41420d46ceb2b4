local executors = require "spec.support.executors"
local process = require "spec.support.process"
local program = require "spec.support.program"

describe("init", function()
  local place

  before_each(function()
    place = executors.at(program.place {})
  end)

  after_each(function()
    place.kill()
    place.clean()
  end)

  local function is_there(name)
    return process.run("test -e " .. process.quote(place.path .. "/" .. name)) == 0
  end

  it("writes a folder that can be loaded, with the files that it names", function()
    local status, output, errors = place.run("init", "shop")
    assert.equal("0 next: cd shop && moonshift run --watch\n", status .. " " .. errors)
    for name in output:gmatch("[^\n]+") do
      assert.truthy(is_there(name), name)
    end
    local _, checked, problems = place.run("check", "shop", "--json")
    assert.equal("", problems)
    assert.matches('"name":"hello"', checked)
    assert.matches('"problems":%[%],"warnings":%[%]', checked)
  end)

  it("writes into the folder where it stands, or that -C names", function()
    place.run("init")
    assert.truthy(is_there("handlers/greet.lua"))
    place.run("-C", "other", "init", "--json")
    assert.truthy(is_there("other/handlers/greet.lua"))
  end)

  it("retries for hours in it", function()
    place.run("init", "shop")
    local _, output = place.run("-C", "shop", "settings")
    assert.matches("\nretry +exponential +moonshift.lua\n", output)
  end)

  it("writes over nothing, and then writes nothing", function()
    place.run("init", "shop")
    process.run("rm " .. process.quote(place.path .. "/shop/README.md"))
    local status, output, errors = place.run("init", "shop")
    assert.equal("5  moonshift: \"shop/handlers/greet.lua\" is there already (nothing written)\n",
      status .. " " .. output .. " " .. errors)
    assert.falsy(is_there("shop/README.md"))
  end)

  it("refuses a folder without its parent, and two folders", function()
    local status, _, errors = place.run("init", "a/b")
    assert.equal('74 moonshift: "a/b": No such file or directory\n', status .. " " .. errors)
    status, _, errors = place.run("-C", "a", "init", "b")
    assert.equal('2 moonshift: the folder is given twice ("b" and -C "a")\n',
      status .. " " .. errors)
  end)

  it("has a schedule that is seen to work", function()
    place.run("init")
    place.start("log", "run", place.path, "--watch")
    local function says(text)
      process.await(("the log to say %q"):format(text), 20, function()
        return process.read(place.path .. "/log"):find(text, 1, true)
      end)
    end
    says("event=watching")
    place.run("schedule", "run", "hello")
    says('handler=greet text="hello, moon"')
  end)

  it("has a spec that passes", function()
    place.run("init")
    local status, output = process.run(("cd %s && exec %s %s spec"):format(
      process.quote(place.path), os.getenv("LUA") or "lua5.4",
      process.quote(os.getenv("BUSTED") or "/usr/bin/busted")))
    assert.equal(0, status, output)
    assert.matches("2 successes / 0 failures", output)
  end)
end)
