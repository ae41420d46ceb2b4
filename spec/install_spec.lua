-- `make install` as a packager meets it: folders, what a host is told.
local process = require "spec.support.process"

local build = (os.getenv("SPEC_PROGRAM") or "build/moonshift"):match("^(.*)/")
local quote = process.quote

-- Runs make as somebody would by hand: what a calling make exports is not passed on.
local function make(...)
  local words = { "env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --no-print-directory -s" }
  for _, word in ipairs { "BUILD=" .. build, ... } do
    words[#words + 1] = quote(word)
  end
  local status, output, errors = process.run(table.concat(words, " "))
  assert.equal(0, status, output .. errors)
  return output
end

-- Files and links below a folder, sorted.
local function files(folder)
  local _, output = process.run(("cd %s && find . ! -type d | LC_ALL=C sort"):format(quote(folder)))
  local list = {}
  for line in output:gmatch("%./([^\n]+)") do
    list[#list + 1] = line
  end
  return list
end

-- What `git` knows under these patterns, each put behind `prefix`.
local function add(list, prefix, pattern, strip)
  for path in io.popen("ls -1 " .. pattern):lines() do
    list[#list + 1] = prefix .. path:sub(#strip + 1)
  end
end

local function expected()
  local list = {
    "usr/bin/moonshift",
    "usr/lib/lua/5.4/moonshift/core.so",
    "usr/lib/pkgconfig/moonshift.pc",
    "usr/lib/systemd/system/moonshift@.service",
    "usr/share/bash-completion/completions/moonshift",
    "usr/share/fish/vendor_completions.d/moonshift.fish",
    "usr/share/man/man1/moonshift.1",
    "usr/share/zsh/site-functions/_moonshift",
  }
  add(list, "usr/share/lua/5.4/", "$(find lua/moonshift -name '*.lua')", "lua/")
  add(list, "usr/share/moonshift/", "scripts/*/*.lua scripts/*/*/*.lua", "")
  table.sort(list)
  return list
end

describe("make install", function()
  local place

  before_each(function()
    place = process.folder()
  end)

  after_each(function()
    process.remove(place)
  end)

  it("puts everything below DESTDIR, where a distribution expects it", function()
    assert.equal("", make("install", "DESTDIR=" .. place, "prefix=/usr"))
    assert.same(expected(), files(place))
  end)

  it("takes each folder by its name", function()
    make("install", "DESTDIR=" .. place, "prefix=/p", "bindir=/b", "luadir=/l", "cmoddir=/c",
      "datadir=/d", "mandir=/m", "pkgconfigdir=/k", "unitdir=/u")
    local folders = {}
    for _, path in ipairs(files(place)) do
      folders[path:match("^[^/]+")] = true
    end
    assert.same({ b = true, l = true, c = true, d = true, m = true, k = true, u = true }, folders)
    assert.matches("\nluadir=/l\ncmoddir=/c\n", process.read(place .. "/k/moonshift.pc"))
    assert.matches("\nExecStart=/b/moonshift run ", process.read(place .. "/u/moonshift@.service"))
  end)

  it("is undone by make uninstall, which leaves what others put there", function()
    local own = place .. "/usr/share/moonshift/scripts/handlers/mine.lua"
    make("install", "DESTDIR=" .. place, "prefix=/usr")
    process.run("touch " .. quote(own))
    make("uninstall", "DESTDIR=" .. place, "prefix=/usr")
    assert.same({ "usr/share/moonshift/scripts/handlers/mine.lua" }, files(place))
    os.remove(own)
    make("uninstall", "DESTDIR=" .. place, "prefix=/usr")
    local _, left = process.run(("find %s -name '*moonshift*'"):format(quote(place .. "/usr")))
    assert.equal("", left)
  end)

  it("says what to export, and what it says is enough", function()
    local said = make("install", "prefix=" .. place)
    assert.matches("^export PATH=.*\nexport LUA_PATH=.*\nexport LUA_CPATH=", said)
    local status, output, errors = process.run("unset LUA_PATH LUA_CPATH\n" .. said .. [[
      cd / && moonshift version && lua5.4 -e '
        print(package.searchpath("moonshift.core", package.cpath))
        print(package.searchpath("moonshift", package.path))
        print(package.searchpath("moonshift.dates", package.path))']])
    assert.equal(0, status, errors)
    assert.matches("moonshift %d+%.%d+%.%d+", output)
    assert.is_truthy(output:find(place .. "/lib/lua/5.4/moonshift/core.so\n", 1, true))
    assert.is_truthy(output:find(place .. "/share/lua/5.4/moonshift/init.lua\n", 1, true))
    assert.is_truthy(output:find(place .. "/share/lua/5.4/moonshift/dates.lua\n", 1, true))
  end)

  it("has nothing to say where everything is found", function()
    local paths = { PATH = os.getenv("PATH") .. ":" .. place .. "/bin" }
    paths.LUA_PATH = place .. "/share/lua/5.4/?.lua;;"
    paths.LUA_CPATH = place .. "/lib/lua/5.4/?.so;;"
    local words = { "env -u MAKEFLAGS -u MAKELEVEL" }
    for name, value in pairs(paths) do
      words[#words + 1] = quote(name .. "=" .. value)
    end
    local status, output = process.run(("%s make -s BUILD=%s install prefix=%s"):format(
      table.concat(words, " "), quote(build), quote(place)))
    assert.equal(0, status)
    assert.equal("", output)
  end)
end)

describe("the rockspec", function()
  local rock = {}
  assert(loadfile("docs/moonshift-0.1.0-1.rockspec", "t", rock))()

  it("has the version of the Makefile", function()
    local version = process.read("Makefile"):match("\nVERSION%s*:= (%S+)")
    assert.equal(version .. "-1", rock.version)
    assert.equal("v" .. version, rock.source.tag)
  end)

  it("names what is linked and what is loaded", function()
    local names = {}
    for name in pairs(rock.external_dependencies) do
      names[#names + 1] = name
    end
    table.sort(names)
    assert.same({ "EXPAT", "JANSSON", "LIBCURL", "LIBEV", "LIBMD", "LIBPQ", "SQLITE" }, names)
  end)

  it("has its source from a tag of a repository", function()
    if process.run("command -v luarocks git") ~= 0 then
      return pending("no luarocks, or no git here")
    end
    local place = process.folder { ["repository/README.md"] = "the tag\n" }
    local status, output, errors = process.run(([[
      export GIT_CONFIG_GLOBAL=%s/settings && git config --global user.name me &&
      git config --global user.email me@example.org && cd %s/repository && git init -q &&
      git add . && git commit -qm one && git tag %s && echo later >README.md && git commit -qam two
    ]]):format(quote(place), quote(place), rock.source.tag))
    assert.equal(0, status, output .. errors)
    make("rockspec", "BUILD=" .. place, "SOURCE=git+file://" .. place .. "/repository")
    status, output, errors = process.run(("cd %s && luarocks --lua-version=5.4 unpack %s"):format(
      quote(place), "moonshift-0.1.0-1.rockspec"))
    assert.equal(0, status, output .. errors)
    assert.equal("the tag\n", select(2, process.run(("cat %s/moonshift-0.1.0-1/*/README.md"):format(
      quote(place)))))
    process.remove(place)
  end)

  it("is not written without a repository", function()
    local status, _, errors = process.run("env -u MAKEFLAGS -u MAKELEVEL make -s rockspec")
    assert.not_equal(0, status)
    assert.matches("SOURCE= is missing", errors)
  end)

  it("installs where LuaRocks looks", function()
    local place = process.folder()
    local known = { PREFIX = place, BINDIR = place .. "/bin", LUADIR = place .. "/lua",
      LIBDIR = place .. "/lib", LUA = "lua5.4" }
    local words = {}
    for name, value in pairs(rock.build.install_variables) do
      words[#words + 1] = name .. "=" .. value:gsub("%$%((%w+)%)", known)
    end
    assert.equal("", make("install", table.unpack(words)))
    local tops = {}
    for _, path in ipairs(files(place)) do
      tops[#tops + 1] = path:match("^share/man/") or path:match("^share/moonshift/") or path
      if tops[#tops] == tops[#tops - 1] or path:match("^lua/moonshift/[%l_/]+%.lua$") then
        tops[#tops] = nil
      end
    end
    process.remove(place)
    assert.same({ "bin/moonshift", "lib/moonshift/core.so",
      "share/bash-completion/completions/moonshift",
      "share/fish/vendor_completions.d/moonshift.fish", "share/man/", "share/moonshift/",
      "share/zsh/site-functions/_moonshift" }, tops)
  end)
end)

describe("the unit of systemd", function()
  local unit = process.read("docs/moonshift@.service")

  it("stands in the page about operating as it is installed", function()
    local page = process.read("docs/operating.md"):match("```ini\n(.-)```")
    local count = 0
    for line in page:gmatch("[^\n]+") do
      assert.is_truthy(("\n" .. unit):find("\n" .. line .. "\n", 1, true), line)
      count = count + 1
    end
    assert.is_true(count > 10)
  end)

  it("starts the program with flags that it knows", function()
    local place = process.folder { ["handlers/hello.lua"] = "return function() end" }
    local line = unit:match("\nExecStart=/usr/local/bin/moonshift ([^\n]+)")
    local status, _, errors = process.run(("cd %s && %s %s --drain"):format(quote(place),
      process.command(), line))
    process.remove(place)
    assert.equal(0, status, errors)
  end)
end)
