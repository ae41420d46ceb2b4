local scripts = require "spec.support.scripts"
local sandbox = require "moonshift.sandbox"

describe("sandbox", function()
  local natives

  -- What a script returns, in a folder with a library beside it.
  local function run(text, options)
    natives = scripts.natives {
      ["x.lua"] = text,
      ["lib/m.lua"] = "return { answer = 42 }",
      ["lib/broken.lua"] = "error('broken', 0)",
      ["lib/flag.lua"] = "",
    }
    local given = { borrowed = true }
    for key, value in pairs(options or {}) do
      given[key] = value
    end
    return sandbox.new(natives, given).run("x.lua")
  end

  local function refuses(text, message)
    local _, raised = pcall(run, text)
    assert.equal(message, raised)
  end

  it("refuses to read an unknown global", function()
    refuses("\nreturn jbo", 'x.lua:2: unknown global "jbo"')
    refuses("wait 'a' {}", 'x.lua:1: unknown global "wait"')
  end)

  it("refuses to set a global, known or not", function()
    refuses("x = 1", 'x.lua:1: cannot set global "x" (declare it local)')
    refuses("print = 1", 'x.lua:1: cannot set global "print" (declare it local)')
  end)

  it("refuses to change a library table", function()
    refuses("string.x = 1", "x.lua:1: cannot set string.x (library tables are read-only)")
    refuses("rawset(string, 'x', 1)", "x.lua:1: cannot set x (this table is read-only)")
    refuses("rawset(_G, 'x', 1)", "x.lua:1: cannot set x (this table is read-only)")
  end)

  it("lists a library without handing it out", function()
    local count, state = run("local n, next, t = 0, pairs(string)\n"
      .. "for _ in next, t do n = n + 1 end return n"), run("return select(2, pairs(string))")
    assert.is_true(count > 10)
    assert.is_nil(state)
  end)

  for _, name in ipairs { "os.exit", "os.setlocale", "string.dump", "package.loadlib",
    "debug.sethook", "debug.getregistry" } do
    it("has no " .. name, function()
      assert.is_nil(run("return " .. name))
    end)
  end

  it("keeps debug.traceback", function()
    assert.equal("function", type(run("return debug.traceback")))
  end)

  it("gives no metatable of texts", function()
    assert.is_false(run("return getmetatable('')"))
  end)

  it("refuses to stop the collector", function()
    refuses("collectgarbage('stop')",
      'x.lua:1: collectgarbage "stop" is not available (the memory limit needs the collector)')
  end)

  it("loads text in its own world", function()
    assert.equal(2, run("return load('return 1 + 1')()"))
    refuses("load('y = 1', '=chunk')()", 'chunk:1: cannot set global "y" (declare it local)')
  end)

  it("loads text in a world that is given", function()
    assert.equal(1, run("local t = {} load('y = 1', 'c', 't', t)() return t.y"))
  end)

  it("refuses binary chunks", function()
    local chunk = string.dump(function() end)
    assert.equal("attempt to load a binary chunk (mode is 't')",
      run(("return select(2, load(%q, 'c', 'b'))"):format(chunk)))
  end)

  it("requires from lib/, once", function()
    assert.equal(42, run("return require('lib.m').answer"))
    assert.is_true(run("return require('lib.m') == require('lib.m')"))
    assert.is_true(run("return require('lib.flag')"))
  end)

  it("requires libraries as they are seen", function()
    assert.is_true(run("return require('string') == string"))
    assert.is_nil(run("return require('debug').sethook"))
  end)

  it("requires what a spec puts in the place of a module", function()
    local fake = {}
    assert.equal(fake, run("return require 'lib.m'", { modules = { ["lib.m"] = fake } }))
  end)

  it("names a module that is not there", function()
    refuses("local m = require 'lib.mial'",
      'x.lua:1: module "lib.mial" not found (no file lib/mial.lua in the script folder)')
    refuses("local m = require 'no.such'",
      'x.lua:1: module "no.such" not found (not in lib/, package.path or package.cpath)')
  end)

  it("tries a broken module again", function()
    assert.equal("broken", run([[
      pcall(require, "lib.broken")
      return select(2, pcall(require, "lib.broken"))]]))
  end)

  it("keeps its hands off the store's file", function()
    local refusal = "jobs.db: this is the store's file (expected another one)"
    assert.equal(refusal, run("return select(2, io.open('jobs.db'))"))
    assert.equal(refusal, run("return select(2, os.remove('jobs.db'))"))
    assert.equal(refusal, run("return select(2, os.rename('a', 'jobs.db'))"))
    refuses("for _ in io.lines('jobs.db') do end", "x.lua:1: " .. refusal)
    refuses("io.open(nil)", "x.lua:1: bad argument #1 to 'open' (string expected, got nil)")
  end)

  it("prints to the job's lines", function()
    run("print('hello', 'there')")
    assert.same({ "hello there" }, natives.printed)
  end)

  it("changes nothing in a borrowed state", function()
    local rep, exit, open = string.rep, os.exit, io.open
    run("return 1")
    assert.equal(rep, string.rep)
    assert.equal(exit, os.exit)
    assert.equal(open, io.open)
  end)
end)
