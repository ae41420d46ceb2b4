-- The world as a script file sees it: read-only libraries, no unknown globals, text chunks only.
--
-- It keeps honest scripts from harming each other and the process; it is no wall against malice. In
-- a worker's own state the dangerous functions are replaced in the real libraries too, so that
-- installed modules (which keep ordinary globals) meet the same limits. In a borrowed state (specs)
-- nothing that belongs to the spec is touched.
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local sandbox = {}

local LIBRARIES = { "string", "table", "math", "utf8", "io", "os", "coroutine" }
local FUNCTIONS = {
  "assert", "error", "getmetatable", "ipairs", "next", "pairs", "pcall", "rawequal", "rawget",
  "rawlen", "select", "setmetatable", "tonumber", "tostring", "type", "warn", "xpcall", "_VERSION",
}
local REMOVED = { string = { "dump" }, os = { "exit", "setlocale" } }
-- Functions with which an installed module could get around the limits.
local DEBUG_REMOVED = {
  "debug", "gethook", "getregistry", "sethook", "setcstacklimit", "setmetatable", "setuservalue",
}
local NOT_PERMITTED = 1 -- EPERM, the third value of io functions

local targets = setmetatable({}, { __mode = "k" }) -- what a read-only table stands for

local function copy(from)
  local new = {}
  for key, value in pairs(from) do
    new[key] = value
  end
  return new
end

-- A view of `target` that cannot be changed.
local function read_only(target, name)
  local proxy = {}
  targets[proxy] = target
  return setmetatable(proxy, {
    __index = target,
    __newindex = function(_, key)
      error(("cannot set %s.%s (library tables are read-only)"):format(name, tostring(key)), 2)
    end,
    __pairs = function()
      return function(_, key)
        return next(target, key)
      end
    end,
    __metatable = false,
  })
end

local views = setmetatable({}, { __mode = "k" }) -- of modules and the tables in them

-- A view of a module of ours that cannot be changed, nor can what it holds: every handler of the
-- worker has the same one.
local function view(value, name)
  if type(value) ~= "table" or targets[value] then
    return value
  elseif not views[value] then
    local proxy = {}
    targets[proxy] = value
    views[value] = setmetatable(proxy, {
      __index = function(_, key)
        local held, meta = rawget(value, key), debug.getmetatable(value)
        if held == nil and meta and meta.raises then
          return meta.__index(value, key) -- a tail call: the error names the script
        end
        return view(value[key], name .. "." .. tostring(key))
      end,
      __newindex = function(_, key)
        error(("cannot set %s.%s (modules of moonshift are read-only)"):format(name,
          tostring(key)), 2)
      end,
      __call = function(_, ...)
        return value(...)
      end,
      __len = function()
        return #value
      end,
      __pairs = function()
        return function(_, key)
          local found, held = next(value, key)
          return found, view(held, name .. "." .. tostring(found))
        end
      end,
      __metatable = false,
    })
  end
  return views[value]
end

-- Loaders that refuse binary chunks; `env` is for a chunk that names no environment (nil: theirs).
local function text_loaders(natives, env)
  local load, loadfile = load, loadfile
  local function pick(...)
    if select("#", ...) > 0 then
      return true, (...)
    end
    return env ~= nil, env
  end
  local function text_load(chunk, name, _, ...)
    local given, globals = pick(...)
    if given then
      return load(chunk, name, "t", globals)
    end
    return load(chunk, name, "t")
  end
  local function text_loadfile(path, _, ...)
    if natives.is_store(path) then
      return nil, path .. ": this is the store's file"
    end
    local given, globals = pick(...)
    if given then
      return loadfile(path, "t", globals)
    end
    return loadfile(path, "t")
  end
  local function text_dofile(path)
    return assert(text_loadfile(path))()
  end
  return text_load, text_loadfile, text_dofile
end

local function refusal(path)
  return path .. ": this is the store's file (expected another one)"
end

-- Lets `fn` take only paths that are not the store's: closing such a file drops the store's locks.
local function guard_returning(natives, name, fn)
  return function(path, other, ...)
    if type(path) ~= "string" and type(path) ~= "number" then
      error(("bad argument #1 to '%s' (string expected, got %s)"):format(name, type(path)), 2)
    end
    for _, one in ipairs { path, other } do
      if natives.is_store(one) then
        return nil, refusal(one), NOT_PERMITTED
      end
    end
    return fn(path, other, ...)
  end
end

local function guard_raising(natives, fn)
  return function(...)
    local path = ...
    if type(path) == "string" and natives.is_store(path) then
      error(refusal(path), 2)
    end
    return fn(...)
  end
end

-- Replaces functions that could harm the process or escape the limits.
local function patch(libraries, natives, borrowed)
  for library, names in pairs(REMOVED) do
    for _, name in ipairs(names) do
      libraries[library][name] = nil
    end
  end
  local io, os = libraries.io, libraries.os
  libraries.string.rep = natives.rep
  libraries.table.move = natives.move
  io.open = guard_returning(natives, "open", io.open)
  io.lines = guard_raising(natives, io.lines)
  io.input = guard_raising(natives, io.input)
  io.output = guard_raising(natives, io.output)
  io.popen = natives.popen
  os.execute = natives.execute
  os.remove = guard_returning(natives, "remove", os.remove)
  os.rename = guard_returning(natives, "rename", os.rename)
  if not borrowed then
    libraries.coroutine.resume = natives.resume
    libraries.coroutine.wrap = natives.wrap
    libraries.coroutine.close = natives.close
  end
end

local function collect_garbage(original)
  return function(option, ...)
    if option == "stop" then
      error('collectgarbage "stop" is not available (the memory limit needs the collector)', 2)
    end
    return original(option, ...)
  end
end

-- A message handler runs inside the hook that cuts a script off, where no hook can cut it off
-- itself: it is left out then.
local function guard_xpcall(natives, original)
  return function(fn, handler, ...)
    if type(handler) ~= "function" then
      return original(fn, handler, ...)
    end
    return original(fn, function(message)
      if natives.stopped() then
        return message
      end
      return handler(message)
    end, ...)
  end
end

-- Modules on disk, as text only.
local function search_text(name)
  local path, message = package.searchpath(name, package.path)
  if not path then
    return message
  end
  local chunk, problem = loadfile(path, "t")
  if not chunk then
    error(("error loading module '%s' from file '%s':\n\t%s"):format(name, path, problem), 0)
  end
  return chunk, path
end

-- Prepares the globals of a worker's own state, which installed modules see.
local function harden(natives)
  for _, name in ipairs(DEBUG_REMOVED) do
    debug[name] = nil -- luacheck: ignore 122
  end
  getmetatable("").__metatable = false
  package.loadlib = nil -- luacheck: ignore 122
  package.searchers[3] = search_text -- after preload and the embedded modules
  load, loadfile, dofile = text_loaders(natives) -- luacheck: ignore 121
  print = natives.print -- luacheck: ignore 121
  collectgarbage = collect_garbage(collectgarbage) -- luacheck: ignore 121
  xpcall = guard_xpcall(natives, xpcall) -- luacheck: ignore 121
end

-- Adds a member that is made when a script first asks for it: most scripts do without, and each
-- command that loads a folder would pay for it.
local function when_asked(target, name, make)
  return setmetatable(target, { __index = function(_, key)
    if key == name then
      local value = make()
      rawset(target, name, value)
      return value
    end
  end })
end

local function make_libraries(natives, options)
  local libraries, borrowed = {}, options.borrowed
  for _, name in ipairs(LIBRARIES) do
    libraries[name] = borrowed and copy(_G[name]) or _G[name]
  end
  patch(libraries, natives, borrowed)
  if not borrowed then
    harden(natives)
  end
  libraries.http = when_asked({}, "request", function()
    return require("moonshift.http").new(natives, options.borrowed, options.http).request
  end)
  libraries.debug = { traceback = debug.traceback }
  libraries.package = {
    path = package.path,
    cpath = package.cpath,
    config = package.config,
    searchpath = package.searchpath,
  }
  return libraries
end

-- True for a word of processes in Lua.
local function is_word(name)
  local process = package.loaded["moonshift.process"] or require "moonshift.process"
  return type(name) == "string" and rawget(process, name) ~= nil
end

-- rawset that respects read-only tables.
local function careful_rawset(table, key, value)
  if targets[table] then
    error(("cannot set %s (this table is read-only)"):format(tostring(key)), 2)
  end
  return rawset(table, key, value)
end

local ARRAY = getmetatable(rules.array {})

-- getmetatable as scripts call it. Texts, lists of payloads, files and what else is a userdata have
-- one metatable for all scripts of the state: it is not handed out.
local function own_metatable(value)
  local kind, meta = type(value), getmetatable(value)
  if meta ~= nil and (kind == "string" or kind == "userdata" or meta == ARRAY) then
    return false
  end
  return meta
end

local function unknown_global(_, name)
  local text = ('unknown global "%s"'):format(tostring(name))
  if debug.getinfo(2, "S").source:find("^@processes/") and is_word(name) then
    text = ('%s (a word: local %s = require "moonshift.process".%s)'):format(text, name, name)
  end
  error(text, 2)
end

local function cannot_set(_, name)
  error(('cannot set global "%s" (declare it local)'):format(tostring(name)), 2)
end

-- An environment that shows `globals` and nothing else.
local function make_env(globals)
  local env = {}
  targets[env] = globals
  globals._G = env
  setmetatable(globals, { __index = unknown_global })
  return setmetatable(env, {
    __index = globals,
    __newindex = cannot_set,
    __pairs = function()
      return function(_, key)
        return next(globals, key)
      end
    end,
    __metatable = false,
  })
end

-- Makes the module `moonshift` of a state without an engine: values that payloads are made of.
local function face()
  return read_only(when_asked({
    null = rules.null,
    array = rules.array,
    time = rules.time,
  }, "json", function()
    return read_only(require "moonshift.json", "json")
  end), "moonshift")
end

-- An installed module; raises where the script called, in one line if it is not there.
local function require_installed(name)
  local fine, value = pcall(require, name)
  if fine then
    local ours = name == "moonshift" or name == "lpeg" or name:find "^moonshift%."
    return ours and view(value, name) or value
  end
  local missing = ("module '%s' not found"):format(name)
  if type(value) == "string" and value:find(missing, 1, true) then
    value = ('module "%s" not found (not in lib/, package.path or package.cpath)'):format(name)
  end
  error(value, 4)
end

-- The file of the folder behind a module name, or nil.
local function find_module(files, name)
  local base = name:gsub("%.", "/")
  local path = base .. ".lua"
  return files[path] and path or files[base .. "/init.lua"] and base .. "/init.lua"
end

-- ---- the files of the folder ----

local Sandbox = {}
Sandbox.__index = Sandbox

-- Returns the value of a file; raises its errors.
function Sandbox:evaluate(path)
  local chunk, message = self.natives.load(path, self.env)
  if not chunk then
    error(message, 0)
  end
  return chunk(path)
end

-- A module that is required while it is being loaded can never be ready.
function Sandbox:check_cycle(name)
  for i, before in ipairs(self.order) do
    if before == name then
      local names = table.concat(self.order, " -> ", i)
      error(("cyclic require: %s -> %s"):format(names, name), 4)
    end
  end
end

function Sandbox:load_module(name, path)
  self.order[#self.order + 1] = name
  local fine, value = pcall(self.evaluate, self, path)
  self.order[#self.order] = nil
  if not fine then
    error(value, 0)
  end
  self.loaded[name] = value == nil and true or value
  return self.loaded[name]
end

-- `require` as scripts call it, one function above.
function Sandbox:require(name)
  if type(name) ~= "string" then
    error(("require: got %s (expected the name of a module)"):format(show(name)), 3)
  elseif self.loaded[name] ~= nil then
    return self.loaded[name]
  end
  self:check_cycle(name)
  if not name:find("^lib%.") then
    local value = require_installed(name) -- no tail call: errors name the caller
    return value
  end
  local path = find_module(self.files, name)
  if not path then
    error(('module "%s" not found (no file %s.lua in the script folder)'):format(name,
      (name:gsub("%.", "/"))), 3)
  end
  return self:load_module(name, path)
end

-- ---- the world ----

-- Adds the functions that scripts see beside the libraries.
function Sandbox:add_functions(globals)
  local natives, borrowed = self.natives, self.borrowed
  for _, name in ipairs(FUNCTIONS) do
    globals[name] = _G[name]
  end
  globals.require = self.run_require
  globals.print = natives.print
  globals.rawset = careful_rawset
  globals.load, globals.loadfile, globals.dofile = text_loaders(natives, self.env)
  globals.collectgarbage = borrowed and collect_garbage(collectgarbage) or collectgarbage
  globals.getmetatable = own_metatable
end

-- Read-only libraries; `require` gives the same ones, unless a spec put another in their place.
function Sandbox:add_libraries(globals, libraries)
  local standard = { _G = self.env, moonshift = not self.borrowed and face() or nil }
  for name, library in pairs(libraries) do
    globals[name] = read_only(library, name)
    standard[name] = globals[name]
  end
  for name, library in pairs(standard) do
    if self.loaded[name] == nil then
      self.loaded[name] = library
    end
  end
end

local function build(natives, options, libraries)
  local globals = {}
  local self = setmetatable({
    natives = natives,
    borrowed = options.borrowed,
    env = make_env(globals),
    files = {},
    loaded = copy(options.modules or {}),
    order = {}, -- the modules that are being loaded
  }, Sandbox)
  for _, path in ipairs(natives.paths) do
    self.files[path] = true
  end
  function self.run(path)
    return self:evaluate(path)
  end
  function self.run_require(name)
    local value = self:require(name)
    return value
  end
  function self.beside(others)
    return build(others, options, libraries)
  end
  self:add_functions(globals)
  self:add_libraries(globals, libraries)
  return self
end

-- new(natives, { borrowed = …, modules = … }) -> { env, run = function(path) }. run evaluates a
-- file of the folder and returns its value; it raises errors. beside(natives) makes another one in
-- the same state, for other files.
function sandbox.new(natives, options)
  return build(natives, options, make_libraries(natives, options))
end

return sandbox
