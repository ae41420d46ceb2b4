-- `make deb`: packages that are built and accepted by lintian, installed, used and removed.
local process = require "spec.support.process"

local build = (os.getenv("SPEC_PROGRAM") or "build/moonshift"):match("^(.*)/")

-- Runs this to its end with a success; gives what it printed.
local function run(command, ...)
  local status, output, errors = process.run(command:format(...))
  assert.equal(0, status, command:format(...) .. "\n" .. output .. errors)
  return output
end

-- The first of these programs that is not here, or why else no package can be made.
local function lacking()
  for _, name in ipairs { "dpkg-buildpackage", "dh", "lintian" } do
    if process.run("command -v " .. name) ~= 0 then
      return "no " .. name .. " here"
    end
  end
  return process.is_sanitized() and "objects of a sanitizer are no package"
    or run("id -u") ~= "0\n" and "dpkg installs for root alone" or nil
end

-- Packages of what is built here, in root/built/deb. What was built stays as it is.
local function make_packages(root)
  run("mkdir %s/built && cd %s && cp -a core gen lua moonshift %s/built", root, build, root)
  run("env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL DEB_BUILD_OPTIONS=noautodbgsym CC=gcc make -s deb "
    .. "BUILD=%s/built REUSE=1 DEBFULLNAME='A Packager' DEBEMAIL=me@example.org", root)
end

-- Installs them below root/there, beside the packages of this machine. Returns dpkg for there.
local function install(root)
  local admin = root .. "/there/var/lib/dpkg"
  local dpkg = ("dpkg --instdir=%s/there --admindir=%s --log=/dev/null"):format(root, admin)
  run("mkdir -p %s && cd %s && mkdir info updates triggers && cp /var/lib/dpkg/status .", admin,
    admin)
  run("%s --install %s/built/deb/moonshift_*.deb %s/built/deb/lua-moonshift_*.deb", dpkg, root,
    root)
  return dpkg
end

-- What the links of the installed pages lead to that is not there.
local function astray(pages)
  local list = {}
  for name in run("cd %s && find . -name '*.md'", pages):gmatch("[^\n]+") do
    for target in process.read(pages .. "/" .. name):gmatch("%]%(([^)#%s]+)") do
      local path = ("%s/%s%s"):format(pages, name:match("^.*/"), target)
      if not target:find("^%a+:") and process.run("test -e " .. process.quote(path)) ~= 0 then
        list[#list + 1] = name .. ": " .. target
      end
    end
  end
  return list
end

-- A job is run by the installed program, and its result is read by the installed module.
local function use(root)
  local folder = process.folder { ["handlers/hello.lua"] = "return function() return 'done' end" }
  local usr, machine = root .. "/there/usr", run("gcc -print-multiarch"):match("%S+")
  run("cd %s && PATH=%s/bin:$PATH && moonshift enqueue hello && moonshift run --drain", folder, usr)
  local result = run([[cd %s && LUA_PATH='%s/share/lua/5.4/?.lua;%s/share/lua/5.4/?/init.lua' \
    LUA_CPATH='%s/lib/%s/lua/5.4/?.so' lua5.4 -e '
      local engine <close> = require("moonshift").open { store = "moonshift.db" }
      print(engine:log({ outcome = "successful" }):one().result)']], folder, usr, usr, usr, machine)
  process.remove(folder)
  return result
end

describe("make deb", function()
  local root

  before_each(function()
    root = process.folder()
  end)

  after_each(function()
    process.remove(root)
  end)

  it("makes packages that can be installed, used and removed", function()
    local reason = lacking()
    if reason then
      return pending(reason)
    end
    make_packages(root)
    local said = run("lintian --allow-root --fail-on error %s/built/deb/*.deb", root)
    assert.is_nil(("\n" .. said):find("\nE:"), said)

    local dpkg = install(root)
    assert.matches("Maintainer: A Packager <me@example%.org>\n", run("%s -s moonshift", dpkg))
    assert.matches("Recommends: libcurl4, libpq5\n", run("%s -s lua-moonshift", dpkg))
    assert.equal("done\n", use(root))
    for _, name in ipairs { "man/man1/moonshift.1.gz", "doc/moonshift/README.md",
      "doc/moonshift/docs/packaging.md", "doc/moonshift/copyright",
      "doc/lua-moonshift/copyright", "bash-completion/completions/moonshift",
      "zsh/vendor-completions/_moonshift", "fish/vendor_completions.d/moonshift.fish" } do
      run("test -s %s/there/usr/share/%s", root, name)
    end
    assert.same({}, astray(root .. "/there/usr/share/doc/moonshift"))
    run("grep -q /usr/bin/moonshift %s/there/lib/systemd/system/moonshift@.service", root)

    run("%s --purge moonshift lua-moonshift", dpkg)
    assert.equal("", run("cd %s/there && find . -name '*moonshift*' ! -path './var/*'", root))
  end)
end)

describe("docs/debian", function()
  it("has the version of the Makefile, and names no licence", function()
    local version = process.read("Makefile"):match("\nVERSION%s*:= (%S+)")
    assert.equal(version, process.read("docs/debian/changelog"):match("^moonshift %((.-)%)"))
    assert.matches("\n No licence is chosen yet%.", process.read("docs/debian/copyright"))
  end)
end)
