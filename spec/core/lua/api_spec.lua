-- The module inside somebody else's program, and inside another Lua.
local process = require "spec.support.process"

local quote = process.quote
local program = os.getenv("SPEC_PROGRAM") or "build/moonshift"
local build = program:match("^(.*)/")
local sanitized = program:find("san/", 1, true) -- what is instrumented wants an instrumented host

local SHOWN = "nm -D --defined-only "
local MAIN = [[
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    if (argc < 2 || luaL_dofile(L, argv[1])) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        return 1;
    }
    lua_close(L);
    return 0;
}
]]

-- Asks for work in the host's thread and in an executor's, with most of the module on the way.
local WORK = [[
local moonshift = require "moonshift"
local engine = assert(moonshift.open { store = os.getenv("STORE"), scripts = "." })
assert(engine:enqueue("greet", { who = "host", list = { 1, 2 }, text = ("x"):rep(3000) }))
assert(engine:enqueue("greet", { who = "later" }, { after = "PT1H", lane = "a", unique = "b" }))
print(engine:drain().done, engine:jobs { payload = { who = "later" } }:count())
local executor = moonshift.executor { engines = { engine }, name = "guest", workers = 2 }
assert(executor:start())
local id = engine:enqueue("greet", { who = "executor" })
local clock = os.time() + 30
while engine:log({ job = id, outcome = "successful" }):count() == 0 and os.time() < clock do
  os.execute("sleep 0.01")
end
print(executor:stop(), engine:log({ job = id, outcome = "successful" }):count())
engine:close()
]]

-- The names of all that our C files show to each other.
local function names_of_ours()
  local list = {}
  local pipe = io.popen(("cd %s && find core gen -name '*.o' | xargs nm -g --defined-only"):format(
    quote(build)))
  for line in pipe:lines() do
    local name = line:match("^%x+ %u ([%w_]+)$")
    if name and name ~= "main" and not name:find("^luaopen_") and not name:find("^__") then
      list[name] = true
    end
  end
  pipe:close()
  return list
end

-- A host with a function of each of these names, which ends the process that calls it.
local function host(place, names)
  local lines = { MAIN }
  local count = 0
  for name in pairs(names) do
    lines[#lines + 1] = ('void %s(void) { puts("host\'s %s called"); abort(); }'):format(name, name)
    count = count + 1
  end
  local file = assert(io.open(place .. "/host.c", "w"))
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
  local status, _, errors = process.run(("cd %s && gcc -w -fno-builtin -rdynamic " ..
    "-I/usr/include/lua5.4 -o host host.c -llua5.4"):format(quote(place)))
  assert.equal(0, status, errors)
  return count
end

describe("the module in a host program", function()
  local place, root

  setup(function()
    place = process.folder { ["work.lua"] = WORK,
      ["handlers/greet.lua"] = "return function(job) return { hi = job.payload.who } end" }
    root = io.popen("pwd"):read("l")
  end)

  teardown(function()
    process.remove(place)
  end)

  it("never calls a function of the host that has the name of one of ours", function()
    if sanitized then
      return
    end
    local names = names_of_ours()
    assert.is_true(names.text_add and names.json_read)
    assert.is_true(host(place, names) > 500)
    local line = "cd %s && STORE=%s LUA_PATH=%s LUA_CPATH=%s ./host work.lua"
    local status, output, errors = process.run(line:format(quote(place),
      process.store(place .. "/guest.db"),
      quote(root .. "/lua/?.lua;" .. root .. "/lua/?/init.lua"), quote(build .. "/lua/?.so")))
    assert.equal("", errors)
    assert.equal("1\t1\ntrue\t1\n", output)
    assert.equal(0, status)
  end)

  it("shows its three entry points and nothing else", function()
    local _, output = process.run(SHOWN .. quote(build .. "/lua/moonshift/core.so"))
    local shown = {}
    for name in output:gmatch("%x+ %u ([^\n]+)") do
      shown[#shown + 1] = name
    end
    assert.equal(3, #shown)
    assert.same({ "luaopen_moonshift_back_off", "luaopen_moonshift_core",
      "luaopen_moonshift_rules" }, shown)
  end)

  it("shows nothing to the C modules that handlers load", function()
    local _, output = process.run(SHOWN .. quote(build .. "/moonshift"))
    assert.is_nil(output:find(" T text_add", 1, true))
  end)
end)

describe("the module in another Lua", function()
  local paths = "LUA_PATH='lua/?.lua;lua/?/init.lua' LUA_CPATH=" .. quote(build .. "/lua/?.so")

  local function required(interpreter, name)
    local status, _, errors = process.run(
      ("%s %s -e 'require \"%s\"'"):format(paths, interpreter, name))
    assert.equal(1, status)
    return errors
  end

  local versions = { ["lua5.1"] = "this is Lua 5.1\n", luajit = "this is LuaJIT 2" }
  for interpreter, says in pairs(versions) do
    for _, name in ipairs { "moonshift", "moonshift.testing" } do
      it(("says in %s what %s needs"):format(interpreter, name), function()
        local wanted = "moonshift needs Lua 5.4, " .. says
        assert.is_truthy(required(interpreter, name):find(wanted, 1, true))
      end)
    end
  end
end)
