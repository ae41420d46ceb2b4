-- The rules of the house. What offends today fails here; there is no list of old sins.
local caller = require "spec.support.calls"
local rooms = require "spec.support.rooms"
local source = require "spec.support.source"

local NOUNS_MOST = 25 -- in a folder

-- The one home of each foreign library: a pattern for its headers, patterns for the files.
local homes = {
  { "^sqlite3%.h$", { "^core/store/sqlite/" } },
  { "^libpq%-fe%.h$", { "^core/store/postgres/" } },
  { "^ev%.h$", { "^core/base/reactor%.c$" } },
  { "^pthread%.h$", { "^core/base/thread%.h$" } },
  { "^threads%.h$", {} },
  { "^lua%.h$", { "^core/script/", "^core/process/", "^core/lua/", "^core/host%.c$" } },
  { "^lauxlib%.h$", { "^core/script/", "^core/process/", "^core/lua/", "^core/host%.c$" } },
  { "^lualib%.h$", { "^core/script/", "^core/process/", "^core/lua/", "^core/host%.c$" } },
  { "^lua%-lpeg%.h$", { "^core/script/lpeg%.c$" } },
  { "^jansson%.h$", { "^core/" } },
  { "^expat%.h$", { "^core/process/xml%.c$" } },
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

  -- Of each folder.
  local rank, apart = {}, {}
  for at, one in ipairs(rooms) do
    rank[one[1]], apart[one[1]] = at, one.apart or {}
  end

  local function folder_of(path)
    return path:match("^(.*)/")
  end

  -- True if a file may know another one: its room is the same, or above it in the table.
  local function may_know(path, other)
    local from, to = folder_of(path), folder_of(other)
    for _, strange in ipairs(apart[from]) do
      if (to .. "/"):find(strange .. "/", 1, true) == 1 then
        return false
      end
    end
    return rank[to] <= rank[from]
  end

  it("has no folder in core that is not a room", function()
    local offenders = {}
    for _, path in ipairs(c_files) do
      if not rank[folder_of(path)] then
        offenders[#offenders + 1] = path
      end
    end
    assert.equal("", list(offenders))
  end)

  it("is the table that docs/contributing.md shows", function()
    local lines = { "| room | holds |", "|---|---|" }
    for _, one in ipairs(rooms) do
      local strange = one.apart and ("; apart from `%s`"):format(table.concat(one.apart, "`, `"))
      lines[#lines + 1] = ("| `%s` | %s%s |"):format(one[1], one[2], strange or "")
    end
    local page, text = source.read("docs/contributing.md"), table.concat(lines, "\n") .. "\n\n"
    assert.equal(text, page:match("(| room | holds |.-\n\n)"))
  end)

  it("has no room of more than 25 nouns", function()
    local nouns, offenders = {}, {}
    for _, path in ipairs(c_files) do
      local folder = folder_of(path)
      nouns[folder] = nouns[folder] or { count = 0 }
      if not nouns[folder][path:sub(1, -3)] then
        nouns[folder][path:sub(1, -3)] = true
        nouns[folder].count = nouns[folder].count + 1
      end
    end
    for folder, all in pairs(nouns) do
      if all.count > NOUNS_MOST then
        offenders[#offenders + 1] = ("%s has %d"):format(folder, all.count)
      end
    end
    assert.equal("", list(offenders))
  end)

  -- A circle between rooms has a side that runs uphill. What is spared must be needed.
  it("includes nothing from a higher room", function()
    local offenders, spared = {}, {}
    each_include(function(path, name, own, where)
      if own and source.exists("core/" .. name) and not may_know(path, "core/" .. name) then
        local key = path .. " " .. name
        spared[key] = true
        offenders[#offenders + 1] = not rooms.spared[key] and where .. ": " .. name or nil
      end
    end)
    for key in pairs(rooms.spared) do
      if key:find("%.h$") and not spared[key] then
        offenders[#offenders + 1] = key .. " is spared and does not run uphill"
      end
    end
    assert.equal("", list(offenders))
  end)

  local function uphill(texts)
    local found = {}
    caller.each(texts, function(path, by, to, name)
      if not may_know(path, to) then
        found[path .. " " .. name] =
          ("%s: %s calls %s of %s"):format(path, by or "a table", name, to)
      end
    end)
    return found
  end

  it("calls nothing in a higher room", function()
    local found, offenders = uphill(caller.texts("core")), {}
    for key, text in pairs(found) do
      offenders[#offenders + 1] = not rooms.spared[key] and text or nil
    end
    for key in pairs(rooms.spared) do
      if not key:find("%.h$") and not found[key] then
        offenders[#offenders + 1] = key .. " is spared and does not run uphill"
      end
    end
    table.sort(offenders)
    assert.equal("", list(offenders))
  end)

  it("sees a call that runs uphill, also where a header of its own room declares it", function()
    local high = "bool high(int n) {\n    return n > 0;\n}\n"
    local header = "bool high(int n);\n"
    local function low(body)
      return { ["core/base/low.c"] = body, ["core/base/low.h"] = header,
        ["core/cli/high.c"] = high }
    end
    local said = { ["core/base/low.c high"] =
      "core/base/low.c: low calls high of core/cli/high.c" }
    assert.same(said, uphill(low("bool low(void) {\n    return high(1);\n}\n")))
    assert.same({ ["core/base/low.c high"] =
      "core/base/low.c: a table calls high of core/cli/high.c" },
      uphill(low("static bool (*const list[])(int) = {\n    high,\n};\n")))
    assert.same({}, uphill(low("bool low(struct one *one) {\n    return one->high;\n}\n")))
    assert.same({}, uphill(low("static bool high(int n) {\n    return n;\n}\n"
      .. "bool low(void) {\n    return high(1);\n}\n")))
  end)

  it("has a transaction that knows no feature", function()
    local features = {}
    local own = { ["store/sqlite/db/connection.h"] = true, ["store/sqlite/turn/log_sync.h"] = true,
      ["store/sqlite/turn/gate.h"] = true, ["store/sqlite/turn/turn.h"] = true }
    for _, include in ipairs(source.includes("core/store/sqlite/turn/transaction.c")) do
      if include.name:find("^store/") and not own[include.name] then
        features[#features + 1] = include.name
      end
    end
    assert.same({}, features)
  end)

  it("has a worker pool that knows no runner, and of the store its crash slots alone", function()
    local offenders = {}
    each_include(function(path, name, own, where)
      local inside = path:find("^core/run/pool/")
      if own and inside and name:find("^run/") and not name:find("^run/pool/") then
        offenders[#offenders + 1] = ("%s: %s"):format(where, name)
      end
    end)
    for _, path in ipairs(c_files) do
      local pool = path:find("^core/run/pool/")
      for verb in (pool and source.c_code(path) or ""):gmatch("%f[%w_]store_([%w_]+)%(") do
        if not verb:find("^slot_") then
          offenders[#offenders + 1] = ("%s: store_%s"):format(path, verb)
        end
      end
    end
    assert.equal("", list(offenders))
  end)

  -- What a face wants of a store it asks an engine for.
  it("keeps the store from the module and the command line", function()
    local offenders = {}
    each_include(function(path, name, own, where)
      if own and name:find("^store/") and (layer(path) == "lua" or layer(path) == "cli") then
        offenders[#offenders + 1] = ("%s: %s"):format(where, name)
      end
    end)
    for _, path in ipairs(c_files) do
      local face = layer(path) == "lua" or layer(path) == "cli"
      for verb in (face and source.c_code(path) or ""):gmatch("%f[%w_]store_(%w+)%(") do
        if source.c_code(path):find("%f[%w_]bool store_" .. verb .. "%(") == nil then
          offenders[#offenders + 1] = ("%s: store_%s"):format(path, verb)
        end
      end
    end
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

  it("names no database in the rules of the store, nor in the seam below them", function()
    local offenders = {}
    for _, path in ipairs(c_files) do
      local room = path:match("^core/store/(%w+)/")
      local text = (room == "rules" or room == "sql") and source.read(path):lower() or ""
      text = text:gsub("^(.-)#pragma once\n", "%1") -- of a header
      for _, word in ipairs { "sqlite", "postgres", "pragma", "libpq" } do
        if text:find(word, 1, true) then
          offenders[#offenders + 1] = ("%s: %s"):format(path, word)
        end
      end
    end
    assert.equal("", list(offenders))
  end)

  it("links the rules of the store without an engine", function()
    local build = os.getenv("BUILD") or "build"
    local engine, wanted, offenders = {}, {}, {}
    for _, path in ipairs(c_files) do
      local room = path:match("^core/store/(%w+)/")
      if path:find("%.c$") and (room == "rules" or room == "sql" or room == "sqlite") then
        local pipe = assert(io.popen(("nm %s/%so"):format(build, path:sub(1, -2))))
        for kind, name in pipe:read("a"):gmatch("(%u) ([%w_]+)\n") do
          if room == "sqlite" and kind ~= "U" then
            engine[name] = true
          elseif room ~= "sqlite" and kind == "U" then
            wanted[name] = path
          end
        end
        assert.is_true(pipe:close())
      end
    end
    for name, path in pairs(wanted) do
      if engine[name] or name:find("^sqlite3?_") then
        offenders[#offenders + 1] = ("%s: %s"):format(path, name)
      end
    end
    assert.is_truthy(next(engine))
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

  -- Calls visit(path, body, report) for every function of every C file.
  local function each_body(visit)
    local offenders = {}
    for _, path in ipairs(source.files("core spec", "%.[ch]$")) do
      for _, body in ipairs(source.c_bodies(path)) do
        visit(path, body, function(position, text)
          local _, lines = body.text:sub(1, position):gsub("\n", "")
          offenders[#offenders + 1] = ("%s:%d: %s"):format(path, body.first + lines, text)
        end)
      end
    end
    return list(offenders)
  end

  it("gives every local error a value at birth", function()
    assert.equal("", each_body(function(_, body, report)
      for position, rest in body.text:gmatch("[{;}]%s+()struct error%f[%W]([^;]*);?") do
        local names = rest:gsub("%b{}", ""):gsub("%b()", "") .. ","
        for name in names:gmatch("%s*([^,]*),") do
          if not name:find("^%*") and not name:find("^[%w_]+ =") then
            report(position, "struct error " .. name)
          end
        end
      end
    end))
  end)

  -- The compiler warns about a missing case only where there is no default. Values of libraries
  -- and characters may have one.
  it("names every case of its own enums", function()
    assert.equal("", each_body(function(_, body, report)
      for position, switch in body.text:gmatch("()switch %b()%s*(%b{})") do
        local own = false
        for name in switch:gmatch("case ([A-Z][%w_]*)") do
          own = own or not name:find("^SQLITE_") and not name:find("^PG_")
            and not name:find("^LUA_T")
        end
        if own and switch:find("%f[%w]default:") then
          report(position, "default in " .. body.name)
        end
      end
    end))
  end)

  it("has no condition inside a condition: a ? b : c ? d : e", function()
    assert.equal("", each_body(function(_, body, report)
      local level, levels = 0, {}
      for position, sign in body.text:gsub("'\\?.'", " c "):gmatch("()([%[%](){};,?])") do
        if sign:find("[%[({]") then
          levels[#levels + 1] = level
          level = sign == "(" and level or 0
        elseif sign:find("[%])}]") then
          level = table.remove(levels) or 0
        else
          level = sign == "?" and level + 1 or 0
          if level > 1 then
            report(position, "?: in " .. body.name)
          end
        end
      end
    end))
  end)

  -- The terms of each chain of && in a statement, those in brackets for themselves.
  local function chains(statement)
    local open, done = { { text = "" } }, {}
    local function close()
      local chain = table.remove(open)
      chain[#chain + 1] = chain.text
      done[#done + 1] = chain
      return chain
    end
    for text, sign in (statement:gsub("&&", "\1") .. ";"):gmatch("([^()\1;]*)([()\1;])") do
      local chain = open[#open]
      chain.text = chain.text .. text
      if sign == "(" then
        chain.text = chain.text .. "("
        open[#open + 1] = { text = "" }
      elseif sign == ")" and #open > 1 then
        close()
        chain = open[#open]
        chain.text = chain.text .. (#done[#done] == 1 and done[#done].text or "") .. ")"
      elseif sign == "\1" then
        chain[#chain + 1], chain.text = chain.text, ""
      end
    end
    while #open > 0 do
      close()
    end
    return done
  end

  -- A call that can fail ends with `error`: it does something.
  it("calls at most three that can fail in one chain of &&", function()
    assert.equal("", each_body(function(_, body, report)
      for position, statement in body.text:gmatch("()([^;{}]+)") do
        local _, all = statement:gsub("%f[%w_]error%)", "")
        for _, chain in ipairs(all > 3 and chains(statement) or {}) do
          local calls = 0
          for _, term in ipairs(chain) do
            calls = calls + (term:find("[%w_]%(.*%f[%w_]error%)") and 1 or 0)
          end
          if calls > 3 then
            report(position, ("%d in %s"):format(calls, body.name))
          end
        end
      end
    end))
  end)

  it("reads a header once", function()
    local offenders = {}
    for _, path in ipairs(source.files("core", "%.h$")) do
      local first = source.c_code(path):match("^%s*([^\n]*)")
      offenders[#offenders + 1] = first ~= "#pragma once" and path or nil
    end
    assert.equal("", list(offenders))
  end)

  it("declares what a file shares in a header of the same layer", function()
    local headers, offenders = {}, {}
    local ops = source.c_code("core/store/ops.h")
    for _, path in ipairs(source.files("core", "%.h$")) do
      local words = headers[layer(path)] or {}
      local code = source.c_code(path)
      for word in code:gmatch("[%w_]+") do
        words[word] = true
      end
      local engine = code:match("STORE_OPS%((%u+)_OP,") -- a header of an engine
      for name in (engine and ops or ""):gmatch("[OD][PO]%([%w%s]-,?%s?([%l_]+), %(") do
        words[engine:lower() .. "_" .. name] = true
      end
      headers[layer(path)] = words
    end
    for _, path in ipairs(source.files("core/*/", "%.c$")) do
      for _, one in ipairs(source.c_functions(path)) do
        if not one.static and not headers[layer(path)][one.name] then
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
