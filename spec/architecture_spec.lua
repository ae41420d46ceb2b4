-- The rules of the house. What offends today fails here; there is no list of old sins.
local source = require "spec.support.source"

-- Folders are layers, lowest first; those of one rank do not know each other.
local ranks = { base = 1, store = 2, script = 2, run = 3, api = 4, bench = 5, cli = 6 }

-- The one home of each foreign library: a pattern for its headers, patterns for the files.
local homes = {
  { "^sqlite3%.h$", { "^core/store/sqlite/" } },
  { "^ev%.h$", { "^core/run/loop%.c$" } },
  { "^pthread%.h$", { "^core/run/thread%.h$" } },
  { "^threads%.h$", {} },
  { "^lua%.h$", { "^core/script/", "^core/api/", "^core/host%.c$" } },
  { "^lauxlib%.h$", { "^core/script/", "^core/api/", "^core/host%.c$" } },
  { "^lualib%.h$", { "^core/script/", "^core/api/", "^core/host%.c$" } },
  { "^jansson%.h$", { "^core/" } },
  { "^sys/time%.h$", {} },
}

-- Ways to ask the system for the time, and who may.
local c_clocks = { "gettimeofday", "clock_gettime", "time", "times", "ftime", "timespec_get" }
local c_clock_home = { ["core/base/clock.c"] = true }
local lua_clocks = { "os%.time", "os%.date", "os%.clock" }
-- The sandbox offers os.time and os.date to scripts.
local lua_clock_home = {}

local function list(offenders)
  return table.concat(offenders, "\n")
end

local function layer(path)
  return path:match("^core/(%w+)/")
end

local function any(patterns, path)
  for _, pattern in ipairs(patterns) do
    if path:find(pattern) then
      return true
    end
  end
  return false
end

describe("the house", function()
  local c_files = source.files("core", "%.[ch]$")
  local lua_files = source.files("lua scripts", "%.lua$")

  local function each_include(visit)
    for _, path in ipairs(c_files) do
      for _, include in ipairs(source.includes(path)) do
        visit(path, include.name, include.own, path .. ":" .. include.line)
      end
    end
  end

  it("has no folder in core that is not a layer", function()
    local offenders = {}
    for _, path in ipairs(c_files) do
      if layer(path) and not ranks[layer(path)] then
        offenders[#offenders + 1] = path
      end
    end
    assert.equal("", list(offenders))
  end)

  it("includes from its own folder or a lower one", function()
    local offenders = {}
    each_include(function(path, name, own, where)
      local from, to = layer(path), name:match("^(%w+)/")
      if own and from and not (from == to or (ranks[to] or 9) < ranks[from]) then
        offenders[#offenders + 1] = ("%s: %s"):format(where, name)
      end
    end)
    assert.equal("", list(offenders))
  end)

  it("names the folder in every include", function()
    local offenders = {}
    each_include(function(_, name, own, where)
      if own and not source.exists("core/" .. name) then
        offenders[#offenders + 1] = ("%s: %s"):format(where, name)
      end
    end)
    assert.equal("", list(offenders))
  end)

  it("keeps a database's own headers inside its folder", function()
    local offenders = {}
    each_include(function(path, name, own, where)
      if own and name:find("^store/sqlite/") and not path:find("^core/store/") then
        offenders[#offenders + 1] = ("%s: %s"):format(where, name)
      end
    end)
    assert.equal("", list(offenders))
  end)

  it("gives each foreign library one home", function()
    local offenders = {}
    each_include(function(path, name, own, where)
      for _, home in ipairs(homes) do
        if not own and name:find(home[1]) and not any(home[2], path) then
          offenders[#offenders + 1] = ("%s: %s"):format(where, name)
        end
      end
    end)
    assert.equal("", list(offenders))
  end)

  it("asks for the time in base/clock only", function()
    local offenders = {}
    local function look(path, code, words, form)
      for _, word in ipairs(words) do
        if code:find(form:format(word)) then
          offenders[#offenders + 1] = ("%s: %s"):format(path, word)
        end
      end
    end
    for _, path in ipairs(c_files) do
      if not c_clock_home[path] then
        look(path, source.c_code(path), c_clocks, "%%f[%%w_]%s%%(")
      end
    end
    for _, path in ipairs(lua_files) do
      if not lua_clock_home[path] then
        look(path, source.lua_code(path), lua_clocks, "%%f[%%w_]%s%%f[^%%w_]")
      end
    end
    assert.equal("", list(offenders))
  end)

  it("has no function of more than 40 lines", function()
    local offenders = {}
    local function look(path, functions)
      for _, one in ipairs(functions) do
        local length = one.last - one.first + 1
        if length > 40 then
          offenders[#offenders + 1] = ("%s:%d: %s has %d lines"):format(path, one.first, one.name,
            length)
        end
      end
    end
    for _, path in ipairs(c_files) do
      look(path, source.c_functions(path))
    end
    for _, path in ipairs(lua_files) do
      look(path, source.lua_functions(path))
    end
    assert.equal("", list(offenders))
  end)

  it("has no file of more than 600 lines", function()
    local offenders = {}
    for _, files in ipairs { c_files, lua_files } do
      for _, path in ipairs(files) do
        local length = #source.lines(path)
        if length > 600 then
          offenders[#offenders + 1] = ("%s has %d lines"):format(path, length)
        end
      end
    end
    assert.equal("", list(offenders))
  end)

  it("declares what a file shares in a header of the same layer", function()
    local headers, offenders = {}, {}
    for _, path in ipairs(source.files("core", "%.h$")) do
      headers[layer(path)] = (headers[layer(path)] or "") .. source.c_code(path)
    end
    for _, path in ipairs(source.files("core/*/", "%.c$")) do
      for _, one in ipairs(source.c_functions(path)) do
        local name = ("%%f[%%w_]%s%%f[^%%w_]"):format(one.name)
        if not one.static and not headers[layer(path)]:find(name) then
          offenders[#offenders + 1] = ("%s:%d: %s"):format(path, one.first, one.name)
        end
      end
    end
    assert.equal("", list(offenders))
  end)

  it("opens every header and every Lua file with what it is", function()
    local offenders = {}
    for _, path in ipairs(source.files("core", "%.h$")) do
      local name = path:match("[^/]+$"):gsub("%p", "%%%0")
      if not source.lines(path)[1]:find("^/%* " .. name .. " %- ") then
        offenders[#offenders + 1] = path
      end
    end
    for _, path in ipairs(lua_files) do
      if not source.lines(path)[1]:find("^%-%- ") then
        offenders[#offenders + 1] = path
      end
    end
    assert.equal("", list(offenders))
  end)

  it("has a spec tree that mirrors it", function()
    local offenders = {}
    for _, path in ipairs(source.files("spec/core spec/lua", "_spec%.lua$")) do
      local noun = path:match("^spec/(.*)_spec%.lua$")
      local module = noun:gsub("^lua/", "lua/moonshift/") .. ".lua"
      local found = source.exists(noun .. ".c") or source.exists(noun .. ".h")
      if not found and not source.exists(module) then
        offenders[#offenders + 1] = path
      end
    end
    assert.equal("", list(offenders))
  end)
end)
