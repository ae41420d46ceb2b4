-- The build as a packager meets it: flags, and what pkg-config, `require` and Debian's names find.
local process = require "spec.support.process"

local build = (os.getenv("SPEC_PROGRAM") or "build/moonshift"):match("^(.*)/")
local quote = process.quote

-- Runs make as somebody would by hand: what a calling make exports is not passed on.
local function make(...)
  local words = { "env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --no-print-directory -s CC=gcc" }
  for _, word in ipairs { ... } do
    words[#words + 1] = quote(word)
  end
  local status, output, errors = process.run(table.concat(words, " "))
  assert.equal(0, status, output .. errors)
  return output
end

-- The command of a plan that makes a file of this name.
local function command(plan, name)
  for line in plan:gmatch("[^\n]+") do
    if line:find(name .. " ", 1, true) and line:find(" -o ", 1, true) then
      return line
    end
  end
end

local function has(line, ...)
  for _, word in ipairs { ... } do
    assert.is_truthy((line .. " "):find(" " .. word .. " ", 1, true), word .. " in " .. line)
  end
end

local function lacks(line, ...)
  for _, word in ipairs { ... } do
    assert.is_nil((line .. " "):find(" " .. word .. " ", 1, true), word .. " in " .. line)
  end
end

-- What is linked, but for Lua and LPeg.
local function libraries(prefix)
  local words = {}
  for i, name in ipairs { "sqlite3", "ev", "jansson", "md", "expat" } do
    words[i] = prefix .. name
  end
  return table.unpack(words)
end

describe("the build", function()
  local none = build .. "/unbuilt"
  local place

  before_each(function()
    place = process.folder()
  end)

  after_each(function()
    process.remove(place)
  end)

  -- What make would do with these words to build everything that a library is linked to.
  local function plan(...)
    return make("-n", "BUILD=" .. none, "all", none .. "/yardstick", ...)
  end

  it("passes CPPFLAGS, CFLAGS and LDFLAGS to every compile and link", function()
    local made = make("-n", "CPPFLAGS=-DCPP_GIVEN", "CFLAGS=-O1 -DC_GIVEN",
      "LDFLAGS=-Wl,-z,relro", "BUILD=" .. none, "all", "contracts", none .. "/host",
      none .. "/spec/fuzz/replay", none .. "/soak/probe.so", none .. "/faults/memory.so")
    local compiled, linked, offenders = 0, 0, {}
    for line in made:gmatch("[^\n]+") do
      if line:find(" -o ", 1, true) and line:match("^gcc ") then
        local compile, link = line:find(" %-c "), not line:find(" %-c ")
        compiled, linked = compiled + (compile and 1 or 0), linked + (link and 1 or 0)
        if not line:find("-DC_GIVEN", 1, true)
          or compile and not line:find("-DCPP_GIVEN", 1, true)
          or link and not line:find("-Wl,-z,relro", 1, true) then
          offenders[#offenders + 1] = line
        end
      end
    end
    assert.same({}, offenders)
    assert.is_true(compiled > 200 and linked > 10, compiled .. ", " .. linked)
  end)

  it("asks pkg-config for headers and libraries", function()
    local stub = process.folder { ["pkg-config"] = [[#!/bin/sh
      for name; do :; done
      case $name in
        "lua-5.4 >= 5.4 lua-5.4 < 5.5") exit 0;;
        lua-5.4|lua5.4-lpeg|sqlite3|libpq|jansson|libev|expat|libcurl|libmd) ;;
        *) exit 1;;
      esac
      name=${name#lib}
      case $1 in --cflags) echo "-I/found/$name";; --libs) echo "-L/found -lfound-$name";; esac
    ]] }
    process.run("chmod +x " .. quote(stub .. "/pkg-config"))
    local made = plan("PKG_CONFIG=" .. stub .. "/pkg-config")
    process.remove(stub)
    local object = command(made, none .. "/core/script/lpeg.o")
    has(object, "-I/found/lua-5.4", "-I/found/pq", "-I/found/curl", "-I/found/jansson")
    lacks(object, "-DLPEG_BY_REQUIRE")
    local module = command(made, none .. "/lua/moonshift/core.so")
    has(module, "-lfound-lua5.4-lpeg", libraries("-lfound-"))
    lacks(module, "-lfound-lua-5.4")
    has(command(made, none .. "/moonshift"), "-lfound-lua-5.4", "-L/found", libraries("-lfound-"))
    has(command(made, none .. "/yardstick"), "-lfound-lua-5.4", "-lfound-sqlite3")
    assert.is_nil(made:find("/usr/include", 1, true))
    assert.is_nil(made:find("-llua5.4", 1, true))
  end)

  it("has Debian's names where pkg-config knows none", function()
    local made = plan("PKG_CONFIG=false")
    local object = command(made, none .. "/core/script/lpeg.o")
    has(object, "-I/usr/include/lua5.4", "-I/usr/include/postgresql")
    has(command(made, none .. "/moonshift"), "-llua5.4", "-llua5.4-lpeg", libraries("-l"))
    lacks(command(made, none .. "/lua/moonshift/core.so"), "-llua5.4")
  end)

  it("takes what a packager says before what pkg-config says", function()
    local made = plan("LUA_INCDIR=/mine/lua", "PQ_INCDIR=/mine/pq", "LUA_LIBS=-lmylua",
      "LPEG_LIBS=-lmylpeg")
    local object = command(made, none .. "/core/script/lpeg.o")
    has(object, "-I/mine/lua", "-I/mine/pq")
    lacks(object, "-I/usr/include/lua5.4", "-I/usr/include/postgresql")
    has(command(made, none .. "/moonshift"), "-lmylua", "-lmylpeg")
    lacks(command(made, none .. "/lua/moonshift/core.so"), "-lmylua")
  end)

  it("requires LPeg where it is no library to link", function()
    local made = plan("PKG_CONFIG=false", "LUA_INCDIR=/nowhere")
    has(command(made, none .. "/core/script/lpeg.o"), "-DLPEG_BY_REQUIRE")
    assert.is_nil(made:find("lpeg ", 1, true))
  end)

  -- Objects are as they are, but for one that is compiled anew with these words; and all is linked.
  local function rebuild(...)
    process.run(("cp -a %s/core %s/gen %s && rm %s/core/script/lpeg.o"):format(build, build,
      quote(place), quote(place)))
    make("BUILD=" .. place, "all", ...)
    local folder = process.folder { ["handlers/late.lua"] =
      'return { run = error, retry = "${\'R4/PT\'}${2 + 3}M" }' }
    local _, output, errors = process.run(("cd %s && P=%s/moonshift && $P enqueue late && " ..
      "$P run --drain >log 2>&1; $P job show 1 --json"):format(quote(folder), quote(place)))
    assert.matches('"retries": ?3', output .. errors)
    local path = ("LUA_PATH=%s LUA_CPATH=%s"):format(quote "lua/?.lua;lua/?/init.lua;;",
      quote(place .. "/lua/?.so;;"))
    _, output, errors = process.run(path .. [[ lua5.4 -e '
      local testing = require "moonshift.testing"
      local late = { run = error, priority = "${6 * 7}" }
      local engine <close> = testing.engine { handlers = { late = late } }
      print(engine:job(engine:enqueue("late")).priority)']])
    process.remove(folder)
    assert.equal("42\n", output, errors)
    return (select(2, process.run(("ldd %s/moonshift"):format(quote(place)))))
  end

  it("works with an LPeg that is required", function()
    if process.is_sanitized() then
      return pending("objects of a sanitizer are not linked without it")
    end
    local loaded = rebuild("LPEG_LIBS=")
    assert.is_nil(loaded:find("lpeg", 1, true))
    assert.is_truthy(loaded:find("sqlite3", 1, true))
  end)

  it("takes -fPIE and -pie, of which the module is none", function()
    if process.is_sanitized() then
      return pending("objects of a sanitizer are not linked without it")
    end
    local clang = process.run("command -v clang") == 0 and "clang" or "gcc"
    rebuild("CC=" .. clang, "CFLAGS=-O2 -fPIE -pie -fstack-protector-strong",
      "CPPFLAGS=-D_FORTIFY_SOURCE=2", "LDFLAGS=-pie -Wl,-z,relro -Wl,-z,now")
  end)
end)
